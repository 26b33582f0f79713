//! Global differences between two images: brightness, contrast, color, and the remaining error.
//!
//! Similarity metrics report how much two images differ, but not in which way. A brighter image
//! and a noisy image may get the same score, although people object far less to the first. These
//! six numbers separate the two cases. They are computed in one pass on the scale 0..=255 for
//! every bit depth, with `Y = 0.299 R + 0.587 G + 0.114 B`, `U = 0.564 (B - Y)`,
//! `V = 0.713 (R - Y)`.

use multiversion::multiversion;

use crate::ops::strips;
use crate::{Error, Image, Pair, Result};

/// Weights of R, G and B in luma (BT.601).
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];
/// Weights of B - Y and R - Y in the two color differences.
const COLOR: [f32; 2] = [0.564, 0.713];
/// Contrast and color below this number of levels count as none; in a gray image they are rounding
/// errors.
const NOTHING: f64 = 0.05;
/// Luma is measured from the middle of the range, so that squares stay small.
const MIDDLE: f32 = 128.0;
const LANES: usize = 8;
const SUMS: usize = 8;

/// Global differences between an image and its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Mean luma of the image minus mean luma of the reference, in levels.
    pub luma_shift: f64,
    /// Standard deviation of the image's luma divided by that of the reference; 1 if both are
    /// flat.
    pub luma_std_ratio: f64,
    /// The gain `a` of the best fit `a Y + b` from the reference's luma to the image's luma; 1 if
    /// the reference is flat.
    pub affine_gain: f64,
    /// Standard deviation of the residual of that fit, in levels.
    pub affine_residual: f64,
    /// Mean distance from gray in the UV plane, of the image divided by that of the reference; 1
    /// if both are gray.
    pub chroma_ratio: f64,
    /// Root mean square distance of the colors in the UV plane, in levels.
    pub chroma_rmse: f64,
    /// Whether all pixels are equal, regardless of how they are stored.
    pub identical: bool,
}

/// Sums over pixels: luma (r, d), squares (rr, dd, rd), distance from gray (r, d), squared color
/// difference.
type Sums = [f64; SUMS];

impl Comparison {
    /// Compares the images of a pair.
    pub fn of(pair: &Pair<'_>) -> Result<Self> {
        let reference = pair.reference().ok_or(Error::ReferenceMissing { metric: "the comparison" })?;
        let distorted = pair.distorted();
        let (width, height) = (distorted.width(), distorted.height());
        let buffers = || [(); 6].map(|()| vec![0.0f32; width]);
        let strips = strips::map_with(height, buffers, |rows, range| {
            let (mut sums, mut identical) = ([0.0; SUMS], true);
            for y in range {
                let (of_reference, of_distorted) = rows.split_at_mut(3);
                read(reference, y, of_reference);
                read(distorted, y, of_distorted);
                identical = identical && of_reference == of_distorted;
                add(&mut sums, row_sums(rows));
            }
            (sums, identical)
        });
        let mut sums = [0.0; SUMS];
        strips.iter().for_each(|(strip, _)| add(&mut sums, *strip));
        let identical = strips.iter().all(|(_, identical)| *identical);
        Ok(Self::from_sums(sums.map(|sum| sum / (width * height) as f64), identical))
    }

    fn from_sums([luma_r, luma_d, rr, dd, rd, chroma_r, chroma_d, color]: Sums, identical: bool) -> Self {
        let variance_r = (rr - luma_r * luma_r).max(0.0);
        let variance_d = (dd - luma_d * luma_d).max(0.0);
        let covariance = rd - luma_r * luma_d;
        let flat = variance_r.sqrt() < NOTHING;
        let affine_gain = if flat { 1.0 } else { covariance / variance_r };
        let explained = if flat { 0.0 } else { affine_gain * covariance };
        Self {
            luma_shift: luma_d - luma_r,
            luma_std_ratio: ratio(variance_d.sqrt(), variance_r.sqrt()),
            affine_gain,
            affine_residual: (variance_d - explained).max(0.0).sqrt(),
            chroma_ratio: ratio(chroma_d, chroma_r),
            chroma_rmse: color.sqrt(),
            identical,
        }
    }
}

fn ratio(of: f64, by: f64) -> f64 {
    of.max(NOTHING) / by.max(NOTHING)
}

fn read(image: &Image, y: usize, rows: &mut [Vec<f32>]) {
    rows.iter_mut().enumerate().for_each(|(channel, row)| image.read_row(channel, y, row));
}

fn add(sums: &mut Sums, more: Sums) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

#[multiversion(targets("x86_64+avx2"))]
fn row_sums([r0, g0, b0, r1, g1, b1]: &[Vec<f32>; 6]) -> Sums {
    let mut lanes = [[0.0f64; LANES]; SUMS];
    let rows = [r0, g0, b0, r1, g1, b1].map(|row| row.as_chunks::<LANES>());
    for block in 0..rows[0].0.len() {
        let [r0, g0, b0, r1, g1, b1] = [0, 1, 2, 3, 4, 5].map(|row: usize| &rows[row].0[block]);
        for i in 0..LANES {
            let terms = pixel([r0[i], g0[i], b0[i]], [r1[i], g1[i], b1[i]]);
            (0..SUMS).for_each(|sum| lanes[sum][i] += terms[sum]);
        }
    }
    for i in 0..rows[0].1.len() {
        let [r0, g0, b0, r1, g1, b1] = [0, 1, 2, 3, 4, 5].map(|row: usize| rows[row].1[i]);
        let terms = pixel([r0, g0, b0], [r1, g1, b1]);
        (0..SUMS).for_each(|sum| lanes[sum][i] += terms[sum]);
    }
    lanes.map(|lanes| lanes.iter().sum())
}

