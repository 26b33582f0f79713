//! SDSP, saliency from simple priors (L. Zhang, Z. Gu, H. Li, ICIP 2013), as VSI uses it.
//!
//! What stands out in the band that catches the eye, near the centre and warm in colour is salient. The picture is
//! brought to 256x256 (antialiased, as MATLAB's `imresize`), and the map back to the size of the picture.

use multiversion::multiversion;
use rayon::prelude::*;

use crate::ops::block_fft::{BlockFft, Workspace, to_plane};
use crate::ops::elementary::{exp, ln};
use crate::ops::lanes::{LANES, Lanes};
use crate::ops::lanes_fft::Signals;
use crate::ops::resize::{Axis, Kernel, rows_to_size};
use crate::ops::{colour, downsample, strips};
use crate::{Image, Plane};

/// Width and height at which saliency is computed.
const SIDE: usize = 256;
/// Centre frequency (omega 0) and width (sigma F) of the log-Gabor band.
const CENTRE_FREQUENCY: f32 = 0.0210;
const BAND_WIDTH: f32 = 1.34;
/// How fast attention falls off from the centre (sigma D), in samples.
const CENTRE_BIAS: f32 = 145.0;
/// How fast it rises with warmth (sigma C).
const WARMTH: f32 = 0.001;

/// Filters and plans, for any number of pictures.
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
    /// Filters and plans.
    pub fn new() -> Self {
        let band = (0..SIDE / LANES).flat_map(|block| {
            (0..SIDE).map(move |v| Lanes(std::array::from_fn(|lane| band_weight(block * LANES + lane, v))))
        });
        Self { fft: BlockFft::new(SIDE, SIDE), band: band.collect() }
    }

    /// The saliency of `image`, from 0 to 1 at its full size, averaged over boxes of `factor`.
    pub fn box_means(&self, image: &Image, factor: usize) -> Plane {
        normalised_means(&self.small(image), image.width(), image.height(), factor)
    }

    /// The saliency at 256x256, not normalised.
    pub fn small(&self, image: &Image) -> Plane {
        let across = Axis::to_length(image.width(), SIDE, Kernel::Bilinear);
        let down = Axis::to_length(image.height(), SIDE, Kernel::Bilinear);
        let channel =
            |channel: usize| rows_to_size(&across, &down, image.width(), |y, row| image.read_row(channel, y, row));
        let red = channel(0);
        let rgb = if image.channels() == 1 { [red.clone(), red.clone(), red] } else { [red, channel(1), channel(2)] };
        let [lightness, a, b] = colour::lab(&rgb);
        let mut salient = self.conspicuity(&lightness, &a, &b);
        let (a_range, b_range) = (Range::of(&a), Range::of(&b));
        strips::for_each_row(&mut salient, |y, row| {
            apply_priors(y, a.row(y), b.row(y), a_range, b_range, row);
        });
        salient
    }

    /// The root of the summed squares of the band-passed channels.
    fn conspicuity(&self, lightness: &Plane, a: &Plane, b: &Plane) -> Plane {
        // The band is even, so two real channels travel as one complex picture.
        let spectra = [self.fft.forward(lightness, Some(a)), self.fft.forward(b, None)];
        let read = |block: usize, index: usize, signals: &mut Signals| {
            let span = block * SIDE..(block + 1) * SIDE;
            let weights = &self.band[span.clone()];
            weigh(weights, &spectra[index].re[span.clone()], &mut signals.re);
            weigh(weights, &spectra[index].im[span], &mut signals.im);
        };
        let mut conspicuity = vec![Lanes::default(); self.fft.picture_length()];
        self.fft.inverse::<2>(&mut Vec::new(), read, &mut conspicuity, 1, |_, channels, out| norm(channels, out));
        to_plane(&conspicuity, SIDE, SIDE)
    }
}

/// The band at index (u, v), with the factor of the inverse transform; zero beyond the circle of radius 0.5.
fn band_weight(u: usize, v: usize) -> f32 {
    let frequency = |index: usize| crate::ops::fft::frequency(index, SIDE);
    let square = frequency(u).powi(2) + frequency(v).powi(2);
    if square == 0.0 || square > 0.25 {
        return 0.0;
    }
    let distance = ln((square.sqrt() / f64::from(CENTRE_FREQUENCY)) as f32);
    exp(-distance * distance / (2.0 * BAND_WIDTH * BAND_WIDTH)) / (SIDE * SIDE) as f32
}

#[multiversion(targets("x86_64+avx2"))]
fn weigh(weights: &[Lanes], values: &[Lanes], out: &mut [Lanes]) {
    out.iter_mut().zip(values).zip(weights).for_each(|((out, &value), &weight)| *out = value * weight);
}

#[multiversion(targets("x86_64+avx2"))]
fn norm(channels: &[Workspace; 2], out: &mut [Lanes]) {
    let (first, second) = (&channels[0].signals, &channels[1].signals);
    for (((out, &l), &a), &b) in out.iter_mut().zip(&first.re).zip(&first.im).zip(&second.re) {
        *out = (l * l + a * a + b * b).map(f32::sqrt);
    }
}

