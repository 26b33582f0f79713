//! Measurements behind Fused-FR: the distances of seven metrics, and six statistics of tone and
//! color.

use rayon::prelude::*;

use super::{Curve, Error};
use agenticiqa_metrics::{Comparison, Direction, Gmsd, HaarPsi, Mdsi, Metric, Nlpd, Pair, PsnrY, Ssim, Vsi};

/// A metric that Fused-FR uses.
#[derive(Debug, Clone, Copy)]
pub struct Member(&'static dyn Metric);

/// The metrics that Fused-FR uses: the most accurate ones that run in milliseconds and accept
/// small images.
pub const MEMBERS: [Member; 7] = [
    Member(&Vsi::DEFAULT),
    Member(&Mdsi::DEFAULT),
    Member(&HaarPsi::DEFAULT),
    Member(&Gmsd::DEFAULT),
    Member(&Nlpd::DEFAULT),
    Member(&Ssim::DEFAULT),
    Member(&PsnrY::DEFAULT),
];

/// Number of leading [`MEMBERS`] that form the panel. The mean of the panel is the score for
/// images unlike the training data.
pub const PANEL: usize = 3;

/// Names of the tone and color statistics.
pub const STATISTICS: [&str; 6] =
    ["luma_shift", "luma_std_ratio", "affine_gain", "affine_residual", "chroma_ratio", "chroma_rmse"];

/// Number of features of the Gaussian process: each member's score minus the panel mean, the panel
/// mean, and the tone and color statistics.
pub const FEATURES: usize = MEMBERS.len() + 1 + STATISTICS.len();

/// Brightness shifts count linearly up to about this many levels, and logarithmically beyond.
const SHIFT: f64 = 10.0;
/// The largest possible difference between two 8-bit samples.
const PEAK: f64 = 255.0;
/// Ratios are clamped to this factor and its inverse.
const RATIO: f64 = 20.0;

impl Member {
    /// Returns the name of the metric.
    pub fn name(self) -> &'static str {
        self.0.info().name
    }

    /// Returns the distance between a score and the score of identical images.
    pub fn distance(self, score: f64) -> f64 {
        match self.0.info() {
            // Converts decibels back to the root mean squared error, in levels.
            info if info.unit == "dB" => PEAK * 10f64.powf(-score / 20.0),
            info if info.direction == Direction::LowerIsBetter => score.max(0.0),
            _ => (1.0 - score).max(0.0),
        }
    }

    fn measure(self, pair: &Pair<'_>) -> Result<f64, Error> {
        let member = self.name();
        let score = self.0.measure(pair).map_err(|source| Error::Member { member, source })?.score;
        let distance = self.distance(score);
        if distance.is_finite() { Ok(distance) } else { Err(Error::NoNumber { member }) }
    }
}

/// All measurements of one image pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Metric distances, in the order of [`MEMBERS`].
    pub distances: [f64; MEMBERS.len()],
    /// Tone and color statistics, in the order of [`STATISTICS`].
    pub statistics: [f64; STATISTICS.len()],
}

impl Evidence {
    /// Measures a pair with every member, in parallel.
    pub fn measure(pair: &Pair<'_>, comparison: &Comparison) -> Result<Self, Error> {
        let measured: Vec<f64> =
            MEMBERS.into_par_iter().map(|member| member.measure(pair)).collect::<Result<_, Error>>()?;
        let mut distances = [0.0; MEMBERS.len()];
        distances.copy_from_slice(&measured);
        let Comparison { luma_shift, luma_std_ratio, affine_gain, affine_residual, chroma_ratio, chroma_rmse, .. } =
            *comparison;
        let statistics = [luma_shift, luma_std_ratio, affine_gain, affine_residual, chroma_ratio, chroma_rmse];
        Ok(Self { distances, statistics })
    }

    /// Returns the score of each member from 1 to 5.
    pub fn scores(&self, curves: &[Curve; MEMBERS.len()]) -> [f64; MEMBERS.len()] {
        let mut scores = self.distances;
        scores.iter_mut().zip(curves).for_each(|(score, curve)| *score = curve.score(*score));
        scores
    }
}

/// Returns the mean score of the panel and the features of the Gaussian process.
pub fn features(evidence: &Evidence, curves: &[Curve; MEMBERS.len()]) -> (f64, [f64; FEATURES]) {
    let scores = evidence.scores(curves);
    let panel = scores[..PANEL].iter().sum::<f64>() / PANEL as f64;
    let [shift, std_ratio, gain, residual, chroma_ratio, chroma_rmse] = evidence.statistics;
    let ratio = |ratio: f64| ratio.clamp(1.0 / RATIO, RATIO).ln();
    let tone = [
        (shift / SHIFT).asinh(),
        ratio(std_ratio),
        ratio(gain),
        residual.max(0.0).ln_1p(),
        ratio(chroma_ratio),
        chroma_rmse.max(0.0).ln_1p(),
    ];
    let mut features = [panel; FEATURES];
    features.iter_mut().zip(scores).for_each(|(feature, score)| *feature = score - panel);
    features[MEMBERS.len() + 1..].copy_from_slice(&tone);
    (panel, features)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Curve = Curve { log_middle: -2.0, slope: 1.0 };

    #[test]
    fn nothing_measured_is_five_and_no_change() {
        let evidence = Evidence { distances: [0.0; 7], statistics: [0.0, 1.0, 1.0, 0.0, 1.0, 0.0] };
        let (panel, features) = features(&evidence, &[CURVE; 7]);
        assert_eq!(panel, 5.0);
        assert_eq!(features, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn the_panel_is_the_mean_of_the_first_members_alone() {
        let mut evidence = Evidence { distances: [0.1; 7], statistics: [0.0, 1.0, 1.0, 0.0, 1.0, 0.0] };
        let (before, _) = features(&evidence, &[CURVE; 7]);
        evidence.distances[5] = 0.9;
        let (after, features) = features(&evidence, &[CURVE; 7]);
        assert_eq!(before, after);
        assert!(features[5] < 0.0 && features[4] == 0.0);
        let names: Vec<_> = MEMBERS[..PANEL].iter().map(|member| member.name()).collect();
        assert_eq!(names, ["VSI", "MDSI", "HaarPSI"]);
    }

    #[test]
    fn distances_are_zero_for_the_perfect_score_and_never_negative() {
        let perfect = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, f64::INFINITY];
        for (member, perfect) in MEMBERS.into_iter().zip(perfect) {
            assert_eq!(member.distance(perfect), 0.0, "{member:?}");
            assert!(member.distance(1.0 + 1e-9) >= 0.0 && member.distance(-0.1) >= 0.0);
        }
        assert!((MEMBERS[6].distance(20.0) - 25.5).abs() < 1e-9);
    }
}
