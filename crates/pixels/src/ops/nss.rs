//! Natural scene statistics: moments of normalized coefficients and of products of neighbors, and
//! fits of generalized Gaussian distributions.
//!
//! The fits search a grid of shapes from 0.2 to 10 in steps of 0.001, as the authors' releases of
//! BRISQUE, NIQE and ILNIQE do. The moment of the distribution falls monotonically with the shape,
//! so bisection finds the nearest grid point.

use std::sync::LazyLock;

use multiversion::multiversion;

use crate::ops::gamma::ln_gamma;

/// The moments of samples that a fit needs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// Number of samples, including zeros.
    pub count: f64,
    /// The sum of magnitudes.
    pub magnitude: f64,
    /// Number of samples below 0.
    pub negative: f64,
    /// Number of samples above 0.
    pub positive: f64,
    /// The sum of squares of the samples below 0.
    pub negative_squares: f64,
    /// The sum of squares of the samples above 0.
    pub positive_squares: f64,
}

impl Moments {
    /// Adds the samples counted in `other`.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.magnitude += other.magnitude;
        self.negative += other.negative;
        self.positive += other.positive;
        self.negative_squares += other.negative_squares;
        self.positive_squares += other.positive_squares;
    }

    /// The mean square.
    pub fn mean_square(&self) -> f64 {
        (self.negative_squares + self.positive_squares) / self.count
    }
}

/// Samples that are summed in parallel, so that the result does not depend on the instruction set.
const LANES: usize = 16;
/// Samples per lane that are summed in single precision before they are added to the
/// double-precision total.
const RUN: usize = 32;

/// Accumulates the moments of many rows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Accumulator {
    total: Moments,
    lanes: Lanes,
    pending: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Lanes {
    magnitude: [f32; LANES],
    negative: [f32; LANES],
    positive: [f32; LANES],
    negative_squares: [f32; LANES],
    positive_squares: [f32; LANES],
}

impl Accumulator {
    /// Adds the products of `left` and `right`, sample by sample.
    pub fn add_products(&mut self, left: &[f32], right: &[f32]) {
        for (left, right) in left.chunks(LANES * RUN).zip(right.chunks(LANES * RUN)) {
            self.reserve(left.len());
            accumulate_products(left, right, &mut self.lanes);
        }
    }

    /// Adds samples.
    pub fn add_samples(&mut self, samples: &[f32]) {
        for samples in samples.chunks(LANES * RUN) {
            self.reserve(samples.len());
            accumulate_samples(samples, &mut self.lanes);
        }
    }

    /// Returns the moments of all added samples.
    pub fn finish(mut self) -> Moments {
        self.flush();
        self.total
    }

    fn reserve(&mut self, count: usize) {
        let steps = count.div_ceil(LANES);
        if self.pending + steps > RUN {
            self.flush();
        }
        self.pending += steps;
        self.total.count += count as f64;
    }

    fn flush(&mut self) {
        let sum = |lanes: &[f32; LANES]| lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>();
        self.total.magnitude += sum(&self.lanes.magnitude);
        self.total.negative += sum(&self.lanes.negative);
        self.total.positive += sum(&self.lanes.positive);
        self.total.negative_squares += sum(&self.lanes.negative_squares);
        self.total.positive_squares += sum(&self.lanes.positive_squares);
        self.lanes = Lanes::default();
        self.pending = 0;
    }
}

impl Lanes {
    #[inline(always)]
    fn add(&mut self, lane: usize, value: f32) {
        let (negative, positive) = (value.min(0.0), value.max(0.0));
        self.magnitude[lane] += value.abs();
        self.negative[lane] += if value < 0.0 { 1.0 } else { 0.0 };
        self.positive[lane] += if value > 0.0 { 1.0 } else { 0.0 };
        self.negative_squares[lane] += negative * negative;
        self.positive_squares[lane] += positive * positive;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn accumulate_products(left: &[f32], right: &[f32], lanes: &mut Lanes) {
    let mut sums = *lanes;
    let (lefts, rights) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest = lefts.remainder().iter().zip(rights.remainder());
    for (left, right) in lefts.zip(rights) {
        for lane in 0..LANES {
            sums.add(lane, left[lane] * right[lane]);
        }
    }
    for (lane, (left, right)) in rest.enumerate() {
        sums.add(lane, left * right);
    }
    *lanes = sums;
}

#[multiversion(targets("x86_64+avx2"))]
fn accumulate_samples(samples: &[f32], lanes: &mut Lanes) {
    let mut sums = *lanes;
    let chunks = samples.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        chunk.iter().enumerate().for_each(|(lane, &sample)| sums.add(lane, sample));
    }
    for (lane, &sample) in rest.iter().enumerate() {
        sums.add(lane, sample);
    }
    *lanes = sums;
}

/// Moments of the coefficients of an area, and of their products with the left, upper, upper left
/// and upper right neighbors. The area wraps around, as with MATLAB's `circshift`.
#[derive(Debug, Clone, Default)]
pub struct Neighborhood {
    coefficients: Accumulator,
    products: [Accumulator; 4],
    /// The row above the next one, extended at each end by one sample from the opposite end.
    above: Vec<f32>,
    row: Vec<f32>,
}

impl Neighborhood {
    /// Creates an empty area. Its last row, `last`, is the row above the first.
    pub fn new(last: &[f32]) -> Self {
        let mut neighborhood = Self::default();
        wrap(last, &mut neighborhood.above);
        neighborhood
    }

