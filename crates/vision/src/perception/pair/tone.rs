//! Change of tone and color: the tone curve from reference to image, and the same for color.

use super::{Joint, PairStatistic};
use crate::perception::features::Features;
use crate::perception::view::Tile;

/// Number of bins of the tone curve.
const BINS: usize = 32;
/// Width of a bin, in levels.
const BIN: f32 = 256.0 / BINS as f32;
/// Regularizes ratios: the variance of rounding and of the width of a bin.
const STABILITY: f64 = 4.0;

/// Joint sums of luma and color, and the tone curve.
pub struct Tone {
    luma: Joint,
    blue: Joint,
    red: Joint,
    channels: [Joint; 3],
    curve: [[f64; 3]; BINS],
}

impl Default for Tone {
    fn default() -> Self {
        let joint = Joint::default();
        Self { luma: joint, blue: joint, red: joint, channels: [joint; 3], curve: [[0.0; 3]; BINS] }
    }
}

impl PairStatistic for Tone {
    fn measure(reference: &Tile, distorted: &Tile) -> Self {
        let mut tone = Self::default();
        let ([reference_blue, reference_red], [blue, red]) = (&reference.chroma, &distorted.chroma);
        for y in 0..reference.luma.height() {
            let (before, after) = (reference.luma.row(y), distorted.luma.row(y));
            tone.luma.add(before, after);
            tone.blue.add(reference_blue.row(y), blue.row(y));
            tone.red.add(reference_red.row(y), red.row(y));
            for (channel, joint) in tone.channels.iter_mut().enumerate() {
                joint.add(reference.rgb[channel].row(y), distorted.rgb[channel].row(y));
            }
            for (&before, &after) in before.iter().zip(after) {
                let bin = &mut tone.curve[((before / BIN) as usize).min(BINS - 1)];
                bin[0] += 1.0;
                bin[1] += f64::from(after);
                bin[2] += f64::from(after) * f64::from(after);
            }
        }
        tone
    }

    fn merge(&mut self, other: Self) {
        self.luma.merge(&other.luma);
        self.blue.merge(&other.blue);
        self.red.merge(&other.red);
        (0..3).for_each(|i| self.channels[i].merge(&other.channels[i]));
        for (bin, other) in self.curve.iter_mut().zip(other.curve) {
            (0..3).for_each(|i| bin[i] += other[i]);
        }
    }

    fn write(&self, features: &mut Features) {
        features.push("luma_shift", self.luma.mean_difference());
        features.push("luma_gain", self.luma.gain(STABILITY));
        features.push("luma_rest", self.luma.rest().sqrt());
        let (before, after) = self.luma.variances();
        features.push("luma_spread", ((after + STABILITY) / (before + STABILITY)).ln() / 2.0);
        self.write_curve(features);
        features.push("blue_shift", self.blue.mean_difference());
        features.push("red_shift", self.red.mean_difference());
        features.push("color_shift", self.blue.mean_difference().hypot(self.red.mean_difference()));
        let mut color = self.blue;
        color.merge(&self.red);
        let (before, after) = (color.first_squares, color.second_squares);
        let count = color.count.max(1.0);
        features.push("color_strength", ((after / count + STABILITY) / (before / count + STABILITY)).ln() / 2.0);
        features.push("color_gain", 0.5 * (self.blue.gain(STABILITY) + self.red.gain(STABILITY)));
        features.push("color_rest", (self.blue.rest() + self.red.rest()).sqrt());
        features.push("color_correlation", 0.5 * (self.blue.correlation(STABILITY) + self.red.correlation(STABILITY)));
        let rests = self.channels.map(|joint| joint.rest());
        let others = 0.5 * (rests[0] + rests[2]);
        features.push("green_rest", ((rests[1] + 1.0) / (others + 1.0)).ln());
    }
}

impl Tone {
    /// Writes the curve at a quarter, half and three quarters of the range, and the variation that
    /// it does not explain.
    fn write_curve(&self, features: &mut Features) {
        let at = |level: f64| {
            let mut sums = [0.0; 3];
            for (i, bin) in self.curve.iter().enumerate() {
                let center = (i as f64 + 0.5) * f64::from(BIN);
                let weight = (-((center - level) / 24.0).powi(2)).exp();
                sums[0] += weight * bin[0];
                sums[1] += weight * bin[1];
                sums[2] += weight * bin[0] * center;
            }
            if sums[0] < 1.0 { self.luma.mean_difference() } else { (sums[1] - sums[2]) / sums[0] }
        };
        let [low, middle, high] = [64.0, 128.0, 192.0].map(at);
        features.push("curve_low", low);
        features.push("curve_middle", middle);
        features.push("curve_high", high);
        features.push("curve_steeper", high - low);
        features.push("curve_bend", middle - 0.5 * (low + high));
        let rest: f64 =
            self.curve.iter().filter(|bin| bin[0] > 0.0).map(|bin| (bin[2] - bin[1] * bin[1] / bin[0]).max(0.0)).sum();
        features.push("curve_rest", (rest / self.luma.count.max(1.0)).sqrt());
    }
}
