//! The fitted model, its file, and the way from the numbers of an image to a score with its interval.
//!
//! The file, little endian: a line of JSON ([`Header`]), then for every number of an image what is usual, how far it
//! spreads, its weight in the score and its weight in the expected error (f32 each, one list after the other), and the SHA-256 of
//! all of it. `agenticiqa-fit blind` makes it.

use serde::{Deserialize, Serialize};

use super::{COUNT, Unusable};
use crate::model_file;

/// The model that is built in.
pub(super) static BYTES: &[u8] = include_bytes!("../../models/fused-nr.bin");

/// The form of the file, and of the way from numbers to a score.
const VERSION: u32 = 1;
/// Numbers count up to so many spreads from what is usual: an image unlike all others is not judged by one of its numbers.
const FARTHEST: f32 = 4.0;
/// The lower end of the scale.
pub const WORST: f64 = 1.0;
/// The upper end of the scale.
pub const BEST: f64 = 5.0;

/// A score from 1 to 5 and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgment {
    /// The score.
    pub score: f64,
    /// The lower end of the interval that holds nine of ten mean opinions.
    pub low: f64,
    /// The upper end of it.
    pub high: f64,
    /// How unlike the images of the training it is: 1 or less for 19 of 20 of them.
    pub unusual: f64,
}

/// A weight for every number of an image, and what is added.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// The weights.
    pub weights: Vec<f32>,
    /// What is added.
    pub bias: f64,
}

impl Linear {
    /// The weighted sum of standardized numbers.
    pub fn of(&self, standard: &[f32]) -> f64 {
        let sum: f64 = self.weights.iter().zip(standard).map(|(weight, number)| f64::from(weight * number)).sum();
        sum + self.bias
    }
}

/// From the sum to the score: an S between the ends of the scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The sum that gives the middle of the scale.
    pub middle: f64,
    /// How steep it is there.
    pub slope: f64,
}

impl Link {
    /// The score of a sum.
    pub fn score(&self, sum: f64) -> f64 {
        WORST + (BEST - WORST) / (1.0 + (self.slope * (self.middle - sum)).exp())
    }
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What is usual of each number.
    pub usual: Vec<f32>,
    /// How far each spreads.
    pub spread: Vec<f32>,
    /// The opinion, 0 to 1.
    pub opinion: Linear,
    /// The logarithm of the error that is to be expected.
    pub error: Linear,
    /// From the opinion to the score.
    pub link: Link,
    /// Half the width of the interval, in expected errors.
    pub width: f64,
    /// The mean square of standardized numbers that 19 of 20 images are below.
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
    /// The score of an image of which this was measured.
    pub fn judge(&self, features: &[f32]) -> Judgment {
        let standard = self.standardize(features);
        let score = self.link.score(self.opinion.of(&standard));
        let unusual = self.unusual(&standard);
        let half = self.width * expected_error(self.error.of(&standard), unusual);
        Judgment { score, low: (score - half).max(WORST), high: (score + half).min(BEST), unusual }
    }

    /// Numbers as distances from what is usual, in spreads.
    pub fn standardize(&self, features: &[f32]) -> Vec<f32> {
        let usual = self.usual.iter().zip(&self.spread);
        features
            .iter()
            .zip(usual)
            .map(|(number, (usual, spread))| ((number - usual) / spread).clamp(-FARTHEST, FARTHEST))
            .collect()
    }

    /// How unlike the images of the training an image is.
    pub fn unusual(&self, standard: &[f32]) -> f64 {
        mean_square(standard) / self.common
    }

    /// The bytes of the model.
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

    /// What tells the model that is built in from others.
    pub fn fingerprint() -> String {
        model_file::fingerprint(BYTES)
    }

    /// Reads a model; a damaged file is refused.
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

/// The mean of the squares of standardized numbers: about 1 on the images of the training.
pub fn mean_square(standard: &[f32]) -> f64 {
    standard.iter().map(|number| f64::from(number * number)).sum::<f64>() / standard.len().max(1) as f64
}

/// The error that is to be expected, larger the more unusual the image is.
pub fn expected_error(logarithm: f64, unusual: f64) -> f64 {
    logarithm.exp() * unusual.max(1.0)
}
