//! SDSP, saliency from simple priors (L. Zhang, Z. Gu, H. Li, ICIP 2013), as used by VSI.
//!
//! A place is salient if it stands out in a frequency band that attracts attention, lies near the
//! center and has a warm color. The image is resized to 256x256 (antialiased, like MATLAB's
//! `imresize`), and the map is resized back to the size of the image.

use std::collections::BTreeMap;

use magetypes::simd::backends::F32x8Backend;
use magetypes::simd::generic::f32x8;
use multiversion::multiversion;
use rayon::prelude::*;

use crate::ops::block_fft::{BlockFft, to_plane};
use crate::ops::elementary::{exp, ln};
use crate::ops::lanes::{LANES, Lanes};
use crate::ops::lanes_fft::{Point, Source, Value};
use crate::ops::resize::{Axis, Kernel, rows_to_size};
use crate::ops::{color, downsample, strips};
use crate::{Image, Plane};

/// Width and height at which saliency is computed.
const SIDE: usize = 256;
/// Center frequency (omega 0) and width (sigma F) of the log-Gabor band.
const CENTER_FREQUENCY: f32 = 0.0210;
const BAND_WIDTH: f32 = 1.34;
/// Distance in samples at which attention falls off from the center (sigma D).
const CENTER_BIAS: f32 = 145.0;
/// How quickly attention rises with warmth (sigma C).
const WARMTH: f32 = 0.001;

/// Filters and plans, reusable for any number of images.
#[derive(Debug)]
pub struct Saliency {
    fft: BlockFft,
    band: Vec<Lanes>,
}

impl Default for Saliency {
    fn default() -> Self {
        Self::new()
    }
}

impl Saliency {
    /// Creates the filters and plans.
    pub fn new() -> Self {
        // The band is the same in all four quadrants.
        const HALF: usize = SIDE / 2 + 1;
        let quadrant: Vec<f32> = (0..HALF * HALF).map(|index| band_weight(index % HALF, index / HALF)).collect();
        let weight = |u: usize, v: usize| quadrant[v.min(SIDE - v) * HALF + u.min(SIDE - u)];
        let mut band = vec![Lanes::default(); SIDE / LANES * SIDE];
        for (block, columns) in band.chunks_exact_mut(SIDE).enumerate() {
            for (v, lanes) in columns.iter_mut().enumerate() {
                *lanes = Lanes(std::array::from_fn(|lane| weight(block * LANES + lane, v)));
            }
        }
        Self { fft: BlockFft::new(SIDE, SIDE), band }
    }

    /// Returns the saliency of `image`, from 0 to 1 at full size, averaged over boxes of `factor`.
    pub fn box_means(&self, image: &Image, factor: usize) -> Plane {
        normalized_means(&self.small(image), image.width(), image.height(), factor)
    }

    /// Returns the saliency at 256x256, not normalized.
    pub fn small(&self, image: &Image) -> Plane {
        let across = Axis::to_length(image.width(), SIDE, Kernel::Bilinear);
        let down = Axis::to_length(image.height(), SIDE, Kernel::Bilinear);
        let channel = |channel: usize| {
            rows_to_size(&across, &down, image.width(), |y, weight, sums| image.add_row(channel, y, weight, sums))
        };
        let red = channel(0);
        let rgb = if image.channels() == 1 { [red.clone(), red.clone(), red] } else { [red, channel(1), channel(2)] };
        let [lightness, a, b] = color::lab(&rgb);
        let mut salient = self.conspicuity(&lightness, &a, &b);
        let (a_range, b_range) = (Range::of(&a), Range::of(&b));
        strips::for_each_row(&mut salient, |y, row| {
            apply_priors(y, a.row(y), b.row(y), a_range, b_range, row);
        });
        salient
    }

