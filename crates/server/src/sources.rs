//! Images in requests, and a cache of recently decoded images.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use agenticiqa::agent::Input;
use agenticiqa::imaging::{Decoder, files};
use agenticiqa::inputs::{Digest, Source};
use bytes::Bytes;
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::error::Problem;
use crate::pictures::{Kept, id_of};

/// An image in a request: uploaded, or named by path or ID.
#[derive(Debug, Clone)]
pub enum RequestImage {
    /// An uploaded file.
    Sent {
        /// The file name, for display only.
        name: String,
        /// The contents of the file.
        bytes: Bytes,
    },
    /// The path of a file in an allowed folder.
    Path(String),
    /// The ID of an uploaded image.
    Id(String),
}

/// A decoded image.
#[derive(Debug, Clone)]
pub struct LoadedImage {
    /// The name in records.
    pub name: String,
    /// The ID of the stored image, if it is stored.
    pub id: Option<String>,
    /// The bytes and pixels.
    pub source: Arc<Source>,
}

impl LoadedImage {
    /// Returns the image as an input of the agent.
    pub fn input(&self) -> Input {
        Input::Source(self.name.clone(), Arc::clone(&self.source))
    }
}

/// A bounded cache of decoded images: the page sends many requests for the same image.
#[derive(Debug)]
pub struct Sources {
    decoded: Cache<Digest, Arc<Source>>,
}

impl Sources {
    /// Creates a cache of at most `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        let weigh = |_: &Digest, source: &Arc<Source>| {
            let image = &source.picture.image;
            // The samples, and the planes that metrics derive from them.
            let pixels = image.width() * image.height() * (image.channels() * usize::from(image.bit_depth() / 8) + 5);
            u32::try_from(pixels + source.bytes.len()).unwrap_or(u32::MAX)
        };
        Self { decoded: Cache::builder().max_capacity(bytes).weigher(weigh).build() }
    }

    /// Decodes a file, or returns it from the cache.
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
    /// Reads and decodes an image. Uploaded images are stored; with `keep`, images named by path
    /// are stored as well.
    ///
    /// This blocks: do not call it on a thread of the async runtime.
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
                        "{field}: no image with ID {id:?}: it was never uploaded, or was removed to free space"
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

    /// Reads a file by its resolved path, as [`Roots::resolve`](crate::Roots::resolve) returns it.
    pub fn read_file(&self, field: &str, real: &Path) -> Result<Vec<u8>, Problem> {
        let refused = |reason: String| Problem::picture(format!("{field}: {reason}"));
        let file = files::open_regular(real, false).map_err(|error| refused(error.to_string()))?;
        let metadata = file.metadata().map_err(|error| refused(error.to_string()))?;
        if metadata.len() > self.limits.file {
            return Err(Problem::too_large(format!("{field}: files can have at most {} bytes", self.limits.file)));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
        file.take(self.limits.file).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
        Ok(bytes)
    }
}