    /// Adds the next row.
    pub fn add_row(&mut self, row: &[f32]) {
        let width = row.len();
        wrap(row, &mut self.row);
        self.coefficients.add_samples(row);
        let neighbors = [&self.row[..width], &self.above[1..=width], &self.above[..width], &self.above[2..]];
        for (products, neighbor) in self.products.iter_mut().zip(neighbors) {
            products.add_products(row, neighbor);
        }
        std::mem::swap(&mut self.row, &mut self.above);
    }

    /// Returns the moments of the coefficients, then of the four products.
    pub fn finish(self) -> [Moments; 5] {
        let [left, above, above_left, above_right] = self.products.map(Accumulator::finish);
        [self.coefficients.finish(), left, above, above_left, above_right]
    }
}

fn wrap(row: &[f32], wrapped: &mut Vec<f32>) {
    wrapped.clear();
    wrapped.extend(row.last());
    wrapped.extend(row);
    wrapped.extend(row.first());
}

/// The shape of a generalized Gaussian, with the values that fits need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// The exponent, 2 for a Gaussian.
    pub alpha: f64,
    /// `gamma(2/alpha)^2 / (gamma(1/alpha) gamma(3/alpha))`: squared mean magnitude divided by
    /// mean square.
    pub ratio: f64,
    /// `gamma(2/alpha) / gamma(1/alpha)`: mean magnitude divided by scale.
    pub mean: f64,
    /// `sqrt(gamma(1/alpha) / gamma(3/alpha))`: scale divided by standard deviation.
    pub scale: f64,
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let shape = |step: u32| {
        let alpha = f64::from(step) / 1000.0;
        let [one, two, three] = [1.0, 2.0, 3.0].map(|multiple| ln_gamma(multiple / alpha));
        Shape {
            alpha,
            ratio: (2.0 * two - one - three).exp(),
            mean: (two - one).exp(),
            scale: ((one - three) / 2.0).exp(),
        }
    };
    (200..=10_000).map(shape).collect()
});

/// The grid shape with the smallest `distance`, which must fall and then rise. If distances are
/// undefined, it is the first shape, as with MATLAB's `min`.
fn nearest(above: impl Fn(&Shape) -> bool, distance: impl Fn(&Shape) -> f64) -> Shape {
    let shapes = &*SHAPES;
    let upper = shapes.partition_point(|shape| !above(shape)).min(shapes.len() - 1);
    let lower = upper.saturating_sub(1);
    if distance(&shapes[lower]) <= distance(&shapes[upper]) { shapes[lower] } else { shapes[upper] }
}

/// An asymmetric generalized Gaussian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asymmetric {
    /// The shape.
    pub shape: Shape,
    /// Standard deviation of the samples below 0.
    pub left: f64,
    /// Standard deviation of the samples above 0.
    pub right: f64,
}

impl Asymmetric {
    /// Fits the distribution to these moments. A side without samples has the deviation `empty`.
    /// MATLAB's mean of nothing is NaN; the shape is then the first of the grid.
    pub fn fit(moments: &Moments, empty: f64) -> Self {
        let deviation = |squares: f64, count: f64| if count > 0.0 { (squares / count).sqrt() } else { empty };
        let left = deviation(moments.negative_squares, moments.negative);
        let right = deviation(moments.positive_squares, moments.positive);
        let ratio = (moments.magnitude / moments.count).powi(2) / moments.mean_square();
        let asymmetry = (left.powi(3) + right.powi(3)) * (left + right) / (left * left + right * right).powi(2);
        let wanted = ratio * asymmetry;
        if wanted.is_nan() {
            return Self { shape: SHAPES[0], left, right };
        }
        let shape = nearest(|shape| shape.ratio >= wanted, |shape| (shape.ratio - wanted).powi(2));
        Self { shape, left, right }
    }

    /// The scales of both sides.
    pub fn scales(&self) -> (f64, f64) {
        (self.left * self.shape.scale, self.right * self.shape.scale)
    }
}

/// Returns the shape of the symmetric generalized Gaussian with these moments.
pub fn fit_symmetric(moments: &Moments) -> Shape {
    let wanted = moments.mean_square() / (moments.magnitude / moments.count).powi(2);
    if wanted.is_nan() {
        return SHAPES[0];
    }
    nearest(|shape| 1.0 / shape.ratio <= wanted, |shape| (wanted - 1.0 / shape.ratio).abs())
}

