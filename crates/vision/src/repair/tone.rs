//! Corrections of brightness and contrast.

use agenticiqa_metrics::Pixels;

/// From this linear value on, brightened highlights are compressed instead of clipped.
const SHOULDER: f32 = 0.7;
/// Share of the pixels that may be clipped at each end by [`stretch`].
const CLIPPED: f64 = 0.005;
/// Number of steps of the tables and histograms.
const STEPS: usize = 1024;

/// Multiplies linear light by `2^stops`. Highlights are compressed so that they keep their detail.
pub fn expose(pixels: &Pixels, stops: f32) -> Pixels {
    let factor = stops.exp2();
    let curve = table(|sample| {
        let light = linear(sample) * factor;
        let room = 1.0 - SHOULDER;
        let kept = if factor > 1.0 && light > SHOULDER {
            SHOULDER + room * (1.0 - (-(light - SHOULDER) / room).exp())
        } else {
            light
        };
        encoded(kept)
    });
    pixels.map(|sample| look_up(&curve, sample))
}

/// Brightens dark tones and leaves bright ones alone.
pub fn lift_shadows(pixels: &Pixels, strength: f32) -> Pixels {
    let exponent = 1.0 - 0.6 * strength.clamp(0.0, 1.0);
    let curve = table(|sample| sample + (sample.powf(exponent) - sample) * (1.0 - sample));
    pixels.map(|sample| look_up(&curve, sample))
}

/// Spreads the tones of an image over a share of the range that it does not use.
pub fn stretch(pixels: &Pixels, share: f32) -> Pixels {
    let mut counts = [0_usize; STEPS + 1];
    for sample in pixels.luma().data() {
        counts[(sample.clamp(0.0, 1.0) * STEPS as f32) as usize] += 1;
    }
    let all: usize = counts.iter().sum();
    let quantile = |part: f64| {
        let wanted = (part * all as f64) as usize;
        let mut seen = 0;
        let found = counts.iter().position(|count| {
            seen += count;
            seen > wanted
        });
        found.unwrap_or(STEPS) as f32 / STEPS as f32
    };
    let (dark, bright) = (quantile(CLIPPED), quantile(1.0 - CLIPPED));
    let share = share.clamp(0.0, 1.0);
    let (low, high) = (share * dark, 1.0 - share * (1.0 - bright));
    if high - low < 0.05 {
        return pixels.clone();
    }
    pixels.map(|sample| ((sample - low) / (high - low)).clamp(0.0, 1.0))
}

fn table(curve: impl Fn(f32) -> f32) -> Vec<f32> {
    (0..=STEPS).map(|step| curve(step as f32 / STEPS as f32)).collect()
}

/// Reads a curve between its steps.
fn look_up(curve: &[f32], sample: f32) -> f32 {
    let place = sample.clamp(0.0, 1.0) * STEPS as f32;
    let step = (place as usize).min(STEPS - 1);
    curve[step] + (curve[step + 1] - curve[step]) * (place - step as f32)
}

/// Decodes an sRGB sample to linear light.
pub fn linear(sample: f32) -> f32 {
    if sample <= 0.040_45 { sample / 12.92 } else { ((sample + 0.055) / 1.055).powf(2.4) }
}

/// Encodes linear light as an sRGB sample.
pub fn encoded(light: f32) -> f32 {
    let light = light.clamp(0.0, 1.0);
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}
