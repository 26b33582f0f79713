//! Direction: motion blur removes the differences along its path and keeps those across it.

use super::rows::squared_steps;
use super::{Features, Statistic, log_ratio};
use crate::perception::view::Tile;

/// Steps in eight directions; perpendicular steps of equal length are adjacent.
const STEPS: [(isize, isize); 8] = [(1, 0), (0, 1), (1, 1), (-1, 1), (2, 1), (-1, 2), (1, 2), (-2, 1)];
/// Factor by which the long steps exceed the short ones.
const LONGER: isize = 4;
/// Regularizes ratios: the variance of rounding.
const STABILITY: f64 = 0.2;

/// Mean squared differences over short and over long steps.
#[derive(Default)]
pub struct Direction {
    short: [f64; STEPS.len()],
    long: [f64; STEPS.len()],
    tiles: f64,
}

impl Statistic for Direction {
    fn measure(tile: &Tile) -> Self {
        let energy = |scale: isize| STEPS.map(|(dx, dy)| difference(tile, scale * dx, scale * dy));
        Self { short: energy(1), long: energy(LONGER), tiles: 1.0 }
    }

    fn merge(&mut self, other: Self) {
        for i in 0..STEPS.len() {
            self.short[i] += other.short[i];
            self.long[i] += other.long[i];
        }
        self.tiles += other.tiles;
    }

    fn write(&self, features: &mut Features) {
        let tiles = self.tiles.max(1.0);
        let ratio = |i: usize| log_ratio(self.short[i] / tiles, self.long[i] / tiles, STABILITY);
        let mean = |i: usize| 0.5 * (ratio(i) + ratio(i + 1));
        let apart = |i: usize| (ratio(i) - ratio(i + 1)).abs();
        let knights = apart(4).max(apart(6));
        features.push("path_axis", apart(0));
        features.push("path_diagonal", apart(2));
        features.push("path_knight", knights);
        features.push("path_most", apart(0).max(apart(2)).max(knights));
        features.push("path_level", mean(0));
        // The smallest of all directions, each relative to the mean for its length.
        let least = (0..STEPS.len()).map(|i| ratio(i) - mean(i / 2 * 2)).fold(0.0, f64::min);
        features.push("path_least", least);
    }
}

/// Returns the mean squared difference between samples one step apart.
fn difference(tile: &Tile, dx: isize, dy: isize) -> f64 {
    let (width, height) = (tile.luma.width() as isize, tile.luma.height() as isize);
    if dx.abs() >= width || dy >= height {
        return 0.0;
    }
    let total: f64 = squared_steps(&tile.turned, dx, dy as usize).into_iter().map(f64::from).sum();
    total / ((width - dx.abs()) * (height - dy)) as f64
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::perception::view::View;
    use agenticiqa_distort::{Kind, distort};
    use agenticiqa_metrics::Image;

    #[test]
    fn motion_shows_and_focus_does_not() {
        let mut state = 1u32;
        let samples: Vec<u8> = (0..128 * 128)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        let image = Image::from_gray8(128, 128, samples).unwrap();
        let path = |kind: Kind| {
            let mut features = Features::default();
            let moved = distort(&image, kind, 5, 4).unwrap();
            View::of(&moved).tiles().map(|tile| Direction::measure(&tile)).collect::<Vec<_>>()[0].write(&mut features);
            features.get("path_most")
        };
        assert!(path(Kind::MotionBlur) > 4.0 * path(Kind::GaussianBlur));
    }
}
