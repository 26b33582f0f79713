//! MATLAB's `imresize`: separable interpolation that is antialiased when it shrinks.
//!
//! Where an axis shrinks, the kernel is stretched by the inverse of the scale. The weights are
//! normalized for every output sample. Samples beyond the border are mirrored, and the border
//! sample is repeated. The axis with the smaller scale comes first (rows if equal). Weights and
//! sums use double precision for every sample type, as MATLAB does for an image of class `double`.
//! Nothing is rounded between the two axes.
//!
//! GNU Octave's `imresize` is a different function: it antialiases bilinear and bicubic shrinking
//! in another way.

use std::ops::Range;

use multiversion::multiversion;

use crate::Plane;
use crate::ops::convolve::Border;
use crate::ops::strips;

/// The interpolation kernel, with MATLAB's name in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Triangle of width 2 (`'bilinear'`).
    Bilinear,
    /// Keys' cubic with a = -1/2, width 4 (`'bicubic'`, MATLAB's default).
    Bicubic,
}

impl Kernel {
    fn width(self) -> f64 {
        match self {
            Self::Bilinear => 2.0,
            Self::Bicubic => 4.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Self::Bilinear => (1.0 - x).max(0.0),
            Self::Bicubic if x <= 1.0 => 1.5 * x * x * x - 2.5 * x * x + 1.0,
            Self::Bicubic if x <= 2.0 => -0.5 * x * x * x + 2.5 * x * x - 4.0 * x + 2.0,
            Self::Bicubic => 0.0,
        }
    }
}

/// A sample type that is resized in double precision: `f32` or `f64`.
pub trait Sample: Copy + Default + Send + Sync + Into<f64> {
    /// Rounds to the nearest value of this type.
    fn from_double(value: f64) -> Self;

    /// Adds `weight * row` to `out`.
    fn accumulate(weight: f64, row: &[Self], out: &mut [f64]);
}

impl Sample for f32 {
    fn from_double(value: f64) -> Self {
        value as f32
    }

    fn accumulate(weight: f64, row: &[Self], out: &mut [f64]) {
        accumulate_single(weight, row, out);
    }
}

impl Sample for f64 {
    fn from_double(value: f64) -> Self {
        value
    }

    fn accumulate(weight: f64, row: &[Self], out: &mut [f64]) {
        accumulate_double(weight, row, out);
    }
}

/// `imresize(source, scale, kernel)`: multiplies both sides by `scale`, rounded up.
pub fn by_scale<T: Sample>(source: &Plane<T>, scale: f64, kernel: Kernel) -> Plane<T> {
    let axis = |size: usize| Axis::new(size, (scale * size as f64).ceil().max(1.0) as usize, scale, kernel);
    resize(source, &axis(source.width()), &axis(source.height()))
}

/// `imresize(source, [height width], kernel)`: each side has its own scale.
pub fn to_size<T: Sample>(source: &Plane<T>, width: usize, height: usize, kernel: Kernel) -> Plane<T> {
    let horizontal = Axis::to_length(source.width(), width, kernel);
    let vertical = Axis::to_length(source.height(), height, kernel);
    resize(source, &horizontal, &vertical)
}

/// The source samples and weights of each output sample along one axis.
#[derive(Debug, Clone)]
pub struct Axis {
    scale: f64,
    length: usize,
    taps: usize,
    /// `taps` indices into the source for each output sample.
    indices: Vec<usize>,
    /// One weight per index.
    weights: Vec<f64>,
}

impl Axis {
    /// Creates the axis that resizes `from` samples to `to` samples.
    pub fn to_length(from: usize, to: usize, kernel: Kernel) -> Self {
        Self::new(from, to, to as f64 / from as f64, kernel)
    }

    fn new(from: usize, to: usize, scale: f64, kernel: Kernel) -> Self {
        let stretch = scale.min(1.0);
        let support = kernel.width() / stretch;
        let taps = support.ceil() as usize + 2;
        let mut indices = Vec::with_capacity(to * taps);
        let mut weights = Vec::with_capacity(to * taps);
        for x in 0..to {
            // In MATLAB's coordinates, the center of the first sample is at 1.
            let center = (x + 1) as f64 / scale + 0.5 * (1.0 - 1.0 / scale);
            let left = (center - support / 2.0).floor();
            let start = weights.len();
            for tap in 0..taps {
                let position = left + tap as f64;
                weights.push(stretch * kernel.weight(stretch * (center - position)));
                indices.push(Border::Symmetric.index(position as isize - 1, from).unwrap_or(0));
            }
            let sum: f64 = weights[start..].iter().sum();
            weights[start..].iter_mut().for_each(|weight| *weight /= sum);
        }
        Self { scale, length: to, taps, indices, weights }.without_empty_taps()
    }

