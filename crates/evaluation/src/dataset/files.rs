//! Finds the files of a dataset by name, ignoring case: score files and archives often differ in
//! case.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::Error;

/// The maximum folder depth, in case a link forms a cycle.
const DEPTH: usize = 8;

/// All files below a folder.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    by_name: HashMap<String, Vec<PathBuf>>,
}

impl Files {
    /// Lists a folder recursively.
    pub fn walk(root: &Path) -> Result<Self, Error> {
        let root = root.canonicalize().map_err(|error| Error::file(root, error))?;
        let mut files = Self { root: root.clone(), by_name: HashMap::new() };
        files.add(&root, 0).map_err(|error| Error::file(&root, error))?;
        // The file nearest to the root comes first, independent of the order of the file system.
        let depth = |path: &PathBuf| (path.components().count(), path.clone());
        files.by_name.values_mut().for_each(|paths| paths.sort_by_cached_key(depth));
        Ok(files)
    }

    fn add(&mut self, folder: &Path, depth: usize) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { continue };
            if path.is_dir() {
                if depth < DEPTH && !name.starts_with('.') && name != "__macosx" {
                    self.add(&path, depth + 1)?;
                }
            } else {
                self.by_name.entry(name).or_default().push(path);
            }
        }
        Ok(())
    }

    /// Returns the file whose path ends with `ending`, such as `jp2k/img1.bmp`; the nearest to the
    /// root if there are several.
    pub fn find(&self, ending: &str) -> Option<&Path> {
        let ending = ending.replace('\\', "/").to_lowercase();
        let wanted: Vec<&str> = ending.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let fits = |path: &&PathBuf| {
            let parts: Vec<String> =
                path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
            parts.len() >= wanted.len() && parts[parts.len() - wanted.len()..].iter().eq(wanted.iter())
        };
        self.by_name.get(*wanted.last()?)?.iter().find(fits).map(PathBuf::as_path)
    }

    /// Returns the first of these files that exists.
    pub fn first(&self, endings: &[&str]) -> Option<&Path> {
        endings.iter().find_map(|ending| self.find(ending))
    }

    /// Returns the first of these files that exists, or an error with a hint where to get it.
    pub fn require(&self, endings: &[&str], hint: &str) -> Result<&Path, Error> {
        let wanted = || endings.join(" or ");
        let absent = || Error::Absent { root: self.root.clone(), wanted: wanted(), hint: hint.to_owned() };
        self.first(endings).ok_or_else(absent)
    }

    /// Returns all files with an extension, sorted by path.
    pub fn with_extension(&self, extension: &str) -> Vec<&Path> {
        let fits = |path: &&PathBuf| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension));
        let mut found: Vec<&Path> = self.by_name.values().flatten().filter(fits).map(PathBuf::as_path).collect();
        found.sort();
        found
    }
}

/// Reads the text of a file. Invalid UTF-8 is replaced, because names in score files are ASCII.
pub(super) fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::file(path, error))?;
    Ok(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
}

/// Returns a file name without its extension in lower case, as part of a sample ID.
pub(super) fn stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_lowercase().replace(' ', "_")
}

/// Parses a number of a score file.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let value: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("{text:?} is not a finite number")) }
}
