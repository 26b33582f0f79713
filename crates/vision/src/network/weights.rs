//! The weights file: f16 weights and f32 biases in execution order, and a checksum.

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use sha2::{Digest as _, Sha256};

use crate::network::architecture::Convolution;

/// The built-in weights: EfficientNet-Lite0, trained further by `scripts/training`; see
/// `models/NOTICE.md`.
pub(crate) const BUILTIN: &[u8] = include_bytes!("../../models/fused-nr-network.bin");

const MAGIC: &[u8; 8] = b"AIQALT01";
const CHECKSUM: usize = 32;

/// The reason why the network cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the network cannot be used: {0}")]
pub struct Unusable(pub(crate) String);

/// Weights and biases of one convolution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    pub weights: Vec<f32>,
    pub bias: Vec<f32>,
}

/// Reads a file one convolution at a time, so that only one is held in single precision.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Checks checksum and kind of the file.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, Unusable> {
        let (content, checksum) = bytes
            .len()
            .checked_sub(CHECKSUM)
            .and_then(|at| bytes.split_at_checked(at))
            .ok_or_else(|| damaged("too short"))?;
        if Sha256::digest(content).as_slice() != checksum {
            return Err(damaged("the checksum does not fit"));
        }
        Ok(Self { rest: content.strip_prefix(MAGIC).ok_or_else(|| damaged("it is of another kind"))? })
    }

    /// Reads the next convolution, which must have this shape.
    pub(crate) fn next(&mut self, shape: &Convolution) -> Result<Numbers, Unusable> {
        let mut take = |length: usize| {
            let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(|| damaged("it ends early"))?;
            self.rest = rest;
            Ok(taken)
        };
        let (weights, bias) = (take(2 * shape.weights())?, take(4 * shape.outputs)?);
        let halves: Vec<f16> = weights.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes)).collect();
        let bias = bias.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(Numbers { weights: halves.to_f32_vec(), bias })
    }

    /// Checks that no bytes are left.
    pub(crate) fn finish(self) -> Result<(), Unusable> {
        if self.rest.is_empty() { Ok(()) } else { Err(damaged("it is too long")) }
    }
}

fn damaged(what: &str) -> Unusable {
    Unusable(format!("its file is damaged ({what})"))
}
