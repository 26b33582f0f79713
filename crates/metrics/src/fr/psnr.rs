//! PSNR, peak signal-to-noise ratio, of the RGB samples and of luma.
//!
//! **What it measures**: the energy of the difference, pixel by pixel; does not model human
//! vision.
//!
//! **Range and direction**: decibels, higher is better; infinity for identical images.
//!
//! **Reference**: the textbook definition with peak 255; RGB pools the squared error of all three
//! channels, Y uses full-range BT.601 luma, unrounded.
//!
//! **Deviations**: none. (Other libraries add 1e-8 to the error, so that identical images score 80
//! dB.)

use multiversion::multiversion;
use rayon::prelude::*;

use crate::metric::full_reference;
use crate::ops::{strips, sum};
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result, Samples};

const PEAK: f64 = 255.0;
const BT601: [f32; 3] = [0.299, 0.587, 0.114];
/// Root of the squared error at which the map shows full damage: a tenth of the range.
const WORST_ERROR: f32 = 25.5;

/// PSNR over all samples of R, G and B.
#[derive(Debug, Clone, Copy, Default)]
pub struct Psnr;

/// PSNR of BT.601 luma.
#[derive(Debug, Clone, Copy, Default)]
pub struct PsnrY;

static PSNR: Info = Info {
    name: "PSNR",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "dB",
    summary: "Ratio of the peak to the squared error of the RGB samples, in decibels.",
    paper: "Textbook definition; survey: Q. Huynh-Thu, M. Ghanbari, Scope of validity of PSNR, Electronics Letters 44(13), 2008",
    has_map: true,
    minimum_side: 1,
};

static PSNR_Y: Info =
    Info { name: "PSNR-Y", summary: "Ratio of the peak to the squared error of BT.601 luma, in decibels.", ..PSNR };

impl Psnr {
    /// The textbook definition.
    pub const DEFAULT: Self = Self;
}

impl PsnrY {
    /// The textbook definition.
    pub const DEFAULT: Self = Self;
}

full_reference!(Psnr);
full_reference!(PsnrY);

impl Metric for Psnr {
    fn info(&self) -> &'static Info {
        &PSNR
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&PSNR)?;
        if let (Samples::Eight(x), Samples::Eight(y)) = (reference.samples(), distorted.samples())
            && x.len() == y.len()
            && !pair.wants_map()
        {
            return Ok(Measurement::new(decibels(total_squared_error(x, y) as f64 / x.len() as f64)));
        }
        let channels = reference.channels().max(distorted.channels());
        Ok(measure(pair, channels, |image, channel, y, row| image.read_row(channel, y, row), reference, distorted))
    }
}

impl Metric for PsnrY {
    fn info(&self) -> &'static Info {
        &PSNR_Y
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&PSNR_Y)?;
        Ok(measure(pair, 1, |image, _, y, row| image.read_weighted_row(BT601, y, row), reference, distorted))
    }
}

/// PSNR over the channels that `read` returns, and the map of their root mean squared error.
fn measure(
    pair: &Pair<'_>,
    channels: usize,
    read: impl Fn(&Image, usize, usize, &mut [f32]) + Sync,
    reference: &Image,
    distorted: &Image,
) -> Measurement {
    let (width, height) = (reference.width(), reference.height());
    let squared_error = |rows: &mut [Vec<f32>; 2], y: usize, squared: &mut [f32]| {
        for channel in 0..channels {
            read(reference, channel, y, &mut rows[0]);
            read(distorted, channel, y, &mut rows[1]);
            add_squared_difference(&rows[0], &rows[1], squared);
        }
        sum::sum(squared)
    };
    let buffers = || [vec![0.0; width], vec![0.0; width]];
    let mut map = pair.wants_map().then(|| Plane::new(width, height));
    let totals: Vec<f64> = match &mut map {
        Some(map) => strips::fill_with(map, buffers, |buffers, rows, samples| {
            rows.zip(samples.chunks_exact_mut(width)).map(|(y, row)| squared_error(buffers, y, row)).sum()
        }),
        None => strips::map_with(
            height,
            || (buffers(), vec![0.0; width]),
            |(buffers, squared), rows| {
                rows.map(|y| {
                    squared.fill(0.0);
                    squared_error(buffers, y, squared)
                })
                .sum()
            },
        ),
    };
    let mean = totals.iter().sum::<f64>() / (width * height * channels) as f64;
    let measurement = Measurement::new(decibels(mean));
    match map {
        Some(map) => {
            let scale = 1.0 / channels as f32;
            measurement.with_map(map.map(|squared| (squared * scale).sqrt()), 0.0, WORST_ERROR)
        }
        None => measurement,
    }
}

