//! Sparse Gaussian process that predicts the correction and its variance.
//!
//! The kernel is `exp(-|x - y|^2 / 2)` on scaled features, with prior variance 1. A few support
//! points represent the training data (deterministic training conditional approximation: J.
//! Quiñonero-Candela, C. E. Rasmussen, JMLR 6, 2005).

use super::{FEATURES, Triangle};

/// Added to the diagonal, so that support points close to each other stay numerically stable.
const JITTER: f64 = 1e-6;

/// A fitted Gaussian process.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    centers: Vec<[f32; FEATURES]>,
    weights: Vec<f64>,
    /// Cholesky factor of the posterior precision, in the basis of `prior`.
    precision: Triangle,
    /// Cholesky factor of the kernel of the centers.
    prior: Triangle,
}

impl Posterior {
    /// Creates a process from the parts that [`write`](super::Model::write) stores; `None` if they
    /// do not fit together.
    pub fn new(centers: Vec<[f32; FEATURES]>, weights: Vec<f64>, precision: Triangle) -> Option<Self> {
        let finite = weights.iter().chain(precision.rows()).all(|number| number.is_finite());
        let sound = (0..precision.size()).all(|i| precision.rows()[Triangle::count(i + 1) - 1] >= 1.0);
        let fits = centers.len() == weights.len() && precision.size() == weights.len();
        let prior = prior(&centers)?;
        (fits && finite && sound).then_some(Self { centers, weights, precision, prior })
    }

    /// Fits a process to targets at scaled features. `noise` is the variance of the targets
    /// relative to that of the process. Returns `None` if a number is not finite.
    pub fn fit(
        centers: Vec<[f32; FEATURES]>,
        samples: &[[f64; FEATURES]],
        targets: &[f64],
        noise: f64,
    ) -> Option<Self> {
        let (size, prior) = (centers.len(), prior(&centers)?);
        let mut sums = vec![0.0; Triangle::count(size)];
        let mut weights = vec![0.0; size];
        for (sample, target) in samples.iter().zip(targets) {
            let basis = basis(&centers, &prior, sample);
            for (i, value) in basis.iter().enumerate() {
                weights[i] += value * target / noise;
                let row = &mut sums[Triangle::count(i)..Triangle::count(i + 1)];
                row.iter_mut().zip(&basis).for_each(|(sum, other)| *sum += value * other / noise);
            }
        }
        (0..size).for_each(|i| sums[Triangle::count(i + 1) - 1] += 1.0);
        let precision = Triangle::from_rows(size, sums)?.cholesky()?;
        precision.solve(&mut weights);
        precision.solve_transposed(&mut weights);
        // The file stores single precision, so the fit uses the same values.
        let rows = precision.rows().iter().map(|&number| f64::from(number as f32)).collect();
        Self::new(centers, weights, Triangle::from_rows(size, rows)?)
    }

    /// Returns the correction at scaled features and its variance, from 0 (known) to 1 (unknown).
    pub fn predict(&self, features: &[f64; FEATURES]) -> (f64, f64) {
        let mut basis = basis(&self.centers, &self.prior, features);
        let mean = basis.iter().zip(&self.weights).map(|(a, b)| a * b).sum();
        let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
        let explained = square(&basis);
        self.precision.solve(&mut basis);
        (mean, (1.0 - explained + square(&basis)).clamp(0.0, 1.0))
    }

    pub(super) fn centers(&self) -> &[[f32; FEATURES]] {
        &self.centers
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(super) fn precision(&self) -> &Triangle {
        &self.precision
    }
}

/// Returns the Cholesky factor of the kernel of the centers.
fn prior(centers: &[[f32; FEATURES]]) -> Option<Triangle> {
    let mut rows = Vec::with_capacity(Triangle::count(centers.len()));
    for (i, center) in centers.iter().enumerate() {
        let center = center.map(f64::from);
        rows.extend(centers[..i].iter().map(|other| kernel(other, &center)));
        rows.push(1.0 + JITTER);
    }
    Triangle::from_rows(centers.len(), rows)?.cholesky()
}

fn kernel(center: &[f32; FEATURES], features: &[f64; FEATURES]) -> f64 {
    let squared: f64 = center.iter().zip(features).map(|(&a, b)| (f64::from(a) - b).powi(2)).sum();
    (-0.5 * squared).exp()
}

/// Projects features onto the support points, in a basis in which these are independent.
fn basis(centers: &[[f32; FEATURES]], prior: &Triangle, features: &[f64; FEATURES]) -> Vec<f64> {
    let mut values: Vec<f64> = centers.iter().map(|center| kernel(center, features)).collect();
    prior.solve(&mut values);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: f64) -> [f64; FEATURES] {
        let mut features = [0.0; FEATURES];
        features[0] = position;
        features
    }

    #[test]
    fn it_follows_the_data_and_forgets_it_far_away() {
        let samples: Vec<_> = (0..60).map(|i| at(f64::from(i) * 0.1)).collect();
        let targets: Vec<f64> = samples.iter().map(|sample| sample[0].sin()).collect();
        let centers = (0..13).map(|i| at(f64::from(i) * 0.5).map(|number| number as f32)).collect();
        let posterior = Posterior::fit(centers, &samples, &targets, 0.01).unwrap();
        for position in [0.3, 2.0, 4.7] {
            let (mean, variance) = posterior.predict(&at(position));
            assert!((mean - position.sin()).abs() < 0.02, "{mean} at {position}");
            assert!(variance < 0.02);
        }
        let (mean, variance) = posterior.predict(&at(30.0));
        assert!(mean.abs() < 1e-9 && variance > 0.999);
    }

    #[test]
    fn one_support_point_gives_what_the_formula_says() {
        let posterior = Posterior::fit(vec![[0.0; FEATURES]], &[at(0.0); 4], &[0.8; 4], 0.5).unwrap();
        let (mean, variance) = posterior.predict(&at(0.0));
        // Four measurements of variance 1/2 against a prior of variance 1.
        assert!((mean - 0.8 * 8.0 / 9.0).abs() < 1e-5);
        assert!((variance - 1.0 / 9.0).abs() < 1e-5);
    }
}
