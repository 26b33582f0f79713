//! The filters of MAD in the Fourier domain: contrast sensitivity for visible errors, log-Gabor
//! for appearance.
//!
//! Both are built one line (one horizontal frequency) at a time from tables of a quarter of the
//! plane. A whole filter for a large photo would take as much memory as the photo's spectrum.

use std::f64::consts::{PI, TAU};

use multiversion::multiversion;
use rayon::prelude::*;

use crate::Plane;

/// Display resolution, in cycles per degree at the Nyquist frequency.
const NYQUIST: f64 = 32.0;
/// Radial frequency below which the sensitivity is constant, and its value there.
const PEAK_FREQUENCY: f64 = 7.8909;
const PEAK_SENSITIVITY: f64 = 0.9809;
/// Sensitivity along the diagonals relative to the axes.
const OBLIQUE: f64 = 0.7;

/// Scales of the log-Gabor filters.
pub const SCALES: usize = 5;
/// Orientations of the log-Gabor filters.
pub const ORIENTATIONS: usize = 4;
const SHORTEST_WAVELENGTH: f64 = 3.0;
const WAVELENGTH_RATIO: f64 = 3.0;
const SIGMA_ON_FREQUENCY: f64 = 0.55;
const ANGLE_ON_SIGMA: f64 = 1.5;
/// Exponent below which a weight counts as zero: 1e-7, the precision of the transform.
const NEGLIGIBLE: f32 = -16.1;

/// The contrast sensitivity function for images of one size.
pub struct ContrastSensitivity {
    width: usize,
    height: usize,
    /// A quarter of the function, from the center outwards: `(|column - center|, |row - center|)`.
    quarter: Plane,
}

impl ContrastSensitivity {
    pub fn new(width: usize, height: usize) -> Self {
        let mut quarter = Plane::new(width.div_ceil(2), height.div_ceil(2));
        // For even sizes the center lies between two samples.
        let offset = |size: usize| if size.is_multiple_of(2) { 0.5 } else { 0.0 };
        let (left, top, columns) = (offset(width), offset(height), quarter.width());
        quarter.data_mut().par_chunks_mut(columns).enumerate().for_each(|(y, row)| {
            for (x, out) in row.iter_mut().enumerate() {
                *out = sensitivity(x as f64 + left, y as f64 + top, width as f64) as f32;
            }
        });
        Self { width, height, quarter }
    }

    /// Writes the weights of horizontal frequency `u`, times `scale`.
    ///
    /// To match the published values, the function is transposed and then read as if it were not.
    /// This rotates it for square images and shuffles it for others. Only the real part of the
    /// result counts, so opposite frequencies share their mean.
    pub fn line(&self, u: usize, scale: f32, weights: &mut [f32]) {
        let column = (u + self.width / 2) % self.width;
        let opposite = ((self.width - u) % self.width + self.width / 2) % self.width;
        for (v, weight) in weights.iter_mut().enumerate() {
            let row = (v + self.height / 2) % self.height;
            let opposite_row = ((self.height - v) % self.height + self.height / 2) % self.height;
            *weight = 0.5 * scale * (self.shuffled(column, row) + self.shuffled(opposite, opposite_row));
        }
    }

    fn shuffled(&self, column: usize, row: usize) -> f32 {
        let index = row * self.width + column;
        let (x, y) = (index / self.height, index % self.height);
        let from_center = |at: usize, size: usize| at.max(size - 1 - at) - size / 2;
        self.quarter.at(from_center(x, self.width), from_center(y, self.height))
    }
}

/// Sensitivity at a point of the frequency plane; the width is the unit for both axes.
fn sensitivity(x: f64, y: f64, width: f64) -> f64 {
    let radius = x.hypot(y) / width * 2.0 * NYQUIST;
    let oblique = (1.0 - OBLIQUE) / 2.0 * (4.0 * y.atan2(x)).cos() + (1.0 + OBLIQUE) / 2.0;
    let radius = radius / oblique;
    if radius < PEAK_FREQUENCY {
        return PEAK_SENSITIVITY;
    }
    2.6 * (0.0192 + 0.114 * radius) * (-(0.114 * radius).powf(1.1)).exp()
}

/// The log-Gabor filters for images of one size.
pub struct LogGabor {
    width: usize,
    height: usize,
    /// Logarithm of the radius, and angle, in the first quadrant: `(|y|, |x|)` by line of
    /// horizontal frequency.
    log_radius: Plane,
    angle: Plane,
}

/// One axis of the frequency plane as in the published values: `size` samples from `-size / 2` in
/// steps of 1.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
}

impl Axis {
    /// The index of frequency `index` in the shifted plane.
    fn shifted(self, index: usize) -> usize {
        (index + self.size.div_ceil(2)) % self.size
    }

    /// The table index of sample `shifted`, and whether the sample is left of the center.
    fn fold(self, shifted: usize) -> (usize, bool) {
        let half = self.size / 2;
        match self.size % 2 {
            0 => (shifted.abs_diff(half), shifted < half),
            // -size / 2 is off by half a sample: -1.5, -0.5, 0.5, and so on.
            _ if shifted <= half => (half - shifted, true),
            _ => (shifted - half - 1, false),
        }
    }

