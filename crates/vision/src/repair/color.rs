//! Corrections of color.

use agenticiqa_metrics::{Pixels, Plane};

use super::tone::{encoded, linear};

/// The largest correction of a channel, as a factor.
const MOST: f32 = 2.5;
/// Pixels outside of these values of luma tell little about a cast.
const TOLD: std::ops::RangeInclusive<f32> = 0.06..=0.96;
/// Every so many pixels counts.
const STEP: usize = 3;
/// One in this many pixels is bright enough to be white.
const BRIGHT: usize = 20;

/// Removes a share of the color cast, so that the grayest half of the image becomes gray on average.
/// Brightness stays.
pub fn white_balance(pixels: &Pixels, share: f32) -> Pixels {
    scaled(pixels, grayest(pixels), share)
}

/// Removes a share of the color cast, so that the brightest tones become white. Brightness stays.
pub fn white_patch(pixels: &Pixels, share: f32) -> Pixels {
    scaled(pixels, brightest(pixels), share)
}

/// Multiplies the channels in linear light so that a color comes closer to gray.
fn scaled(pixels: &Pixels, color: [f32; 3], share: f32) -> Pixels {
    let gray = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2];
    let powers = color.map(|mean| (gray.max(1e-4) / mean.max(1e-4)).ln());
    // All channels are limited together: one alone would change the hue of the cast.
    let most = powers.iter().fold(MOST.ln(), |most, power| most.max(power.abs()));
    let share = share.clamp(0.0, 1.0) * MOST.ln() / most;
    let gains = powers.map(|power| (share * power).exp());
    let channel = |index: usize| pixels.planes[index].map(|sample| encoded(linear(sample) * gains[index]));
    Pixels { planes: [channel(0), channel(1), channel(2)] }
}

/// Returns the mean color of the grayest half, in linear light.
fn grayest(pixels: &Pixels) -> [f32; 3] {
    let mut seen = telling(pixels);
    let strength = |[r, g, b]: &[f32; 3]| {
        let most = r.max(*g).max(*b);
        (most - r.min(*g).min(*b)) / most.max(1e-4)
    };
    seen.sort_by(|one, other| strength(one).total_cmp(&strength(other)));
    mean(&seen[..seen.len().div_ceil(2)])
}

/// Returns the mean color of the brightest tones, in linear light.
fn brightest(pixels: &Pixels) -> [f32; 3] {
    let mut seen = telling(pixels);
    seen.sort_by(|one, other| luma(other).total_cmp(&luma(one)));
    mean(&seen[..seen.len().div_ceil(BRIGHT)])
}

/// Returns the pixels that tell something about a cast.
fn telling(pixels: &Pixels) -> Vec<[f32; 3]> {
    (0..pixels.width() * pixels.height())
        .step_by(STEP)
        .map(|place| [0, 1, 2].map(|channel: usize| pixels.planes[channel].data()[place]))
        .filter(|pixel| TOLD.contains(&luma(pixel)))
        .collect()
}

fn luma([r, g, b]: &[f32; 3]) -> f32 {
    0.299 * r + 0.587 * g + 0.114 * b
}

/// Returns the mean in linear light; gray without pixels.
fn mean(seen: &[[f32; 3]]) -> [f32; 3] {
    if seen.is_empty() {
        return [1.0; 3];
    }
    let mut sums = [0.0; 3];
    for rgb in seen {
        (0..3).for_each(|channel| sums[channel] += linear(rgb[channel]));
    }
    sums.map(|sum| sum / seen.len() as f32)
}

/// Multiplies the distance of each pixel from gray.
pub fn saturate(pixels: &Pixels, factor: f32) -> Pixels {
    let luma = pixels.luma();
    let channel = |index: usize| {
        let (width, height) = (pixels.width(), pixels.height());
        let plane = &pixels.planes[index];
        Plane::from_fn(width, height, |x, y| luma.at(x, y) + factor * (plane.at(x, y) - luma.at(x, y)))
    };
    Pixels { planes: [channel(0), channel(1), channel(2)] }
}
