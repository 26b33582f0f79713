//! JPEG 2000 without its bit stream: wavelet, dead-zone quantizer, and a model of the bits that
//! the coefficients need.

use rayon::prelude::*;

use super::wavelet;
use agenticiqa_pixels::Pixels;
use agenticiqa_pixels::Plane;

/// Compression ratios: bits of the image divided by bits of the file.
const RATIO: [f64; 5] = [16.0, 32.0, 45.0, 120.0, 400.0];
/// Bits per pixel before compression.
const PIXEL_BITS: f64 = 24.0;
/// Octaves of the wavelet.
const OCTAVES: usize = 5;
/// Bisection steps of the search for the step size.
const BISECTIONS: usize = 9;
/// Bounds of the search for the step size, in levels of 0 to 255.
const STEPS: (f64, f64) = (0.5, 1024.0);
/// Weight of an error in Y, Cb and Cr. Encoders weight chroma less, because its errors are less
/// visible.
const COMPONENT_WEIGHT: [f64; 3] = [1.0, 0.6, 0.7];
/// Number of contexts. The context of a coefficient is the number of its nonzero neighbors.
const CONTEXTS: usize = 5;
/// Larger magnitudes share this symbol and are charged for their extra bits.
const LARGEST_SYMBOL: usize = 15;

pub fn compress(pixels: &Pixels, index: usize) -> Pixels {
    let ycc = pixels.to_ycc();
    let transformed = ycc.map_planes(|plane| {
        let mut plane = plane.map(|sample| sample * 255.0);
        wavelet::forward(&mut plane, OCTAVES);
        plane
    });
    let budget = PIXEL_BITS * (pixels.width() * pixels.height()) as f64 / RATIO[index];
    let (mut fine, mut coarse) = (STEPS.0.ln(), STEPS.1.ln());
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (fine + coarse);
        if bits(&transformed, middle.exp()) > budget { fine = middle } else { coarse = middle }
    }
    let planes = [0, 1, 2].map(|component| {
        let step = (coarse.exp() / COMPONENT_WEIGHT[component]) as f32;
        let mut plane = transformed.planes[component].map(|value| reconstruct(value, step));
        wavelet::inverse(&mut plane, OCTAVES);
        plane.map(|sample| sample / 255.0)
    });
    Pixels { planes }.to_rgb()
}

/// The middle of the bin that a coefficient falls into. The bin around zero is twice as wide.
fn reconstruct(value: f32, step: f32) -> f32 {
    let bin = (value.abs() / step).floor();
    if bin == 0.0 { 0.0 } else { ((bin + 0.5) * step).copysign(value) }
}

/// Number of bits of all components at this step size.
fn bits(transformed: &Pixels, step: f64) -> f64 {
    let component = |i: usize| component_bits(&transformed.planes[i], (step / COMPONENT_WEIGHT[i]) as f32);
    [0usize, 1, 2].par_iter().map(|&i| component(i)).collect::<Vec<f64>>().iter().sum()
}

/// Entropy of the magnitudes, given the number of already coded neighbors that are not zero, plus
/// signs.
fn component_bits(plane: &Plane, step: f32) -> f64 {
    let bins = plane.map(|value| (value.abs() / step).floor());
    (0..=OCTAVES).flat_map(|octave| bands(plane, octave)).map(|band| band_bits(&bins, band)).sum()
}

/// Left, top, right and bottom of the bands of one octave; the last octave is the low band itself.
fn bands(plane: &Plane, octave: usize) -> Vec<[usize; 4]> {
    let (width, height) = wavelet::band_size(plane, octave);
    if octave == OCTAVES {
        return vec![[0, 0, width, height]];
    }
    let (low_width, low_height) = wavelet::band_size(plane, octave + 1);
    vec![[low_width, 0, width, low_height], [0, low_height, low_width, height], [low_width, low_height, width, height]]
}

fn band_bits(bins: &Plane, [left, top, right, bottom]: [usize; 4]) -> f64 {
    let mut counts = [[0u32; LARGEST_SYMBOL + 1]; CONTEXTS];
    let mut extra = 0.0;
    for y in top..bottom {
        for x in left..right {
            let coded = |inside: bool, x: usize, y: usize| usize::from(inside && bins.at(x, y) > 0.0);
            let context = coded(x > left, x.wrapping_sub(1), y)
                + coded(y > top, x, y.wrapping_sub(1))
                + coded(x > left && y > top, x.wrapping_sub(1), y.wrapping_sub(1))
                + coded(x + 1 < right && y > top, x + 1, y.wrapping_sub(1));
            let bin = bins.at(x, y);
            let symbol = (bin as usize).min(LARGEST_SYMBOL);
            counts[context][symbol] += 1;
            if symbol > 0 {
                extra += 1.0;
            }
            if symbol == LARGEST_SYMBOL {
                extra += 2.0 * f64::from(bin + 2.0 - LARGEST_SYMBOL as f32).log2();
            }
        }
    }
    extra + counts.iter().map(|symbols| entropy(symbols)).sum::<f64>()
}

/// Number of bits for symbols with these counts.
fn entropy(counts: &[u32]) -> f64 {
    let total = f64::from(counts.iter().sum::<u32>());
    counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) * (total / f64::from(count)).log2()).sum()
}
