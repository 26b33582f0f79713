//! The 8x8 grid of a codec, in the original pixels: steps across its lines, and blocks whose fine coefficients are zero.

use super::{Features, Statistic, log_ratio};
use crate::metrics::Plane;
use crate::metrics::ops::dct::{Block, Dct};
use crate::perception::view::Tile;

/// Distance of the lines.
const GRID: usize = 8;
/// Steps count up to this many levels.
const LARGEST_STEP: f32 = 32.0;
/// Keeps ratios tame where everything is flat, in levels.
const STABILITY: f64 = 0.1;
/// Coefficients below this many levels are zero.
const ZERO: f32 = 0.6;

/// Steps at each phase of the grid, across and down.
#[derive(Default)]
pub struct Grid {
    steps: [[f64; GRID]; 2],
    peaks: [[f64; GRID]; 2],
    counts: [[f64; GRID]; 2],
    /// Zero coefficients of middle and high frequency, blocks on the grid and blocks half beside it.
    zeros: [[f64; 2]; 2],
    coefficients: [f64; 2],
    /// Blocks on the grid that are flat or have one direction only.
    flat: [f64; 2],
    blocks: f64,
}

impl Statistic for Grid {
    fn measure(tile: &Tile) -> Self {
        let mut grid = Self::default();
        grid.scan(&tile.native, 0);
        let turned = Plane::from_fn(tile.native.height(), tile.native.width(), |x, y| tile.native.at(y, x));
        grid.scan(&turned, 1);
        let dct = Dct::default();
        for (place, offset) in [0, GRID / 2].into_iter().enumerate() {
            grid.count_zeros(&tile.native, &dct, place, offset);
        }
        grid
    }

    fn merge(&mut self, other: Self) {
        for axis in 0..2 {
            for phase in 0..GRID {
                self.steps[axis][phase] += other.steps[axis][phase];
                self.peaks[axis][phase] += other.peaks[axis][phase];
                self.counts[axis][phase] += other.counts[axis][phase];
            }
            (0..2).for_each(|band| self.zeros[axis][band] += other.zeros[axis][band]);
            self.coefficients[axis] += other.coefficients[axis];
            self.flat[axis] += other.flat[axis];
        }
        self.blocks += other.blocks;
    }

    fn write(&self, features: &mut Features) {
        let [across, down] = [0, 1].map(|axis| self.strongest(axis));
        features.push("grid_steps", 0.5 * (across.0 + down.0));
        features.push("grid_steps_least", across.0.min(down.0));
        features.push("grid_peaks", 0.5 * (across.1 + down.1));
        features.push("grid_at_origin", f64::from(u8::from(across.2 == GRID - 1 && down.2 == GRID - 1)));
        let share = |place: usize, band: usize| self.zeros[place][band] / self.coefficients[place].max(1.0);
        features.push("grid_zeros_middle", share(0, 0));
        features.push("grid_zeros_high", share(0, 1));
        features.push("grid_zeros_middle_excess", share(0, 0) - share(1, 0));
        features.push("grid_zeros_high_excess", share(0, 1) - share(1, 1));
        features.push("grid_flat", self.flat[0] / self.blocks.max(1.0));
        features.push("grid_flat_excess", (self.flat[0] - self.flat[1]) / self.blocks.max(1.0));
    }
}

impl Grid {
    /// Adds the steps between the columns of a plane.
    fn scan(&mut self, plane: &Plane, axis: usize) {
        for y in 0..plane.height() {
            let row = plane.row(y);
            for x in 1..row.len().saturating_sub(2) {
                let step = (row[x + 1] - row[x]).abs();
                let beside = (row[x] - row[x - 1]).abs().max((row[x + 2] - row[x + 1]).abs());
                let phase = x % GRID;
                self.steps[axis][phase] += f64::from(step.min(LARGEST_STEP));
                self.peaks[axis][phase] += f64::from(u8::from(step > beside + 0.5));
                self.counts[axis][phase] += 1.0;
            }
        }
    }

    /// The phase that stands out most: by how much in steps (logarithm), in peaks (share), and which it is.
    fn strongest(&self, axis: usize) -> (f64, f64, usize) {
        let mean = |sums: &[f64; GRID]| -> [f64; GRID] {
            std::array::from_fn(|phase| sums[phase] / self.counts[axis][phase].max(1.0))
        };
        let (steps, peaks) = (mean(&self.steps[axis]), mean(&self.peaks[axis]));
        let excess = |values: &[f64; GRID], phase: usize| {
            let others = (values.iter().sum::<f64>() - values[phase]) / (GRID - 1) as f64;
            (values[phase], others)
        };
        let best = (0..GRID).max_by(|&a, &b| peaks[a].total_cmp(&peaks[b])).unwrap_or(0);
        let (step, other_steps) = excess(&steps, best);
        let (peak, other_peaks) = excess(&peaks, best);
        (log_ratio(step, other_steps, STABILITY), peak - other_peaks, best)
    }

    fn count_zeros(&mut self, plane: &Plane, dct: &Dct, place: usize, offset: usize) {
        for top in (offset..(plane.height() + 1).saturating_sub(GRID)).step_by(GRID) {
            for left in (offset..(plane.width() + 1).saturating_sub(GRID)).step_by(GRID) {
                let block: Block = std::array::from_fn(|i| plane.at(left + i % GRID, top + i / GRID));
                let coefficients = dct.forward(&block);
                let mut nonzero = 0;
                for (i, value) in coefficients.iter().enumerate().skip(1) {
                    let frequency = i % GRID + i / GRID;
                    let zero = value.abs() < ZERO;
                    nonzero += usize::from(!zero);
                    if zero && frequency > 2 {
                        self.zeros[place][usize::from(frequency > 6)] += 1.0;
                    }
                }
                self.coefficients[place] += 29.0;
                self.flat[place] += f64::from(u8::from(nonzero <= 1));
                if place == 0 {
                    self.blocks += 1.0;
                }
            }
        }
    }
}
