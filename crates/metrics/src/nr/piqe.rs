//! PIQE, perception based image quality evaluator.
//!
//! **What it measures**: the share and strength of blocks with visible artifacts (edges without
//! variation) or noise among the blocks that have any activity; ignores color; not trained.
//!
//! **Range and direction**: 0 (best) to 100 (worst; also the score of an image without any
//! activity); lower is better.
//!
//! **Reference**: Venkatanath, Praneeth, Chandrasekhar, Channappayya, Medasani, NCC 2015; as in
//! MATLAB's `piqe`, including its definition of the surround of a block (columns 8 and 10 are left
//! out, not 8 and 9).
//!
//! **Deviations**: none above half a unit of the last printed digit on the calibration pairs.

use std::ops::Range;

use multiversion::multiversion;

use crate::metric::no_reference;
use crate::ops::convolve::Border;
use crate::ops::mscn::{self, Rows};
use crate::ops::strips;
use crate::{Direction, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// PIQE with MATLAB's parameters.
#[derive(Debug, Clone, Copy)]
pub struct Piqe {
    /// Variance of the coefficients above which a block is active.
    pub activity: f64,
    /// Deviation below which an edge segment is an artifact.
    pub artifact: f64,
}

static INFO: Info = Info {
    name: "PIQE",
    kind: Kind::NoReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, 100.0),
    unit: "",
    summary: "How many of the active blocks show compression artifacts or noise, and how strongly.",
    paper: "N. Venkatanath, D. Praneeth, Bh. M. Chandrasekhar, S. S. Channappayya, S. S. Medasani, Blind image quality evaluation using perception based features, NCC 2015",
    has_map: true,
    minimum_side: BLOCK,
};

const BLOCK: usize = 16;
/// Samples of an edge segment.
const SEGMENT: usize = 6;
/// The two columns in the center of a block.
const CENTER: [usize; 2] = [7, 8];
/// The two columns that MATLAB leaves out of the surround.
const LEFT_OUT: [usize; 2] = [7, 9];

impl Piqe {
    /// MATLAB's parameters.
    pub const DEFAULT: Self = Self { activity: 0.1, artifact: 0.1 };
}

impl Default for Piqe {
    fn default() -> Self {
        Self::DEFAULT
    }
}

no_reference!(Piqe);

impl Metric for Piqe {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&INFO)?.gray();
        let padded = Padded(gray);
        let blocks = strips::map(padded.height(), |rows| self.strip_blocks(&padded, rows)).concat();
        let active = blocks.iter().flatten().count() as f64;
        let sum: f64 = blocks.iter().flatten().sum();
        let measurement = Measurement::new((sum + 1.0) / (1.0 + active) * 100.0);
        if !pair.wants_map() {
            return Ok(measurement);
        }
        let across = padded.width() / BLOCK;
        let mut map = Plane::new(gray.width(), gray.height());
        strips::for_each_row(&mut map, |y, row| {
            let blocks = &blocks[y / BLOCK * across..];
            for (samples, block) in row.chunks_mut(BLOCK).zip(blocks) {
                samples.fill(block.unwrap_or(0.0) as f32);
            }
        });
        Ok(measurement.with_map(map, 0.0, 1.0))
    }
}

impl Piqe {
    /// The distortion of each block of some rows, row by row; `None` for a block without activity.
    fn strip_blocks(&self, source: &Padded<'_>, rows: Range<usize>) -> Vec<Option<f64>> {
        let width = source.width();
        let mut blocks = Vec::with_capacity(width * rows.len() / (BLOCK * BLOCK));
        let mut strip = Vec::with_capacity(width * BLOCK);
        mscn::for_each_row(source, Border::Replicate, rows, |_, row, _| {
            strip.extend_from_slice(row);
            if strip.len() == width * BLOCK {
                self.blocks(&strip, width, &mut blocks);
                strip.clear();
            }
        });
        blocks
    }

    /// Rates the blocks of `BLOCK` rows of coefficients.
    fn blocks(&self, strip: &[f32], width: usize, blocks: &mut Vec<Option<f64>>) {
        let mut columns = vec![[0.0; 2]; width];
        strip.chunks_exact(width).for_each(|row| add_columns(row, &mut columns));
        for (index, columns) in columns.chunks_exact(BLOCK).enumerate() {
            let total = Spread::of(columns, |_| true);
            let variance = total.variance();
            if variance.is_nan() || variance <= self.activity {
                blocks.push(None);
                continue;
            }
            let artifact = if self.has_artifact(strip, width, index * BLOCK) { 1.0 - variance } else { 0.0 };
            let noise = if is_noisy(columns, variance.sqrt()) { variance } else { 0.0 };
            blocks.push(Some(artifact + noise));
        }
    }

