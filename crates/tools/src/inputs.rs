//! What tools look at: image files, decoded once, and parts of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_imaging::{Decoder, Error as DecodeError, Picture};
use agenticiqa_metrics::{Error as MetricError, Image, Pair};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

/// An image file: its bytes, what they hash to, and the pixels. A clone shares bytes and pixels.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where the file is, if it was opened by path.
    pub path: Option<PathBuf>,
    /// The file's bytes.
    pub bytes: Arc<[u8]>,
    /// Their SHA-256.
    pub digest: Digest,
    /// The pixels, and what was done to them.
    pub picture: Picture,
}

impl Source {
    /// The bytes of an image file, and the pixels that they are decoded to.
    pub fn new(bytes: Vec<u8>, picture: Picture) -> Self {
        let digest = Digest(Sha256::digest(&bytes).into());
        Self { path: None, bytes: bytes.into(), digest, picture }
    }

    /// Decodes the bytes of an image file.
    pub fn decode(decoder: &Decoder, bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let picture = decoder.decode(&bytes)?;
        Ok(Self::new(bytes, picture))
    }

    /// Reads and decodes an image file; errors name it.
    pub fn open(decoder: &Decoder, path: &Path) -> Result<Self, DecodeError> {
        let (bytes, picture) = decoder.open_with_bytes(path)?;
        Ok(Self { path: Some(path.to_owned()), ..Self::new(bytes, picture) })
    }
}

/// A part of image and reference, or the whole of both.
#[derive(Debug, Clone)]
pub struct Part {
    /// The pixels that are judged.
    pub image: Image,
    /// The same pixels of the reference.
    pub reference: Option<Image>,
}

impl Part {
    /// What a tool compares: with the reference where it asks for one.
    pub fn pair(&self, with_reference: bool) -> Result<Pair<'_>, MetricError> {
        match self.reference.as_ref().filter(|_| with_reference) {
            Some(reference) => Pair::new(reference, &self.image),
            None => Ok(Pair::single(&self.image)),
        }
    }
}
