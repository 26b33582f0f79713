//! Uploaded images, stored on disk by the SHA-256 of their bytes. When the size limit is reached,
//! the least recently used images are removed.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use agenticiqa::imaging::{Format, Picture};
use agenticiqa::inputs::Digest;
use agenticiqa::write_atomically;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Information about a stored image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// Image ID: the SHA-256 of the file.
    pub id: String,
    /// File name of the upload.
    pub name: String,
    /// Width in pixels, after applying the orientation.
    pub width: usize,
    /// Height in pixels, after applying the orientation.
    pub height: usize,
    /// File format, detected from the content.
    pub format: String,
    /// Conversions applied when decoding.
    pub notes: Vec<String>,
}

impl Kept {
    /// Builds the information from a decoded image.
    pub fn of(digest: &Digest, name: &str, picture: &Picture) -> Self {
        Self {
            id: id_of(digest),
            name: name.to_owned(),
            width: picture.image.width(),
            height: picture.image.height(),
            format: picture.format.to_string(),
            notes: picture.notes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Returns the image ID of a digest.
pub fn id_of(digest: &Digest) -> String {
    digest.to_string()
}

/// Returns the media type of a format.
pub fn media_type(format: Format) -> &'static str {
    match format {
        Format::Jpeg => "image/jpeg",
        Format::Png => "image/png",
        Format::Bmp => "image/bmp",
        Format::Tiff => "image/tiff",
        Format::WebP => "image/webp",
        Format::Gif => "image/gif",
        Format::Avif => "image/avif",
        _ => "application/octet-stream",
    }
}

#[derive(Debug, Default)]
struct Shelf {
    /// The number of the last use and the size, by ID.
    known: HashMap<String, (u64, u64)>,
    /// The IDs by the number of their last use.
    by_use: BTreeMap<u64, String>,
    uses: u64,
    bytes: u64,
}

impl Shelf {
    fn touch(&mut self, id: &str, size: u64) {
        self.forget(id);
        self.uses += 1;
        self.by_use.insert(self.uses, id.to_owned());
        self.known.insert(id.to_owned(), (self.uses, size));
        self.bytes += size;
    }

    fn forget(&mut self, id: &str) {
        if let Some((place, size)) = self.known.remove(id) {
            self.by_use.remove(&place);
            self.bytes -= size;
        }
    }
}

/// The store of uploaded images.
///
/// All methods block: do not call them on a thread of the async runtime.
#[derive(Debug)]
pub struct Pictures {
    folder: PathBuf,
    max_bytes: u64,
    shelf: Mutex<Shelf>,
}

impl Pictures {
    /// Opens the store and finds the images in `folder`.
    pub fn open(folder: &Path, max_bytes: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut found: Vec<(SystemTime, String, u64)> = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_id(&name) {
                let metadata = entry.metadata()?;
                found.push((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), name, metadata.len()));
            }
        }
        found.sort();
        let mut shelf = Shelf::default();
        found.iter().for_each(|(_, id, size)| shelf.touch(id, *size));
        Ok(Self { folder: folder.to_owned(), max_bytes, shelf: Mutex::new(shelf) })
    }

    /// Stores an image. An image that is already stored is only marked as used.
    pub fn keep(&self, kept: &Kept, bytes: &[u8]) -> io::Result<()> {
        let known = self.shelf().known.contains_key(&kept.id);
        if !known {
            write_atomically(&self.about(&kept.id), &serde_json::to_vec(kept)?)?;
            write_atomically(&self.file(&kept.id), bytes)?;
        }
        let mut shelf = self.shelf();
        shelf.touch(&kept.id, bytes.len() as u64);
        while shelf.bytes > self.max_bytes && shelf.known.len() > 1 {
            let Some((_, oldest)) = shelf.by_use.pop_first() else { break };
            shelf.forget(&oldest);
            // A file that cannot be removed now is found again at the next start.
            drop(fs::remove_file(self.file(&oldest)));
            drop(fs::remove_file(self.about(&oldest)));
        }
        Ok(())
    }

    /// Returns the bytes of an image and its information.
    pub fn get(&self, id: &str) -> io::Result<Option<(Vec<u8>, Kept)>> {
        if !is_id(id) || !self.shelf().known.contains_key(id) {
            return Ok(None);
        }
        let (bytes, about) = (fs::read(self.file(id))?, fs::read(self.about(id))?);
        self.shelf().touch(id, bytes.len() as u64);
        Ok(Some((bytes, serde_json::from_slice(&about)?)))
    }

    /// Returns the information about an image without reading its bytes.
    pub fn about_of(&self, id: &str) -> Option<Kept> {
        let known = is_id(id) && self.shelf().known.contains_key(id);
        known.then(|| fs::read(self.about(id)).ok().and_then(|about| serde_json::from_slice(&about).ok())).flatten()
    }

    /// Returns the number of images and their total size in bytes.
    pub fn size(&self) -> (usize, u64) {
        let shelf = self.shelf();
        (shelf.known.len(), shelf.bytes)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    fn about(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a text is an image ID. Only IDs are used in paths.
fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(letter: char) -> Kept {
        let id = letter.to_string().repeat(64);
        Kept { id, name: "a.png".into(), width: 1, height: 1, format: "PNG".into(), notes: Vec::new() }
    }

    #[test]
    fn the_picture_that_was_not_used_for_longest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = Pictures::open(folder.path(), 10).unwrap();
        pictures.keep(&kept('a'), &[1; 4]).unwrap();
        pictures.keep(&kept('b'), &[2; 4]).unwrap();
        assert_eq!(pictures.get(&kept('a').id).unwrap().unwrap().0, [1; 4]);
        pictures.keep(&kept('c'), &[3; 4]).unwrap();
        assert_eq!(pictures.get(&kept('b').id).unwrap(), None);
        assert_eq!(pictures.size(), (2, 8));
        let again = Pictures::open(folder.path(), 10).unwrap();
        assert_eq!(again.get(&kept('a').id).unwrap().unwrap().1, kept('a'));
        assert_eq!(again.size(), (2, 8));
    }

    #[test]
    fn only_hashes_name_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = Pictures::open(folder.path(), 10).unwrap();
        for id in ["../../etc/passwd", "", &"A".repeat(64), &"a".repeat(63)] {
            assert_eq!(pictures.get(id).unwrap(), None);
        }
    }
}
