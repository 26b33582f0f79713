//! Finds sources and converted files among the user's files (`--from`).

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{Checksum, Error, Files, Package, Source};

/// Finds the sources of a package among the user's files.
pub(super) fn sources(package: &Package, from: &[PathBuf]) -> Result<Vec<(Source, PathBuf)>, Error> {
    let section = &package.installation;
    let find = |source: &Source| {
        let found = match source.expected() {
            Some(expected) => find(from, source.file_name(), &expected)?,
            None => named(from, source.file_name()),
        };
        let path = found.ok_or_else(|| {
            let here = |url: &String| format!(" (from {url})");
            let files: Vec<&str> = section.files.keys().map(String::as_str).collect();
            let wanted = format!(
                "{}{}, nor {}",
                source.file_name(),
                source.url.as_ref().map(here).unwrap_or_default(),
                files.join(", ")
            );
            Error::NotFound { package: package.name.clone(), places: places(from), wanted }
        })?;
        Ok((source.clone(), path))
    };
    section.sources.iter().map(find).collect()
}

/// Returns the converted files of a package if the user has all of them. A file without a recorded
/// checksum does not count, because only its recipe can verify it.
pub(super) fn produced(package: &Package, from: &[PathBuf]) -> Result<Option<Files>, Error> {
    let mut files = Vec::new();
    for (name, produced) in &package.installation.files {
        let (Some(sha256), Some(size)) = (&produced.sha256, produced.size) else { return Ok(None) };
        let Some(path) = find(from, name, &(sha256.clone(), size))? else { return Ok(None) };
        files.push((name.clone(), std::fs::read(&path).map_err(Error::file(&path))?));
    }
    Ok(Some(files))
}

/// Finds a file by name, or by content under any name. A file of that name with other content is
/// an error.
fn find(from: &[PathBuf], name: &str, expected: &(Checksum, u64)) -> Result<Option<PathBuf>, Error> {
    for path in from {
        if path.is_dir() {
            let file = path.join(name);
            if file.is_file() {
                verify(&file, expected)?;
                return Ok(Some(file));
            }
        } else if is(path, expected)? {
            return Ok(Some(path.clone()));
        } else if path.file_name().is_some_and(|given| given == name) {
            verify(path, expected)?;
        }
    }
    Ok(None)
}

/// Finds a file that is identified by its name only. A single given file is accepted under any
/// name.
fn named(from: &[PathBuf], name: &str) -> Option<PathBuf> {
    let in_folders = from.iter().map(|path| if path.is_dir() { path.join(name) } else { path.clone() });
    let found =
        in_folders.filter(|path| path.file_name().is_some_and(|given| given == name)).find(|path| path.is_file());
    match from {
        [single] if single.is_file() => Some(single.clone()),
        _ => found,
    }
}

fn places(from: &[PathBuf]) -> String {
    from.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns whether a file exists and has the expected content. The size is compared first because
/// that is cheap.
pub(super) fn is(path: &Path, expected: &(Checksum, u64)) -> Result<bool, Error> {
    match std::fs::metadata(path) {
        Ok(file) if file.is_file() && file.len() == expected.1 => Ok(checksum(path)? == expected.0),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::file(path)(error)),
    }
}

fn verify(path: &Path, expected: &(Checksum, u64)) -> Result<(), Error> {
    let found = checksum(path)?;
    if found == expected.0 {
        return Ok(());
    }
    Err(Error::Checksum { place: path.display().to_string(), expected: expected.0.clone(), found })
}

/// Computes the checksum of a file block by block.
pub(super) fn checksum(path: &Path) -> Result<Checksum, Error> {
    let mut file = std::fs::File::open(path).map_err(Error::file(path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(Error::file(path))? {
            0 => return Ok(Checksum::from_digest(&hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}
