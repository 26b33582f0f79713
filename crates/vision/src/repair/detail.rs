//! Corrections of fine detail: mild sharpening, and softening of halos.

use agenticiqa_metrics::ops::convolve::{Border, gaussian, separable};
use agenticiqa_metrics::{Pixels, Plane};

/// Radius of the blur that is subtracted, in pixels.
const RADIUS: f64 = 1.2;
/// Differences below this are taken for noise and left alone.
const CORE: f32 = 2.0 / 255.0;

/// Adds a multiple of the difference to a blurred copy, in luma only, so that colors stay.
pub fn sharpen(pixels: &Pixels, amount: f32) -> Pixels {
    let luma = pixels.luma();
    let soft = blurred(&luma, RADIUS);
    let gain = Plane::from_fn(pixels.width(), pixels.height(), |x, y| {
        let difference = luma.at(x, y) - soft.at(x, y);
        amount * difference.signum() * (difference.abs() - CORE).max(0.0)
    });
    let add = |plane: &Plane| Plane::from_fn(pixels.width(), pixels.height(), |x, y| plane.at(x, y) + gain.at(x, y));
    pixels.map_planes(add)
}

/// Blurs all channels.
pub fn soften(pixels: &Pixels, radius: f32) -> Pixels {
    pixels.map_planes(|plane| blurred(plane, f64::from(radius)))
}

fn blurred(plane: &Plane, sigma: f64) -> Plane {
    let size = 2 * (2.5 * sigma).ceil() as usize + 1;
    let kernel = gaussian(size, sigma);
    separable(plane, &kernel, &kernel, Border::Replicate)
}
