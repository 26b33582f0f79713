//! Images that clients have sent: kept on disk by the SHA-256 of their bytes, within a bound; those that were not used for
//! longest go first.

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

/// What is known of an image that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The SHA-256 of its bytes, by which requests name it.
    pub id: String,
    /// The name that it was sent with.
    pub name: String,
    /// Width in pixels, as shown.
    pub width: usize,
    /// Height in pixels, as shown.
    pub height: usize,
    /// The format, told by content.
    pub format: String,
    /// What was done to the pixels.
    pub notes: Vec<String>,
}

impl Kept {
    /// What is known of a decoded image.
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

/// The name of an image by its bytes.
pub fn id_of(digest: &Digest) -> String {
    digest.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The media type of a format.
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
    /// The number of the last use and the size, by id.
    known: HashMap<String, (u64, u64)>,
    /// The ids by the number of their last use.
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

/// The images that are kept. Calls read and write files: not for the threads of the runtime.
#[derive(Debug)]
pub struct Pictures {
    folder: PathBuf,
    max_bytes: u64,
    shelf: Mutex<Shelf>,
}

impl Pictures {
    /// Finds what was kept before.
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

    /// Keeps an image; one that is there already is only marked as used.
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
            // What cannot be removed now is found again at the next start.
            drop(fs::remove_file(self.file(&oldest)));
            drop(fs::remove_file(self.about(&oldest)));
        }
        Ok(())
    }

    /// The bytes of an image, and what is known of it.
    pub fn get(&self, id: &str) -> io::Result<Option<(Vec<u8>, Kept)>> {
        if !is_id(id) || !self.shelf().known.contains_key(id) {
            return Ok(None);
        }
        let (bytes, about) = (fs::read(self.file(id))?, fs::read(self.about(id))?);
        self.shelf().touch(id, bytes.len() as u64);
        Ok(Some((bytes, serde_json::from_slice(&about)?)))
    }

    /// What is known of an image without reading it.
    pub fn about_of(&self, id: &str) -> Option<Kept> {
        let known = is_id(id) && self.shelf().known.contains_key(id);
        known.then(|| fs::read(self.about(id)).ok().and_then(|about| serde_json::from_slice(&about).ok())).flatten()
    }

    /// The number of images and their bytes.
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

/// Whether a text is the name of an image; nothing else ever becomes a part of a path.
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
