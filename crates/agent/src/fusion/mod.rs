//! Fuses the scores of the tools with the judgment of the reasoner.
//!
//! The tools weight each quality level by its distance from their mean score. The reasoner assigns
//! a probability to each level. The fused score is the mean of the levels under the normalized
//! product of both.

mod estimate;

use garde::Validate;
use serde::Deserialize;

use agenticiqa_vlm::rules::within;

pub use estimate::{Estimate, counted};

/// The parameters of the fusion.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "eta and levels")]
pub struct Fusion {
    /// How fast the weight of a level decreases with its distance from the mean tool score.
    #[garde(custom(within(1e-6, 1e6)))]
    pub eta: f64,
    /// The scores of the five quality levels, worst first.
    #[garde(custom(rising))]
    pub levels: [f64; 5],
}

fn rising(levels: &[f64; 5], _: &()) -> garde::Result {
    let rises = levels.windows(2).all(|pair| pair[0] < pair[1]);
    if rises && levels[0] >= 1.0 && levels[4] <= 5.0 {
        Ok(())
    } else {
        Err(garde::Error::new("must be five numbers from 1 to 5, each larger than the one before"))
    }
}

impl Default for Fusion {
    fn default() -> Self {
        Self { eta: 1.0, levels: [1.0, 2.0, 3.0, 4.0, 5.0] }
    }
}

/// The probability of a level named without log-probabilities; the other levels share the rest.
const NAMED: f64 = 0.7;

impl Fusion {
    /// Returns the fused score. Without tool scores all levels have equal weight; without
    /// probabilities all levels are equally likely.
    pub fn score(&self, tools: Option<f64>, probabilities: Option<&[f64; 5]>) -> f64 {
        let logarithms: [f64; 5] = std::array::from_fn(|level| {
            let weight = tools.map_or(0.0, |mean| -self.eta * (mean - self.levels[level]).powi(2));
            weight + probabilities.map_or(0.0, |probabilities| probabilities[level].ln())
        });
        // Subtract the largest exponent, so that at least one weight stays above zero.
        let largest = logarithms.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let weights = logarithms.map(|logarithm| (logarithm - largest).exp());
        let total: f64 = weights.iter().sum();
        weights.iter().zip(self.levels).map(|(weight, level)| weight * level).sum::<f64>() / total
    }

    /// Returns the weights of the levels for a tool score. They add up to 1.
    pub fn weights(&self, tools: f64) -> [f64; 5] {
        // Relative to the nearest level, so that at least one weight stays above zero.
        let distances = self.levels.map(|level| (tools - level).powi(2));
        let nearest = distances.into_iter().fold(f64::INFINITY, f64::min);
        let weights = distances.map(|distance| (self.eta * (nearest - distance)).exp());
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    }

    /// Returns the probabilities when only a level was named.
    pub fn named(level: usize) -> [f64; 5] {
        std::array::from_fn(|other| if other == level { NAMED } else { (1.0 - NAMED) / 4.0 })
    }

    /// Returns probabilities from log-probabilities. Levels without a log-probability get zero.
    pub fn softmax(logarithms: [Option<f64>; 5]) -> Option<[f64; 5]> {
        let largest = logarithms.into_iter().flatten().reduce(f64::max).filter(|largest| largest.is_finite())?;
        let weights = logarithms.map(|logarithm| logarithm.map_or(0.0, |logarithm| (logarithm - largest).exp()));
        let total: f64 = weights.iter().sum();
        Some(weights.map(|weight| weight / total))
    }
}

/// Returns the mean of the scores, or nothing if there are none.
pub fn mean(scores: &[f64]) -> Option<f64> {
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_score() {
        for fusion in [Fusion::default(), Fusion { eta: 40.0, levels: [1.0, 1.5, 3.0, 4.0, 4.5] }] {
            for tools in [1.0, 2.3, 4.99] {
                let weights = fusion.weights(tools);
                let mean: f64 = weights.iter().zip(fusion.levels).map(|(weight, level)| weight * level).sum();
                assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!((mean - fusion.score(Some(tools), None)).abs() < 1e-12, "{fusion:?} {tools}");
            }
        }
    }

    #[test]
    fn the_formula_of_the_paper_normalized() {
        // By hand: the tools say 3.5, the reasoner gives level 4 a probability of 0.7.
        let probabilities = Fusion::named(3);
        let a = |c: f64| (-(3.5 - c) * (3.5 - c)).exp();
        let products: Vec<f64> = (0..5).map(|level| a(level as f64 + 1.0) * probabilities[level]).collect();
        let expected = products.iter().enumerate().map(|(level, product)| product * (level as f64 + 1.0)).sum::<f64>()
            / products.iter().sum::<f64>();
        let score = Fusion::default().score(Some(3.5), Some(&probabilities));
        assert!((score - expected).abs() < 1e-12);
        assert!((3.8..4.0).contains(&score), "{score}");
    }

    #[test]
    fn without_evidence_the_score_is_the_middle_and_without_probabilities_it_follows_the_tools() {
        let fusion = Fusion::default();
        assert!((fusion.score(None, None) - 3.0).abs() < 1e-12);
        assert!((fusion.score(Some(3.0), None) - 3.0).abs() < 1e-12);
        assert!(fusion.score(Some(1.2), None) < 1.5);
        assert!(fusion.score(Some(4.9), None) > 4.5);
    }

    #[test]
    fn extreme_weights_stay_within_the_levels() {
        let sharp = Fusion { eta: 1e6, ..Fusion::default() };
        let certain = [1.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(sharp.score(Some(5.0), Some(&certain)), 1.0);
        assert!((sharp.score(Some(2.4), None) - 2.0).abs() < 1e-9);
        for tools in [-1e9, 1e9] {
            assert!((1.0..=5.0).contains(&sharp.score(Some(tools), None)));
        }
    }

    #[test]
    fn log_probabilities_become_probabilities() {
        let probabilities = Fusion::softmax([None, None, Some(-1000.0), Some(-1000.7), None]).unwrap();
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((probabilities[2] - 1.0 / (1.0 + (-0.7_f64).exp())).abs() < 1e-12);
        assert_eq!(Fusion::softmax([None; 5]), None);
    }
}
