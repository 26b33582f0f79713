//! Corrections of color.

use agenticiqa_metrics::{Pixels, Plane};

use super::tone::{encoded, linear};

/// The largest correction of a channel, as a factor.
const MOST: f32 = 2.0;
/// Pixels outside of these values of luma tell little about a cast.
const TOLD: std::ops::RangeInclusive<f32> = 0.06..=0.96;
/// Every so many pixels counts.
const STEP: usize = 3;

/// Removes a share of the color cast: multiplies the channels in linear light so that the grayest
/// half of the image becomes gray on average. Brightness stays.
pub fn white_balance(pixels: &Pixels, share: f32) -> Pixels {
    let means = cast(pixels);
    let gray = 0.299 * means[0] + 0.587 * means[1] + 0.114 * means[2];
    let gains = means.map(|mean| (gray / mean.max(1e-4)).clamp(1.0 / MOST, MOST).powf(share.clamp(0.0, 1.0)));
    let channel = |index: usize| pixels.planes[index].map(|sample| encoded(linear(sample) * gains[index]));
    Pixels { planes: [channel(0), channel(1), channel(2)] }
}

/// Returns the mean color of the grayest half, in linear light.
fn cast(pixels: &Pixels) -> [f32; 3] {
    let mut seen: Vec<(f32, [f32; 3])> = (0..pixels.width() * pixels.height())
        .step_by(STEP)
        .map(|place| [0, 1, 2].map(|channel: usize| pixels.planes[channel].data()[place]))
        .filter(|[r, g, b]| TOLD.contains(&(0.299 * r + 0.587 * g + 0.114 * b)))
        .map(|rgb| {
            let (most, least) = (rgb[0].max(rgb[1]).max(rgb[2]), rgb[0].min(rgb[1]).min(rgb[2]));
            ((most - least) / most.max(1e-4), rgb)
        })
        .collect();
    seen.sort_by(|one, other| one.0.total_cmp(&other.0));
    seen.truncate(seen.len().div_ceil(2));
    let count = seen.len().max(1) as f32;
    let mut sums = [0.0; 3];
    for (_, rgb) in &seen {
        (0..3).for_each(|channel| sums[channel] += linear(rgb[channel]));
    }
    if seen.is_empty() { [1.0; 3] } else { sums.map(|sum| sum / count) }
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
