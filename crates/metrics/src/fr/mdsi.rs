//! MDSI, mean deviation similarity index.
//!
//! **What it measures**: how unevenly gradients and chromaticity are damaged.
//!
//! **Range and direction**: 0 (identical) to about 0.7; lower is better.
//!
//! **Reference**: Nafchi, Shahkolaei, Hedjam, Cheriet, IEEE Access 4, 2016, in the form of `piq`
//! 0.8: similarities combined by summation, images averaged over blocks of
//! `round(shorter side / 256)`, a half rounded to even.
//!
//! **Deviations**: none above 1e-9 from `piq` in double precision on the calibration pairs.

use multiversion::multiversion;

use crate::metric::full_reference;
use crate::ops::block_sum::{Blocks, sample_scale};
use crate::ops::gradient::{prewitt, windows};
use crate::ops::rolling::Rolling;
use crate::ops::strips;
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// MDSI with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct Mdsi {
    /// Stabilizes the similarity of the gradients of both images (C1).
    pub gradient_stability: f64,
    /// Stabilizes the similarity of each image's gradients with those of their mean (C2).
    pub fusion_stability: f64,
    /// Stabilizes the similarity of chromaticity (C3).
    pub chroma_stability: f64,
    /// The share of gradients in the combined similarity; the rest is chromaticity (alpha).
    pub gradient_share: f64,
}

/// Rows of the authors' color transform: luma and two channels of chromaticity.
const LHM: [[f64; 3]; 3] = [[0.2989, 0.587, 0.114], [0.3, 0.04, -0.35], [0.34, -0.6, 0.17]];
/// The target length of the shorter side after averaging.
const WORKING_SIDE: f64 = 256.0;

static INFO: Info = Info {
    name: "MDSI",
    kind: Kind::FullReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, 1.0),
    unit: "",
    summary: "How unevenly gradients and chromaticity are damaged.",
    paper: "H. Z. Nafchi, A. Shahkolaei, R. Hedjam, M. Cheriet, Mean deviation similarity index: efficient and reliable full-reference image quality evaluator, IEEE Access 4, 2016",
    has_map: true,
    minimum_side: 3,
};

impl Mdsi {
    /// The authors' parameters.
    pub const DEFAULT: Self =
        Self { gradient_stability: 140.0, fusion_stability: 55.0, chroma_stability: 550.0, gradient_share: 0.6 };
}

impl Default for Mdsi {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(Mdsi);

impl Metric for Mdsi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let side =
            (reference.width().min(reference.height()) as f64 / WORKING_SIDE).round_ties_even().max(1.0) as usize;
        let blocks = Blocks { side, before: (side - 1) / 2 };
        let (width, height) = (blocks.count(reference.width()), blocks.count(reference.height()));
        let mut similarity: Plane<f64> = Plane::new(width, height);
        strips::fill(&mut similarity, |rows, out| {
            let mut images = [Shrunk::new(reference, blocks), Shrunk::new(distorted, blocks)];
            for y in [rows.start.wrapping_sub(1), rows.start] {
                images.iter_mut().for_each(|image| image.load(y));
            }
            for (y, out) in rows.zip(out.chunks_exact_mut(width)) {
                images.iter_mut().for_each(|image| image.load(y + 1));
                let [first, second] = &images;
                self.gradient_similarity(first.luma_window(y), second.luma_window(y), out);
                self.add_chroma_similarity(first.chroma_rows(y), second.chroma_rows(y), out);
            }
        });
        let measurement = Measurement::new(mean_deviation(&similarity).sqrt().sqrt());
        Ok(match pair.wants_map() {
            true => measurement.with_map(similarity.map(|value| value as f32), 1.0, 0.0),
            false => measurement,
        })
    }
}

impl Mdsi {
    fn gradient_similarity(&self, reference: [&[f64]; 3], distorted: [&[f64]; 3], out: &mut [f64]) {
        gradient_similarity(reference, distorted, [self.gradient_stability, self.fusion_stability], out);
    }

    fn add_chroma_similarity(&self, reference: [&[f64]; 2], distorted: [&[f64]; 2], out: &mut [f64]) {
        add_chroma_similarity(reference, distorted, self.chroma_stability, self.gradient_share, out);
    }
}

/// An image averaged over blocks, in the authors' color space, three rows at a time.
struct Shrunk<'a> {
    image: &'a Image,
    blocks: Blocks,
    /// Luma, with a zero at each end.
    luma: Rolling<f64>,
    chroma: [Rolling<f64>; 2],
    columns: Vec<u32>,
    colors: [Vec<f64>; 3],
}

impl<'a> Shrunk<'a> {
    fn new(image: &'a Image, blocks: Blocks) -> Self {
        let width = blocks.count(image.width());
        Self {
            image,
            blocks,
            luma: Rolling::new(width + 2, 3),
            chroma: [Rolling::new(width, 3), Rolling::new(width, 3)],
            columns: vec![0; blocks.columns(image.width())],
            colors: [vec![0.0; width], vec![0.0; width], vec![0.0; width]],
        }
    }

