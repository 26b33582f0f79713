//! The fitted model, its file format, and the computation of the score and its interval.
//!
//! File format (little endian): one line of JSON ([`Header`]), the centers (f32), their weights
//! (f64), the precision (f32, lower triangle row by row), and the SHA-256 of everything before it.
//! `agenticiqa-fit fusion` writes the file.

use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, FEATURES, MEMBERS, STATISTICS, features};
use super::{Curve, Ladder, Posterior, Triangle, Unusable};
use crate::model_file;

/// Bytes of the built-in model.
pub(super) static BYTES: &[u8] = include_bytes!("../../../models/fused-fr.bin");

/// Score of an image that looks identical to its reference.
pub const BEST: f64 = 5.0;
/// Score of an image whose content is lost.
pub const WORST: f64 = 1.0;

/// Version of the file format and of the computation.
const VERSION: u32 = 1;
/// Maximum number of support points in a file.
const MOST_CENTERS: usize = 1000;
/// Corrections and uncertainty shrink to zero within about this distance from the best score,
/// because an image almost identical to its reference is almost certainly as good.
const FADING: f64 = 0.25;

/// A score from 1 to 5 with its interval and the values behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgment {
    /// The score.
    pub score: f64,
    /// Lower end of the 90% prediction interval of the mean opinion.
    pub low: f64,
    /// Upper end of the 90% prediction interval of the mean opinion.
    pub high: f64,
    /// The score of the panel alone, without the correction.
    pub panel: f64,
    /// Weight of the correction: 1 for images like the training data, 0 for images unlike it.
    pub trust: f64,
}

impl Judgment {
    /// The judgment of identical images.
    pub const IDENTICAL: Self = Self { score: BEST, low: BEST, high: BEST, panel: BEST, trust: 1.0 };
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Curves from distances to scores, in the order of [`MEMBERS`].
    pub curves: [Curve; MEMBERS.len()],
    /// Map from the panel mean to the mean opinion.
    pub ladder: Ladder,
    /// Divisor of each feature.
    pub scale: [f64; FEATURES],
    /// Gaussian process that predicts the correction.
    pub posterior: Posterior,
    /// Half the width of the interval for images like the training data.
    pub half_width: f64,
    /// Growth of the squared width with the variance of the process.
    pub spread: f64,
}

/// First line of the model file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    members: Vec<String>,
    statistics: Vec<String>,
    centers: usize,
    half_width: f64,
    spread: f64,
    curves: [Curve; MEMBERS.len()],
    ladder: Ladder,
    scale: [f64; FEATURES],
}

/// Returns the factor from 0 to 1 that scales correction and uncertainty at a panel mean.
pub fn fading(panel: f64) -> f64 {
    -((panel - BEST).min(0.0) / FADING).exp_m1()
}

impl Model {
    /// Returns the score and interval for the measurements of a pair.
    pub fn judge(&self, evidence: &Evidence) -> Judgment {
        let (mean, scaled) = self.scaled(evidence);
        let (correction, variance) = self.posterior.predict(&scaled);
        let (panel, fading, trust) = (self.ladder.opinion(mean), fading(mean), 1.0 - variance);
        let score = (panel + fading * trust * correction).clamp(WORST, BEST);
        let half = fading * self.half_width * (1.0 + self.spread * variance).sqrt();
        Judgment { score, low: (score - half).max(WORST), high: (score + half).min(BEST), panel, trust }
    }

    /// Returns the factor from 0 to 1 that scales the uncertainty of a pair.
    pub fn fading(&self, evidence: &Evidence) -> f64 {
        fading(self.scaled(evidence).0)
    }

    fn scaled(&self, evidence: &Evidence) -> (f64, [f64; FEATURES]) {
        let (panel, mut features) = features(evidence, &self.curves);
        features.iter_mut().zip(self.scale).for_each(|(feature, scale)| *feature /= scale);
        (panel, features)
    }

    /// Serializes the model.
    pub fn write(&self) -> Result<Vec<u8>, Unusable> {
        let header = Header {
            version: VERSION,
            members: MEMBERS.iter().map(|member| member.name().to_owned()).collect(),
            statistics: STATISTICS.map(str::to_owned).to_vec(),
            centers: self.posterior.centers().len(),
            half_width: self.half_width,
            spread: self.spread,
            curves: self.curves,
            ladder: self.ladder.clone(),
            scale: self.scale,
        };
        let centers = self.posterior.centers().iter().flatten().flat_map(|number| number.to_le_bytes());
        let weights = self.posterior.weights().iter().flat_map(|number| number.to_le_bytes());
        let precision = self.posterior.precision().rows().iter().flat_map(|&number| (number as f32).to_le_bytes());
        model_file::seal(&header, centers.chain(weights).chain(precision)).map_err(Unusable)
    }

    /// Reads a model. Damaged files and files fitted to other measurements are rejected.
    pub fn read(bytes: &[u8]) -> Result<Self, Unusable> {
        let refused = |reason: &str| Unusable(reason.to_owned());
        let (header, mut rest): (Header, _) = model_file::open(bytes).map_err(Unusable)?;
        header.check().map_err(refused)?;
        let count = header.centers;
        let centers = floats(take(&mut rest, 4 * FEATURES * count)?);
        let weights = take(&mut rest, 8 * count)?.as_chunks::<8>().0.iter().map(|&word| f64::from_le_bytes(word));
        let weights = weights.collect();
        let precision = floats(take(&mut rest, 4 * Triangle::count(count))?).map(f64::from).collect();
        if !rest.is_empty() {
            return Err(refused("it is too long"));
        }
        let centers: Vec<f32> = centers.collect();
        let centers = centers.as_chunks::<FEATURES>().0.to_vec();
        let posterior = Triangle::from_rows(count, precision)
            .and_then(|precision| Posterior::new(centers, weights, precision))
            .ok_or_else(|| refused("its numbers make no sense"))?;
        let Header { curves, ladder, scale, half_width, spread, .. } = header;
        Ok(Self { curves, ladder, scale, posterior, half_width, spread })
    }

    /// Returns the SHA-256 of the built-in model, which identifies the scores that it produces.
    pub fn fingerprint() -> String {
        model_file::fingerprint(BYTES)
    }
}

impl Header {
    fn check(&self) -> Result<(), &'static str> {
        if self.version != VERSION {
            return Err("it is of another version: run agenticiqa-fit fusion");
        }
        let members = self.members.iter().map(String::as_str).eq(MEMBERS.iter().map(|member| member.name()));
        if !members || self.statistics != STATISTICS {
            return Err("it was fitted to other measurements: run agenticiqa-fit fusion");
        }
        let positive = |number: f64| number.is_finite() && number > 0.0;
        let sound = self.curves.iter().all(Curve::is_sound)
            && self.ladder.is_sound()
            && self.scale.iter().all(|&scale| positive(scale))
            && positive(self.half_width)
            && self.spread.is_finite()
            && self.spread >= 0.0
            && (1..=MOST_CENTERS).contains(&self.centers);
        if sound { Ok(()) } else { Err("its numbers make no sense") }
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], Unusable> {
    let (head, tail) = rest.split_at_checked(count).ok_or_else(|| Unusable("it is cut short".to_owned()))?;
    *rest = tail;
    Ok(head)
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word))
}

#[cfg(test)]
mod tests;
