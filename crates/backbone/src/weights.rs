//! The file of weights: half precision for weights, single for biases, in the order of the network, and a checksum.

use half::f16;
use sha2::{Digest as _, Sha256};

use crate::architecture::convolutions;

/// The weights that are built in: `efficientnet-lite0` as ML Illustrated converted it from Google's release; notice in `models/NOTICE`.
pub(crate) const BUILTIN: &[u8] = include_bytes!("../models/efficientnet-lite0.bin");

const MAGIC: &[u8; 8] = b"AIQALT01";
const CHECKSUM: usize = 32;

/// Why the network cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the network cannot be used: {0}")]
pub struct Unusable(pub(crate) String);

/// Weights and biases of one convolution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    pub weights: Vec<f32>,
    pub bias: Vec<f32>,
}

/// The file of a network: weights and biases of each convolution, in the order of [`convolutions`].
pub fn write(numbers: &[(Vec<f32>, Vec<f32>)]) -> Result<Vec<u8>, Unusable> {
    let shapes = convolutions();
    if numbers.len() != shapes.len() {
        return Err(Unusable(format!("{} convolutions are needed, not {}", shapes.len(), numbers.len())));
    }
    let mut bytes = MAGIC.to_vec();
    for (shape, (weights, bias)) in shapes.iter().zip(numbers) {
        if (weights.len(), bias.len()) != (shape.weights(), shape.outputs) {
            return Err(Unusable(format!("{shape:?} cannot have {} weights", weights.len())));
        }
        bytes.extend(weights.iter().flat_map(|weight| f16::from_f32(*weight).to_le_bytes()));
        bytes.extend(bias.iter().flat_map(|bias| bias.to_le_bytes()));
    }
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    Ok(bytes)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Numbers>, Unusable> {
    let damaged = |what: &str| Unusable(format!("its file is damaged ({what})"));
    let (content, checksum) = bytes
        .len()
        .checked_sub(CHECKSUM)
        .and_then(|at| bytes.split_at_checked(at))
        .ok_or_else(|| damaged("too short"))?;
    if Sha256::digest(content).as_slice() != checksum {
        return Err(damaged("the checksum does not fit"));
    }
    let mut rest = content.strip_prefix(MAGIC).ok_or_else(|| damaged("it is of another kind"))?;
    let mut numbers = Vec::new();
    for shape in convolutions() {
        let (weights, after) = rest.split_at_checked(2 * shape.weights()).ok_or_else(|| damaged("it ends early"))?;
        let (bias, after) = after.split_at_checked(4 * shape.outputs).ok_or_else(|| damaged("it ends early"))?;
        let weights = weights.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect();
        let bias = bias.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        numbers.push(Numbers { weights, bias });
        rest = after;
    }
    if rest.is_empty() { Ok(numbers) } else { Err(damaged("it is too long")) }
}