    /// Whether any segment of the block's four edges hardly varies.
    fn has_artifact(&self, strip: &[f32], width: usize, left: usize) -> bool {
        let row = |y: usize| std::array::from_fn::<f32, BLOCK, _>(|x| strip[y * width + left + x]);
        let column = |x: usize| std::array::from_fn::<f32, BLOCK, _>(|y| strip[y * width + left + x]);
        let flat = |segment: &[f32]| {
            let mean = segment.iter().map(|&value| f64::from(value)).sum::<f64>() / SEGMENT as f64;
            let squares: f64 = segment.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum();
            (squares / (SEGMENT - 1) as f64).sqrt() < self.artifact
        };
        [row(0), column(BLOCK - 1), row(BLOCK - 1), column(0)].iter().any(|edge| edge.windows(SEGMENT).any(flat))
    }
}

/// Whether the deviation of a block exceeds twice its relative difference to the ratio of the
/// center and surround deviations.
fn is_noisy(columns: &[[f64; 2]], deviation: f64) -> bool {
    let center = Spread::of(columns, |x| CENTER.contains(&x)).variance().sqrt();
    let surround = Spread::of(columns, |x| !LEFT_OUT.contains(&x)).variance().sqrt();
    let ratio = if center == 0.0 && surround == 0.0 { 0.0 } else { center / surround };
    let beta = (deviation - ratio).abs() / deviation.max(ratio);
    deviation > 2.0 * beta
}

/// Count, sum and sum of squares of samples.
struct Spread {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    /// Computes the spread of the columns of a block that `includes` selects.
    fn of(columns: &[[f64; 2]], includes: impl Fn(usize) -> bool) -> Self {
        let mut spread = Self { count: 0.0, sum: 0.0, squares: 0.0 };
        for (_, [sum, squares]) in columns.iter().enumerate().filter(|&(x, _)| includes(x)) {
            spread.count += BLOCK as f64;
            spread.sum += sum;
            spread.squares += squares;
        }
        spread
    }

    fn variance(&self) -> f64 {
        ((self.squares - self.sum * self.sum / self.count) / (self.count - 1.0)).max(0.0)
    }
}

/// Adds each coefficient, and its square, to its column.
#[multiversion(targets("x86_64+avx2"))]
fn add_columns(row: &[f32], columns: &mut [[f64; 2]]) {
    for (column, &coefficient) in columns.iter_mut().zip(row) {
        let coefficient = f64::from(coefficient);
        column[0] += coefficient;
        column[1] += coefficient * coefficient;
    }
}

/// Rounded luma, extended to whole blocks by repeating the last column and row.
struct Padded<'a>(&'a Plane);

impl Rows for Padded<'_> {
    fn width(&self) -> usize {
        self.0.width().next_multiple_of(BLOCK)
    }

    fn height(&self) -> usize {
        self.0.height().next_multiple_of(BLOCK)
    }

    fn read(&self, y: usize, row: &mut [f64], _scratch: &mut Vec<f64>) {
        let samples = self.0.row(y.min(self.0.height() - 1));
        round(samples, row);
        let last = row[samples.len() - 1];
        row[samples.len()..].fill(last);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn round(samples: &[f32], row: &mut [f64]) {
    row.iter_mut().zip(samples).for_each(|(out, &sample)| *out = f64::from((sample + 0.5).floor()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use crate::testing::{assert_official, calibration_pair, gray_noise};

    #[test]
    fn official_values() {
        assert_official(&Piqe::DEFAULT, [100.0, 21.62, 35.86, 41.15, 76.95], [0.005; 5]);
    }

    #[test]
    fn flat_is_the_worst_and_the_map_has_the_size_of_the_image() {
        let flat = Image::from_gray8(40, 33, vec![90; 40 * 33]).unwrap();
        assert_eq!(Piqe::DEFAULT.score(&flat).unwrap(), 100.0);
        let (_, image) = calibration_pair("I08");
        let part = image.crop(&crate::Region { x: 3, y: 5, width: 101, height: 59 }).unwrap();
        let measurement = Piqe::DEFAULT.measure(&Pair::single(&part).with_map()).unwrap();
        let map = measurement.map.unwrap().plane;
        assert_eq!((map.width(), map.height()), (101, 59));
        assert!(map.data().iter().any(|&value| value > 0.0));
    }

    #[test]
    fn tiny_is_an_error_and_noise_is_noisy() {
        assert!(Piqe::DEFAULT.score(&gray_noise(15, 300, 1)).is_err());
        let score = Piqe::DEFAULT.score(&gray_noise(64, 64, 1)).unwrap();
        assert!(score > 50.0 && score <= 100.0, "{score}");
    }
}