    /// Loads row `y`; zeros beyond the image.
    fn load(&mut self, y: usize) {
        let luma = self.luma.row_mut(y as isize);
        let inside = luma.len() - 1;
        let luma = &mut luma[1..inside];
        if y >= self.blocks.count(self.image.height()) {
            return luma.fill(0.0);
        }
        let side = self.blocks.side;
        let scale = 1.0 / ((side * side) as f64 * sample_scale(self.image));
        for channel in 0..self.image.channels() {
            self.blocks.sum_rows(self.image, channel, y, &mut self.columns);
            average_columns(&self.columns, side, scale, &mut self.colors[channel]);
        }
        let [red, green, blue] = &self.colors;
        let (green, blue) = if self.image.channels() == 1 { (red, red) } else { (green, blue) };
        let [first, second] = &mut self.chroma;
        let chroma = [first.row_mut(y as isize), second.row_mut(y as isize)];
        convert(red, green, blue, luma, chroma);
    }

    fn luma_window(&self, y: usize) -> [&[f64]; 3] {
        [-1, 0, 1].map(|offset| self.luma.row(y as isize + offset))
    }

    fn chroma_rows(&self, y: usize) -> [&[f64]; 2] {
        [self.chroma[0].row(y as isize), self.chroma[1].row(y as isize)]
    }
}

/// The mean distance of the fourth roots from their mean. Where the combined similarity is
/// negative, its root is complex, at 45 degrees.
fn mean_deviation(similarity: &Plane<f64>) -> f64 {
    let count = similarity.data().len() as f64;
    let sums = strips::map(similarity.height(), |rows| {
        rows.fold([0.0; 2], |sum, y| {
            let row = sum_roots(similarity.row(y));
            [sum[0] + row[0], sum[1] + row[1]]
        })
    });
    let mean = [0, 1].map(|part| sums.iter().map(|sum| sum[part]).sum::<f64>() / count);
    let deviations =
        strips::map(similarity.height(), |rows| rows.map(|y| sum_deviations(similarity.row(y), mean)).sum::<f64>());
    deviations.iter().sum::<f64>() / count
}

const LANES: usize = 4;

/// Real and imaginary part of the fourth root.
#[inline(always)]
fn fourth_root(value: f64) -> [f64; 2] {
    let modulus = value.abs().sqrt().sqrt();
    let diagonal = modulus * std::f64::consts::FRAC_1_SQRT_2;
    if value < 0.0 { [diagonal, diagonal] } else { [modulus, 0.0] }
}

#[multiversion(targets("x86_64+avx2"))]
fn sum_roots(row: &[f64]) -> [f64; 2] {
    let (mut real, mut imaginary) = ([0.0; LANES], [0.0; LANES]);
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            let root = fourth_root(chunk[lane]);
            real[lane] += root[0];
            imaginary[lane] += root[1];
        }
    }
    for (lane, &value) in rest.iter().enumerate() {
        let root = fourth_root(value);
        real[lane] += root[0];
        imaginary[lane] += root[1];
    }
    [real.iter().sum(), imaginary.iter().sum()]
}

#[multiversion(targets("x86_64+avx2"))]
fn sum_deviations(row: &[f64], mean: [f64; 2]) -> f64 {
    let deviation = |value: f64| {
        let [real, imaginary] = fourth_root(value);
        ((real - mean[0]) * (real - mean[0]) + (imaginary - mean[1]) * (imaginary - mean[1])).sqrt()
    };
    let mut lanes = [0.0; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += deviation(chunk[lane]);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane += deviation(value);
    }
    lanes.iter().sum()
}

/// Means of blocks, from the sums of their columns. The sides for usual photos are compile-time
/// constants, so that the loop vectorizes.
#[multiversion(targets("x86_64+avx2"))]
fn average_columns(columns: &[u32], side: usize, scale: f64, out: &mut [f64]) {
    match side {
        1 => average::<1>(columns, scale, out),
        2 => average::<2>(columns, scale, out),
        3 => average::<3>(columns, scale, out),
        4 => average::<4>(columns, scale, out),
        8 => average::<8>(columns, scale, out),
        _ => {
            for (out, block) in out.iter_mut().zip(columns.chunks_exact(side)) {
                *out = block.iter().map(|&column| u64::from(column)).sum::<u64>() as f64 * scale;
            }
        }
    }
}

