//! Sharpness, the share of the detail that is in the finest octave.
//!
//! **What it measures**: how much of the luma energy inside blocks of 16x16 lies in the finest
//! octave, i.e. is lost when 2x2 pixels are averaged. Noise is as fine as detail and raises the
//! score: read it together with Noise.
//!
//! **Range and direction**: percent; 1 to 2 for strong blur (the score does not fall further: a
//! plain slope has 1.2), 7 to 24 for sharp photographs, 75 for white noise; higher is better. Not
//! defined for a flat image.
//!
//! **Reference**: the first level of an orthonormal Haar transform against the sum of its four
//! levels; wavelet energies as a measure of sharpness after P. V. Vu, D. M. Chandler, A fast
//! wavelet-based algorithm for global and local image sharpness estimation, IEEE Signal Processing
//! Letters 19(7), 2012.
//!
//! **Deviations**: a plain share of energies, where those authors weight logarithms of a 9/7
//! transform. The map holds the share of each block; flat blocks have the score of the whole
//! image.

use multiversion::multiversion;

use crate::metric::no_reference;
use crate::ops::{blocks, strips};
use crate::{Direction, Error, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// Side of a block; it has four octaves.
const BLOCK: usize = 16;
/// Share in percent at which a block is displayed as sharp.
const BEST: f32 = 20.0;

/// Share of the finest octave in the energy of detail.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sharpness;

static INFO: Info = Info {
    name: "Sharpness",
    kind: Kind::NoReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, 100.0),
    unit: "%",
    summary: "Share of the detail energy that lies in the finest octave.",
    paper: "Haar energies, after P. V. Vu, D. M. Chandler, A fast wavelet-based algorithm for global and local image sharpness estimation, IEEE SPL 19(7), 2012",
    has_map: true,
    minimum_side: BLOCK,
};

impl Sharpness {
    /// The default: four octaves of a Haar transform.
    pub const DEFAULT: Self = Self;
}

no_reference!(Sharpness);

/// Energy of a block: in the finest octave, and in all four.
#[derive(Debug, Clone, Copy, Default)]
struct Energy {
    finest: f64,
    all: f64,
}

impl Energy {
    fn share(self) -> Option<f64> {
        (self.all > 0.0).then(|| (100.0 * self.finest / self.all).clamp(0.0, 100.0))
    }
}

impl Metric for Sharpness {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&INFO)?.gray();
        let (columns, rows) = (blocks::starts(gray.width(), BLOCK), blocks::starts(gray.height(), BLOCK));
        let energies: Vec<Energy> = strips::map_by(rows.len(), 1, |band| {
            let block = |top: usize| columns.iter().map(move |&left| energy(gray, left, top));
            band.flat_map(|index| block(rows[index])).collect::<Vec<_>>()
        })
        .concat();
        let total = energies.iter().fold(Energy::default(), |total, energy| Energy {
            finest: total.finest + energy.finest,
            all: total.all + energy.all,
        });
        let undefined = Error::Undefined { metric: INFO.name, reason: "it is flat, there is no detail" };
        let score = total.share().ok_or(undefined)?;
        let measurement = Measurement::new(score);
        if !pair.wants_map() {
            return Ok(measurement);
        }
        let share = |x: usize, y: usize| energies[y * columns.len() + x].share().unwrap_or(score) as f32;
        Ok(measurement.with_map(Plane::from_fn(columns.len(), rows.len(), share), BEST, 0.0))
    }
}

/// Energies of the block at (`left`, `top`).
fn energy(gray: &Plane, left: usize, top: usize) -> Energy {
    // Relative to the first sample, so that small differences of large numbers are exact.
    let origin = gray.at(left, top);
    let (mut finest, mut squares, mut sum) = (0.0, 0.0, 0.0);
    for y in (top..top + BLOCK).step_by(2) {
        let rows = [&gray.row(y)[left..left + BLOCK], &gray.row(y + 1)[left..left + BLOCK]];
        let [two_finest, two_squares, two_sum] = two_rows(rows[0], rows[1], origin);
        finest += f64::from(two_finest);
        squares += f64::from(two_squares);
        sum += f64::from(two_sum);
    }
    let samples = (BLOCK * BLOCK) as f64;
    Energy { finest, all: (squares - sum * sum / samples).max(0.0) }
}

/// Energy of the 2x2 differences, sum of squares and sum of two rows of a block.
#[multiversion(targets("x86_64+avx2"))]
fn two_rows(upper: &[f32], lower: &[f32], origin: f32) -> [f32; 3] {
    let mut totals = [[0.0f32; BLOCK / 2]; 3];
    for i in 0..BLOCK / 2 {
        let quad = [upper[2 * i], upper[2 * i + 1], lower[2 * i], lower[2 * i + 1]].map(|sample| sample - origin);
        let sum = (quad[0] + quad[1]) + (quad[2] + quad[3]);
        let squares = (quad[0] * quad[0] + quad[1] * quad[1]) + (quad[2] * quad[2] + quad[3] * quad[3]);
        let across = (quad[0] + quad[2]) - (quad[1] + quad[3]);
        let down = (quad[0] + quad[1]) - (quad[2] + quad[3]);
        let cross = (quad[0] + quad[3]) - (quad[1] + quad[2]);
        totals[0][i] = 0.25 * (across * across + down * down + cross * cross);
        totals[1][i] = squares;
        totals[2][i] = sum;
    }
    totals.map(|lanes| lanes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use crate::testing::{blurred_shapes, gray_noise};

    #[test]
    fn white_noise_has_three_quarters_in_the_finest_octave() {
        // 192 of the 255 coefficients in a block belong to the first level.
        let score = Sharpness.score(&gray_noise(512, 512, 9)).unwrap();
        assert!((score - 100.0 * 192.0 / 255.0).abs() < 0.5, "{score}");
    }

    #[test]
    fn shares_of_pure_octaves() {
        let stripes = |period: usize| {
            let samples = (0..64 * 64).map(|i| 100 + 40 * u8::from((i % 64 / period).is_multiple_of(2))).collect();
            Sharpness.score(&Image::from_gray8(64, 64, samples).unwrap()).unwrap()
        };
        assert_eq!([stripes(1), stripes(2), stripes(4)], [100.0, 0.0, 0.0]);
    }

    #[test]
    fn falls_with_gaussian_blur() {
        let shares = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0].map(|sigma| Sharpness.score(&blurred_shapes(160, sigma)).unwrap());
        assert!(shares.windows(2).all(|pair| pair[0] > pair[1]), "{shares:?}");
    }

    #[test]
    fn a_flat_picture_has_no_detail() {
        let flat = Image::from_gray16(16, 30, vec![999; 480]).unwrap();
        assert!(matches!(Sharpness.score(&flat), Err(Error::Undefined { .. })));
    }
}
