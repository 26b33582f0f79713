//! Tone curves: brighter, darker, shifted, more or less contrast.

use super::lab;
use super::random::Random;
use agenticiqa_pixels::Pixels;

/// How far the midtones are lifted, in units of half the range.
const BRIGHTEN: [f32; 5] = [0.1, 0.2, 0.4, 0.7, 1.1];
/// How far the midtones are lowered.
const DARKEN: [f32; 5] = [0.05, 0.1, 0.2, 0.4, 0.8];
/// Shift of the mean up or down. KADID runs from +0.15 through 0 to -0.15.
const MEAN_SHIFT: [f32; 5] = [0.03, 0.06, 0.1, 0.15, 0.22];
/// Slope of the tone curve in the midtones. KADID's slopes lie between 0.5 and 1.6.
const LESS_CONTRAST: [f32; 5] = [0.9, 0.75, 0.6, 0.45, 0.3];
const MORE_CONTRAST: [f32; 5] = [1.1, 1.25, 1.45, 1.7, 2.0];
/// Half width of the straight middle part of the contrast curve.
const SHOULDER: f32 = 0.2;
/// Share of the images whose contrast is lowered along a straight line, like haze, instead of by
/// the curve.
const STRAIGHT_SHARE: f64 = 0.4;

/// The parabola through black, white and `0.5 -> 0.5 + lift / 2`.
fn parabola(sample: f32, lift: f32) -> f32 {
    (sample + 2.0 * lift * sample * (1.0 - sample)).clamp(0.0, 1.0)
}

/// Two parts of the curve are applied to the samples and one to lightness, which preserves more of
/// the color.
pub fn brighten(pixels: &Pixels, index: usize) -> Pixels {
    let lift = BRIGHTEN[index];
    pixels.map_pixels(|rgb| {
        let [lightness, a, b] = lab::from_rgb(rgb);
        let lifted = lab::to_rgb([100.0 * parabola(lightness / 100.0, lift), a, b]);
        [0, 1, 2].map(|i| (2.0 * parabola(rgb[i], lift) + lifted[i].clamp(0.0, 1.0)) / 3.0)
    })
}

pub fn darken(pixels: &Pixels, index: usize) -> Pixels {
    pixels.map(|sample| parabola(sample, -DARKEN[index]))
}

pub fn shift_mean(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let shift = if random.coin() { MEAN_SHIFT[index] } else { -MEAN_SHIFT[index] };
    pixels.map(|sample| sample + shift)
}

pub fn change_contrast(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    if random.coin() {
        return pixels.map(|sample| bend(sample, MORE_CONTRAST[index]));
    }
    let slope = LESS_CONTRAST[index];
    if random.uniform() < STRAIGHT_SHARE {
        let center = 0.35 + 0.4 * random.uniform() as f32;
        return pixels.map(|sample| center + slope * (sample - center));
    }
    pixels.map(|sample| bend(sample, slope))
}

/// A curve with this slope around the center, continued by straight lines to black and white.
fn bend(sample: f32, slope: f32) -> f32 {
    let shoulder = SHOULDER.min(0.45 / slope);
    let distance = (sample - 0.5).abs();
    let height = slope * shoulder;
    let bent = if distance <= shoulder {
        slope * distance
    } else {
        height + (distance - shoulder) * (0.5 - height) / (0.5 - shoulder)
    };
    0.5 + bent.copysign(sample - 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_keep_black_and_white_and_rise() {
        for curve in [|x| parabola(x, 0.4), |x| bend(x, 0.3), |x| bend(x, 2.0)] {
            let samples: Vec<f32> = (0..=100).map(|i| curve(i as f32 / 100.0)).collect();
            assert!(samples[0].abs() < 1e-6 && (samples[100] - 1.0).abs() < 1e-6);
            assert!(samples.windows(2).all(|pair| pair[1] >= pair[0]));
        }
    }
}
