//! Difference of both images: its size, distribution, location, and whether it has a grid.

use super::{Joint, PairStatistic};
use crate::perception::features::{Features, log_ratio, quantile};
use crate::perception::view::Tile;
use agenticiqa_metrics::Plane;

/// Side of a block in pixels.
const BLOCK: usize = 16;
/// Spacing of the grid of a codec, in pixels.
const GRID: usize = 8;
/// Differences above this many levels are large.
const LARGE: f32 = 40.0;
/// Differences below this many levels count as none.
const NONE: f32 = 1.0;

/// Sums of the difference in luma.
#[derive(Default)]
pub struct Difference {
    sums: [f64; 4],
    large: f64,
    none: f64,
    pixels: f64,
    /// Sums of products with the next sample, to the right and below.
    neighbors: [f64; 2],
    blocks: Vec<f32>,
    /// Local deviation of the difference against the local deviation of the reference, and against
    /// its local mean.
    with_activity: Joint,
    with_level: Joint,
    /// Sums of steps of the difference at each phase of the grid, horizontally and vertically.
    steps: [[f64; GRID]; 2],
    counts: [[f64; GRID]; 2],
}

impl PairStatistic for Difference {
    fn measure(reference: &Tile, distorted: &Tile) -> Self {
        let mut found = Self::default();
        let difference = subtract(&distorted.luma, &reference.luma);
        found.add_samples(&difference);
        found.add_blocks(&difference, &reference.luma);
        let native = subtract(distorted.native(), reference.native());
        found.scan(&native, 0);
        found.scan(&Plane::from_fn(native.height(), native.width(), |x, y| native.at(y, x)), 1);
        found
    }

    fn merge(&mut self, other: Self) {
        (0..4).for_each(|i| self.sums[i] += other.sums[i]);
        self.large += other.large;
        self.none += other.none;
        self.pixels += other.pixels;
        (0..2).for_each(|i| self.neighbors[i] += other.neighbors[i]);
        self.blocks.extend(other.blocks);
        self.with_activity.merge(&other.with_activity);
        self.with_level.merge(&other.with_level);
        for axis in 0..2 {
            (0..GRID).for_each(|phase| self.steps[axis][phase] += other.steps[axis][phase]);
            (0..GRID).for_each(|phase| self.counts[axis][phase] += other.counts[axis][phase]);
        }
    }

    fn write(&self, features: &mut Features) {
        let pixels = self.pixels.max(1.0);
        let [sum, squares, _, fourth] = self.sums.map(|sum| sum / pixels);
        let variance = (squares - sum * sum).max(0.0);
        features.push("difference", squares.sqrt());
        features.push("difference_spread", variance.sqrt());
        features.push("difference_tail", log_ratio(fourth, squares * squares, 1.0));
        features.push("difference_large", self.large / pixels);
        features.push("difference_none", self.none / pixels);
        let correlation = |i: usize| (self.neighbors[i] / pixels - sum * sum) / (variance + 0.1);
        features.push("difference_smooth", 0.5 * (correlation(0) + correlation(1)));
        features.push("difference_oriented", (correlation(0) - correlation(1)).abs());
        let mut blocks = self.blocks.clone();
        blocks.sort_unstable_by(f32::total_cmp);
        let [low, middle, high, highest] = [0.1, 0.5, 0.9, 0.99].map(|share| quantile(&blocks, share));
        features.push("difference_even", log_ratio(low, middle, 0.5));
        features.push("difference_uneven", log_ratio(high, middle, 0.5));
        features.push("difference_patches", log_ratio(highest, high, 0.5));
        features.push("difference_quiet", low);
        features.push("difference_activity", self.with_activity.correlation(0.01));
        features.push("difference_level", self.with_level.correlation(0.01));
        features.push("difference_grid", 0.5 * (self.grid(0) + self.grid(1)));
        features.push("difference_grid_least", self.grid(0).min(self.grid(1)));
    }
}

impl Difference {
    fn add_samples(&mut self, difference: &Plane) {
        for y in 0..difference.height() {
            let row = difference.row(y);
            let mut sums = [0.0f32; 4];
            for &sample in row {
                let square = sample * sample;
                sums[0] += sample;
                sums[1] += square;
                sums[2] += square * sample;
                sums[3] += square * square;
            }
            (0..4).for_each(|i| self.sums[i] += f64::from(sums[i]));
            self.large += row.iter().filter(|sample| sample.abs() > LARGE).count() as f64;
            self.none += row.iter().filter(|sample| sample.abs() < NONE).count() as f64;
            self.neighbors[0] += f64::from(row.windows(2).map(|pair| pair[0] * pair[1]).sum::<f32>());
            if y + 1 < difference.height() {
                self.neighbors[1] += f64::from(row.iter().zip(difference.row(y + 1)).map(|(a, b)| a * b).sum::<f32>());
            }
        }
        self.pixels += difference.data().len() as f64;
    }

    fn add_blocks(&mut self, difference: &Plane, reference: &Plane) {
        for top in (0..(difference.height() + 1).saturating_sub(BLOCK)).step_by(BLOCK) {
            for left in (0..(difference.width() + 1).saturating_sub(BLOCK)).step_by(BLOCK) {
                let (_, deviation) = moments(difference, left, top);
                let (level, activity) = moments(reference, left, top);
                self.blocks.push(deviation);
                self.with_activity.add(&[(1.0 + deviation).ln()], &[(1.0 + activity).ln()]);
                self.with_level.add(&[(1.0 + deviation).ln()], &[level / 64.0]);
            }
        }
    }

    fn scan(&mut self, plane: &Plane, axis: usize) {
        for y in 0..plane.height() {
            for (x, pair) in plane.row(y).windows(2).enumerate() {
                self.steps[axis][x % GRID] += f64::from((pair[1] - pair[0]).abs().min(LARGE));
                self.counts[axis][x % GRID] += 1.0;
            }
        }
    }

    /// Returns how much the strongest phase stands out.
    fn grid(&self, axis: usize) -> f64 {
        let means: [f64; GRID] =
            std::array::from_fn(|phase| self.steps[axis][phase] / self.counts[axis][phase].max(1.0));
        let most = means.iter().copied().fold(0.0, f64::max);
        log_ratio(most, (means.iter().sum::<f64>() - most) / (GRID - 1) as f64, 0.1)
    }
}

fn subtract(a: &Plane, b: &Plane) -> Plane {
    let mut out = a.clone();
    out.data_mut().iter_mut().zip(b.data()).for_each(|(out, b)| *out -= b);
    out
}

/// Returns mean and deviation of a block.
fn moments(plane: &Plane, left: usize, top: usize) -> (f32, f32) {
    let (mut sum, mut squares) = (0.0f32, 0.0f32);
    for y in top..top + BLOCK {
        for &sample in &plane.row(y)[left..left + BLOCK] {
            sum += sample;
            squares += sample * sample;
        }
    }
    let count = (BLOCK * BLOCK) as f32;
    let mean = sum / count;
    (mean, (squares / count - mean * mean).max(0.0).sqrt())
}
