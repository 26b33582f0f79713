//! Change of each octave of detail: how much is left, and how much was added.

use super::{Joint, PairStatistic};
use crate::perception::features::Features;
use crate::perception::view::Tile;
use agenticiqa_metrics::Plane;

/// Octaves of the Haar pyramid.
const OCTAVES: usize = 4;
/// Regularizes ratios: the variance of rounding.
const STABILITY: f64 = 0.5;

/// Joint sums for each octave and direction of luma, and for each octave of color.
#[derive(Default)]
pub struct Bands {
    luma: [[Joint; 3]; OCTAVES],
    color: [Joint; OCTAVES],
}

impl PairStatistic for Bands {
    fn measure(reference: &Tile, distorted: &Tile) -> Self {
        let mut bands = Self::default();
        let (mut before, mut after) = (reference.luma.clone(), distorted.luma.clone());
        for octave in &mut bands.luma {
            let (old, new) = (split(&before), split(&after));
            for (direction, joint) in octave.iter_mut().enumerate() {
                joint.add(old[direction + 1].data(), new[direction + 1].data());
            }
            [before, ..] = old;
            [after, ..] = new;
        }
        for (mut before, mut after) in reference.chroma.clone().into_iter().zip(distorted.chroma.clone()) {
            for octave in &mut bands.color {
                let (old, new) = (split(&before), split(&after));
                (1..4).for_each(|direction| octave.add(old[direction].data(), new[direction].data()));
                [before, ..] = old;
                [after, ..] = new;
            }
        }
        bands
    }

    fn merge(&mut self, other: Self) {
        for (octave, other) in self.luma.iter_mut().zip(&other.luma) {
            octave.iter_mut().zip(other).for_each(|(joint, other)| joint.merge(other));
        }
        self.color.iter_mut().zip(&other.color).for_each(|(joint, other)| joint.merge(other));
    }

    fn write(&self, features: &mut Features) {
        const GAIN: [&str; OCTAVES] = ["gain_1", "gain_2", "gain_3", "gain_4"];
        const ADDED: [&str; OCTAVES] = ["added_1", "added_2", "added_3", "added_4"];
        const ALIKE: [&str; OCTAVES] = ["alike_1", "alike_2", "alike_3", "alike_4"];
        const SPREAD: [&str; OCTAVES] = ["gain_spread_1", "gain_spread_2", "gain_spread_3", "gain_spread_4"];
        const ENERGY: [&str; OCTAVES] = ["energy_1", "energy_2", "energy_3", "energy_4"];
        for (level, octave) in self.luma.iter().enumerate() {
            let mut all = Joint::default();
            octave.iter().for_each(|joint| all.merge(joint));
            features.push(GAIN[level], all.gain(STABILITY));
            features.push(ADDED[level], (1.0 + all.rest()).ln());
            features.push(ALIKE[level], all.correlation(STABILITY));
            let gains = [octave[0].gain(STABILITY), octave[1].gain(STABILITY)];
            features.push(SPREAD[level], (gains[0] - gains[1]).abs());
            let (before, after) = all.variances();
            features.push(ENERGY[level], ((after + STABILITY) / (before + STABILITY)).ln());
        }
        const COLOR_GAIN: [&str; OCTAVES] = ["color_gain_1", "color_gain_2", "color_gain_3", "color_gain_4"];
        const COLOR_ADDED: [&str; OCTAVES] = ["color_added_1", "color_added_2", "color_added_3", "color_added_4"];
        for (level, joint) in self.color.iter().enumerate() {
            features.push(COLOR_GAIN[level], joint.gain(STABILITY));
            features.push(COLOR_ADDED[level], (1.0 + joint.rest()).ln());
        }
    }
}

/// Returns the means and the horizontal, vertical and diagonal differences of blocks of 2x2
/// samples.
fn split(plane: &Plane) -> [Plane; 4] {
    let (width, height) = (plane.width() / 2, plane.height() / 2);
    let mut parts = [0; 4].map(|_| Plane::new(width, height));
    for y in 0..height {
        let (upper, lower) = (plane.row(2 * y), plane.row(2 * y + 1));
        let [low, horizontal, vertical, diagonal] = parts.each_mut().map(|part| part.row_mut(y));
        for x in 0..width {
            let [a, b, c, d] = [upper[2 * x], upper[2 * x + 1], lower[2 * x], lower[2 * x + 1]];
            low[x] = 0.25 * (a + b + c + d);
            horizontal[x] = 0.5 * (a - b + c - d);
            vertical[x] = 0.5 * (a + b - c - d);
            diagonal[x] = 0.5 * (a - b - c + d);
        }
    }
    parts
}