#[inline(always)]
fn pixel(reference: [f32; 3], distorted: [f32; 3]) -> Sums {
    let [luma_r, u_r, v_r] = luma_and_color(reference);
    let [luma_d, u_d, v_d] = luma_and_color(distorted);
    let (u, v) = (u_d - u_r, v_d - v_r);
    let [r, d] = [f64::from(luma_r - MIDDLE), f64::from(luma_d - MIDDLE)];
    let [chroma_r, chroma_d] = [(u_r * u_r + v_r * v_r).sqrt(), (u_d * u_d + v_d * v_d).sqrt()];
    [r, d, r * r, d * d, r * d, f64::from(chroma_r), f64::from(chroma_d), f64::from(u * u + v * v)]
}

#[inline(always)]
fn luma_and_color([r, g, b]: [f32; 3]) -> [f32; 3] {
    let luma = LUMA[0] * r + LUMA[1] * g + LUMA[2] * b;
    [luma, COLOR[0] * (b - luma), COLOR[1] * (r - luma)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{calibration_pair, color_noise, gray_noise};

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() <= 2e-6 * expected.abs().max(1.0), "{actual} instead of {expected}");
    }

    #[test]
    fn values_of_two_calibration_pairs_are_those_of_numpy_in_double_precision() {
        for (name, expected) in [
            (
                "I03",
                [
                    0.25908220926922354,
                    0.8834821475680671,
                    0.7674681343054265,
                    17.33774457539963,
                    0.9004337823755385,
                    14.858204680914149,
                ],
            ),
            (
                "I04",
                [
                    0.012654190063457804,
                    0.9998129046602401,
                    0.9997440509085133,
                    0.4030703419258473,
                    0.09380652447721681,
                    25.100389767390965,
                ],
            ),
        ] {
            let (reference, distorted) = calibration_pair(name);
            let found = Comparison::of(&Pair::new(&reference, &distorted).unwrap()).unwrap();
            let found = [
                found.luma_shift,
                found.luma_std_ratio,
                found.affine_gain,
                found.affine_residual,
                found.chroma_ratio,
                found.chroma_rmse,
            ];
            found.into_iter().zip(expected).for_each(|(found, expected)| close(found, expected));
        }
    }

    #[test]
    fn sixteen_bits_count_as_eight() {
        let (reference, distorted) = (color_noise(37, 70, 1), color_noise(37, 70, 2));
        let widen = |image: &Image| {
            let crate::Samples::Eight(planes) = image.samples() else { panic!("8 bits") };
            let size = planes.len() / 3;
            let pixel = |i: usize| [0, 1, 2].map(|channel| u16::from(planes[channel * size + i]) * 257);
            Image::from_rgb16(37, 70, (0..size).flat_map(pixel).collect()).unwrap()
        };
        let eight = Comparison::of(&Pair::new(&reference, &distorted).unwrap()).unwrap();
        let sixteen = Comparison::of(&Pair::new(&widen(&reference), &widen(&distorted)).unwrap()).unwrap();
        close(eight.luma_shift, sixteen.luma_shift);
        close(eight.affine_residual, sixteen.affine_residual);
        close(eight.chroma_rmse, sixteen.chroma_rmse);
    }

    #[test]
    fn a_change_of_tone_is_told_from_noise() {
        let reference = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 100) as u8).collect()).unwrap();
        let toned = Image::from_gray8(64, 64, (0..4096).map(|i| (i % 100 * 2 + 7) as u8).collect()).unwrap();
        let change = Comparison::of(&Pair::new(&reference, &toned).unwrap()).unwrap();
        close(change.affine_gain, 2.0);
        close(change.luma_std_ratio, 2.0);
        assert!(change.affine_residual < 1e-3 && change.chroma_ratio == 1.0 && !change.identical);
    }

    #[test]
    fn flat_and_gray_pictures_have_finite_numbers_and_equal_ones_are_known() {
        let flat = Image::from_gray8(20, 20, vec![77; 400]).unwrap();
        let (gray, color) = (gray_noise(20, 20, 3), color_noise(20, 20, 3));
        for (reference, distorted) in [(&flat, &gray), (&gray, &flat), (&gray, &color), (&color, &flat), (&flat, &flat)]
        {
            let found = Comparison::of(&Pair::new(reference, distorted).unwrap()).unwrap();
            let numbers = [
                found.luma_shift,
                found.luma_std_ratio,
                found.affine_gain,
                found.affine_residual,
                found.chroma_ratio,
                found.chroma_rmse,
            ];
            assert!(numbers.iter().all(|number| number.is_finite()), "{found:?}");
            assert_eq!(found.identical, std::ptr::eq(reference, distorted));
        }
        let flat_in_color = Image::from_rgb8(20, 20, vec![77; 1200]).unwrap();
        assert!(Comparison::of(&Pair::new(&flat, &flat_in_color).unwrap()).unwrap().identical);
        assert!(Comparison::of(&Pair::single(&flat)).is_err());
    }
}
