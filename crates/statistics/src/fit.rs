//! Fits the five-parameter logistic to scores and opinions: robust start values, then the
//! Levenberg-Marquardt method.
//!
//! For a given slope and midpoint of the logistic, the other three parameters are a linear
//! problem. A coarse grid of slopes and midpoints is solved exactly, and the search continues from
//! the best few. No start value is guessed.

use crate::curve::Curve;
use crate::family::{Family, FlatMiddle, Settled, WithLine, WithoutLine};
use crate::least_squares::{levenberg_marquardt, linear};
use crate::residuals::root_mean_square;

/// Constraints on the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// No constraint: the usual fit before a linear correlation.
    Free,
    /// The curve never falls, over all numbers.
    Rising,
    /// The curve never rises, over all numbers.
    Falling,
}

/// The result of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The fitted curve.
    pub curve: Curve,
    /// The root mean square difference.
    pub residual: f64,
    /// Whether the best unconstrained curve was rejected for one that satisfies the constraint.
    pub constrained: bool,
}

/// Why a fit failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// There are too few rows for five parameters.
    #[error("{0} scores are too few for five parameters: at least {MINIMUM} are needed")]
    TooFew(usize),
    /// All scores are equal.
    #[error("all scores are equal")]
    Constant,
    /// No curve in the requested direction follows the data.
    #[error("the scores run in the opposite direction of the opinions")]
    Direction,
}

/// Minimum number of rows: two per parameter.
const MINIMUM: usize = 10;
const ITERATIONS: usize = 300;
/// A steeper logistic is a step between two neighbors. It follows noise and is used only if there
/// is no other curve.
const STEP: f64 = 30.0;
/// Fits the curve to `y` over `x`.
pub fn fit(x: &[f64], y: &[f64], shape: Shape) -> Result<Fit, FitError> {
    let scaled = Scaled::new(x, y)?;
    let allowed = |curve: &Curve| match shape {
        Shape::Free => true,
        Shape::Rising => curve.never_falls(),
        Shape::Falling => curve.never_rises(),
    };
    // If the best free curve is not monotonic, the best monotonic one lies on a border: no line,
    // or a line that just compensates the logistic at its midpoint, or a line alone. These are
    // also curves of five parameters, and a search from other starts may have missed them.
    let families =
        [scaled.search(WithLine), scaled.search(WithoutLine), scaled.search(FlatMiddle), scaled.line()].concat();
    let mut rated: Vec<(bool, f64, Curve)> =
        families.into_iter().map(|curve| (curve.beta[1].abs() > STEP, scaled.cost(&curve), curve)).collect();
    rated.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // A step in the right direction may be chance, so it does not count.
    let fits = |(step, _, curve): &&(bool, f64, Curve)| allowed(curve) && (shape == Shape::Free || !step);
    let &(_, cost, best) = rated.iter().find(fits).ok_or(FitError::Direction)?;
    if shape != Shape::Free && best.beta[0] * best.beta[1] == 0.0 && best.beta[3] == 0.0 {
        return Err(FitError::Direction);
    }
    let constrained = rated.first().is_some_and(|(_, least, _)| cost > least * (1.0 + 1e-9));
    Ok(scaled.finish(best, constrained))
}

/// Fits the curve from a known curve nearby, such as the fit of the whole sample for a resample.
pub fn fit_from(start: &Curve, x: &[f64], y: &[f64]) -> Result<Curve, FitError> {
    let scaled = Scaled::new(x, y)?;
    let [b1, b2, b3, b4, b5] = start.scaled(scaled.center, scaled.spread).beta;
    let settled = Settled { family: WithLine, x: &scaled.x, y: scaled.y };
    let found = levenberg_marquardt(&scaled.x, scaled.y, [b2, b3, b1, b4, b5], 40, &settled);
    Ok(WithLine.curve(&found.parameters).unscaled(scaled.center, scaled.spread))
}

/// Scores in standard deviations from their mean, so that one grid and one damping suit all
/// metrics.
struct Scaled<'a> {
    x: Vec<f64>,
    y: &'a [f64],
    center: f64,
    spread: f64,
}

impl<'a> Scaled<'a> {
    fn new(x: &[f64], y: &'a [f64]) -> Result<Self, FitError> {
        if x.len() < MINIMUM || x.len() != y.len() {
            return Err(FitError::TooFew(x.len().min(y.len())));
        }
        let center = x.iter().sum::<f64>() / x.len() as f64;
        let spread = (x.iter().map(|x| (x - center) * (x - center)).sum::<f64>() / x.len() as f64).sqrt();
        if spread.is_nan() || spread <= 1e-12 * center.abs() || x.iter().all(|value| *value == x[0]) {
            return Err(FitError::Constant);
        }
        Ok(Self { x: x.iter().map(|x| (x - center) / spread).collect(), y, center, spread })
    }

