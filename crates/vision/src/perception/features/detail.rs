//! Detail by octave: blur removes it, sharpening adds to it, and codecs set it to zero.

use super::{Features, Statistic, log_ratio, quantile};
use crate::perception::view::Tile;
use agenticiqa_metrics::Plane;

/// Number of octaves of the Haar pyramid.
const OCTAVES: usize = 4;
/// Side of a block whose octaves are compared.
const BLOCK: usize = 16;
/// Number of octaves with several coefficients per block.
const LOCAL: usize = 3;
/// Coefficients below this many levels count as zero.
const NOTHING: f32 = 0.75;
/// Minimum energy per coefficient in the second octave for a block to be compared.
const ACTIVE: f64 = 6.0;
/// Regularizes ratios: the variance of rounding.
const STABILITY: f64 = 0.08;

/// Sums over the coefficients of one octave.
#[derive(Clone, Copy, Default)]
struct Octave {
    /// Energy of horizontal, vertical and diagonal differences.
    energy: [f64; 3],
    fourth: f64,
    zeros: f64,
    count: f64,
}

/// Energies by octave, and the ratios of adjacent octaves within blocks.
#[derive(Default)]
pub struct Detail {
    octaves: [Octave; OCTAVES],
    ratios: [Vec<f32>; 2],
    local_deviation: Vec<f32>,
}

impl Statistic for Detail {
    fn measure(tile: &Tile) -> Self {
        let mut detail = Self::default();
        let (columns, rows) = (tile.luma.width() / BLOCK, tile.luma.height() / BLOCK);
        let mut local = vec![[0.0f64; LOCAL]; columns * rows];
        let mut low = tile.luma.clone();
        for (level, octave) in detail.octaves.iter_mut().enumerate() {
            // Samples of the octave along the side of a block, as a power of two.
            let side = (BLOCK >> (level + 1)).ilog2();
            low = split(&low, octave, |x, y, energy| {
                if level < LOCAL && x >> side < columns && y >> side < rows {
                    local[(y >> side) * columns + (x >> side)][level] += f64::from(energy);
                }
            });
        }
        for block in &local {
            let mean = |level: usize| block[level] / ((BLOCK >> (level + 1)) as f64).powi(2);
            // Haar coefficients double with each octave; in these units the octaves of a natural
            // scene are similar.
            let energies = [mean(0), mean(1) / 4.0, mean(2) / 16.0];
            if energies[1] * 4.0 >= ACTIVE {
                detail.ratios[0].push(log_ratio(energies[0], energies[1], STABILITY) as f32);
                detail.ratios[1].push(log_ratio(energies[1], energies[2], STABILITY) as f32);
            }
            detail.local_deviation.push((energies.iter().sum::<f64>()).sqrt() as f32);
        }
        detail
    }

    fn merge(&mut self, other: Self) {
        for (octave, other) in self.octaves.iter_mut().zip(other.octaves) {
            (0..3).for_each(|i| octave.energy[i] += other.energy[i]);
            octave.fourth += other.fourth;
            octave.zeros += other.zeros;
            octave.count += other.count;
        }
        (0..2).for_each(|i| self.ratios[i].extend(&other.ratios[i]));
        self.local_deviation.extend(other.local_deviation);
    }

    fn write(&self, features: &mut Features) {
        let energy = |level: usize| {
            let octave = &self.octaves[level];
            octave.energy.iter().sum::<f64>() / octave.count.max(1.0) / 4f64.powi(level as i32)
        };
        features.push("detail_finest", (energy(0) + STABILITY).ln());
        features.push("octaves_1_2", log_ratio(energy(0), energy(1), STABILITY));
        features.push("octaves_2_3", log_ratio(energy(1), energy(2), STABILITY));
        features.push("octaves_3_4", log_ratio(energy(2), energy(3), STABILITY));
        let [horizontal, vertical, diagonal] = self.octaves[0].energy.map(|sum| sum / self.octaves[0].count.max(1.0));
        features.push("detail_diagonal", log_ratio(diagonal, 0.5 * (horizontal + vertical), STABILITY));
        features.push("detail_upright", log_ratio(horizontal, vertical, STABILITY).abs());
        self.write_blocks(features);
        const ZEROS: [&str; OCTAVES] = ["zeros_1", "zeros_2", "zeros_3", "zeros_4"];
        const TAILS: [&str; OCTAVES] = ["tail_1", "tail_2", "tail_3", "tail_4"];
        for (level, octave) in self.octaves.iter().enumerate() {
            let count = (3.0 * octave.count).max(1.0);
            let variance = octave.energy.iter().sum::<f64>() / count;
            features.push(ZEROS[level], octave.zeros / count);
            features.push(TAILS[level], (octave.fourth / count / (variance * variance).max(1e-6)).max(1.0).ln());
        }
    }
}

impl Detail {
    fn write_blocks(&self, features: &mut Features) {
        const NAMES: [[&str; 3]; 2] =
            [["fine_low", "fine_middle", "fine_high"], ["middle_low", "middle_middle", "middle_high"]];
        for (ratios, names) in self.ratios.iter().zip(NAMES) {
            let mut sorted = ratios.clone();
            sorted.sort_unstable_by(f32::total_cmp);
            for (name, share) in names.into_iter().zip([0.1, 0.5, 0.95]) {
                features.push(name, quantile(&sorted, share));
            }
        }
        let mut deviation = self.local_deviation.clone();
        deviation.sort_unstable_by(f32::total_cmp);
        features.push("active_share", self.ratios[0].len() as f64 / deviation.len().max(1) as f64);
        features.push("local_low", quantile(&deviation, 0.1));
        features.push("local_median", quantile(&deviation, 0.5));
        features.push("local_high", quantile(&deviation, 0.9));
    }
}

/// Splits off one octave of Haar coefficients, scaled to be orthonormal: adds up the differences
/// and returns the means.
fn split(plane: &Plane, octave: &mut Octave, mut local: impl FnMut(usize, usize, f32)) -> Plane {
    let (width, height) = (plane.width() / 2, plane.height() / 2);
    let mut low = Plane::new(width, height);
    for y in 0..height {
        let (upper, lower) = (plane.row(2 * y), plane.row(2 * y + 1));
        let mut sums = [0.0f32; 4];
        let mut zeros = 0.0f32;
        for x in 0..width {
            let [a, b, c, d] = [upper[2 * x], upper[2 * x + 1], lower[2 * x], lower[2 * x + 1]];
            let coefficients = [(a - b + c - d) * 0.5, (a + b - c - d) * 0.5, (a - b - c + d) * 0.5];
            low.row_mut(y)[x] = 0.25 * (a + b + c + d);
            let squares = coefficients.map(|value| value * value);
            (0..3).for_each(|i| sums[i] += squares[i]);
            sums[3] += squares.iter().map(|square| square * square).sum::<f32>();
            zeros += coefficients.iter().map(|value| if value.abs() < NOTHING { 1.0 } else { 0.0 }).sum::<f32>();
            local(x, y, squares[0] + squares[1] + squares[2]);
        }
        (0..3).for_each(|i| octave.energy[i] += f64::from(sums[i]));
        octave.fourth += f64::from(sums[3]);
        octave.zeros += f64::from(zeros);
    }
    octave.count += (width * height) as f64;
    low
}
