//! Levels and colours: how many there are, how many neighbours are equal.

use super::rows::nearest;
use super::{Features, Statistic};
use crate::perception::view::Tile;

/// Every so many pixels are counted when colours are.
const STRIDE: usize = 3;
/// Runs of empty levels as long as this are gaps.
const GAP: usize = 3;

/// Colours, levels and equal neighbours in the original pixels.
#[derive(Default)]
pub struct Levels {
    colours: Vec<u32>,
    histogram: Vec<u64>,
    equal: f64,
    pairs: f64,
}

impl Statistic for Levels {
    fn measure(tile: &Tile) -> Self {
        let [red, green, blue] = tile.native_rgb();
        let mut colours: Vec<u32> = (0..red.data().len())
            .step_by(STRIDE)
            .map(|i| nearest(red.data()[i]) << 16 | nearest(green.data()[i]) << 8 | nearest(blue.data()[i]))
            .collect();
        colours.sort_unstable();
        colours.dedup();
        let mut levels = Self { colours, histogram: vec![0; 256], ..Self::default() };
        for sample in green.data() {
            levels.histogram[(nearest(*sample) as usize).min(255)] += 1;
        }
        for y in 0..green.height() {
            let rows = tile.native_rgb().each_ref().map(|plane| plane.row(y));
            let equal = (1..rows[0].len()).filter(|&x| rows.iter().all(|row| row[x] == row[x - 1])).count();
            levels.equal += equal as f64;
            levels.pairs += (rows[0].len() - 1) as f64;
        }
        levels
    }

    fn merge(&mut self, other: Self) {
        self.colours.extend(other.colours);
        self.histogram.resize(256, 0);
        self.histogram.iter_mut().zip(other.histogram).for_each(|(total, count)| *total += count);
        self.equal += other.equal;
        self.pairs += other.pairs;
    }

    fn write(&self, features: &mut Features) {
        let mut colours = self.colours.clone();
        colours.sort_unstable();
        colours.dedup();
        features.push("colours", (colours.len().max(1) as f64 / self.pairs.max(1.0).sqrt()).ln());
        features.push("colours_absolute", (colours.len().max(1) as f64).ln());
        features.push("equal_neighbours", self.equal / self.pairs.max(1.0));
        features.push("level_gaps", self.gaps());
    }
}

impl Levels {
    /// Share of the levels between the darkest and the brightest that lie in gaps.
    fn gaps(&self) -> f64 {
        let used: Vec<usize> = (0..self.histogram.len()).filter(|&level| self.histogram[level] > 0).collect();
        let (Some(first), Some(last)) = (used.first(), used.last()) else { return 0.0 };
        let gaps: usize = used.windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|&gap| gap >= GAP).sum();
        gaps as f64 / (last - first).max(1) as f64
    }
}