fn decibels(mean_squared_error: f64) -> f64 {
    10.0 * (PEAK * PEAK / mean_squared_error).log10()
}

/// The sum of squared differences, exact.
fn total_squared_error(reference: &[u8], distorted: &[u8]) -> u64 {
    /// Number of maximum differences whose squares fit into 32 bits.
    const CHUNK: usize = 1 << 16;
    let chunks = reference.par_chunks(CHUNK).zip(distorted.par_chunks(CHUNK));
    chunks.map(|(reference, distorted)| u64::from(chunk_squared_error(reference, distorted))).sum()
}

#[multiversion(targets("x86_64+avx2"))]
fn chunk_squared_error(reference: &[u8], distorted: &[u8]) -> u32 {
    let mut total = 0u32;
    for (&r, &d) in reference.iter().zip(distorted) {
        let difference = i32::from(i16::from(r) - i16::from(d));
        total += (difference * difference) as u32;
    }
    total
}

#[multiversion(targets("x86_64+avx2"))]
fn add_squared_difference(reference: &[f32], distorted: &[f32], squared: &mut [f32]) {
    for ((out, &r), &d) in squared.iter_mut().zip(reference).zip(distorted) {
        *out += (r - d) * (r - d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_official, gray_noise};

    #[test]
    fn official_values() {
        assert_official(&Psnr, [21.11, 20.99, 27.01, 23.30, 21.62], [0.005; 5]);
    }

    #[test]
    fn identical_images_give_infinity_and_a_map_of_zeros() {
        let image = gray_noise(33, 17, 1);
        let measurement = Psnr.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
        assert_eq!(measurement.score, f64::INFINITY);
        assert!(measurement.map.unwrap().plane.data().iter().all(|&error| error == 0.0));
    }

    #[test]
    fn the_worst_case_is_zero_decibels_at_any_size_with_and_without_map() {
        let black = Image::from_gray8(300, 500, vec![0; 150_000]).unwrap();
        let white = Image::from_gray8(300, 500, vec![255; 150_000]).unwrap();
        let pair = Pair::new(&black, &white).unwrap();
        assert_eq!(Psnr.measure(&pair).unwrap().score, 0.0);
        assert_eq!(Psnr.measure(&pair.with_map()).unwrap().score, 0.0);
    }

    #[test]
    fn color_against_gray_counts_all_three_channels() {
        let gray = Image::from_gray8(5, 4, vec![100; 20]).unwrap();
        let color = Image::from_rgb8(5, 4, [100, 100, 103].repeat(20)).unwrap();
        let expected = 10.0 * (255f64.powi(2) / 3.0).log10();
        assert!((Psnr.score(&gray, &color).unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn a_shift_of_one_level_is_48_13_decibels() {
        let reference = Image::from_rgb8(5, 4, vec![100; 60]).unwrap();
        let distorted = Image::from_rgb8(5, 4, vec![101; 60]).unwrap();
        let expected = 20.0 * 255f64.log10();
        assert!((Psnr.score(&reference, &distorted).unwrap() - expected).abs() < 1e-9);
        assert!((PsnrY.score(&reference, &distorted).unwrap() - expected).abs() < 1e-4);
    }
}
