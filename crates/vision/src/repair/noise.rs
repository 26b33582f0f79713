//! A small denoiser: bands of detail lose the energy that noise has, in luma and chroma apart.
//!
//! An undecimated wavelet splits each plane into bands. Noise is everywhere and texture is not, so the
//! quietest parts of a band show how strong its noise is: grain of a camera is coarser than white
//! noise. Around each coefficient, what noise explains is taken away (a local Wiener filter), so edges
//! and texture stay.

use agenticiqa_metrics::ops::convolve::{Border, separable};
use agenticiqa_metrics::{Pixels, Plane};

/// The kernel of the wavelet (a cubic spline); each band spreads it twice as far.
const SPLINE: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];
/// The standard deviation of each band of white noise of strength 1.
const WHITE: [f32; 4] = [0.889, 0.200, 0.086, 0.041];
/// Number of bands of luma that are cleaned; noise of chroma is coarser.
const LUMA_BANDS: usize = 3;
/// Chroma is cleaned this much more than luma, because nobody sees its fine detail.
const CHROMA: f32 = 1.6;
/// Side of the window in which energy is averaged.
const WINDOW: usize = 5;
/// This share of a band is taken for free of texture.
const QUIET: f64 = 0.1;
/// How much stronger than white noise the coarser bands may be.
const COARSER: f32 = 2.5;

/// Removes noise of this standard deviation (0 to 1).
pub fn denoise(pixels: &Pixels, noise: f32) -> Pixels {
    let [luma, blue, red] = pixels.to_ycc().planes;
    let chroma = CHROMA * noise;
    let planes = [clean(&luma, noise, LUMA_BANDS), clean(&blue, chroma, WHITE.len()), clean(&red, chroma, WHITE.len())];
    Pixels { planes }.to_rgb()
}

/// Cleans the finest bands of a plane.
fn clean(plane: &Plane, noise: f32, bands: usize) -> Plane {
    let mut coarse = plane.clone();
    let mut finest = None;
    let mut cleaned: Vec<Plane> = Vec::new();
    for (band, white) in WHITE.iter().enumerate().take(bands) {
        let kernel = spread(1 << band);
        let smoother = separable(&coarse, &kernel, &kernel, Border::Replicate);
        let detail = combined(&coarse, &smoother, |fine, smooth| fine - smooth);
        let energy = energy(&detail);
        let quiet = quiet(&energy);
        // Relative to the finest band, how much noise this band has.
        let first = *finest.get_or_insert(quiet);
        let grain = if first > 0.0 { (quiet / first).sqrt() * WHITE[0] / white } else { 1.0 };
        let strength = noise * white * grain.clamp(1.0, COARSER);
        let variance = strength * strength;
        cleaned.push(combined(&detail, &energy, |detail, energy| {
            detail * ((energy - variance) / energy.max(1e-12)).max(0.0)
        }));
        coarse = smoother;
    }
    cleaned.iter().fold(coarse, |sum, band| combined(&sum, band, |sum, band| sum + band))
}

/// Returns the kernel with gaps between its samples.
fn spread(gap: usize) -> Vec<f32> {
    let mut kernel = vec![0.0; (SPLINE.len() - 1) * gap + 1];
    SPLINE.iter().enumerate().for_each(|(place, weight)| kernel[place * gap] = *weight);
    kernel
}

/// Returns the mean square around each coefficient.
fn energy(detail: &Plane) -> Plane {
    let mean = [1.0 / WINDOW as f32; WINDOW];
    separable(&detail.map(|sample| sample * sample), &mean, &mean, Border::Replicate)
}

/// Returns the energy of the quietest parts.
fn quiet(energy: &Plane) -> f32 {
    let mut values = energy.data().to_vec();
    let place = (QUIET * values.len() as f64) as usize;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(place, f32::total_cmp).1 }
}

fn combined(one: &Plane, other: &Plane, of: impl Fn(f32, f32) -> f32) -> Plane {
    Plane::from_fn(one.width(), one.height(), |x, y| of(one.at(x, y), other.at(x, y)))
}
