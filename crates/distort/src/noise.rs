//! Four kinds of noise, and the artifacts of a denoiser.

use rayon::prelude::*;

use super::random::Random;
use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::Plane;
use agenticiqa_pixels::ops::dct::{Block, Dct, SIDE};

/// Variance of white noise, for samples of 0 to 1.
const WHITE: [f64; 5] = [0.001, 0.002, 0.003, 0.005, 0.01];
/// Variance of noise in Y, Cb and Cr.
const COLOR: [f64; 5] = [0.0001, 0.0005, 0.001, 0.002, 0.003];
/// Share of the samples that become black or white.
const IMPULSE: [f64; 5] = [0.001, 0.005, 0.01, 0.02, 0.03];
/// Variance of the factor.
const MULTIPLICATIVE: [f64; 5] = [0.001, 0.005, 0.01, 0.02, 0.05];
/// Variance of the noise that is added before denoising.
const DENOISED: [f64; 5] = [0.01, 0.03, 0.05, 0.1, 0.15];
/// Coefficients below this number of sigmas are removed as noise.
const THRESHOLD: f32 = 2.7;
/// Distance between the denoiser's overlapping blocks.
const STRIDE: usize = 2;

pub fn white(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    add(pixels, WHITE[index].sqrt(), random)
}

fn add(pixels: &Pixels, sigma: f64, random: &mut Random) -> Pixels {
    let mut out = pixels.clone();
    for plane in &mut out.planes {
        plane.data_mut().iter_mut().for_each(|sample| *sample += (sigma * random.normal()) as f32);
    }
    out
}

pub fn in_color_components(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    add(&pixels.to_ycc(), COLOR[index].sqrt(), random).to_rgb()
}

pub fn impulses(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let mut out = pixels.clone();
    for plane in &mut out.planes {
        for sample in plane.data_mut() {
            let chance = random.uniform();
            if chance < IMPULSE[index] {
                *sample = if chance < 0.5 * IMPULSE[index] { 0.0 } else { 1.0 };
            }
        }
    }
    out
}

pub fn multiplicative(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let sigma = MULTIPLICATIVE[index].sqrt();
    let mut out = pixels.clone();
    for plane in &mut out.planes {
        plane.data_mut().iter_mut().for_each(|sample| *sample *= (1.0 + sigma * random.normal()) as f32);
    }
    out
}

pub fn denoised(pixels: &Pixels, index: usize, random: &mut Random) -> Pixels {
    let sigma = DENOISED[index].sqrt();
    let noisy = add(pixels, sigma, random).map(|sample| sample.clamp(0.0, 1.0));
    noisy.map_planes(|plane| threshold_blocks(plane, THRESHOLD * sigma as f32))
}

/// Keeps the large coefficients of overlapping blocks, and averages the blocks.
fn threshold_blocks(plane: &Plane, threshold: f32) -> Plane {
    let (width, height) = (plane.width(), plane.height());
    if width < SIDE || height < SIDE {
        return plane.clone();
    }
    let dct = Dct::default();
    let starts = |size: usize| -> Vec<usize> { (0..=size - SIDE).step_by(STRIDE).chain([size - SIDE]).collect() };
    let (columns, rows) = (starts(width), starts(height));
    let bands: Vec<Vec<f32>> = rows
        .par_iter()
        .map(|&top| {
            let mut band = vec![0.0; width * SIDE];
            for &left in &columns {
                let block: Block = std::array::from_fn(|i| plane.at(left + i % SIDE, top + i / SIDE));
                let mut coefficients = dct.forward(&block);
                coefficients.iter_mut().skip(1).filter(|value| value.abs() < threshold).for_each(|value| *value = 0.0);
                for (i, sample) in dct.inverse(&coefficients).into_iter().enumerate() {
                    band[(i / SIDE) * width + left + i % SIDE] += sample;
                }
            }
            band
        })
        .collect();
    let covers = |starts: &[usize], size: usize| {
        let mut counts = vec![0.0f32; size];
        starts.iter().for_each(|&start| counts[start..start + SIDE].iter_mut().for_each(|count| *count += 1.0));
        counts
    };
    let (across, down) = (covers(&columns, width), covers(&rows, height));
    let mut sums = Plane::<f32>::new(width, height);
    for (&top, band) in rows.iter().zip(&bands) {
        let target = &mut sums.data_mut()[top * width..(top + SIDE) * width];
        target.iter_mut().zip(band).for_each(|(sum, sample)| *sum += sample);
    }
    Plane::from_fn(width, height, |x, y| sums.at(x, y) / (across[x] * down[y]))
}
