//! Noise in the smooth parts of luma and color, and isolated samples.

use super::rows::halve;
use super::{Features, Statistic, quantile};
use crate::perception::view::Tile;
use agenticiqa_metrics::Plane;

/// Side of a block in pixels.
const BLOCK: usize = 16;
/// Root of the sum of the squared weights of the operator `[1 -2 1]' [1 -2 1]`.
const OPERATOR_NORM: f32 = 6.0;
/// Samples this close to black or white are clipped; noise is not visible there.
const CLIPPED: f32 = 1.5;
/// Minimum distance of an impulse from all its neighbors, in levels.
const IMPULSE: f32 = 25.0;
/// The same for a strong impulse.
const STRONG_IMPULSE: f32 = 60.0;

/// Noise sigma of each block, by the difference operator of J. Immerkaer (1996).
#[derive(Default)]
pub struct Noise {
    luma: Vec<f32>,
    open_luma: Vec<f32>,
    chroma: [Vec<f32>; 2],
    half: Vec<f32>,
    impulses: [f64; 2],
    pixels: f64,
}

impl Statistic for Noise {
    fn measure(tile: &Tile) -> Self {
        let blocks = block_sigmas(&tile.luma);
        let sigmas = |plane: &Plane| block_sigmas(plane).into_iter().map(|block| block.0).collect();
        let (impulses, pixels) = count_impulses(&tile.luma);
        Self {
            luma: blocks.iter().map(|block| block.0).collect(),
            open_luma: blocks.iter().filter(|block| !block.1).map(|block| block.0).collect(),
            chroma: tile.chroma.each_ref().map(sigmas),
            half: sigmas(&halve(&tile.luma)),
            impulses,
            pixels,
        }
    }

    fn merge(&mut self, other: Self) {
        self.luma.extend(other.luma);
        self.open_luma.extend(other.open_luma);
        self.half.extend(other.half);
        (0..2).for_each(|i| self.chroma[i].extend(&other.chroma[i]));
        (0..2).for_each(|i| self.impulses[i] += other.impulses[i]);
        self.pixels += other.pixels;
    }

    fn write(&self, features: &mut Features) {
        let sorted = |values: &[f32]| {
            let mut values = values.to_vec();
            values.sort_unstable_by(f32::total_cmp);
            values
        };
        let luma = sorted(&self.luma);
        // Clipped blocks count only if there are hardly any others.
        let open = if self.open_luma.len() * 20 >= self.luma.len() { sorted(&self.open_luma) } else { luma.clone() };
        features.push("noise", quantile(&open, 0.05));
        features.push("noise_quarter", quantile(&open, 0.25));
        features.push("noise_median", quantile(&open, 0.5));
        features.push("noise_high", quantile(&open, 0.9));
        features.push("noise_all_median", quantile(&luma, 0.5));
        let half = sorted(&self.half);
        features.push("noise_half", quantile(&half, 0.05));
        features.push("noise_half_median", quantile(&half, 0.5));
        let chroma = self.chroma.each_ref().map(|values| sorted(values));
        features.push("noise_blue", quantile(&chroma[0], 0.1));
        features.push("noise_red", quantile(&chroma[1], 0.1));
        features.push("noise_blue_median", quantile(&chroma[0], 0.5));
        features.push("noise_red_median", quantile(&chroma[1], 0.5));
        features.push("impulses", 1000.0 * self.impulses[0] / self.pixels.max(1.0));
        features.push("strong_impulses", 1000.0 * self.impulses[1] / self.pixels.max(1.0));
    }
}

/// Returns the noise sigma of each block, and whether it has clipped samples.
fn block_sigmas(plane: &Plane) -> Vec<(f32, bool)> {
    let (width, height) = (plane.width(), plane.height());
    if width < BLOCK + 2 || height < BLOCK + 2 {
        return Vec::new();
    }
    let (columns, rows) = ((width - 2) / BLOCK, (height - 2) / BLOCK);
    let mut blocks = Vec::with_capacity(columns * rows);
    let mut vertical = vec![0.0; width];
    for row in 0..rows {
        let mut energy = vec![0.0f32; columns * BLOCK];
        let mut clipped = vec![false; columns];
        for y in row * BLOCK..(row + 1) * BLOCK {
            let (above, center, below) = (plane.row(y), plane.row(y + 1), plane.row(y + 2));
            for x in 0..width {
                vertical[x] = above[x] + below[x] - 2.0 * center[x];
            }
            for (x, energy) in energy.iter_mut().enumerate() {
                let response = vertical[x] + vertical[x + 2] - 2.0 * vertical[x + 1];
                *energy += response * response;
            }
            for (flag, samples) in clipped.iter_mut().zip(center[1..].chunks_exact(BLOCK)) {
                *flag |= samples.iter().any(|&sample| sample.abs() <= CLIPPED || sample >= 255.0 - CLIPPED);
            }
        }
        let sigma = |block: &[f32]| (block.iter().sum::<f32>() / (BLOCK * BLOCK) as f32).sqrt() / OPERATOR_NORM;
        blocks.extend(energy.chunks_exact(BLOCK).zip(clipped).map(|(block, clipped)| (sigma(block), clipped)));
    }
    blocks
}

/// Counts impulses and strong impulses: samples that differ from all eight neighbors.
fn count_impulses(plane: &Plane) -> ([f64; 2], f64) {
    let (width, height) = (plane.width(), plane.height());
    let mut counts = [0.0; 2];
    for y in 1..height - 1 {
        let rows = [plane.row(y - 1), plane.row(y), plane.row(y + 1)];
        for x in 1..width - 1 {
            let sample = rows[1][x];
            // The left and right neighbors rule out most samples; only the rest is compared with
            // all eight.
            let near = (sample - rows[1][x - 1]).abs().min((sample - rows[1][x + 1]).abs());
            if near < IMPULSE {
                continue;
            }
            let neighbors = [
                rows[0][x - 1],
                rows[0][x],
                rows[0][x + 1],
                rows[1][x - 1],
                rows[1][x + 1],
                rows[2][x - 1],
                rows[2][x],
                rows[2][x + 1],
            ];
            let highest = neighbors.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let lowest = neighbors.iter().copied().fold(f32::INFINITY, f32::min);
            let distance = (sample - highest).max(lowest - sample);
            counts[0] += f64::from(u8::from(distance > IMPULSE));
            counts[1] += f64::from(u8::from(distance > STRONG_IMPULSE));
        }
    }
    (counts, ((width - 2) * (height - 2)) as f64)
}
