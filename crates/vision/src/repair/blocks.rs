//! Smooths the edges of the 8x8 blocks of JPEG.

use agenticiqa_metrics::{Pixels, Plane};

/// Side of a block.
const SIDE: usize = 8;
/// Steps larger than this are edges of the scene and stay.
const LARGEST: f32 = 28.0 / 255.0;
/// Ringing inside of blocks is about this strong.
const RINGING: f32 = 5.0 / 255.0;

/// Smooths steps between blocks, and the ringing inside of them, with a strength from 0 to 1.
pub fn deblock(pixels: &Pixels, strength: f32) -> Pixels {
    let strength = strength.clamp(0.0, 1.0);
    let smooth = pixels.map_planes(|plane| down(&across(plane, strength), strength));
    super::bilateral::smooth(&smooth, strength * RINGING)
}

/// Moves the two samples on each side of a vertical block edge toward each other, if the step is
/// small and larger than the steps next to it.
fn across(plane: &Plane, strength: f32) -> Plane {
    let mut smooth = plane.clone();
    for y in 0..plane.height() {
        let (source, row) = (plane.row(y), smooth.row_mut(y));
        for edge in (SIDE..source.len().saturating_sub(1)).step_by(SIDE) {
            let [far, left, right, beyond] = [source[edge - 2], source[edge - 1], source[edge], source[edge + 1]];
            if let Some(step) = step([far, left, right, beyond], strength) {
                row[edge - 2] += step / 6.0;
                row[edge - 1] += step / 2.5;
                row[edge] -= step / 2.5;
                row[edge + 1] -= step / 6.0;
            }
        }
    }
    smooth
}

/// Does the same for horizontal block edges.
fn down(plane: &Plane, strength: f32) -> Plane {
    let mut smooth = plane.clone();
    for edge in (SIDE..plane.height().saturating_sub(1)).step_by(SIDE) {
        for x in 0..plane.width() {
            let samples = [2, 1].map(|up| plane.at(x, edge - up));
            let [far, left] = samples;
            let (right, beyond) = (plane.at(x, edge), plane.at(x, edge + 1));
            if let Some(step) = step([far, left, right, beyond], strength) {
                smooth.row_mut(edge - 2)[x] += step / 6.0;
                smooth.row_mut(edge - 1)[x] += step / 2.5;
                smooth.row_mut(edge)[x] -= step / 2.5;
                smooth.row_mut(edge + 1)[x] -= step / 6.0;
            }
        }
    }
    smooth
}

/// Returns the step to take out of four samples across an edge, if it is one of a block.
fn step([far, left, right, beyond]: [f32; 4], strength: f32) -> Option<f32> {
    let step = right - left;
    let around = (left - far).abs().max((beyond - right).abs());
    (step.abs() <= LARGEST && step.abs() > around).then_some(strength * step)
}
