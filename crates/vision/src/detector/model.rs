//! The networks of the detector and their file.
//!
//! File format: one line of JSON with the layers, the numbers of all convolutions, and the SHA-256
//! of everything before it. `crates/weights` writes it (`examples/convert_detector.rs`).

use std::sync::OnceLock;

use serde::Deserialize;

use crate::model_file;
use crate::network::graph::{Description, Graph};

/// Bytes of the built-in networks.
static BYTES: &[u8] = include_bytes!("../../models/detector.bin");

/// Version of the file format.
const VERSION: u32 = 1;

/// The reason why the networks cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the networks of the detector cannot be used: {0}")]
pub struct Unusable(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    objects: Description,
    faces: Description,
}

/// Both networks.
pub struct Model {
    pub(super) objects: Graph,
    pub(super) faces: Graph,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").finish_non_exhaustive()
    }
}

impl Model {
    /// Returns the built-in networks, which are read once per process.
    pub fn builtin() -> Result<&'static Self, Unusable> {
        static MODEL: OnceLock<Result<Model, Unusable>> = OnceLock::new();
        MODEL.get_or_init(|| Self::open(BYTES)).as_ref().map_err(Clone::clone)
    }

    /// Opens a file. Damaged files are rejected.
    pub fn open(bytes: &[u8]) -> Result<Self, Unusable> {
        let (header, mut numbers): (Header, _) = model_file::open(bytes).map_err(Unusable)?;
        if header.version != VERSION {
            return Err(Unusable("it was made for another version".to_owned()));
        }
        let mut read = |description: &Description, side: usize| {
            Graph::new(description, &mut numbers, side).map_err(|error| Unusable(error.to_string()))
        };
        let objects = read(&header.objects, super::objects::SIDE)?;
        let faces = read(&header.faces, super::faces::SIDE)?;
        if numbers.is_empty() { Ok(Self { objects, faces }) } else { Err(Unusable("its file is too long".to_owned())) }
    }
}