    fn cost(&self, curve: &Curve) -> f64 {
        self.x.iter().zip(self.y).map(|(x, y)| (y - curve.at(*x)).powi(2)).sum()
    }

    fn finish(&self, curve: Curve, constrained: bool) -> Fit {
        let residual = root_mean_square(&curve.map(&self.x), self.y);
        Fit { curve: curve.unscaled(self.center, self.spread), residual, constrained }
    }

    /// Runs the search in a family from several starts.
    fn search<F: Family<P>, const P: usize>(&self, family: F) -> Vec<Curve> {
        let settled = Settled { family, x: &self.x, y: self.y };
        let end = |start| levenberg_marquardt(&self.x, self.y, start, ITERATIONS, &settled).parameters;
        settled.starts().into_iter().map(|start| settled.family.curve(&end(start))).collect()
    }

    /// Fits a line alone.
    fn line(&self) -> Vec<Curve> {
        let weights = linear(self.y, |row| [self.x[row], 1.0]);
        weights.into_iter().map(|[b4, b5]| Curve { beta: [0.0, 1.0, 0.0, b4, b5] }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::sigmoid;
    use crate::random::Random;

    fn noisy(count: usize, seed: u64, noise: f64, curve: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::new(seed);
        let mut unit = || random.next_bits() as f64 / u64::MAX as f64;
        (0..count)
            .map(|_| {
                let x = unit();
                (x, curve(x) + noise * (unit() + unit() - 1.0))
            })
            .unzip()
    }

    #[test]
    fn a_curve_without_noise_is_found_at_any_scale() {
        let truth = Curve { beta: [3.0, 12.0, 0.6, 0.8, 2.0] };
        let (x, y) = noisy(200, 1, 0.0, |x| truth.at(x));
        for scale in [1e-4, 1.0, 1e5] {
            let stretched: Vec<f64> = x.iter().map(|x| x * scale - 40.0 * scale).collect();
            let found = fit(&stretched, &y, Shape::Rising).unwrap();
            assert!(found.residual < 1e-6 && !found.constrained, "{found:?}");
        }
    }

    #[test]
    fn curves_never_turn_where_they_must_not() {
        // A hump at the end makes the free fit turn.
        let (x, y) = noisy(400, 2, 0.5, |x| 1.0 + 4.0 * x - 3.0 * (x - 0.7).max(0.0) * 3.0);
        let free = fit(&x, &y, Shape::Free).unwrap();
        assert!(!free.curve.never_falls());
        let rising = fit(&x, &y, Shape::Rising).unwrap();
        assert!(rising.curve.never_falls() && rising.constrained);
        assert!(rising.residual >= free.residual);
        let values: Vec<f64> = (-100..200).map(|i| rising.curve.at(f64::from(i) / 100.0)).collect();
        assert!(values.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9));
    }

    #[test]
    fn falling_data_get_a_falling_curve_and_the_wrong_way_is_refused() {
        let (x, y) = noisy(300, 3, 0.4, |x| 5.0 - 4.0 * sigmoid(10.0 * (x - 0.4)));
        let found = fit(&x, &y, Shape::Falling).unwrap();
        assert!(found.curve.never_rises() && found.residual < 0.25, "{found:?}");
        assert_eq!(fit(&x, &y, Shape::Rising), Err(FitError::Direction));
    }

    #[test]
    fn a_free_curve_is_never_worse_than_one_that_may_not_turn() {
        for seed in 0..30 {
            let (x, y) = noisy(120, seed, 1.5, |x| 2.0 + 2.0 * x + 0.5 * (7.0 * x).sin());
            let (free, rising) = (fit(&x, &y, Shape::Free).unwrap(), fit(&x, &y, Shape::Rising).unwrap());
            assert!(free.residual <= rising.residual && rising.curve.never_falls(), "{seed}: {free:?} {rising:?}");
            assert_eq!(rising.constrained, free.residual < rising.residual * (1.0 - 1e-9), "{seed}");
        }
    }

    #[test]
    fn too_little_is_refused_with_a_reason() {
        assert_eq!(fit(&[1.0; 5], &[1.0; 5], Shape::Free), Err(FitError::TooFew(5)));
        assert_eq!(fit(&[1.0; 20], &[1.0; 20], Shape::Free), Err(FitError::Constant));
    }

    #[test]
    fn a_resample_is_fitted_from_the_whole() {
        let (x, y) = noisy(500, 4, 0.6, |x| 1.0 + 4.0 * sigmoid(9.0 * (x - 0.5)));
        let whole = fit(&x, &y, Shape::Free).unwrap();
        let again = fit_from(&whole.curve, &x, &y).unwrap();
        for x in [0.0, 0.3, 0.6, 1.0] {
            assert!((again.at(x) - whole.curve.at(x)).abs() < 1e-4);
        }
    }
}
