//! Decoded image files and regions of them, as input for tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_imaging::{Decoder, Error as DecodeError, Picture};
use agenticiqa_metrics::{Error as MetricError, Image, Pair, Region};
use sha2::{Digest as _, Sha256};

use crate::{Tool, ToolInput, ToolRun};

/// The SHA-256 of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A decoded image file: its bytes, their digest, and the pixels. Clones share bytes and pixels.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path of the file, if it was opened by path.
    pub path: Option<PathBuf>,
    /// The file's bytes.
    pub bytes: Arc<[u8]>,
    /// SHA-256 of the bytes.
    pub digest: Digest,
    /// The pixels, and the conversions made while decoding.
    pub picture: Picture,
}

impl Source {
    /// Creates a source from the bytes of an image file and its decoded pixels.
    pub fn new(bytes: Vec<u8>, picture: Picture) -> Self {
        let digest = Digest(Sha256::digest(&bytes).into());
        Self { path: None, bytes: bytes.into(), digest, picture }
    }

    /// Decodes the bytes of an image file.
    pub fn decode(decoder: &Decoder, bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let picture = decoder.decode(&bytes)?;
        Ok(Self::new(bytes, picture))
    }

    /// Reads and decodes an image file. Errors contain the path.
    pub fn open(decoder: &Decoder, path: &Path) -> Result<Self, DecodeError> {
        let (bytes, picture) = decoder.open_with_bytes(path)?;
        Ok(Self { path: Some(path.to_owned()), ..Self::new(bytes, picture) })
    }
}

/// The pixels that tools measure: an image and its reference, or a region of both.
#[derive(Debug, Clone)]
pub struct Part {
    /// The image to score.
    pub image: Image,
    /// The reference image, cropped in the same way.
    pub reference: Option<Image>,
    image_file: Option<PathBuf>,
    reference_file: Option<PathBuf>,
}

impl Part {
    /// Creates a part from a whole image and its reference.
    pub fn new(image: Image, reference: Option<Image>) -> Self {
        Self { image, reference, image_file: None, reference_file: None }
    }

    /// Adds the files that contain exactly these pixels, for tools in other processes.
    pub fn with_files(self, image: Option<PathBuf>, reference: Option<PathBuf>) -> Self {
        Self { image_file: image, reference_file: reference, ..self }
    }

    /// Crops both images to a region; without a region, returns the whole images.
    pub fn crop(&self, region: Option<&Region>) -> Result<Self, MetricError> {
        let Some(region) = region else { return Ok(self.clone()) };
        let reference = self.reference.as_ref().map(|reference| reference.crop(region)).transpose()?;
        Ok(Self::new(self.image.crop(region)?, reference))
    }

    /// Returns the input of a tool, with the reference if the tool needs one.
    pub fn pair(&self, tool: &Tool) -> Result<Pair<'_>, MetricError> {
        if tool.needs_reference() { self.whole_pair() } else { Ok(Pair::single(&self.image)) }
    }

    /// Returns the image with its reference, if there is one. Fails if their sizes differ.
    pub fn whole_pair(&self) -> Result<Pair<'_>, MetricError> {
        match &self.reference {
            Some(reference) => Pair::new(reference, &self.image),
            None => Ok(Pair::single(&self.image)),
        }
    }

    /// Runs a tool on these pixels. A failure is part of the result.
    pub fn measure(&self, tool: &Tool, with_map: bool) -> ToolRun {
        match self.pair(tool) {
            Ok(pair) => {
                let pair = if with_map { pair.with_map() } else { pair };
                let input = ToolInput::new(pair);
                tool.run(&input.with_files(self.image_file.as_deref(), self.reference_file.as_deref()))
            }
            Err(error) => ToolRun::failed(tool, error.into(), 0.0),
        }
    }
}
