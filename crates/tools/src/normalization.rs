//! Maps raw scores to the scale from 1 (bad) to 5 (excellent), where higher is always better.

use serde::{Deserialize, Serialize};

/// Parameters of a logistic map: four betas (VQEG's form) or five (Sheikh's form, with a linear
/// term).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logistic {
    /// Upper asymptote (four betas) or height of the logistic (five).
    pub beta1: f64,
    /// Lower asymptote (four) or slope (five).
    pub beta2: f64,
    /// Raw score at the center of the curve.
    pub beta3: f64,
    /// Width (four) or slope of the linear term (five).
    pub beta4: f64,
    /// Offset; its presence selects the form with five betas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta5: Option<f64>,
}

impl Logistic {
    /// Checks that the parameters define a map.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let betas = [self.beta1, self.beta2, self.beta3, self.beta4, self.beta5.unwrap_or(0.0)];
        if betas.iter().any(|beta| !beta.is_finite()) {
            return Err("must be finite numbers");
        }
        if self.beta5.is_none() && self.beta4 == 0.0 {
            return Err("beta4 must not be 0: it is the width of the logistic");
        }
        Ok(())
    }

    fn map(&self, raw: f64) -> f64 {
        let Self { beta1, beta2, beta3, beta4, beta5 } = *self;
        match beta5 {
            Some(beta5) => {
                let logistic = 0.5 - 1.0 / (1.0 + (beta2 * (raw - beta3)).exp());
                let linear = if beta4 == 0.0 { 0.0 } else { beta4 * raw };
                beta1 * logistic + linear + beta5
            }
            None => (beta1 - beta2) / (1.0 + (-(raw - beta3) / beta4.abs()).exp()) + beta2,
        }
    }
}

/// The map from the raw scores of a tool to scores from 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// A fitted logistic map.
    Logistic(Logistic),
    /// A linear map between two raw scores.
    Linear {
        /// Raw score that maps to 1.
        worst: f64,
        /// Raw score that maps to 5.
        best: f64,
    },
    /// No map: a plain measurement, or a tool whose range is unknown.
    None,
}

impl Scale {
    /// Maps an interval of raw scores to the scale from 1 to 5, lower end first.
    pub fn normalize_interval(&self, (low, high): (f64, f64)) -> Option<[f64; 2]> {
        let (a, b) = (self.normalize(low)?, self.normalize(high)?);
        Some([a.min(b), a.max(b)])
    }

    /// Maps a raw score to the scale from 1 to 5; `None` without a scale or if the raw score is
    /// NaN.
    pub fn normalize(&self, raw: f64) -> Option<f64> {
        self.unclipped(raw).map(|score| score.clamp(1.0, 5.0))
    }

    /// Maps a raw score without clipping the result to 1..=5. Raw scores outside the fitted range
    /// can exceed it.
    pub fn unclipped(&self, raw: f64) -> Option<f64> {
        let score = match self {
            Self::Logistic(logistic) => logistic.map(raw),
            Self::Linear { worst, best } => 1.0 + 4.0 * (raw - worst) / (best - worst),
            Self::None => return None,
        };
        (!score.is_nan()).then_some(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSIM: Logistic =
        Logistic { beta1: 94.4202, beta2: 64.9155, beta3: 1.0664, beta4: 2.8744, beta5: Some(47.6819) };

    #[test]
    fn five_betas_follow_the_formula() {
        let scale = Scale::Logistic(SSIM);
        let by_hand = |x: f64| 94.4202 * (0.5 - 1.0 / (1.0 + (64.9155 * (x - 1.0664)).exp())) + 2.8744 * x + 47.6819;
        for raw in [0.3, 0.6993, 0.9978, 1.0] {
            assert!((scale.normalize(raw).unwrap() - by_hand(raw).clamp(1.0, 5.0)).abs() < 1e-12);
        }
        assert!(scale.normalize(1.0).unwrap() > scale.normalize(0.9).unwrap());
    }

    #[test]
    fn four_betas_follow_the_formula_and_use_the_size_of_the_width() {
        let logistic = |beta4| Scale::Logistic(Logistic { beta1: 5.0, beta2: 1.0, beta3: 0.5, beta4, beta5: None });
        assert_eq!(logistic(0.1).normalize(0.5), Some(3.0));
        assert_eq!(logistic(-0.1).normalize(0.7), logistic(0.1).normalize(0.7));
    }

    #[test]
    fn linear_scales_work_both_ways_and_are_clipped() {
        let falling = Scale::Linear { worst: 100.0, best: 0.0 };
        assert_eq!(falling.normalize(25.0), Some(4.0));
        assert_eq!(falling.normalize(1e9), Some(1.0));
        assert_eq!(falling.normalize(f64::NAN), None);
        assert_eq!(Scale::None.normalize(1.0), None);
    }

    #[test]
    fn infinite_scores_are_the_best() {
        let psnr =
            Logistic { beta1: 0.655782, beta2: 0.792617, beta3: 26.9908, beta4: 0.0632071, beta5: Some(1.46984) };
        assert_eq!(Scale::Logistic(psnr).normalize(f64::INFINITY), Some(5.0));
    }
}