/// The 18 features of a block for NIQE and ILNIQE: shape and mean scale of the coefficients;
/// shape, mean and both scales of the products of neighbors.
pub fn block_features(moments: &[Moments; 5]) -> [f64; 18] {
    let mut features = [0.0; 18];
    let coefficients = Asymmetric::fit(&moments[0], f64::NAN);
    let (left, right) = coefficients.scales();
    features[..2].copy_from_slice(&[coefficients.shape.alpha, (left + right) / 2.0]);
    for (features, moments) in features[2..].chunks_exact_mut(4).zip(&moments[1..]) {
        let products = Asymmetric::fit(moments, f64::NAN);
        let (left, right) = products.scales();
        let mean = (right - left) * products.shape.mean;
        features.copy_from_slice(&[products.shape.alpha, mean, left, right]);
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two half Gaussians with these deviations that meet at 0. The wider half has more samples.
    fn gaussian(left: f32, right: f32) -> Vec<f32> {
        let mut state = 1u32;
        let mut uniform = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1u32 << 24) as f32
        };
        let mut value = || {
            let side = if uniform() * (left + right) < left { -left } else { right };
            side * ((0..12).map(|_| uniform()).sum::<f32>() - 6.0).abs()
        };
        (0..200_000).map(|_| value()).collect()
    }

    fn moments(samples: &[f32]) -> Moments {
        let mut accumulator = Accumulator::default();
        accumulator.add_samples(samples);
        accumulator.finish()
    }

    #[test]
    fn moments_are_those_of_the_definition_whatever_the_length() {
        for count in [0, 1, 15, 16, 17, 511, 512, 513, 1700] {
            let left: Vec<f32> = (0..count).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
            let right: Vec<f32> = (0..count).map(|i| (i * 5 % 13) as f32 - 6.0).collect();
            let products: Vec<f64> = left.iter().zip(&right).map(|(a, b)| f64::from(a * b)).collect();
            let mut accumulator = Accumulator::default();
            accumulator.add_products(&left, &right);
            let expected = Moments {
                count: count as f64,
                magnitude: products.iter().map(|v| v.abs()).sum(),
                negative: products.iter().filter(|&&v| v < 0.0).count() as f64,
                positive: products.iter().filter(|&&v| v > 0.0).count() as f64,
                negative_squares: products.iter().filter(|&&v| v < 0.0).map(|v| v * v).sum(),
                positive_squares: products.iter().filter(|&&v| v > 0.0).map(|v| v * v).sum(),
            };
            assert_eq!(accumulator.finish(), expected, "{count} samples");
        }
    }

    #[test]
    fn a_gaussian_has_shape_two_and_its_own_deviations() {
        let fit = Asymmetric::fit(&moments(&gaussian(1.0, 1.0)), f64::NAN);
        assert!((fit.shape.alpha - 2.0).abs() < 0.1, "{}", fit.shape.alpha);
        assert!((fit.left - 1.0).abs() < 0.01 && (fit.right - 1.0).abs() < 0.01);
        let fit = Asymmetric::fit(&moments(&gaussian(0.5, 2.0)), f64::NAN);
        assert!((fit.shape.alpha - 2.0).abs() < 0.1, "{}", fit.shape.alpha);
        assert!((fit.left - 0.5).abs() < 0.01 && (fit.right - 2.0).abs() < 0.02);
        assert!((fit_symmetric(&moments(&gaussian(1.0, 1.0))).alpha - 2.0).abs() < 0.1);
    }

    #[test]
    fn the_nearest_shape_is_that_of_the_whole_grid() {
        for wanted in [0.0, 0.01, 0.3, 0.5, std::f64::consts::FRAC_2_PI, 0.7, 2.0] {
            let squared = |shape: &Shape| (shape.ratio - wanted).powi(2);
            let best = SHAPES.iter().min_by(|a, b| squared(a).total_cmp(&squared(b))).unwrap();
            assert_eq!(nearest(|shape| shape.ratio >= wanted, squared), *best);
        }
    }

    #[test]
    fn an_empty_side_is_what_the_caller_says() {
        let positive = moments(&[1.0, 2.0, 3.0]);
        let release = Asymmetric::fit(&positive, f64::NAN);
        assert!(release.left.is_nan() && release.shape.alpha == 0.2);
        let finite = Asymmetric::fit(&positive, 0.0);
        assert!(finite.left == 0.0 && finite.shape.alpha > 0.2);
        assert_eq!(Asymmetric::fit(&moments(&[0.0; 9]), 0.0).shape.alpha, 0.2);
    }

    #[test]
    fn neighbors_wrap_around() {
        let rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let mut neighborhood = Neighborhood::new(&rows[1]);
        rows.iter().for_each(|row| neighborhood.add_row(row));
        let magnitudes = neighborhood.finish().map(|moments| moments.magnitude);
        let left = 3.0 + 2.0 + 6.0 + 24.0 + 20.0 + 30.0;
        let above = 2.0 * (4.0 + 10.0 + 18.0);
        let above_left = (6.0 + 8.0 + 15.0) + (12.0 + 5.0 + 12.0);
        assert_eq!(magnitudes, [21.0, left, above, above_left, above_left]);
    }
}
