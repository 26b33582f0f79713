//! Images from folders and patterns, with one question for all.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use agenticiqa_imaging::files::path_text;
use serde_json::Map;

use super::unreadable;
use crate::{Error, Sample};

/// The extensions of image files in a folder, raw files of cameras at the end.
const EXTENSIONS: [&str; 18] = [
    "jpg", "jpeg", "png", "bmp", "tif", "tiff", "webp", "gif", "avif", "dng", "nef", "cr2", "cr3", "arw", "orf", "raf",
    "rw2", "pef",
];

/// Images with one question for all.
#[derive(Debug, Clone)]
pub struct Pictures {
    /// The files without duplicates, sorted by name.
    pub paths: Vec<PathBuf>,
    /// The question.
    pub query: String,
    /// The options of a multiple-choice question.
    pub options: Vec<String>,
    /// The reference image for all images.
    pub reference: Option<PathBuf>,
}

/// Image files that were found, and the folders that cannot be read.
#[derive(Debug, Default)]
pub struct Found {
    /// The files without duplicates, sorted by name.
    pub paths: Vec<PathBuf>,
    /// Errors of folders and entries; the others were searched.
    pub unreadable: Vec<Error>,
}

impl Found {
    /// Finds images by file, folder (recursively) or pattern such as `photos/**/*.jpg`. A folder that cannot
    /// be read does not hide the others.
    pub fn search(patterns: &[String]) -> Result<Self, Error> {
        let mut found = Self::default();
        for pattern in patterns {
            let before = found.paths.len() + found.unreadable.len();
            let path = Path::new(pattern);
            if path.is_dir() {
                found.below(path);
            } else if path.is_file() {
                found.paths.push(path.to_owned());
            } else if path.exists() {
                return Err(unreadable(path, "it is not a regular file"));
            } else {
                found.matching(pattern)?;
            }
            if found.paths.len() + found.unreadable.len() == before {
                return Err(unreadable(path, "there is no image there: check the path or quote the pattern"));
            }
        }
        found.paths.sort();
        found.paths.dedup();
        Ok(found)
    }

    /// Finds all images below a folder. Links to folders are not followed, because they may form
    /// cycles. Neither named pipes nor devices count: reading them might never end.
    fn below(&mut self, folder: &Path) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable.push(unreadable(folder, error)),
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok((path, kind)) if kind.is_dir() => self.below(&path),
                Ok((path, _)) if is_picture(&path) && path.is_file() => self.paths.push(path),
                Ok(_) => {}
                Err(error) => self.unreadable.push(unreadable(folder, error)),
            }
        }
    }

    fn matching(&mut self, pattern: &str) -> Result<(), Error> {
        let paths = glob::glob(pattern).map_err(|error| unreadable(Path::new(pattern), error))?;
        for path in paths {
            match path {
                Ok(path) if path.is_file() => self.paths.push(path),
                Ok(_) => {}
                Err(error) => self.unreadable.push(unreadable(error.path(), error.error())),
            }
        }
        Ok(())
    }
}

impl Pictures {
    /// Finds images as [`Found::search`] does, and fails if a folder cannot be read.
    pub fn find(patterns: &[String], query: &str) -> Result<Self, Error> {
        let Found { paths, unreadable } = Found::search(patterns)?;
        if let Some(error) = unreadable.into_iter().next() {
            return Err(error);
        }
        Ok(Self { paths, query: query.to_owned(), options: Vec::new(), reference: None })
    }

    /// Returns one sample per image, with the path as its ID.
    pub fn items(self) -> impl Iterator<Item = Sample> + Send {
        let Self { paths, query, options, reference } = self;
        let names = names(&paths);
        paths.into_iter().zip(names).zip(1..).map(move |((path, sample_id), line)| Sample {
            line,
            sample_id,
            query: query.clone(),
            image_path: path,
            reference_path: reference.clone(),
            options: options.clone(),
            regions: Vec::new(),
            input: Map::new(),
        })
    }
}

/// Returns a different name for every path. The text of a path that is not Unicode could be that of
/// another path.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |path: &PathBuf| {
        let text = path_text(path);
        let others = (2..).map(|number| format!("{text} ({number})"));
        let name = std::iter::once(text.clone()).chain(others).find(|name| !taken.contains(name)).unwrap_or(text);
        taken.insert(name.clone());
        name
    };
    paths.iter().map(name).collect()
}

fn is_picture(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_unicode_are_different_samples() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"a\xff.png"[..], b"a\xfe.png", br"a\xfe.png"] {
            std::fs::write(folder.path().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
        }
        let found = Pictures::find(&[folder.path().display().to_string()], "Rate it.").unwrap();
        let ids: HashSet<String> = found.items().map(|sample| sample.sample_id).collect();
        assert_eq!(ids.len(), 3, "{ids:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_named_pipe_is_no_picture() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.png"), "").unwrap();
        std::os::unix::fs::symlink(at("a.png"), at("link.png")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe.png")).status().unwrap().success());
        let find = |name: &str| Pictures::find(&[at(name).display().to_string()], "Rate it.");
        assert_eq!(find(".").unwrap().paths.len(), 2);
        assert_eq!(find("*.png").unwrap().paths.len(), 2);
        let named = find("pipe.png").unwrap_err().to_string();
        assert!(named.contains("pipe.png: the input cannot be read: it is not a regular file"), "{named}");
    }

    #[test]
    fn folders_files_and_patterns_give_each_picture_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("deep/er")).unwrap();
        for name in ["b.JPG", "deep/er/a.png", "deep/notes.txt", "deep/c.webp"] {
            std::fs::write(at(name), "").unwrap();
        }
        let pattern = |name: &str| at(name).display().to_string();
        let names = |patterns: &[String]| -> Vec<PathBuf> { Pictures::find(patterns, "Rate it.").unwrap().paths };
        assert_eq!(names(&[pattern(".")]).len(), 3);
        assert_eq!(names(&[pattern("deep"), pattern("**/*.png")]), [at("deep/c.webp"), at("deep/er/a.png")]);
        assert_eq!(names(&[pattern("deep/notes.txt")]), [at("deep/notes.txt")]);
        let none = Pictures::find(&[pattern("*.gif")], "Rate it.").unwrap_err().to_string();
        assert!(none.contains("there is no image there"), "{none}");
        assert!(Pictures::find(&[pattern("a[")], "Rate it.").unwrap_err().to_string().contains("a["));
    }
}
