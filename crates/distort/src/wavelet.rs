//! The CDF 9/7 wavelet of JPEG 2000 (ITU-T T.800, annex F) by lifting, with mirrored borders.

use rayon::prelude::*;

use agenticiqa_pixels::Plane;

/// Lifting weights, in the order of the steps.
const LIFTS: [f32; 4] = [-1.586_134_3, -0.052_980_118, 0.882_911_1, 0.443_506_85];
/// Gain of the low band; the high band is divided by it.
const SCALE: f32 = 1.230_174_1;

/// Transforms `levels` times. The low band of each level is in the upper left corner.
pub fn forward(plane: &mut Plane, levels: usize) {
    for level in 0..levels {
        let (width, height) = band_size(plane, level);
        rows(plane, width, height, analyze);
        columns(plane, width, height, analyze);
    }
}

/// Inverts [`forward`].
pub fn inverse(plane: &mut Plane, levels: usize) {
    for level in (0..levels).rev() {
        let (width, height) = band_size(plane, level);
        columns(plane, width, height, synthesise);
        rows(plane, width, height, synthesise);
    }
}

/// Width and height of the low band after `level` transforms.
pub fn band_size(plane: &Plane, level: usize) -> (usize, usize) {
    let shrink = |size: usize| (0..level).fold(size, |size, _| size.div_ceil(2));
    (shrink(plane.width()), shrink(plane.height()))
}

fn rows(plane: &mut Plane, width: usize, height: usize, step: fn(&mut [f32])) {
    let stride = plane.width();
    plane.data_mut()[..stride * height].par_chunks_mut(stride).for_each(|row| step(&mut row[..width]));
}

fn columns(plane: &mut Plane, width: usize, height: usize, step: fn(&mut [f32])) {
    let source = &*plane;
    let turned: Vec<Vec<f32>> = (0..width)
        .into_par_iter()
        .map(|x| {
            let mut column: Vec<f32> = (0..height).map(|y| source.at(x, y)).collect();
            step(&mut column);
            column
        })
        .collect();
    for y in 0..height {
        for (x, out) in plane.row_mut(y)[..width].iter_mut().enumerate() {
            *out = turned[x][y];
        }
    }
}

/// Adds `weight` times both neighbors to every second sample, starting at `first`.
fn lift(signal: &mut [f32], first: usize, weight: f32) {
    let last = signal.len() - 1;
    for i in (first..signal.len()).step_by(2) {
        let left = if i == 0 { 1 } else { i - 1 };
        let right = if i == last { last - 1 } else { i + 1 };
        signal[i] += weight * (signal[left] + signal[right]);
    }
}

fn analyze(signal: &mut [f32]) {
    if signal.len() < 2 {
        return;
    }
    for (i, weight) in LIFTS.into_iter().enumerate() {
        lift(signal, (i + 1) % 2, weight);
    }
    let low = signal.iter().step_by(2).map(|sample| sample * SCALE);
    let high = signal.iter().skip(1).step_by(2).map(|sample| sample / SCALE);
    let split: Vec<f32> = low.chain(high).collect();
    signal.copy_from_slice(&split);
}

fn synthesise(signal: &mut [f32]) {
    if signal.len() < 2 {
        return;
    }
    let half = signal.len().div_ceil(2);
    let split = signal.to_vec();
    for (i, out) in signal.iter_mut().enumerate() {
        *out = if i.is_multiple_of(2) { split[i / 2] / SCALE } else { split[half + i / 2] * SCALE };
    }
    for (i, weight) in LIFTS.into_iter().enumerate().rev() {
        lift(signal, (i + 1) % 2, -weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_comes_back_and_smooth_ramps_leave_the_high_bands_empty() {
        for (width, height) in [(1, 1), (1, 7), (2, 2), (5, 3), (33, 64)] {
            let plane = Plane::from_fn(width, height, |x, y| ((x * 31 + y * 17) % 29) as f32);
            let mut transformed = plane.clone();
            forward(&mut transformed, 4);
            inverse(&mut transformed, 4);
            assert!(plane.data().iter().zip(transformed.data()).all(|(a, b)| (a - b).abs() < 1e-3));
        }
        let mut ramp = Plane::from_fn(64, 64, |x, y| (2 * x + y) as f32);
        forward(&mut ramp, 1);
        let inside = (36..60).flat_map(|y| (36..60).map(move |x| (x, y)));
        assert!(inside.into_iter().all(|(x, y)| ramp.at(x, y).abs() < 1e-3));
    }
}