    /// The square root of the sum of squares of the band-passed channels.
    fn conspicuity(&self, lightness: &Plane, a: &Plane, b: &Plane) -> Plane {
        // The band is even, so two real channels can be transformed as one complex image.
        let spectra = [self.fft.forward(lightness, Some(a), 0.0), self.fft.forward(b, None, 0.0)];
        let source = |block: usize, index: usize| {
            let span = block * SIDE..(block + 1) * SIDE;
            Banded { spectrum: &spectra[index][span.clone()], band: &self.band[span] }
        };
        let mut conspicuity = vec![Lanes::default(); self.fft.picture_length()];
        self.fft.inverse(&mut Vec::new(), source, conspicuity.par_chunks_mut(SIDE), norm);
        to_plane(&conspicuity, SIDE, SIDE)
    }
}

/// A block of a spectrum times the band, with the parts swapped for the inverse transform.
struct Banded<'a> {
    spectrum: &'a [Point],
    band: &'a [Lanes],
}

impl Source for Banded<'_> {
    #[inline(always)]
    fn value<T: F32x8Backend>(&self, token: T, index: usize) -> Value<T> {
        let value = Value::load(token, &self.spectrum[index]);
        let weight = f32x8::load_t(token, &self.band[index].0);
        Value { re: value.im * weight, im: value.re * weight }
    }
}

/// The band at index (u, v), including the factor of the inverse transform. It is zero outside the
/// circle of radius 0.5.
fn band_weight(u: usize, v: usize) -> f32 {
    let frequency = |index: usize| crate::ops::fft::frequency(index, SIDE);
    let square = frequency(u).powi(2) + frequency(v).powi(2);
    if square == 0.0 || square > 0.25 {
        return 0.0;
    }
    let distance = ln((square.sqrt() / f64::from(CENTER_FREQUENCY)) as f32);
    exp(-distance * distance / (2.0 * BAND_WIDTH * BAND_WIDTH)) / (SIDE * SIDE) as f32
}

/// The length of (L, a, b). The first image holds a and L, the second holds b as its imaginary
/// part.
#[multiversion(targets("x86_64+avx2"))]
fn norm([first, second]: [&[Point]; 2], out: &mut [Lanes]) {
    for ((out, first), second) in out.iter_mut().zip(first).zip(second) {
        let (l, a, b) = (first.im, first.re, second.im);
        *out = (l * l + a * a + b * b).map(f32::sqrt);
    }
}

/// The smallest and largest value of a plane.
#[derive(Debug, Clone, Copy)]
struct Range {
    least: f32,
    greatest: f32,
}

impl Range {
    const EMPTY: Self = Self { least: f32::INFINITY, greatest: f32::NEG_INFINITY };

    fn of(plane: &Plane) -> Self {
        Self::EMPTY.with(plane.data())
    }

    fn with(self, values: &[f32]) -> Self {
        let (least, greatest) = extremes(values);
        Self { least: self.least.min(least), greatest: self.greatest.max(greatest) }
    }

    fn join(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }

