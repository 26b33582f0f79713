//! The fitted model, its file, and the way from measurements to a score with its interval.
//!
//! The file, little endian: a line of JSON ([`Header`]), the centers (f32), their weights (f64), the precision (f32, lower
//! triangle row by row), and the SHA-256 of all of it. `agenticiqa-fit fusion` makes it.

use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, FEATURES, MEMBERS, STATISTICS, features};
use super::{Curve, Ladder, Posterior, Triangle, Unusable};
use crate::model_file;

/// The model that is built in.
pub(super) static BYTES: &[u8] = include_bytes!("../../../models/fused-fr.bin");

/// The score of an image that cannot be told from its reference.
pub const BEST: f64 = 5.0;
/// The score of an image of which nothing is left.
pub const WORST: f64 = 1.0;

/// The form of the file, and of the way from measurements to a score.
const VERSION: u32 = 1;
/// The most support points that a file may have.
const MOST_CENTERS: usize = 1000;
/// Corrections and uncertainty fade within about this distance from the best score: an image that is almost its reference is
/// almost certainly as good.
const FADING: f64 = 0.25;

/// A score from 1 to 5 and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgment {
    /// The score.
    pub score: f64,
    /// The lower end of the interval that holds nine of ten mean opinions.
    pub low: f64,
    /// The upper end of it.
    pub high: f64,
    /// What the panel says, without correction.
    pub panel: f64,
    /// How much of the correction counts: 1 for images like those of the training, 0 for others.
    pub trust: f64,
}

impl Judgment {
    /// What identical images get.
    pub const IDENTICAL: Self = Self { score: BEST, low: BEST, high: BEST, panel: BEST, trust: 1.0 };
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// From distances to scores, in the order of [`MEMBERS`].
    pub curves: [Curve; MEMBERS.len()],
    /// From the mean of the panel to opinions.
    pub ladder: Ladder,
    /// What features are divided by.
    pub scale: [f64; FEATURES],
    /// The correction.
    pub posterior: Posterior,
    /// Half the width of the interval where everything is known.
    pub half_width: f64,
    /// How fast its square grows with what is unknown.
    pub spread: f64,
}

/// The first line of the file.
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

/// How much of corrections and uncertainty counts at a mean of the panel.
pub fn fading(panel: f64) -> f64 {
    -((panel - BEST).min(0.0) / FADING).exp_m1()
}

impl Model {
    /// The score of a pair of which this was measured.
    pub fn judge(&self, evidence: &Evidence) -> Judgment {
        let (mean, scaled) = self.scaled(evidence);
        let (correction, variance) = self.posterior.predict(&scaled);
        let (panel, fading, trust) = (self.ladder.opinion(mean), fading(mean), 1.0 - variance);
        let score = (panel + fading * trust * correction).clamp(WORST, BEST);
        let half = fading * self.half_width * (1.0 + self.spread * variance).sqrt();
        Judgment { score, low: (score - half).max(WORST), high: (score + half).min(BEST), panel, trust }
    }

    /// How much of the uncertainty of a pair counts.
    pub fn fading(&self, evidence: &Evidence) -> f64 {
        fading(self.scaled(evidence).0)
    }

    fn scaled(&self, evidence: &Evidence) -> (f64, [f64; FEATURES]) {
        let (panel, mut features) = features(evidence, &self.curves);
        features.iter_mut().zip(self.scale).for_each(|(feature, scale)| *feature /= scale);
        (panel, features)
    }

    /// The bytes of the model.
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

    /// Reads a model; a file that is damaged, or made for other measurements, is refused.
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

    /// The checksum of the model that is built in, by which its scores are known.
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
