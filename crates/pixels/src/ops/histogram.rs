//! The histogram of luma, counted in the code values of the image.

use multiversion::multiversion;

use crate::ops::strips;
use crate::{Image, Plane};

/// The count of each luma code value: 256 values, or 65536 for a 16-bit image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

/// Number of alternating counters, so that a run of equal samples does not wait for its own last
/// increment.
const TURNS: usize = 4;

impl Histogram {
    /// Counts the rounded luma of `image` at its own bit depth.
    pub fn of_luma(image: &Image) -> Self {
        match image.bit_depth() {
            8 => Self::count(image.gray(), 256),
            _ => Self::count(image.gray(), 65536),
        }
    }

    /// Counts samples on the scale 0..=255 in `levels` bins, each sample in the nearest bin.
    pub fn count(plane: &Plane, levels: usize) -> Self {
        let levels = levels.clamp(1, 65536);
        let strips = strips::map(plane.height(), |rows| {
            let mut counters = vec![0u32; levels * TURNS];
            let mut nearest = vec![0u16; plane.width()];
            for samples in rows.map(|y| plane.row(y)) {
                nearest_levels(samples, (levels - 1) as f32, &mut nearest);
                for levels in nearest.chunks(TURNS) {
                    for (turn, &level) in levels.iter().enumerate() {
                        counters[usize::from(level) * TURNS + turn] += 1;
                    }
                }
            }
            counters
        });
        let mut counts = vec![0u64; levels];
        for counters in &strips {
            for (count, turns) in counts.iter_mut().zip(counters.chunks_exact(TURNS)) {
                *count += turns.iter().map(|&turn| u64::from(turn)).sum::<u64>();
            }
        }
        Self { counts }
    }

    /// The number of samples of each level.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of samples.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the lowest level, on the scale 0..=255, that at least `share` of the samples do not
    /// exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        let needed = share * self.total() as f64;
        let mut below = 0;
        let reached = self.counts.iter().position(|&count| {
            below += count;
            below > 0 && below as f64 >= needed
        });
        let highest = self.counts.len().saturating_sub(1);
        reached.unwrap_or(highest) as f64 * 255.0 / highest.max(1) as f64
    }
}

/// Writes the nearest level for each sample; 0..=255 maps to `0..=highest`, and ties round up.
#[multiversion(targets("x86_64+avx2"))]
pub fn nearest_levels(samples: &[f32], highest: f32, levels: &mut [u16]) {
    let scale = highest / 255.0;
    for (level, &sample) in levels.iter_mut().zip(samples) {
        let nearest = sample * scale + 0.5;
        let inside = if nearest > 0.0 { nearest } else { 0.0 };
        *level = (if inside < highest { inside } else { highest }) as i32 as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_value_of_both_depths_has_its_own_bin() {
        let eight = Image::from_gray8(16, 16, (0..=255).collect()).unwrap();
        let sixteen = Image::from_gray16(256, 256, (0..=65535).collect()).unwrap();
        assert!(Histogram::of_luma(&eight).counts().iter().all(|&count| count == 1));
        assert!(Histogram::of_luma(&sixteen).counts().iter().all(|&count| count == 1));
    }

    #[test]
    fn quantiles_are_those_of_the_inverted_distribution() {
        // numpy.percentile([10, 20, 30, 40], [0, 1, 25, 26, 50, 99, 100], method="inverted_cdf")
        let image = Image::from_gray8(2, 2, vec![40, 10, 30, 20]).unwrap();
        let histogram = Histogram::of_luma(&image);
        let quantiles = [0.0, 0.01, 0.25, 0.26, 0.5, 0.99, 1.0].map(|share| histogram.quantile(share));
        assert_eq!(quantiles, [10.0, 10.0, 10.0, 20.0, 20.0, 40.0, 40.0]);
    }
}
