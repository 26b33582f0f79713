//! A bilateral filter for ringing next to edges. Its weights come from luma, so that all channels
//! agree.

use agenticiqa_metrics::ops::convolve::{Border, gaussian, separable};
use agenticiqa_metrics::ops::strips;
use agenticiqa_metrics::{Pixels, Plane};

/// The window reaches this far from its center.
const REACH: usize = 2;
/// Weights fall with the distance from the center.
const NEAR: f64 = 1.5;
/// Differences of luma up to this many times the ringing are smoothed.
const TAKEN: f32 = 2.5;

/// Smooths differences of about this size (0 to 1).
pub fn smooth(pixels: &Pixels, noise: f32) -> Pixels {
    let luma = pixels.luma();
    // Weights from a slightly smoothed luma do not follow the ringing themselves.
    let kernel = gaussian(3, 0.7);
    let guide = separable(&luma, &kernel, &kernel, Border::Replicate);
    let scale = -0.5 / (TAKEN * noise.max(1e-4)).powi(2);
    let size = 2 * REACH + 1;
    let row: Vec<f32> = gaussian(size, NEAR);
    let (width, height) = (pixels.width(), pixels.height());
    let inside = |index: isize, size: usize| Border::Replicate.index(index, size).unwrap_or(0);
    let strips: Vec<[Vec<f32>; 3]> = strips::map(height, |rows| {
        let mut out = [0, 1, 2].map(|_| Vec::with_capacity(rows.len() * width));
        for y in rows {
            let near: Vec<usize> = (0..size).map(|k| inside((y + k) as isize - REACH as isize, height)).collect();
            for x in 0..width {
                let center = guide.at(x, y);
                let (mut sums, mut total) = ([0.0; 3], 0.0);
                for (down, &at_y) in near.iter().enumerate() {
                    for (across, weight) in row.iter().enumerate() {
                        let at_x = inside((x + across) as isize - REACH as isize, width);
                        let difference = guide.at(at_x, at_y) - center;
                        let weight = weight * row[down] * falling(scale * difference * difference);
                        total += weight;
                        (0..3).for_each(|channel| sums[channel] += weight * pixels.planes[channel].at(at_x, at_y));
                    }
                }
                (0..3).for_each(|channel| out[channel].push(sums[channel] / total));
            }
        }
        out
    });
    let plane = |channel: usize| {
        let samples: Vec<f32> = strips.iter().flat_map(|strip| strip[channel].iter().copied()).collect();
        Plane::from_vec(width, height, samples).unwrap_or_else(|| pixels.planes[channel].clone())
    };
    Pixels { planes: [plane(0), plane(1), plane(2)] }
}

/// Approximates `exp(x)` for `x <= 0`: `(1 + x/8)^8`, zero from -8 on.
fn falling(x: f32) -> f32 {
    let base = (1.0 + x / 8.0).max(0.0);
    let square = base * base;
    let fourth = square * square;
    fourth * fourth
}
