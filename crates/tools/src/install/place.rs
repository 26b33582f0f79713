//! The data folder: a lock, files that are complete or absent, and the license terms next to them.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::{Checksum, Error, Event, Listener, Package};
use agenticiqa_imaging::files::temporary_for;

/// Interval between attempts to get a lock that another process holds.
const PAUSE: Duration = Duration::from_millis(100);

/// Locks the data folder for changes. The lock ends with the process at the latest.
pub(super) async fn lock(data: &Path, listener: Listener<'_>) -> Result<File, Error> {
    make_folder(data)?;
    let path = data.join(".lock");
    let file = File::create(&path).map_err(Error::file(&path))?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {
                if !std::mem::replace(&mut told, true) {
                    listener(&Event::Waiting);
                }
                tokio::time::sleep(PAUSE).await;
            }
            // The file system has no locks. Renaming still keeps files complete or absent.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(Error::file(path)(error)),
        }
    }
}

/// Creates a folder and its parents.
pub(super) fn make_folder(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::file(folder))
}

/// Checks the files of a recipe and moves them into place. All are written before the first one is
/// moved, so a full disk leaves nothing behind.
pub(super) fn store(
    package: &Package,
    data: &Path,
    produced: &[(String, Vec<u8>)],
    listener: Listener<'_>,
) -> Result<(), Error> {
    let folder = package.folder(data);
    make_folder(&folder)?;
    let mut written = Vec::new();
    for (name, expected) in &package.installation.files {
        let path = folder.join(name);
        let missing = || Error::Conversion { package: package.name.clone(), reason: format!("{name} was not made") };
        let (_, content) = produced.iter().find(|(made, _)| made == name).ok_or_else(missing)?;
        let found = Checksum::of(content);
        if let Some(expected) = expected.sha256.as_ref().filter(|expected| **expected != found) {
            return Err(Error::Checksum { place: name.clone(), expected: expected.clone(), found });
        }
        written.push((write_temporary(&path, content)?, path, content.len() as u64, found));
    }
    let terms = package.terms_file(data);
    let text = write_temporary(&terms, package.terms().as_bytes())?;
    for (file, path, size, sha256) in written {
        file.persist(&path).map_err(|error| Error::file(&path)(error.error))?;
        listener(&Event::Installed { path: &path, size, sha256: &sha256 });
    }
    text.persist(&terms).map_err(|error| Error::file(&terms)(error.error))?;
    Ok(())
}

/// Writes a temporary file next to `path` and syncs it to disk. It is removed unless it is moved
/// there.
fn write_temporary(path: &Path, content: &[u8]) -> Result<NamedTempFile, Error> {
    let write = || {
        let mut file = temporary_for(path)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    write().map_err(Error::file(path))
}

/// Removes the files of a package except those that others need, and returns the removed files.
pub(super) fn remove(package: &Package, data: &Path, others: &[Package]) -> Result<Vec<PathBuf>, Error> {
    let folder = package.folder(data);
    let needed = |path: &PathBuf| others.iter().any(|other| other.files(data).any(|file| file == *path));
    let files = package.installation.files.keys().map(|name| folder.join(name)).filter(|path| !needed(path));
    let mut removed = Vec::new();
    for path in files.chain([package.terms_file(data)]) {
        match std::fs::remove_file(&path) {
            Ok(()) => removed.push(path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file(path)(error)),
        }
    }
    Ok(removed)
}
