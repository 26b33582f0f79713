//! The five-parameter logistic that is standard in quality assessment (Sheikh, Sabir, Bovik,
//! 2006): `b1 * (1/2 - 1/(1 + exp(b2 * (x - b3)))) + b4 * x + b5`.

use serde::{Deserialize, Serialize};

/// The sum of a logistic and a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Height, slope and midpoint of the logistic, then slope and offset of the line.
    pub beta: [f64; 5],
}

impl Curve {
    /// Returns the value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let [b1, b2, b3, b4, b5] = self.beta;
        let line = if b4 == 0.0 { 0.0 } else { b4 * x };
        b1 * (sigmoid(b2 * (x - b3)) - 0.5) + line + b5
    }

    /// Returns the values at all of `x`.
    pub fn map(&self, x: &[f64]) -> Vec<f64> {
        x.iter().map(|x| self.at(*x)).collect()
    }

    /// Whether the curve never falls, over all numbers. Its slope is smallest at the midpoint or
    /// far out.
    pub fn never_falls(&self) -> bool {
        let [b1, b2, _, b4, _] = self.beta;
        b4 >= 0.0 && b1 * b2 / 4.0 + b4 >= -1e-12 * b4.abs()
    }

    /// Whether the curve never rises, over all numbers.
    pub fn never_rises(&self) -> bool {
        let [b1, b2, b3, b4, b5] = self.beta;
        Self { beta: [-b1, b2, b3, -b4, -b5] }.never_falls()
    }

    /// Converts a curve over `(x - center) / spread` to the same curve over `x`.
    pub(crate) fn unscaled(&self, center: f64, spread: f64) -> Self {
        let [b1, b2, b3, b4, b5] = self.beta;
        Self { beta: [b1, b2 / spread, center + spread * b3, b4 / spread, b5 - b4 * center / spread] }
    }

    /// The inverse of [`unscaled`](Self::unscaled).
    pub(crate) fn scaled(&self, center: f64, spread: f64) -> Self {
        let [b1, b2, b3, b4, b5] = self.beta;
        Self { beta: [b1, b2 * spread, (b3 - center) / spread, b4 * spread, b5 + b4 * center] }
    }
}

/// The logistic function.
pub(crate) fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_followed() {
        let curve = Curve { beta: [94.4202, 64.9155, 1.0664, 2.8744, 47.6819] };
        let by_hand = |x: f64| 94.4202 * (0.5 - 1.0 / (1.0 + (64.9155 * (x - 1.0664)).exp())) + 2.8744 * x + 47.6819;
        for x in [-3.0, 0.3, 0.6993, 0.9978, 1.2] {
            assert!((curve.at(x) - by_hand(x)).abs() < 1e-12);
        }
    }

    #[test]
    fn scaling_there_and_back_changes_nothing() {
        let curve = Curve { beta: [2.0, 0.3, 25.0, 0.05, 1.0] };
        let round = curve.scaled(30.0, 7.0).unscaled(30.0, 7.0);
        for x in [0.0, 20.0, 31.0, 100.0] {
            assert!((curve.at(x) - round.at(x)).abs() < 1e-12);
            assert!((curve.scaled(30.0, 7.0).at((x - 30.0) / 7.0) - curve.at(x)).abs() < 1e-12);
        }
    }

    #[test]
    fn directions_are_told_by_the_least_slope() {
        let direction = |beta: [f64; 5]| (Curve { beta }.never_falls(), Curve { beta }.never_rises());
        assert_eq!(direction([4.0, 2.0, 0.0, 0.1, 0.0]), (true, false));
        assert_eq!(direction([4.0, -2.0, 0.0, 0.0, 0.0]), (false, true));
        assert_eq!(direction([4.0, 2.0, 0.0, -0.1, 0.0]), (false, false));
        assert_eq!(direction([-4.0, 2.0, 0.0, 1.0, 0.0]), (false, false));
        assert_eq!(direction([-4.0, 2.0, 0.0, 2.0, 0.0]), (true, false));
    }
}