/// Least and greatest value of a plane.
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

    /// One over the width, 0 for a constant plane (the original divides by zero there).
    fn inverse_width(self) -> f32 {
        if self.greatest > self.least { 1.0 / (self.greatest - self.least) } else { 0.0 }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn extremes(values: &[f32]) -> (f32, f32) {
    let (mut least, mut greatest) = (Lanes::splat(f32::INFINITY), Lanes::splat(f32::NEG_INFINITY));
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for ((least, greatest), &value) in least.0.iter_mut().zip(&mut greatest.0).zip(chunk) {
            *least = if value < *least { value } else { *least };
            *greatest = if value > *greatest { value } else { *greatest };
        }
    }
    let least = least.0.iter().chain(rest).fold(f32::INFINITY, |least, &value| least.min(value));
    (least, greatest.0.iter().chain(rest).fold(f32::NEG_INFINITY, |greatest, &value| greatest.max(value)))
}

/// Multiplies a row by the priors of place and of colour.
#[multiversion(targets("x86_64+avx2"))]
fn apply_priors(y: usize, a: &[f32], b: &[f32], a_range: Range, b_range: Range, row: &mut [f32]) {
    // Samples count from 1, their centre is at half the side.
    let centre = SIDE as f32 / 2.0 - 1.0;
    let down = (y as f32 - centre) * (y as f32 - centre);
    let (a_scale, b_scale) = (a_range.inverse_width(), b_range.inverse_width());
    for (x, ((out, &a), &b)) in row.iter_mut().zip(a).zip(b).enumerate() {
        let across = (x as f32 - centre) * (x as f32 - centre);
        let place = exp(-(across + down) / (CENTRE_BIAS * CENTRE_BIAS));
        let (a, b) = ((a - a_range.least) * a_scale, (b - b_range.least) * b_scale);
        let warmth = 1.0 - exp(-(a * a + b * b) / (WARMTH * WARMTH));
        *out *= place * warmth;
    }
}

/// `mat2gray(imresize(small, [height width], 'bilinear'))`, averaged over boxes of `factor` with zeros beyond the
/// border. Rows of the full size exist only one at a time.
fn normalised_means(small: &Plane, width: usize, height: usize, factor: usize) -> Plane {
    let across = Axis::to_length(small.width(), width, Kernel::Bilinear);
    let down = Axis::to_length(small.height(), height, Kernel::Bilinear);
    let wide = across.resize_rows_of(small);
    let mut means = Plane::<f32>::new(width.div_ceil(factor), height.div_ceil(factor));
    let columns = means.width();
    let range = (means.data_mut().par_chunks_mut(columns * ROWS).enumerate())
        .map(|(strip, out)| {
            let (mut full, mut sums) = (vec![0.0; width], vec![0.0; width]);
            let mut range = Range::EMPTY;
            for (y, out) in out.chunks_exact_mut(columns).enumerate() {
                sums.fill(0.0);
                for y in downsample::window(strip * ROWS + y, factor, height) {
                    let (indices, weights) = down.taps(y);
                    full.fill(0.0);
                    for (&y, &weight) in indices.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
                        add_weighted(weight as f32, wide.row(y), &mut full);
                    }
                    range = range.with(&full);
                    add_weighted(1.0, &full, &mut sums);
                }
                for (x, out) in out.iter_mut().enumerate() {
                    *out = sums[downsample::window(x, factor, width)].iter().sum();
                }
            }
            range
        })
        .collect::<Vec<_>>()
        .into_iter()
        .fold(Range::EMPTY, Range::join);
    let scale = range.inverse_width() / (factor * factor) as f32;
    strips::for_each_row(&mut means, |y, row| {
        let rows = downsample::window(y, factor, height).len();
        for (x, value) in row.iter_mut().enumerate() {
            let count = (rows * downsample::window(x, factor, width).len()) as f32;
            *value = ((*value - count * range.least) * scale).max(0.0);
        }
    });
    means
}

/// Rows a strip of averaged saliency.
const ROWS: usize = 16;

#[multiversion(targets("x86_64+avx2"))]
fn add_weighted(weight: f32, row: &[f32], out: &mut [f32]) {
    out.iter_mut().zip(row).for_each(|(out, &sample)| *out += weight * sample);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::resize;
    use crate::testing::colour_noise;

    #[test]
    fn fused_averages_equal_the_steps_written_out() {
        for (width, height) in [(700, 530), (300, 700), (90, 61)] {
            let small = Plane::from_fn(SIDE, SIDE, |x, y| ((x * x + 3 * y * y + x * y) % 97) as f32);
            let full = resize::to_size(&small, width, height, Kernel::Bilinear);
            let range = Range::of(&full);
            for factor in [1, 2, 3] {
                let means = normalised_means(&small, width, height, factor);
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
        let means = saliency.box_means(&colour_noise(120, 90, 9), 1);
        let range = Range::of(&means);
        assert!(range.least == 0.0 && (range.greatest - 1.0).abs() < 1e-6);
        let flat = Image::from_rgb8(50, 40, vec![120; 6000]).unwrap();
        assert!(saliency.box_means(&flat, 1).data().iter().all(|&value| value == 0.0));
    }
}
