//! Curve that maps the distance of one metric to a score from 1 to 5.

use serde::{Deserialize, Serialize};

use super::model::{BEST, WORST};

/// Distances below this count as zero.
const NEGLIGIBLE: f64 = 1e-12;
/// Limit of the exponent: larger values do not change the score and would overflow.
const STEEPEST: f64 = 60.0;

/// The curve `1 + 4 / (1 + (distance / middle)^slope)`: 5 at distance 0, 3 at `middle`, never
/// rising.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Natural logarithm of the distance that scores 3.
    pub log_middle: f64,
    /// Steepness of the curve at that distance.
    pub slope: f64,
}

impl Curve {
    /// Returns the score from 1 to 5 for a distance.
    pub fn score(&self, distance: f64) -> f64 {
        if distance <= NEGLIGIBLE {
            return BEST;
        }
        let exponent = self.slope * (distance.ln() - self.log_middle);
        WORST + (BEST - WORST) / (1.0 + exponent.clamp(-STEEPEST, STEEPEST).exp())
    }

    pub(super) fn is_sound(&self) -> bool {
        self.log_middle.is_finite() && self.slope.is_finite() && self.slope > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_falls_from_five_through_three_to_one() {
        let curve = Curve { log_middle: 0.2f64.ln(), slope: 1.5 };
        assert_eq!(curve.score(0.0), 5.0);
        assert!((curve.score(0.2) - 3.0).abs() < 1e-12);
        let scores: Vec<f64> = (0..200).map(|step| curve.score(f64::from(step) * 0.01)).collect();
        assert!(scores.windows(2).all(|pair| pair[1] < pair[0]));
        assert!((curve.score(f64::INFINITY) - 1.0).abs() < 1e-12);
    }
}