    /// The inverse of the width, or 0 for a constant plane (the authors' code divides by zero
    /// there).
    fn inverse_width(self) -> f32 {
        if self.greatest > self.least { 1.0 / (self.greatest - self.least) } else { 0.0 }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn extremes(values: &[f32]) -> (f32, f32) {
    let mut extremes = Extremes::default();
    let (chunks, rest) = values.as_chunks::<LANES>();
    chunks.iter().for_each(|chunk| extremes.add(*chunk));
    extremes.finish(rest)
}

/// The smallest and largest values of many vectors, lane by lane.
struct Extremes {
    least: [f32; LANES],
    greatest: [f32; LANES],
}

impl Default for Extremes {
    fn default() -> Self {
        Self { least: [f32::INFINITY; LANES], greatest: [f32::NEG_INFINITY; LANES] }
    }
}

impl Extremes {
    #[inline(always)]
    fn add(&mut self, values: [f32; LANES]) {
        for lane in 0..LANES {
            self.least[lane] = if values[lane] < self.least[lane] { values[lane] } else { self.least[lane] };
            self.greatest[lane] = if values[lane] > self.greatest[lane] { values[lane] } else { self.greatest[lane] };
        }
    }

    #[inline(always)]
    fn finish(self, rest: &[f32]) -> (f32, f32) {
        let least = self.least.iter().chain(rest).fold(f32::INFINITY, |least, &value| least.min(value));
        (least, self.greatest.iter().chain(rest).fold(f32::NEG_INFINITY, |greatest, &value| greatest.max(value)))
    }
}

/// Multiplies a row by the location prior and the color prior.
#[multiversion(targets("x86_64+avx2"))]
fn apply_priors(y: usize, a: &[f32], b: &[f32], a_range: Range, b_range: Range, row: &mut [f32]) {
    // Samples count from 1, and their center is at half the side.
    let center = SIDE as f32 / 2.0 - 1.0;
    let down = (y as f32 - center) * (y as f32 - center);
    let (a_scale, b_scale) = (a_range.inverse_width(), b_range.inverse_width());
    for (x, ((out, &a), &b)) in row.iter_mut().zip(a).zip(b).enumerate() {
        let across = (x as f32 - center) * (x as f32 - center);
        let place = exp(-(across + down) / (CENTER_BIAS * CENTER_BIAS));
        let (a, b) = ((a - a_range.least) * a_scale, (b - b_range.least) * b_scale);
        let warmth = 1.0 - exp(-(a * a + b * b) / (WARMTH * WARMTH));
        *out *= place * warmth;
    }
}

/// `mat2gray(imresize(small, [height width], 'bilinear'))`, averaged over boxes of `factor` with
/// zeros beyond the border.
///
/// The full-size map is never computed: a sum of its rows is a weighted sum of a few rows of the
/// small map.
fn normalized_means(small: &Plane, width: usize, height: usize, factor: usize) -> Plane {
    let across = Axis::to_length(small.width(), width, Kernel::Bilinear);
    let down = Axis::to_length(small.height(), height, Kernel::Bilinear);
    let wide = across.resize_rows_of(small);
    let range = full_size_range(&wide, &down, height);
    let mut means = Plane::<f32>::new(width.div_ceil(factor), height.div_ceil(factor));
    strips::fill_by(&mut means, strips::SMALL, |rows, out| {
        let mut sums = vec![0.0; width];
        let mut weights = BTreeMap::new();
        for (y, out) in rows.zip(out.chunks_exact_mut(width.div_ceil(factor))) {
            weights.clear();
            for y in downsample::window(y, factor, height) {
                taps(&down, y).for_each(|(row, weight)| *weights.entry(row).or_insert(0.0) += weight);
            }
            sums.fill(0.0);
            weights.iter().for_each(|(&row, &weight)| add_weighted(weight as f32, wide.row(row), &mut sums));
            box_sums(&sums, factor, out);
        }
    });
    let columns = means.width();
    let scale = range.inverse_width() / (factor * factor) as f32;
    let across: Vec<f32> = (0..columns).map(|x| downsample::window(x, factor, width).len() as f32).collect();
    strips::for_each_row(&mut means, |y, row| {
        let rows = downsample::window(y, factor, height).len() as f32;
        for (value, columns) in row.iter_mut().zip(&across) {
            let shifted = (*value - rows * columns * range.least) * scale;
            *value = if shifted > 0.0 { shifted } else { 0.0 };
        }
    });
    means
}

/// The rows of `wide` that contribute to full-size row `y`, with their weights.
fn taps(down: &Axis, y: usize) -> impl Iterator<Item = (usize, f64)> {
    let (indices, weights) = down.taps(y);
    indices.iter().copied().zip(weights.iter().copied()).filter(|(_, weight)| *weight != 0.0)
}

/// The smallest and largest value at full size. Rows between the same two source rows are linear
/// in their weight, so the first and the last of them contain the extremes.
fn full_size_range(wide: &Plane, down: &Axis, height: usize) -> Range {
    let sources = |y: usize| taps(down, y).map(|(row, _)| row);
    let ends = (0..height).filter(|&y| {
        let like = |other: Option<usize>| other.is_some_and(|other| other < height && sources(other).eq(sources(y)));
        !(like(y.checked_sub(1)) && like(Some(y + 1)))
    });
    let ranges: Vec<Range> = (ends.collect::<Vec<_>>().par_iter())
        .with_min_len(strips::SMALL)
        .map(|&y| {
            let mut taps = taps(down, y).map(|(row, weight)| (weight as f32, wide.row(row)));
            let (least, greatest) = match [taps.next(), taps.next(), taps.next()] {
                [Some(first), Some(second), None] => pair_extremes(first, second),
                head => {
                    let mut full = vec![0.0; wide.width()];
                    head.into_iter()
                        .flatten()
                        .chain(taps)
                        .for_each(|(weight, row)| add_weighted(weight, row, &mut full));
                    extremes(&full)
                }
            };
            Range { least, greatest }
        })
        .collect();
    ranges.into_iter().fold(Range::EMPTY, Range::join)
}

/// The smallest and largest value of a mixture of two rows.
#[multiversion(targets("x86_64+avx2"))]
fn pair_extremes((first_weight, first): (f32, &[f32]), (second_weight, second): (f32, &[f32])) -> (f32, f32) {
    let mut extremes = Extremes::default();
    let mut last = [0.0; LANES];
    let (firsts, first_rest) = first.as_chunks::<LANES>();
    let (seconds, second_rest) = second.as_chunks::<LANES>();
    for (first, second) in firsts.iter().zip(seconds) {
        extremes.add(std::array::from_fn(|lane| first_weight * first[lane] + second_weight * second[lane]));
    }
    for ((first, second), last) in first_rest.iter().zip(second_rest).zip(&mut last) {
        *last = first_weight * first + second_weight * second;
    }
    extremes.finish(&last[..first_rest.len()])
}

/// The sum over the window of each output sample.
#[multiversion(targets("x86_64+avx2"))]
fn box_sums(sums: &[f32], factor: usize, out: &mut [f32]) {
    let width = sums.len();
    let before = downsample::window(1, factor, usize::MAX).start;
    let inner = sums.get(before..).unwrap_or(&[]).chunks_exact(factor);
    let (first, others) = out.split_at_mut(1);
    first[0] = sums[downsample::window(0, factor, width)].iter().sum();
    let whole = inner.len().min(others.len());
    let (whole, last) = others.split_at_mut(whole);
    for (out, window) in whole.iter_mut().zip(inner) {
        *out = window.iter().sum();
    }
    for (x, out) in last.iter_mut().enumerate() {
        *out = sums[downsample::window(1 + whole.len() + x, factor, width)].iter().sum();
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_weighted(weight: f32, row: &[f32], out: &mut [f32]) {
    out.iter_mut().zip(row).for_each(|(out, &sample)| *out += weight * sample);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::resize;
    use crate::testing::color_noise;

    #[test]
    fn fused_averages_equal_the_steps_written_out() {
        for (width, height) in [(700, 530), (300, 700), (90, 61)] {
            let small = Plane::from_fn(SIDE, SIDE, |x, y| ((x * x + 3 * y * y + x * y) % 97) as f32);
            let full = resize::to_size(&small, width, height, Kernel::Bilinear);
            let range = Range::of(&full);
            for factor in [1, 2, 3] {
                let means = normalized_means(&small, width, height, factor);
                for (x, y) in [(0, 0), (means.width() - 1, means.height() - 1), (means.width() / 2, means.height() / 3)]
                {
                    let mut expected = 0.0;
                    for row in downsample::window(y, factor, height) {
                        for column in downsample::window(x, factor, width) {
                            expected += (full.at(column, row) - range.least) / (range.greatest - range.least);
                        }
                    }
                    expected /= (factor * factor) as f32;
                    assert!((means.at(x, y) - expected).abs() < 1e-5, "{width}x{height} by {factor} at {x},{y}");
                }
            }
        }
    }

    #[test]
    fn saliency_spans_zero_to_one_and_flat_pictures_have_none() {
        let saliency = Saliency::new();
        let means = saliency.box_means(&color_noise(120, 90, 9), 1);
        let range = Range::of(&means);
        assert!(range.least == 0.0 && (range.greatest - 1.0).abs() < 1e-6);
        let flat = Image::from_rgb8(50, 40, vec![120; 6000]).unwrap();
        assert!(saliency.box_means(&flat, 1).data().iter().all(|&value| value == 0.0));
    }
}
