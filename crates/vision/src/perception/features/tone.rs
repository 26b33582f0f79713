//! Exposure and contrast: the histogram of luma.

use multiversion::multiversion;

use super::rows::nearest;
use super::{Features, Statistic};
use crate::perception::view::Tile;

/// Samples this close to black or white are clipped.
const CLIPPED: f32 = 1.5;

/// The histogram of luma, and clipped samples of any channel.
pub struct Tone {
    histogram: [f64; 256],
    clipped: [f64; 2],
    pixels: f64,
}

impl Default for Tone {
    fn default() -> Self {
        Self { histogram: [0.0; 256], clipped: [0.0; 2], pixels: 0.0 }
    }
}

impl Statistic for Tone {
    fn measure(tile: &Tile) -> Self {
        let mut tone = Self::default();
        let mut histogram = [0u32; 256];
        for sample in tile.luma.data() {
            histogram[(nearest(*sample) as usize).min(255)] += 1;
        }
        tone.histogram = histogram.map(f64::from);
        for plane in &tile.rgb {
            let [dark, bright] = count_clipped(plane.data());
            tone.clipped[0] += f64::from(dark) / 3.0;
            tone.clipped[1] += f64::from(bright) / 3.0;
        }
        tone.pixels = tile.luma.data().len() as f64;
        tone
    }

    fn merge(&mut self, other: Self) {
        self.histogram.iter_mut().zip(other.histogram).for_each(|(total, count)| *total += count);
        (0..2).for_each(|i| self.clipped[i] += other.clipped[i]);
        self.pixels += other.pixels;
    }

    fn write(&self, features: &mut Features) {
        let pixels = self.pixels.max(1.0);
        let moment = |center: f64, power: i32| {
            let terms =
                self.histogram.iter().enumerate().map(|(level, count)| count * (level as f64 - center).powi(power));
            terms.sum::<f64>() / pixels
        };
        let mean = moment(0.0, 1);
        let variance = moment(mean, 2);
        features.push("brightness", mean);
        features.push("contrast", variance.sqrt());
        features.push("skewness", moment(mean, 3) / variance.max(1.0).powf(1.5));
        features.push("peakedness", moment(mean, 4) / variance.max(1.0).powi(2));
        features.push("clipped_dark", self.clipped[0] / pixels);
        features.push("clipped_bright", self.clipped[1] / pixels);
        const QUANTILES: [(&str, f64); 9] = [
            ("black_point", 0.002),
            ("luma_1", 0.01),
            ("luma_5", 0.05),
            ("luma_25", 0.25),
            ("luma_50", 0.5),
            ("luma_75", 0.75),
            ("luma_95", 0.95),
            ("luma_99", 0.99),
            ("white_point", 0.998),
        ];
        for (name, share) in QUANTILES {
            features.push(name, self.quantile(share));
        }
        features.push("contrast_range", self.quantile(0.95) - self.quantile(0.05));
        features.push("contrast_inner", self.quantile(0.75) - self.quantile(0.25));
        let entropy =
            self.histogram.iter().filter(|&&count| count > 0.0).map(|count| -count / pixels * (count / pixels).log2());
        features.push("entropy", entropy.sum());
    }
}

impl Tone {
    fn quantile(&self, share: f64) -> f64 {
        let mut seen = 0.0;
        for (level, count) in self.histogram.iter().enumerate() {
            seen += count;
            if seen >= share * self.pixels {
                return level as f64;
            }
        }
        255.0
    }
}

/// Counts the samples that are clipped to black and to white.
#[multiversion(targets("x86_64+avx2"))]
fn count_clipped(samples: &[f32]) -> [u32; 2] {
    let mut counts = [0; 2];
    for sample in samples {
        counts[0] += u32::from(*sample <= CLIPPED);
        counts[1] += u32::from(*sample >= 255.0 - CLIPPED);
    }
    counts
}