    /// Drops the taps at either end whose weight is zero in every output sample.
    fn without_empty_taps(self) -> Self {
        let empty = |tap: usize| self.weights.iter().skip(tap).step_by(self.taps).all(|&weight| weight == 0.0);
        let first = (0..self.taps).find(|&tap| !empty(tap)).unwrap_or(0);
        let last = (0..self.taps).rev().find(|&tap| !empty(tap)).unwrap_or(0);
        let indices = self.indices.chunks_exact(self.taps).flat_map(|taps| taps[first..=last].to_vec()).collect();
        let weights = self.weights.chunks_exact(self.taps).flat_map(|taps| taps[first..=last].to_vec()).collect();
        Self { taps: last + 1 - first, indices, weights, ..self }
    }

    /// Resizes every row of `source` to the length of this axis.
    pub fn resize_rows_of(&self, source: &Plane) -> Plane {
        let mut resized = Plane::new(self.length, source.height());
        strips::fill(&mut resized, |rows, out| {
            resize_rows(self, source.width(), rows, out, |y, set| set(source.row(y)));
        });
        resized
    }

    /// The indices and weights of the taps of output sample `x`.
    pub fn taps(&self, x: usize) -> (&[usize], &[f64]) {
        let span = x * self.taps..(x + 1) * self.taps;
        (&self.indices[span.clone()], &self.weights[span])
    }
}

fn resize<T: Sample>(source: &Plane<T>, horizontal: &Axis, vertical: &Axis) -> Plane<T> {
    let (width, height) = (horizontal.length, vertical.length);
    let mut resized = Plane::new(width, height);
    if resized.data().is_empty() || source.data().is_empty() {
        return resized;
    }
    if vertical.scale <= horizontal.scale {
        strips::fill(&mut resized, |rows, out| {
            let mut mixed = vec![0.0; source.width()];
            resize_rows(horizontal, source.width(), rows, out, |y, set| {
                mix_rows(source, vertical.taps(y), &mut mixed);
                set(&mixed);
            });
        });
    } else {
        let mut narrowed = Plane::<f64>::new(width, source.height());
        strips::fill(&mut narrowed, |rows, out| {
            resize_rows(horizontal, source.width(), rows, out, |y, set| set(source.row(y)));
        });
        strips::fill(&mut resized, |rows, out| {
            let mut mixed = vec![0.0; width];
            for (y, out) in rows.zip(out.chunks_exact_mut(width)) {
                mix_rows(&narrowed, vertical.taps(y), &mut mixed);
                out.iter_mut().zip(&mixed).for_each(|(out, &value)| *out = T::from_double(value));
            }
        });
    }
    resized
}

/// `imresize(..., [height width], kernel)` of an image that is read by rows:
/// `add(y, weight, sums)` adds row `y` times a weight.
///
/// Rows are mixed in single precision, and columns always come last. Only the last bits of the
/// result differ.
pub fn rows_to_size(
    horizontal: &Axis,
    vertical: &Axis,
    source_width: usize,
    add: impl Fn(usize, f32, &mut [f32]) + Sync,
) -> Plane {
    let mut resized = Plane::new(horizontal.length, vertical.length);
    strips::fill(&mut resized, |rows, out| {
        let mut mixed = vec![0.0f32; source_width];
        resize_rows(horizontal, source_width, rows, out, |y, set| {
            mixed.fill(0.0);
            let (indices, weights) = vertical.taps(y);
            for (&y, &weight) in indices.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
                add(y, weight as f32, &mut mixed);
            }
            set(&mixed);
        });
    });
    resized
}

/// `out[x] = sum of weight * row[x]` over the rows and weights of `taps`.
fn mix_rows<T: Sample>(source: &Plane<T>, taps: (&[usize], &[f64]), out: &mut [f64]) {
    out.fill(0.0);
    for (&y, &weight) in taps.0.iter().zip(taps.1) {
        if weight != 0.0 {
            T::accumulate(weight, source.row(y), out);
        }
    }
}

/// Rows that are resized together, so that one vector instruction handles all of them.
const LANES: usize = 4;

