//! Deterministic images for the tests of this crate and of other crates.

#![allow(clippy::unwrap_used)]

use crate::Image;

/// A gray image of uniform noise.
pub fn gray_noise(width: usize, height: usize, seed: u32) -> Image {
    Image::from_gray8(width, height, noise(width * height, seed)).unwrap()
}

/// A color image of uniform noise.
pub fn color_noise(width: usize, height: usize, seed: u32) -> Image {
    Image::from_rgb8(width, height, noise(width * height * 3, seed)).unwrap()
}

fn noise(count: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

/// An image with a known amount of noise: `scene` values of 0..=1 become luma 64..=192, plus
/// Gaussian noise with a standard deviation of `sigma` levels.
pub fn noisy_scene(width: usize, height: usize, sigma: f64, scene: impl Fn(usize, usize) -> f64) -> Image {
    let mut uniform = noise(width * height * 12, 5).into_iter().map(|byte| f64::from(byte) / 256.0);
    // The sum of twelve uniform numbers minus six is close to normal up to three sigma.
    let mut normal = || (0..12).filter_map(|_| uniform.next()).sum::<f64>() - 6.0 + 12.0 / 512.0;
    let mut sample = |x: usize, y: usize| 64.0 + 128.0 * scene(x, y) + sigma * normal();
    let mut samples = Vec::with_capacity(width * height);
    for y in 0..height {
        samples.extend((0..width).map(|x| sample(x, y).round().clamp(0.0, 255.0) as u8));
    }
    Image::from_gray8(width, height, samples).unwrap()
}

/// Gray shapes with straight and round edges, blurred with a Gaussian of `sigma` pixels.
pub fn blurred_shapes(size: usize, sigma: f64) -> Image {
    use crate::ops::convolve::{Border, gaussian, separable};
    let sharp = crate::Plane::from_fn(size, size, |x, y| {
        let (dx, dy) = (x as f64 - 0.3 * size as f64, y as f64 - 0.4 * size as f64);
        let inside = dx.hypot(dy) < 0.2 * size as f64 || (x > size * 6 / 10) != (y > size * 7 / 10);
        if inside { 190.0 } else { 60.0 }
    });
    let kernel = if sigma > 0.0 { gaussian(2 * (4.0 * sigma).ceil() as usize + 1, sigma) } else { vec![1.0] };
    let blurred = separable(&sharp, &kernel, &kernel, Border::Replicate);
    Image::from_gray8(size, size, blurred.data().iter().map(|&sample| sample.round() as u8).collect()).unwrap()
}
