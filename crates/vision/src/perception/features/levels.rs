//! Levels and colors: how many there are, and how many neighbors are equal.

use multiversion::multiversion;

use super::rows::nearest;
use super::{Features, Statistic};
use crate::perception::view::Tile;

/// One in this many pixels is used to count colors.
const STRIDE: usize = 3;
/// Minimum run of empty levels that counts as a gap.
const GAP: usize = 3;

/// Colors, levels and equal neighbors in the original pixels.
#[derive(Default)]
pub struct Levels {
    colors: Vec<u32>,
    histogram: Vec<u64>,
    equal: f64,
    pairs: f64,
}

impl Statistic for Levels {
    fn measure(tile: &Tile) -> Self {
        let [red, green, blue] = tile.native_rgb();
        let colors = (0..red.data().len())
            .step_by(STRIDE)
            .map(|i| nearest(red.data()[i]) << 16 | nearest(green.data()[i]) << 8 | nearest(blue.data()[i]))
            .collect();
        let mut levels = Self { colors, histogram: vec![0; 256], ..Self::default() };
        for sample in green.data() {
            levels.histogram[(nearest(*sample) as usize).min(255)] += 1;
        }
        for y in 0..green.height() {
            levels.equal += f64::from(count_equal(tile.native_rgb().each_ref().map(|plane| plane.row(y))));
            levels.pairs += (green.width() - 1) as f64;
        }
        levels
    }

    fn merge(&mut self, other: Self) {
        self.colors.extend(other.colors);
        self.histogram.resize(256, 0);
        self.histogram.iter_mut().zip(other.histogram).for_each(|(total, count)| *total += count);
        self.equal += other.equal;
        self.pairs += other.pairs;
    }

    fn write(&self, features: &mut Features) {
        let colors = count_distinct(&self.colors).max(1) as f64;
        features.push("colors", (colors / self.pairs.max(1.0).sqrt()).ln());
        features.push("colors_absolute", colors.ln());
        features.push("equal_neighbors", self.equal / self.pairs.max(1.0));
        features.push("level_gaps", self.gaps());
    }
}

impl Levels {
    /// Returns the share of the levels between the darkest and the brightest that lie in gaps.
    fn gaps(&self) -> f64 {
        let used: Vec<usize> = (0..self.histogram.len()).filter(|&level| self.histogram[level] > 0).collect();
        let (Some(first), Some(last)) = (used.first(), used.last()) else { return 0.0 };
        let gaps: usize = used.windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|&gap| gap >= GAP).sum();
        gaps as f64 / (last - first).max(1) as f64
    }
}

/// Counts the neighbors in a row that are equal in all channels.
#[multiversion(targets("x86_64+avx2"))]
fn count_equal([red, green, blue]: [&[f32]; 3]) -> u32 {
    let pairs = red.array_windows::<2>().zip(green.array_windows::<2>()).zip(blue.array_windows::<2>());
    pairs.map(|(([a, b], [c, d]), [e, f])| u32::from(a == b) & u32::from(c == d) & u32::from(e == f)).sum()
}

/// Counts distinct 24-bit colors, with one bit per color.
fn count_distinct(colors: &[u32]) -> usize {
    let mut seen = vec![0u64; 1 << 18];
    let mut distinct = 0;
    for &color in colors {
        let (word, bit) = (&mut seen[(color >> 6) as usize & 0x3_ffff], 1 << (color & 63));
        distinct += usize::from(*word & bit == 0);
        *word |= bit;
    }
    distinct
}