    /// Distance of table index `folded` from the center; 1 at the border.
    fn distance(self, folded: usize) -> f64 {
        let offset = if self.size.is_multiple_of(2) { 0.0 } else { 0.5 };
        (folded as f64 + offset) / (self.size as f64 / 2.0)
    }

    /// Number of table entries.
    fn folded_size(self) -> usize {
        self.size / 2 + 1
    }

    /// The frequency whose shifted index is `size / 2 + beyond`, rounded half to even.
    fn near_center(self, beyond: f64) -> usize {
        let place = (self.size as f64 / 2.0 + beyond).round_ties_even() as usize;
        (place + self.size / 2) % self.size
    }
}

impl LogGabor {
    pub fn new(width: usize, height: usize) -> Self {
        let (across, down) = (Axis { size: width }, Axis { size: height });
        let mut log_radius = Plane::new(down.folded_size(), across.folded_size());
        let mut angle = log_radius.clone();
        let length = log_radius.width();
        let lines = log_radius.data_mut().par_chunks_mut(length).zip(angle.data_mut().par_chunks_mut(length));
        lines.enumerate().for_each(|(i, (log_radius, angle))| {
            let x = across.distance(i);
            for (j, (log_radius, angle)) in log_radius.iter_mut().zip(angle).enumerate() {
                let y = down.distance(j);
                *log_radius = ((x * x + y * y).sqrt() + 1e-12).ln() as f32;
                *angle = y.atan2(x) as f32;
            }
        });
        Self { width, height, log_radius, angle }
    }

    /// Writes the weights of horizontal frequency `u`, times `gain`. Returns `false` if all are
    /// negligible.
    pub fn line(&self, orientation: usize, scale: usize, u: usize, gain: f32, weights: &mut [f32]) -> bool {
        let (across, down) = (Axis { size: self.width }, Axis { size: self.height });
        let (column, left) = across.fold(across.shifted(u));
        let shape = Shape::new(orientation, scale);
        let (log_radius, angle) = (self.log_radius.row(column), self.angle.row(column));
        if !self.matters(&shape, column) {
            return false;
        }
        // Angles are measured from a vertical axis that points up, so frequencies below the center
        // are negative.
        let (origin, turn) = if left { (PI as f32, -1.0) } else { (0.0, 1.0) };
        let (below, above) = weights.split_at_mut(self.height / 2);
        shape.weigh(log_radius, angle, [-origin, -turn], gain, below);
        // The other half runs from the border to the center.
        let skipped = down.fold(down.shifted(self.height - 1)).0;
        shape.weigh(&log_radius[skipped..], &angle[skipped..], [origin, turn], gain, above);
        above.reverse();
        self.correct_center(&shape, u, gain, weights);
        true
    }

    /// Whether any weight of the line exceeds the precision of the transform.
    fn matters(&self, shape: &Shape, column: usize) -> bool {
        let nearest = self
            .log_radius
            .row(column)
            .iter()
            .fold(f32::INFINITY, |nearest, &log_radius| nearest.min((log_radius - shape.log_center).abs()));
        -shape.radial * nearest * nearest > NEGLIGIBLE
    }

    /// Corrects two samples that the definition sets explicitly: the center has weight 0, and its
    /// diagonal neighbor has radius 1 (the center was meant).
    fn correct_center(&self, shape: &Shape, u: usize, gain: f32, weights: &mut [f32]) {
        let (across, down) = (Axis { size: self.width }, Axis { size: self.height });
        if u == across.near_center(1.0) {
            let v = down.near_center(1.0);
            let signed = |axis: Axis, index: usize| {
                let (folded, negative) = axis.fold(axis.shifted(index));
                if negative { -axis.distance(folded) } else { axis.distance(folded) }
            };
            let angle = (-signed(down, v)).atan2(signed(across, u));
            shape.weigh(&[1e-12], &[angle as f32], [0.0, 1.0], gain, &mut weights[v..=v]);
        }
        if u == across.near_center(0.0) {
            weights[down.near_center(0.0)] = 0.0;
        }
    }
}

/// The parameters of one log-Gabor filter:
/// weight = exp(-radial * (ln r - center)^2 - angular * (angle difference)^2).
struct Shape {
    log_center: f32,
    radial: f32,
    direction: f32,
    angular: f32,
}

impl Shape {
    fn new(orientation: usize, scale: usize) -> Self {
        let wavelength = SHORTEST_WAVELENGTH * WAVELENGTH_RATIO.powi(scale as i32);
        let sigma = PI / ORIENTATIONS as f64 / ANGLE_ON_SIGMA;
        Self {
            log_center: (2.0 / wavelength).ln() as f32,
            radial: (0.5 / SIGMA_ON_FREQUENCY.ln().powi(2)) as f32,
            direction: (orientation as f64 * PI / ORIENTATIONS as f64) as f32,
            angular: (0.5 / (sigma * sigma)) as f32,
        }
    }

