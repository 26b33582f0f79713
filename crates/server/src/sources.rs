//! Images as requests give them, sent or named, and the pixels of those that were decoded lately.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use agenticiqa::agent::Input;
use agenticiqa::imaging::Decoder;
use agenticiqa::inputs::{Digest, Source};
use bytes::Bytes;
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::error::Problem;
use crate::pictures::{Kept, id_of};

/// An image as a request gives it.
#[derive(Debug, Clone)]
pub enum RequestImage {
    /// The bytes of a file and its name.
    Sent {
        /// The name, for people.
        name: String,
        /// The bytes.
        bytes: Bytes,
    },
    /// A file below an allowed folder.
    Path(String),
    /// An image that was sent before.
    Id(String),
}

/// An image that can be worked on.
#[derive(Debug, Clone)]
pub struct LoadedImage {
    /// Its name in records.
    pub name: String,
    /// Its name in the store, if it is kept there.
    pub id: Option<String>,
    /// Bytes and pixels.
    pub source: Arc<Source>,
}

impl LoadedImage {
    /// The image as the agent takes it.
    pub fn input(&self) -> Input {
        Input::Source(self.name.clone(), Arc::clone(&self.source))
    }
}

/// Pixels of images that were decoded lately, within a bound; the page asks for many things of the same image.
#[derive(Debug)]
pub struct Sources {
    decoded: Cache<Digest, Arc<Source>>,
}

impl Sources {
    /// Keeps at most so many bytes.
    pub fn new(bytes: u64) -> Self {
        let weigh = |_: &Digest, source: &Arc<Source>| {
            let image = &source.picture.image;
            // Samples, and the planes that metrics derive from them.
            let pixels = image.width() * image.height() * (image.channels() * usize::from(image.bit_depth() / 8) + 5);
            u32::try_from(pixels + source.bytes.len()).unwrap_or(u32::MAX)
        };
        Self { decoded: Cache::builder().max_capacity(bytes).weigher(weigh).build() }
    }

    /// The pixels of a file's bytes, decoded once.
    pub fn decode(&self, decoder: &Decoder, bytes: &[u8]) -> Result<Arc<Source>, Problem> {
        let digest = Digest(Sha256::digest(bytes).into());
        if let Some(source) = self.decoded.get(&digest) {
            return Ok(source);
        }
        let picture = decoder.decode(bytes).map_err(|error| Problem::from(&error))?;
        let source = Arc::new(Source { path: None, bytes: bytes.into(), digest, picture });
        self.decoded.insert(digest, Arc::clone(&source));
        Ok(source)
    }
}

impl App {
    /// Reads and decodes an image; with `keep` also one that was named by path is kept. Takes a while: not for the
    /// threads of the runtime.
    pub fn open_picture(&self, field: &str, given: RequestImage, keep: bool) -> Result<LoadedImage, Problem> {
        let (name, bytes, keep) = match given {
            RequestImage::Sent { name, bytes } => (name, bytes, true),
            RequestImage::Path(path) => {
                let real = self.roots.resolve(field, &path)?;
                (path, self.read_file(field, &real)?.into(), keep)
            }
            RequestImage::Id(id) => {
                let found = self.pictures.get(&id)?;
                let (bytes, kept) = found.ok_or_else(|| {
                    Problem::not_found(format!(
                        "{field}: there is no image {id:?}: it was never sent, or made room for others"
                    ))
                })?;
                let source = self.sources.decode(&self.decoder(), &bytes)?;
                return Ok(LoadedImage { name: kept.name, id: Some(id), source });
            }
        };
        let source = self.sources.decode(&self.decoder(), &bytes).map_err(|problem| problem.about(field, &name))?;
        if keep {
            self.pictures.keep(&Kept::of(&source.digest, &name, &source.picture), &bytes)?;
        }
        Ok(LoadedImage { name, id: keep.then(|| id_of(&source.digest)), source })
    }

    /// The bytes of a file whose place was checked. It is opened by the path without links that was checked.
    pub fn read_file(&self, field: &str, real: &Path) -> Result<Vec<u8>, Problem> {
        let refused = |reason: String| Problem::picture(format!("{field}: {reason}"));
        let metadata = std::fs::metadata(real).map_err(|error| refused(error.to_string()))?;
        if !metadata.is_file() {
            return Err(refused("this is not a file".to_owned()));
        }
        if metadata.len() > self.limits.file {
            return Err(Problem::too_large(format!(
                "{field}: files of more than {} bytes are not read",
                self.limits.file
            )));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
        let file = std::fs::File::open(real).map_err(|error| refused(error.to_string()))?;
        file.take(self.limits.file).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
        Ok(bytes)
    }
}