/// Resizes `rows` along the horizontal axis into `out`. `read(y, set)` passes source row `y` to
/// `set`.
fn resize_rows<S: Sample, T: Sample>(
    axis: &Axis,
    width: usize,
    rows: Range<usize>,
    out: &mut [T],
    mut read: impl FnMut(usize, &mut dyn FnMut(&[S])),
) {
    let mut source = vec![[0.0; LANES]; width];
    let mut resized = vec![[0.0; LANES]; axis.length];
    for (top, out) in rows.step_by(LANES).zip(out.chunks_mut(axis.length * LANES)) {
        for lane in 0..out.len() / axis.length {
            read(top + lane, &mut |row| {
                source.iter_mut().zip(row).for_each(|(lanes, &sample)| lanes[lane] = sample.into());
            });
        }
        mix_columns(axis, &source, &mut resized);
        for (lane, out) in out.chunks_exact_mut(axis.length).enumerate() {
            out.iter_mut().zip(&resized).for_each(|(out, lanes)| *out = T::from_double(lanes[lane]));
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn mix_columns(axis: &Axis, source: &[[f64; LANES]], resized: &mut [[f64; LANES]]) {
    for (x, out) in resized.iter_mut().enumerate() {
        let (indices, weights) = axis.taps(x);
        let mut total = [0.0; LANES];
        for (&index, &weight) in indices.iter().zip(weights) {
            for (total, &sample) in total.iter_mut().zip(&source[index]) {
                *total += weight * sample;
            }
        }
        *out = total;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn accumulate_single(weight: f64, row: &[f32], out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, &sample)| *out += weight * f64::from(sample));
}

#[multiversion(targets("x86_64+avx2"))]
fn accumulate_double(weight: f64, row: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, &sample)| *out += weight * sample);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MATLAB's definition for one output sample of a row.
    fn expected(row: &[f64], x: usize, scale: f64, kernel: Kernel) -> f64 {
        let center = (x as f64 + 0.5) / scale - 0.5;
        let stretch = scale.min(1.0);
        let reach = (3.0 / stretch).ceil() as isize;
        let (mut total, mut sum) = (0.0, 0.0);
        for position in center.floor() as isize - reach..=center.ceil() as isize + reach {
            let weight = kernel.weight(stretch * (center - position as f64));
            let n = row.len() as isize;
            let folded = position.rem_euclid(2 * n);
            total += weight * row[folded.min(2 * n - 1 - folded) as usize];
            sum += weight;
        }
        total / sum
    }

    fn pattern(width: usize, height: usize) -> Plane<f64> {
        Plane::from_fn(width, height, |x, y| ((x * x * 7 + y * 13 + x * y) % 251) as f64)
    }

    #[test]
    fn equals_the_definition_for_shrinking_and_growing_either_way() {
        let source = pattern(37, 23);
        for kernel in [Kernel::Bilinear, Kernel::Bicubic] {
            for (width, height) in [(19, 12), (64, 64), (9, 40), (50, 5), (37, 23), (1, 1)] {
                let resized = to_size(&source, width, height, kernel);
                let (across, down) = (width as f64 / 37.0, height as f64 / 23.0);
                for (x, y) in [(0, 0), (width - 1, height - 1), (width / 2, height / 3)] {
                    let column: Vec<f64> = (0..23).map(|y| expected(source.row(y), x, across, kernel)).collect();
                    let expected = expected(&column, y, down, kernel);
                    assert!((resized.at(x, y) - expected).abs() < 1e-10, "{kernel:?} {width}x{height} at {x},{y}");
                }
            }
        }
    }

    #[test]
    fn half_size_has_the_known_weights() {
        let impulse = Plane::from_fn(16, 1, |x, _| f64::from(x == 8));
        let halved = by_scale(&impulse, 0.5, Kernel::Bicubic);
        // Half the cubic at 0.25, 0.75, 1.25 and 1.75. These are exact binary fractions.
        let weights = [-0.01171875, -0.03515625, 0.11328125, 0.43359375];
        assert_eq!(halved.width(), 8);
        assert!((halved.at(4, 0) - weights[3]).abs() < 1e-12);
        assert!((halved.at(3, 0) - weights[2]).abs() < 1e-12);
        assert!((halved.at(5, 0) - weights[1]).abs() < 1e-12);
        assert!((halved.at(2, 0) - weights[0]).abs() < 1e-12);
    }

    #[test]
    fn sizes_are_rounded_up_and_flat_stays_flat() {
        let halved = by_scale(&Plane::from_fn(7, 5, |_, _| 3.5f32), 0.5, Kernel::Bicubic);
        assert_eq!((halved.width(), halved.height()), (4, 3));
        assert!(halved.data().iter().all(|&sample| sample == 3.5));
    }

    #[test]
    fn single_precision_samples_give_the_rounded_double_result() {
        let source = pattern(131, 97);
        let double = by_scale(&source, 0.5, Kernel::Bicubic);
        let single = by_scale(&source.map(|sample| sample as f32), 0.5, Kernel::Bicubic);
        assert!(double.data().iter().zip(single.data()).all(|(&d, &s)| d as f32 == s));
    }
}
