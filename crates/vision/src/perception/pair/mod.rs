//! Measurements of an image against its reference: tone, bands, and the difference of both.

mod bands;
mod difference;
mod tone;

use rayon::prelude::*;

use super::features::Features;
use super::view::{Tile, View};

/// A statistic of two tiles at the same place.
trait PairStatistic: Default + Send {
    /// Measures a tile of the image against the same tile of the reference.
    fn measure(reference: &Tile, distorted: &Tile) -> Self;
    /// Adds the statistic of another part of the image.
    fn merge(&mut self, other: Self);
    /// Writes the features of the statistic.
    fn write(&self, features: &mut Features);
}

/// Measures all features of a pair, tile by tile.
pub fn measure(reference: &View<'_>, distorted: &View<'_>) -> Features {
    let tiles = reference.tiles().zip(distorted.tiles());
    let found: Vec<_> = tiles
        .map(|(reference, distorted)| {
            (
                tone::Tone::measure(&reference, &distorted),
                bands::Bands::measure(&reference, &distorted),
                difference::Difference::measure(&reference, &distorted),
            )
        })
        .collect();
    let mut total = (tone::Tone::default(), bands::Bands::default(), difference::Difference::default());
    for (tone, bands, difference) in found {
        total.0.merge(tone);
        total.1.merge(bands);
        total.2.merge(difference);
    }
    let mut features = Features::default();
    total.0.write(&mut features);
    total.1.write(&mut features);
    total.2.write(&mut features);
    features
}

/// Sums of two variables and their products.
#[derive(Debug, Clone, Copy, Default)]
struct Joint {
    count: f64,
    first: f64,
    second: f64,
    first_squares: f64,
    second_squares: f64,
    products: f64,
}

impl Joint {
    /// Adds two rows, value by value.
    fn add(&mut self, first: &[f32], second: &[f32]) {
        let mut sums = [0.0f32; 5];
        for (&a, &b) in first.iter().zip(second) {
            for (sum, term) in sums.iter_mut().zip([a, b, a * a, b * b, a * b]) {
                *sum += term;
            }
        }
        self.count += first.len().min(second.len()) as f64;
        self.first += f64::from(sums[0]);
        self.second += f64::from(sums[1]);
        self.first_squares += f64::from(sums[2]);
        self.second_squares += f64::from(sums[3]);
        self.products += f64::from(sums[4]);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.first += other.first;
        self.second += other.second;
        self.first_squares += other.first_squares;
        self.second_squares += other.second_squares;
        self.products += other.products;
    }

    fn mean_difference(&self) -> f64 {
        (self.second - self.first) / self.count.max(1.0)
    }

    fn variances(&self) -> (f64, f64) {
        let count = self.count.max(1.0);
        let variance = |sum: f64, squares: f64| (squares / count - (sum / count).powi(2)).max(0.0);
        (variance(self.first, self.first_squares), variance(self.second, self.second_squares))
    }

    fn covariance(&self) -> f64 {
        let count = self.count.max(1.0);
        self.products / count - self.first / count * (self.second / count)
    }

    /// Slope of the second variable against the first, pulled toward 1 if the first hardly varies.
    fn gain(&self, stability: f64) -> f64 {
        (self.covariance() + stability) / (self.variances().0 + stability)
    }

    /// Variance of the second variable that the first one does not explain.
    fn rest(&self) -> f64 {
        let (first, second) = self.variances();
        if first <= 0.0 { second } else { (second - self.covariance().powi(2) / first).max(0.0) }
    }

    fn correlation(&self, stability: f64) -> f64 {
        let (first, second) = self.variances();
        (self.covariance() + stability) / ((first + stability) * (second + stability)).sqrt()
    }
}
