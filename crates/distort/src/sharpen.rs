//! Oversharpening: lightness minus a multiple of its Laplacian.

use super::lab;
use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::Plane;
use agenticiqa_pixels::ops::convolve::Border;

/// Weight of the Laplacian.
const STRENGTH: [f32; 5] = [1.0, 2.0, 3.0, 6.0, 12.0];
/// Distance between the samples of the second difference: central differences applied twice.
const REACH: isize = 2;

pub fn sharpen(pixels: &Pixels, index: usize) -> Pixels {
    let lab = pixels.map_pixels(lab::from_rgb);
    let [lightness, a, b] = &lab.planes;
    let (width, height) = (pixels.width(), pixels.height());
    let inside = |index: isize, size: usize| Border::Replicate.index(index, size).unwrap_or(0);
    let sharp = Plane::from_fn(width, height, |x, y| {
        let center = lightness.at(x, y);
        let across = |step: isize| lightness.at(inside(x as isize + step, width), y);
        let down = |step: isize| lightness.at(x, inside(y as isize + step, height));
        let laplacian = (across(-REACH) + across(REACH) + down(-REACH) + down(REACH) - 4.0 * center) / 4.0;
        (center - STRENGTH[index] * laplacian).clamp(0.0, 100.0)
    });
    Pixels { planes: [sharp, a.clone(), b.clone()] }.map_pixels(lab::to_rgb)
}
