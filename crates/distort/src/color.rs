//! Color distortions: diffusion, displacement, desaturation and oversaturation.

use super::blur::gaussian_plane;
use super::lab;
use super::random::Random;
use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::Plane;
use agenticiqa_pixels::ops::convolve::Border;

/// Strength of diffusion: chroma is multiplied by it and blurred with a sigma of 1.5 times the
/// strength plus 2 px.
const DIFFUSION: [f64; 5] = [1.0, 3.0, 6.0, 8.0, 12.0];
/// Displacement of green in pixels.
const SHIFT: [f64; 5] = [1.0, 3.0, 6.0, 8.0, 12.0];
/// Factor of HSV saturation.
const DESATURATION: [f32; 5] = [0.4, 0.2, 0.1, 0.0, -0.4];
/// Factor of Lab chroma. KADID starts with 1, which changes nothing.
const OVERSATURATION: [f32; 5] = [1.25, 2.0, 3.0, 6.0, 9.0];
/// Sigma in pixels of the blur of the gradient that locates edges.
const EDGE_SIGMA: f64 = 4.0;

pub fn diffuse(pixels: &Pixels, index: usize) -> Pixels {
    let strength = DIFFUSION[index];
    let lab = pixels.map_pixels(lab::from_rgb);
    let [lightness, a, b] = &lab.planes;
    let spread = |plane: &Plane| gaussian_plane(plane, 1.5 * strength + 2.0).map(|sample| sample * strength as f32);
    Pixels { planes: [lightness.clone(), spread(a), spread(b)] }.map_pixels(lab::to_rgb)
}

pub fn shift(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let (sine, cosine) = (std::f64::consts::TAU * random.uniform()).sin_cos();
    let (dx, dy) = ((SHIFT[index] * cosine).round() as isize, (SHIFT[index] * sine).round() as isize);
    let edges = edge_weights(&pixels.luma());
    let (width, height) = (pixels.width(), pixels.height());
    let inside = |index: isize, size: usize| Border::Symmetric.index(index, size).unwrap_or(0);
    let [red, green, blue] = &pixels.planes;
    let shifted = Plane::from_fn(width, height, |x, y| {
        let from = green.at(inside(x as isize + dx, width), inside(y as isize + dy, height));
        let weight = edges.at(x, y);
        weight * from + (1.0 - weight) * green.at(x, y)
    });
    Pixels { planes: [red.clone(), shifted, blue.clone()] }
}

/// Weights from 0 (far from edges) to 1 (near edges): the blurred gradient between its 1st and
/// 99th percentile.
fn edge_weights(luma: &Plane) -> Plane {
    let (width, height) = (luma.width(), luma.height());
    let gradient = Plane::from_fn(width, height, |x, y| {
        let across = luma.at((x + 1).min(width - 1), y) - luma.at(x.saturating_sub(1), y);
        let down = luma.at(x, (y + 1).min(height - 1)) - luma.at(x, y.saturating_sub(1));
        across.hypot(down)
    });
    let blurred = gaussian_plane(&gradient, EDGE_SIGMA);
    let mut sorted = blurred.data().to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let quantile = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let (low, high) = (quantile(0.01), quantile(0.99));
    blurred.map(|sample| ((sample - low) / (high - low).max(f32::EPSILON)).clamp(0.0, 1.0))
}

/// In HSV, a sample is the value minus a distance. Saturation scales that distance.
pub fn desaturate(pixels: &Pixels, index: usize) -> Pixels {
    pixels.map_pixels(|rgb| {
        let value = rgb[0].max(rgb[1]).max(rgb[2]);
        rgb.map(|sample| value - DESATURATION[index] * (value - sample))
    })
}

pub fn oversaturate(pixels: &Pixels, index: usize) -> Pixels {
    pixels.map_pixels(|rgb| {
        let [lightness, a, b] = lab::from_rgb(rgb);
        lab::to_rgb([lightness, a * OVERSATURATION[index], b * OVERSATURATION[index]])
    })
}
