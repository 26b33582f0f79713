//! Spatial distortions: displaced pixels and patches, larger pixels, fewer levels, color blocks.

use super::random::Random;
use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::Plane;

/// Displacement in pixels per pass.
const JITTER: [f64; 5] = [0.05, 0.1, 0.2, 0.5, 1.0];
const JITTER_PASSES: usize = 5;
/// Number of copied patches.
const PATCHES: [usize; 5] = [20, 40, 60, 80, 100];
const PATCH_SIDE: usize = 16;
/// Range in pixels over which a patch is moved.
const PATCH_REACH: f64 = 16.0;
/// Strength of pixelation. The image is scaled by 0.95 minus the strength to the power of 0.6.
const PIXELATE: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.5];
/// Number of levels per channel.
const LEVELS: [f32; 5] = [20.0, 16.0, 13.0, 10.0, 7.0];
/// Number of color blocks.
const BLOCKS: [usize; 5] = [2, 4, 6, 8, 10];
const BLOCK_SIDE: usize = 32;

pub fn jitter(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let mut current = pixels.clone();
    for _ in 0..JITTER_PASSES {
        let (width, height) = (pixels.width(), pixels.height());
        let mut offset =
            |size: usize, at: usize| (at as f64 + JITTER[index] * random.normal()).clamp(0.0, size as f64 - 1.0) as f32;
        let places: Vec<(f32, f32)> =
            (0..width * height).map(|i| (offset(width, i % width), offset(height, i / width))).collect();
        current = current.map_planes(|plane| {
            Plane::from_fn(width, height, |x, y| {
                let (column, row) = places[y * width + x];
                bilinear(plane, column, row)
            })
        });
    }
    current
}

/// Bilinear interpolation at a position inside the plane.
fn bilinear(plane: &Plane, column: f32, row: f32) -> f32 {
    let (left, top) = (column as usize, row as usize);
    let (right, bottom) = ((left + 1).min(plane.width() - 1), (top + 1).min(plane.height() - 1));
    let (across, down) = (column - left as f32, row - top as f32);
    let upper = plane.at(left, top) * (1.0 - across) + plane.at(right, top) * across;
    let lower = plane.at(left, bottom) * (1.0 - across) + plane.at(right, bottom) * across;
    upper * (1.0 - down) + lower * down
}

pub fn copy_patches(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let (width, height) = (pixels.width(), pixels.height());
    let side = PATCH_SIDE.min(width).min(height);
    let mut out = pixels.clone();
    for _ in 0..PATCHES[index] {
        let (x, y) = (random.below(width - side + 1), random.below(height - side + 1));
        let mut near = |at: usize, size: usize| {
            let moved = at as f64 + (random.uniform() - 0.5) * PATCH_REACH;
            moved.clamp(0.0, (size - side) as f64) as usize
        };
        let (to_x, to_y) = (near(x, width), near(y, height));
        for (source, target) in pixels.planes.iter().zip(&mut out.planes) {
            for row in 0..side {
                let from = &source.row(y + row)[x..x + side];
                target.row_mut(to_y + row)[to_x..to_x + side].copy_from_slice(from);
            }
        }
    }
    out
}

pub fn pixelate(pixels: &Pixels, index: usize) -> Pixels {
    let scale = 0.95 - PIXELATE[index].powf(0.6);
    let (width, height) = (pixels.width(), pixels.height());
    let places = |size: usize| -> Vec<usize> {
        let small = ((size as f64 * scale) as usize).max(1);
        let center = |i: usize, from: usize, to: usize| (((2 * i + 1) * to) / (2 * from)).min(to - 1);
        (0..size).map(|i| center(center(i, size, small), small, size)).collect()
    };
    let (columns, rows) = (places(width), places(height));
    pixels.map_planes(|plane| Plane::from_fn(width, height, |x, y| plane.at(columns[x], rows[y])))
}

/// Quantizes each channel to levels spread between its darkest and brightest sample.
pub fn quantize(pixels: &Pixels, index: usize) -> Pixels {
    let steps = LEVELS[index] - 1.0;
    pixels.map_planes(|plane| {
        let low = plane.data().iter().copied().fold(f32::INFINITY, f32::min);
        let high = plane.data().iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let range = (high - low).max(f32::EPSILON);
        plane.map(|sample| low + ((sample - low) / range * steps).round() / steps * range)
    })
}

pub fn color_blocks(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let (width, height) = (pixels.width(), pixels.height());
    let side = BLOCK_SIDE.min(width).min(height);
    let mut out = pixels.clone();
    for _ in 0..BLOCKS[index] {
        let (x, y) = (random.below(width - side + 1), random.below(height - side + 1));
        for plane in &mut out.planes {
            let color = random.uniform() as f32;
            (y..y + side).for_each(|row| plane.row_mut(row)[x..x + side].fill(color));
        }
    }
    out
}
