//! What was measured of photos, kept in a folder by content.
//!
//! Two small files per photo: one is found by the path, size and times of the file and holds the digest of
//! its content; the other is found by that digest and holds what was measured. A second run asks only for
//! the times of files and reads none of them; a photo that was renamed is read but not measured again.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use agenticiqa_tools::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// A folder of measurements. Several processes can share it.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    written: AtomicU64,
    warned: AtomicBool,
}

impl Cache {
    /// Uses a folder, which is created when something is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), written: AtomicU64::new(0), warned: AtomicBool::new(false) }
    }

    /// Returns the digest that a file had when it was last read, unless it has changed since.
    pub(crate) fn digest(&self, path: &Path, metadata: &Metadata) -> Option<Digest> {
        let text = fs::read_to_string(self.place("files", &identity(path, metadata)?)).ok()?;
        let bytes = (0..32).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok());
        let bytes: Option<Vec<u8>> = bytes.collect();
        Some(Digest(bytes?.try_into().ok()?))
    }

    /// Remembers the digest of a file.
    pub(crate) fn remember(&self, path: &Path, metadata: &Metadata, digest: Digest) {
        if let Some(identity) = identity(path, metadata) {
            self.write(&self.place("files", &identity), digest.to_string().as_bytes());
        }
    }

    /// Returns what a task measured of a content.
    pub(crate) fn get<T: DeserializeOwned>(&self, digest: Digest, task: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.place("measured", &key(digest, task))).ok()?).ok()
    }

    /// Keeps what a task measured of a content.
    pub(crate) fn put<T: Serialize>(&self, digest: Digest, task: &str, value: &T) {
        if let Ok(json) = serde_json::to_vec(value) {
            self.write(&self.place("measured", &key(digest, task)), &json);
        }
    }

    fn place(&self, kind: &str, key: &[u8; 32]) -> PathBuf {
        let name = Digest(*key).to_string();
        self.folder.join(kind).join(&name[..2]).join(&name[2..])
    }

    /// Writes a file at once. It is not flushed to disk: what a crash damages is measured again.
    fn write(&self, path: &Path, bytes: &[u8]) {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{number}", std::process::id()));
        let written = || -> io::Result<()> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&temporary, bytes)?;
            fs::rename(&temporary, path)
        };
        if let Err(error) = written()
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("{}: measurements cannot be kept: {error}", self.folder.display());
        }
    }
}

/// Returns what a file is recognized by without reading it: its path, size and times.
fn identity(path: &Path, metadata: &Metadata) -> Option<[u8; 32]> {
    let mut hasher = Sha256::new();
    hasher.update(std::path::absolute(path).ok()?.as_os_str().as_encoded_bytes());
    hasher.update([0]);
    hasher.update(metadata.len().to_le_bytes());
    let modified = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    hasher.update(modified.as_nanos().to_le_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        for number in [metadata.ino().cast_signed(), metadata.ctime(), metadata.ctime_nsec()] {
            hasher.update(number.to_le_bytes());
        }
    }
    Some(hasher.finalize().into())
}

fn key(digest: Digest, task: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(digest.0);
    hasher.update(task.as_bytes());
    hasher.update(concat!(" ", env!("CARGO_PKG_VERSION")));
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_not_recognized_and_damage_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, photo) = (Cache::new(folder.path().join("cache")), folder.path().join("a\nb.jpg"));
        fs::write(&photo, "one").unwrap();
        let digest = Digest([7; 32]);
        cache.remember(&photo, &fs::metadata(&photo).unwrap(), digest);
        assert_eq!(cache.digest(&photo, &fs::metadata(&photo).unwrap()), Some(digest));
        fs::write(&photo, "other").unwrap();
        assert_eq!(cache.digest(&photo, &fs::metadata(&photo).unwrap()), None);
        cache.put(digest, "count", &12);
        assert_eq!((cache.get(digest, "count"), cache.get::<u32>(digest, "size")), (Some(12), None));
        fs::write(cache.place("measured", &key(digest, "count")), "{").unwrap();
        assert_eq!(cache.get::<u32>(digest, "count"), None);
    }
}
