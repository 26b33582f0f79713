//! The fitted model, its file format, and the computation of the score and its interval.
//!
//! File format (little endian): one line of JSON ([`Header`]), then four lists with one f32 per
//! feature (center, spread, weight in the score, weight in the expected error), and the SHA-256 of
//! everything before it. `agenticiqa-fit fused-nr` writes the file.

use serde::{Deserialize, Serialize};

use super::{COUNT, Unusable};
use crate::model_file;

/// Bytes of the built-in model.
pub(super) static BYTES: &[u8] = include_bytes!("../../models/fused-nr.bin");

/// Version of the file format and of the computation.
const VERSION: u32 = 1;
/// Standardized features are clamped to this many spreads, so that one extreme feature cannot
/// decide the score of an unusual image.
const FARTHEST: f32 = 4.0;
/// Lowest score of the scale.
pub const WORST: f64 = 1.0;
/// Highest score of the scale.
pub const BEST: f64 = 5.0;

/// A score from 1 to 5 with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgment {
    /// The score.
    pub score: f64,
    /// Lower end of the 90% prediction interval of the mean opinion.
    pub low: f64,
    /// Upper end of the 90% prediction interval of the mean opinion.
    pub high: f64,
    /// How unlike the training images the image is: at most 1 for 95% of them.
    pub unusual: f64,
}

/// A linear function of the features.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// One weight per feature.
    pub weights: Vec<f32>,
    /// Constant term.
    pub bias: f64,
}

impl Linear {
    /// Returns the weighted sum of standardized features plus the bias.
    pub fn of(&self, standard: &[f32]) -> f64 {
        let sum: f64 = self.weights.iter().zip(standard).map(|(weight, number)| f64::from(weight * number)).sum();
        sum + self.bias
    }
}

/// Logistic map from the linear prediction to the score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The prediction that maps to the middle of the scale.
    pub middle: f64,
    /// Slope of the map at that point.
    pub slope: f64,
}

impl Link {
    /// Returns the score for a linear prediction.
    pub fn score(&self, sum: f64) -> f64 {
        WORST + (BEST - WORST) / (1.0 + (self.slope * (self.middle - sum)).exp())
    }
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Typical value of each feature.
    pub usual: Vec<f32>,
    /// Spread of each feature.
    pub spread: Vec<f32>,
    /// Predicts the opinion from 0 to 1.
    pub opinion: Linear,
    /// Predicts the logarithm of the expected error.
    pub error: Linear,
    /// Maps the opinion to the score.
    pub link: Link,
    /// Half the width of the interval, as a multiple of the expected error.
    pub width: f64,
    /// The mean square of standardized features that 95% of the training images stay below.
    pub common: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    count: usize,
    opinion: f64,
    error: f64,
    link: Link,
    width: f64,
    common: f64,
}

impl Model {
    /// Returns the score and interval for the features of an image.
    pub fn judge(&self, features: &[f32]) -> Judgment {
        let standard = self.standardize(features);
        let score = self.link.score(self.opinion.of(&standard));
        let unusual = self.unusual(&standard);
        let half = self.width * expected_error(self.error.of(&standard), unusual);
        Judgment { score, low: (score - half).max(WORST), high: (score + half).min(BEST), unusual }
    }

    /// Standardizes features: distances from the typical value, in spreads.
    pub fn standardize(&self, features: &[f32]) -> Vec<f32> {
        let usual = self.usual.iter().zip(&self.spread);
        features
            .iter()
            .zip(usual)
            .map(|(number, (usual, spread))| ((number - usual) / spread).clamp(-FARTHEST, FARTHEST))
            .collect()
    }

    /// Returns how unlike the training images an image is; see [`Judgment::unusual`].
    pub fn unusual(&self, standard: &[f32]) -> f64 {
        mean_square(standard) / self.common
    }

    /// Serializes the model.
    pub fn write(&self) -> Result<Vec<u8>, Unusable> {
        let header = Header {
            version: VERSION,
            count: self.usual.len(),
            opinion: self.opinion.bias,
            error: self.error.bias,
            link: self.link,
            width: self.width,
            common: self.common,
        };
        let lists = [&self.usual, &self.spread, &self.opinion.weights, &self.error.weights];
        let numbers = lists.into_iter().flatten().flat_map(|number| number.to_le_bytes());
        model_file::seal(&header, numbers).map_err(Unusable)
    }

    /// Returns the SHA-256 of the built-in model, which identifies the scores that it produces.
    pub fn fingerprint() -> String {
        model_file::fingerprint(BYTES)
    }

    /// Reads a model. Damaged files are rejected.
    pub fn read(bytes: &[u8]) -> Result<Self, Unusable> {
        let damaged = |what: &str| Unusable(format!("its file is damaged ({what})"));
        let (header, numbers): (Header, _) = model_file::open(bytes).map_err(Unusable)?;
        if header.version != VERSION || header.count != COUNT {
            return Err(Unusable(format!("it was made for another version ({} numbers)", header.count)));
        }
        let (numbers, rest) = numbers.as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let lists: Vec<&[f32]> = numbers.chunks_exact(COUNT).collect();
        let &[usual, spread, opinion, error] = lists.as_slice() else { return Err(damaged("numbers are missing")) };
        let scalars =
            [header.opinion, header.error, header.link.middle, header.link.slope, header.width, header.common];
        let sound = scalars.iter().all(|number| number.is_finite()) && numbers.iter().all(|number| number.is_finite());
        if !rest.is_empty() || !sound || spread.iter().any(|spread| *spread <= 0.0) || header.common <= 0.0 {
            return Err(damaged("a number makes no sense"));
        }
        Ok(Self {
            usual: usual.to_vec(),
            spread: spread.to_vec(),
            opinion: Linear { weights: opinion.to_vec(), bias: header.opinion },
            error: Linear { weights: error.to_vec(), bias: header.error },
            link: header.link,
            width: header.width,
            common: header.common,
        })
    }
}

/// Returns the mean square of standardized features, which is about 1 on the training images.
pub fn mean_square(standard: &[f32]) -> f64 {
    standard.iter().map(|number| f64::from(number * number)).sum::<f64>() / standard.len().max(1) as f64
}

/// Returns the expected error, which grows with how unusual the image is.
pub fn expected_error(logarithm: f64, unusual: f64) -> f64 {
    logarithm.exp() * unusual.max(1.0)
}
