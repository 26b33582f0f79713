//! The 8x8 grid of a codec, in the original pixels: steps across its lines, and blocks whose fine
//! coefficients are zero.

use super::{Features, Statistic, log_ratio};
use crate::perception::view::Tile;
use agenticiqa_metrics::Plane;
use agenticiqa_metrics::ops::dct::{Block, Dct};

/// Spacing of the grid, in pixels.
const GRID: usize = 8;
/// Steps are limited to this many levels.
const LARGEST_STEP: f32 = 32.0;
/// Regularizes ratios of flat areas, in levels.
const STABILITY: f64 = 0.1;
/// Coefficients below this many levels count as zero.
const ZERO: f32 = 0.6;

/// Steps at each phase of the grid, horizontally and vertically.
#[derive(Default)]
pub struct Grid {
    steps: [[f64; GRID]; 2],
    peaks: [[f64; GRID]; 2],
    counts: [[f64; GRID]; 2],
    /// Zero coefficients of middle and high frequency, for blocks on the grid and for blocks
    /// shifted by half a block.
    zeros: [[f64; 2]; 2],
    coefficients: [f64; 2],
    /// Blocks on the grid that are flat, and blocks that vary in one direction only.
    flat: [f64; 2],
    blocks: f64,
}

impl Statistic for Grid {
    fn measure(tile: &Tile) -> Self {
        let mut grid = Self::default();
        grid.scan(tile.native(), 0);
        grid.scan(tile.native_turned(), 1);
        let dct = Dct::default();
        for (place, offset) in [0, GRID / 2].into_iter().enumerate() {
            grid.count_zeros(tile.native(), &dct, place, offset);
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
        let places = 1..plane.width().saturating_sub(2);
        let mut found = Steps::new(plane.width());
        for y in 0..plane.height() {
            found.measure(plane.row(y));
            add_by_phase(&found.steps, &mut self.steps[axis]);
            add_by_phase(&found.peaks, &mut self.peaks[axis]);
        }
        places.for_each(|x| self.counts[axis][x % GRID] += plane.height() as f64);
    }

    /// Returns how much the strongest phase stands out in steps (logarithm) and in peaks (share),
    /// and which phase it is.
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
                let mut block: Block = [0.0; GRID * GRID];
                for (y, row) in block.chunks_exact_mut(GRID).enumerate() {
                    row.copy_from_slice(&plane.row(top + y)[left..left + GRID]);
                }
                let [zeros, middle, high] = zeros(&dct.forward(&block));
                self.zeros[place][0] += f64::from(middle);
                self.zeros[place][1] += f64::from(high);
                self.coefficients[place] += 29.0;
                self.flat[place] += f64::from(u8::from(zeros as usize + 2 >= GRID * GRID));
                if place == 0 {
                    self.blocks += 1.0;
                }
            }
        }
    }
}

/// Counts the zero coefficients of a block: all except the first, those of middle and those of
/// high frequency.
fn zeros(coefficients: &Block) -> [u32; 3] {
    let mut counts = [0; 3];
    for (y, row) in coefficients.chunks_exact(GRID).enumerate() {
        for (x, value) in row.iter().enumerate() {
            let zero = u32::from(value.abs() < ZERO);
            counts[0] += zero * u32::from(x + y > 0);
            counts[1] += zero * u32::from((3..=6).contains(&(x + y)));
            counts[2] += zero * u32::from(x + y > 6);
        }
    }
    counts
}

/// Steps of one row and whether each is a peak, padded with zeros to whole periods of the grid.
struct Steps {
    steps: Vec<f32>,
    peaks: Vec<f32>,
}

impl Steps {
    fn new(width: usize) -> Self {
        let room = width.next_multiple_of(GRID);
        Self { steps: vec![0.0; room], peaks: vec![0.0; room] }
    }

    fn measure(&mut self, row: &[f32]) {
        let inner = self.steps[1..].iter_mut().zip(&mut self.peaks[1..]);
        for ((step, peak), near) in inner.zip(row.array_windows::<4>()) {
            *step = (near[2] - near[1]).abs().min(LARGEST_STEP);
            let around = (near[1] - near[0]).abs().max((near[3] - near[2]).abs());
            *peak = if (near[2] - near[1]).abs() > around + 0.5 { 1.0 } else { 0.0 };
        }
    }
}

/// Adds the values of a row to the sum of their phase.
fn add_by_phase(values: &[f32], sums: &mut [f64; GRID]) {
    for period in values.as_chunks::<GRID>().0 {
        *sums = std::array::from_fn(|phase| sums[phase] + f64::from(period[phase]));
    }
}