#[inline(always)]
fn average<const SIDE: usize>(columns: &[u32], scale: f64, out: &mut [f64]) {
    let (blocks, _) = columns.as_chunks::<SIDE>();
    for (out, block) in out.iter_mut().zip(blocks) {
        *out = f64::from(block.iter().sum::<u32>() as i32) * scale;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn convert(red: &[f64], green: &[f64], blue: &[f64], luma: &mut [f64], chroma: [&mut [f64]; 2]) {
    let [first, second] = chroma;
    let out = luma.iter_mut().zip(first).zip(second);
    for (((luma, first), second), ((&r, &g), &b)) in out.zip(red.iter().zip(green).zip(blue)) {
        *luma = LHM[0][0] * r + LHM[0][1] * g + LHM[0][2] * b;
        *first = LHM[1][0] * r + LHM[1][1] * g + LHM[1][2] * b;
        *second = LHM[2][0] * r + LHM[2][1] * g + LHM[2][2] * b;
    }
}

/// The similarity of the gradients, plus that of the distorted image with the mean image, minus
/// that of the reference with the mean image.
#[multiversion(targets("x86_64+avx2"))]
fn gradient_similarity(reference: [&[f64]; 3], distorted: [&[f64]; 3], stability: [f64; 2], out: &mut [f64]) {
    let similarity = |first: f64, second: f64, stability: f64| {
        (2.0 * (first * second).sqrt() + stability) / (first + second + stability)
    };
    for ((out, ((a, b), c)), ((d, e), f)) in out.iter_mut().zip(windows(reference)).zip(windows(distorted)) {
        let (across, down) = prewitt(a, b, c);
        let (other_across, other_down) = prewitt(d, e, f);
        let first = (across * across + down * down) / 9.0;
        let second = (other_across * other_across + other_down * other_down) / 9.0;
        let (across, down) = (across + other_across, down + other_down);
        let mean = (across * across + down * down) / 36.0;
        *out = similarity(first, second, stability[0]) + similarity(second, mean, stability[1])
            - similarity(first, mean, stability[1]);
    }
}

/// The weighted sum of the gradient similarity in `out` and the similarity of chromaticity. Its
/// terms are paired so that equal colors have a similarity of exactly one: the fourth root of the
/// score would reveal a rounding error.
#[multiversion(targets("x86_64+avx2"))]
fn add_chroma_similarity(reference: [&[f64]; 2], distorted: [&[f64]; 2], stability: f64, share: f64, out: &mut [f64]) {
    let reference = reference[0].iter().zip(reference[1]);
    let distorted = distorted[0].iter().zip(distorted[1]);
    for ((out, (&h, &m)), (&i, &n)) in out.iter_mut().zip(reference).zip(distorted) {
        let chroma = (2.0 * (h * i + m * n) + stability) / ((h * h + m * m) + (i * i + n * n) + stability);
        *out = share * *out + (1.0 - share) * chroma;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::testing::{assert_official, assert_values_of_crops, color_noise, gray_noise};

    /// `piq.mdsi(distorted, reference)` 0.8 on double tensors; the metric is not symmetric.
    #[test]
    fn equal_to_piq() {
        let expected = [0.486268804828, 0.397198385374, 0.201321850332, 0.403833541882, 0.455812305713];
        assert_official(&Mdsi::DEFAULT, expected, [1e-9; 5]);
    }

    /// The same on crops of odd sizes, which use blocks of one and of two pixels.
    #[test]
    fn equal_to_piq_at_odd_sizes() {
        let expected = [
            [0.571251466063, 0.484141440597, 0.533038459006],
            [0.319340914893, 0.380847319768, 0.370171392018],
            [0.192517092207, 0.205035203422, 0.188302993788],
            [0.0, 0.412117699354, 0.322832972434],
            [0.391807447752, 0.457652221999, 0.514789023218],
        ];
        assert_values_of_crops(&Mdsi::DEFAULT, expected, 1e-9);
    }

    #[test]
    fn identical_and_flat_images_are_perfect() {
        let noise = color_noise(33, 150, 1);
        let flat = Image::from_gray8(9, 9, vec![0; 81]).unwrap();
        for image in [noise, flat] {
            let measurement = Mdsi::DEFAULT.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
            assert_eq!(measurement.score, 0.0);
            assert!(measurement.map.unwrap().plane.data().iter().all(|&similarity| similarity == 1.0));
        }
    }

    #[test]
    fn depth_and_gray_as_color_do_not_matter() {
        let pixels = |seed: u32| (0..90u32 * 70).map(|i| (i.wrapping_mul(i ^ seed) >> 3) as u8).collect::<Vec<_>>();
        let score = |image: fn(Vec<u8>) -> Image| Mdsi::DEFAULT.score(&image(pixels(9)), &image(pixels(77))).unwrap();
        let gray = score(|pixels| Image::from_gray8(90, 70, pixels).unwrap());
        let wide =
            score(|pixels| Image::from_gray16(90, 70, pixels.iter().map(|&v| u16::from(v) * 257).collect()).unwrap());
        let color = score(|pixels| Image::from_rgb8(90, 70, pixels.iter().flat_map(|&v| [v; 3]).collect()).unwrap());
        assert!(gray > 0.1 && (gray - wide).abs() < 1e-12 && (gray - color).abs() < 1e-12);
    }

    #[test]
    fn tiny_images_are_refused() {
        let image = gray_noise(2, 90, 1);
        assert!(matches!(Mdsi::DEFAULT.score(&image, &image), Err(Error::TooSmall { .. })));
    }
}
