//! Gaussian, lens and motion blur.

use super::random::Random;
use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::Plane;
use agenticiqa_pixels::ops::convolve::{Border, gaussian as gaussian_kernel, separable};
use agenticiqa_pixels::ops::strips;

/// Sigma in pixels.
const GAUSSIAN: [f64; 5] = [0.1, 0.5, 1.0, 2.0, 5.0];
/// Radius of the disc in pixels.
const LENS: [f64; 5] = [1.0, 2.0, 4.0, 6.0, 8.0];
/// Length of the line in pixels.
const MOTION: [f64; 5] = [1.0, 2.0, 4.0, 6.0, 10.0];
/// Points per pixel and axis for estimating how much of a pixel the disc covers.
const SUBPIXELS: usize = 8;
/// Points per pixel along the line of a motion.
const POINTS_PER_PIXEL: f64 = 8.0;

pub fn gaussian(pixels: &Pixels, index: usize) -> Pixels {
    pixels.map_planes(|plane| gaussian_plane(plane, GAUSSIAN[index]))
}

/// Returns the plane blurred with a Gaussian of `sigma` pixels.
pub fn gaussian_plane(plane: &Plane, sigma: f64) -> Plane {
    let kernel = gaussian_kernel(2 * (3.0 * sigma).ceil().max(1.0) as usize + 1, sigma);
    separable(plane, &kernel, &kernel, Border::Symmetric)
}

pub fn lens(pixels: &Pixels, index: usize) -> Pixels {
    let kernel = disc(LENS[index]);
    pixels.map_planes(|plane| convolve(plane, &kernel))
}

pub fn motion(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let kernel = line(MOTION[index], std::f64::consts::PI * random.uniform());
    pixels.map_planes(|plane| convolve(plane, &kernel))
}

/// A kernel weight at an offset from the center.
struct Tap {
    dx: isize,
    dy: isize,
    weight: f32,
}

/// The share of each pixel that a disc of this radius covers.
fn disc(radius: f64) -> Vec<Tap> {
    let reach = (radius + 0.5).ceil() as isize;
    let offset = |i: usize| (i as f64 + 0.5) / SUBPIXELS as f64 - 0.5;
    let mut taps = Vec::new();
    for dy in -reach..=reach {
        for dx in -reach..=reach {
            let inside = |i: usize| {
                let (x, y) = (dx as f64 + offset(i % SUBPIXELS), dy as f64 + offset(i / SUBPIXELS));
                x.hypot(y) <= radius
            };
            let covered = (0..SUBPIXELS * SUBPIXELS).filter(|&i| inside(i)).count();
            taps.push(Tap { dx, dy, weight: covered as f32 });
        }
    }
    normalize(taps)
}

/// The pixels on a line of this length through the center.
fn line(length: f64, angle: f64) -> Vec<Tap> {
    let half = (length - 1.0).max(0.0) / 2.0;
    let reach = half.ceil() as isize + 1;
    let side = (2 * reach + 1) as usize;
    let mut weights = vec![0.0f64; side * side];
    let count = (2.0 * half * POINTS_PER_PIXEL).ceil() as usize + 1;
    for point in 0..count {
        let along = if count > 1 { half * (2.0 * point as f64 / (count - 1) as f64 - 1.0) } else { 0.0 };
        let (x, y) = (along * angle.cos() + reach as f64, along * angle.sin() + reach as f64);
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (x - left, y - top);
        let at = top as usize * side + left as usize;
        weights[at] += (1.0 - right_share) * (1.0 - bottom_share);
        weights[at + 1] += right_share * (1.0 - bottom_share);
        weights[at + side] += (1.0 - right_share) * bottom_share;
        weights[at + side + 1] += right_share * bottom_share;
    }
    let tap = |(i, &weight): (usize, &f64)| Tap {
        dx: (i % side) as isize - reach,
        dy: (i / side) as isize - reach,
        weight: weight as f32,
    };
    normalize(weights.iter().enumerate().map(tap).collect())
}

fn normalize(mut taps: Vec<Tap>) -> Vec<Tap> {
    taps.retain(|tap| tap.weight > 0.0);
    let sum: f32 = taps.iter().map(|tap| tap.weight).sum();
    taps.iter_mut().for_each(|tap| tap.weight /= sum);
    taps
}

/// Correlates with a kernel that is not separable. The image is mirrored beyond its border.
fn convolve(plane: &Plane, taps: &[Tap]) -> Plane {
    let (width, height) = (plane.width(), plane.height());
    let reach = taps.iter().map(|tap| tap.dx.unsigned_abs().max(tap.dy.unsigned_abs())).max().unwrap_or(0);
    let inside = |index: isize, size: usize| Border::Symmetric.index(index, size).unwrap_or(0);
    let padded = Plane::from_fn(width + 2 * reach, height + 2 * reach, |x, y| {
        plane.at(inside(x as isize - reach as isize, width), inside(y as isize - reach as isize, height))
    });
    let mut out = Plane::new(width, height);
    strips::for_each_row(&mut out, |y, row| {
        for tap in taps {
            let start = (reach as isize + tap.dx) as usize;
            let source = &padded.row((y as isize + reach as isize + tap.dy) as usize)[start..start + row.len()];
            for (out, &sample) in row.iter_mut().zip(source) {
                *out += tap.weight * sample;
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_becomes_a_disc_of_the_radius_and_a_line_of_the_length() {
        let point = Plane::from_fn(31, 31, |x, y| if (x, y) == (15, 15) { 1.0 } else { 0.0 });
        let spread = |taps: &[Tap]| {
            let out = convolve(&point, taps);
            let total: f32 = out.data().iter().sum();
            let second: f32 =
                (0..31).map(|x| (x as f32 - 15.0).powi(2) * (0..31).map(|y| out.at(x, y)).sum::<f32>()).sum();
            (total, second)
        };
        // The variance along an axis is r^2 / 4 for a disc and n^2 / 12 for a line.
        let (total, variance) = spread(&disc(6.0));
        assert!((total - 1.0).abs() < 1e-5 && (variance - 9.0).abs() < 0.15, "{variance}");
        let (total, variance) = spread(&line(10.0, 0.0));
        assert!((total - 1.0).abs() < 1e-5 && (variance - 100.0 / 12.0).abs() < 1.6, "{variance}");
    }
}