    /// Weights at points of known radius, with the angle `turn[0] + turn[1] * angle`.
    fn weigh(&self, log_radius: &[f32], angle: &[f32], turn: [f32; 2], gain: f32, weights: &mut [f32]) {
        weigh(self, log_radius, angle, turn, gain, weights);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn weigh(shape: &Shape, log_radius: &[f32], angle: &[f32], turn: [f32; 2], gain: f32, weights: &mut [f32]) {
    let origin = turn[0] - shape.direction;
    for ((out, &log_radius), &angle) in weights.iter_mut().zip(log_radius).zip(angle) {
        let distance = log_radius - shape.log_center;
        let difference = (origin + turn[1] * angle).abs();
        let difference = difference.min(TAU as f32 - difference);
        *out = gain * exponential(-(shape.radial * distance * distance + shape.angular * difference * difference));
    }
}

/// The exponential of a number that is not positive, 0 below -87. The error is 2e-7 of the result
/// times 1 plus the magnitude of the exponent.
#[inline(always)]
fn exponential(power: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to an integer, which is stored in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let binary = power.max(-87.0) * std::f32::consts::LOG2_E;
    let rounded = binary + ROUND;
    let rest = (binary - (rounded - ROUND)) * std::f32::consts::LN_2;
    let mut series = 1.0 / 720.0;
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * rest + coefficient;
    }
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127);
    let scale = f32::from_bits(exponent << 23);
    if power < -87.0 { 0.0 } else { series * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact_to_single_precision() {
        for i in 0..8600 {
            let power = -0.01 * i as f32;
            let expected = f64::from(power).exp();
            let tolerance = 2e-7 * (1.0 - f64::from(power));
            assert!((f64::from(exponential(power)) / expected - 1.0).abs() < tolerance, "{power}");
        }
        assert_eq!(exponential(-100.0), 0.0);
    }

    /// The definition, sample by sample, in double precision.
    fn defined(orientation: usize, scale: usize, width: usize, height: usize, u: usize, v: usize) -> f64 {
        let place = |index: usize, size: usize| (index + size.div_ceil(2)) % size;
        let (column, row) = (place(u, width), place(v, height));
        let x = column as f64 / (width as f64 / 2.0) - 1.0;
        let y = row as f64 / (height as f64 / 2.0) - 1.0;
        let rounded = |value: f64| value.round_ties_even() as usize;
        if (row, column) == (rounded(height as f64 / 2.0), rounded(width as f64 / 2.0)) {
            return 0.0;
        }
        let at_center = (rounded(height as f64 / 2.0 + 1.0), rounded(width as f64 / 2.0 + 1.0));
        let radius = if (row, column) == at_center { 1.0 } else { x.hypot(y) };
        let center = 2.0 / (3.0 * 3f64.powi(scale as i32));
        let radial = (-((radius + 1e-12).ln() - center.ln()).powi(2) / (2.0 * 0.55f64.ln().powi(2))).exp();
        let difference = (-y).atan2(x) - orientation as f64 * PI / 4.0;
        let difference = difference.sin().atan2(difference.cos());
        radial * (-difference.powi(2) / (2.0 * (PI / 4.0 / 1.5).powi(2))).exp()
    }

    #[test]
    fn log_gabor_lines_equal_the_definition() {
        for (width, height) in [(24, 18), (17, 24), (30, 19), (19, 21)] {
            let filters = LogGabor::new(width, height);
            for orientation in 0..ORIENTATIONS {
                for scale in 0..SCALES {
                    for u in 0..width {
                        let mut weights = vec![0.0; height];
                        if !filters.line(orientation, scale, u, 1.0, &mut weights) {
                            weights.fill(0.0);
                        }
                        for (v, &weight) in weights.iter().enumerate() {
                            let expected = defined(orientation, scale, width, height, u, v);
                            let off = (f64::from(weight) - expected).abs();
                            assert!(off < 2e-6, "{width}x{height} {orientation} {scale} {u} {v}: {weight} {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sensitivity_is_laid_over_the_plane_as_published() {
        for (width, height) in [(16, 16), (20, 16), (17, 22)] {
            let sensitivities = ContrastSensitivity::new(width, height);
            let plain = |x: usize, y: usize| {
                let centered = |at: usize, size: usize| at as f64 - (size as f64 - 1.0) / 2.0;
                sensitivity(centered(x, width), centered(y, height), width as f64)
            };
            // Written column by column, read row by row.
            let turned: Vec<f64> = (0..width).flat_map(|x| (0..height).map(move |y| plain(x, y))).collect();
            let at = |u: usize, v: usize| turned[(v + height / 2) % height * width + (u + width / 2) % width];
            for u in 0..width {
                let mut weights = vec![0.0; height];
                sensitivities.line(u, 2.0, &mut weights);
                for (v, &weight) in weights.iter().enumerate() {
                    let expected = at(u, v) + at((width - u) % width, (height - v) % height);
                    assert!((f64::from(weight) - expected).abs() < 1e-6);
                }
            }
        }
    }
}
