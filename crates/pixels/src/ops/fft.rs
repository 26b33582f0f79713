//! Two-dimensional Fourier transforms of any size, in single or double precision.
//!
//! Spectra are stored transposed, one image column after another. This saves two transpositions
//! per round trip, and filters are as easy to build in either order.

use std::sync::Arc;

use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};

/// Transform plans for images of one size. Share one value, so that nothing is planned twice.
pub struct Fft2d<T: FftNum> {
    width: usize,
    height: usize,
    row: [Arc<dyn Fft<T>>; 2],
    column: [Arc<dyn Fft<T>>; 2],
}

impl<T: FftNum + Default> Fft2d<T> {
    /// Creates plans for `width` x `height`.
    pub fn new(width: usize, height: usize) -> Self {
        let mut planner = FftPlanner::new();
        Self {
            width,
            height,
            row: [planner.plan_fft_forward(width), planner.plan_fft_inverse(width)],
            column: [planner.plan_fft_forward(height), planner.plan_fft_inverse(height)],
        }
    }

    /// Returns the unnormalized spectrum of an image stored row by row. Value (u, v) is at
    /// `u * height + v`.
    pub fn forward(&self, mut image: Vec<Complex<T>>) -> Vec<Complex<T>> {
        transform_lines(&self.row[0], &mut image);
        let mut spectrum = transpose(&image, self.width, self.height);
        transform_lines(&self.column[0], &mut spectrum);
        spectrum
    }

    /// Returns the image of a transposed spectrum, row by row, divided by the number of samples as
    /// in MATLAB's `ifft2`.
    pub fn inverse(&self, mut spectrum: Vec<Complex<T>>) -> Vec<Complex<T>> {
        transform_lines(&self.column[1], &mut spectrum);
        let mut image = transpose(&spectrum, self.height, self.width);
        transform_lines(&self.row[1], &mut image);
        let scale = T::one() / T::from_usize(self.width * self.height).unwrap_or_else(T::one);
        image.par_iter_mut().for_each(|value| *value = value.scale(scale));
        image
    }
}

/// The frequency of `index` in a transform of `size` samples, in cycles per sample: -0.5 <= f <
/// 0.5.
pub fn frequency(index: usize, size: usize) -> f64 {
    let signed = if index < size.div_ceil(2) { index as f64 } else { index as f64 - size as f64 };
    signed / size as f64
}

fn transform_lines<T: FftNum>(fft: &Arc<dyn Fft<T>>, lines: &mut [Complex<T>]) {
    let length = fft.len().max(1);
    let batch = (1 << 14) / length + 1;
    lines.par_chunks_mut(length * batch).for_each(|lines| fft.process(lines));
}

/// Transposes `height` lines of `width` samples into `width` lines of `height` samples.
pub fn transpose<T: Copy + Default + Send + Sync>(source: &[T], width: usize, height: usize) -> Vec<T> {
    const TILE: usize = 16;
    let mut transposed = vec![T::default(); source.len()];
    if source.is_empty() {
        return transposed;
    }
    transposed.par_chunks_mut(height * TILE).enumerate().for_each(|(band, lines)| {
        let left = band * TILE;
        for top in (0..height).step_by(TILE) {
            for (x, line) in lines.chunks_exact_mut(height).enumerate() {
                for y in top..(top + TILE).min(height) {
                    line[y] = source[y * width + left + x];
                }
            }
        }
    });
    transposed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_gives_the_defined_sum_and_inverse_undoes_it() {
        let (width, height) = (6, 5);
        let image: Vec<Complex<f64>> = (0..30).map(|i| Complex::new((i * i % 11) as f64, 0.0)).collect();
        let fft = Fft2d::new(width, height);
        let spectrum = fft.forward(image.clone());
        let (u, v) = (2, 3);
        let mut expected = Complex::new(0.0, 0.0);
        for y in 0..height {
            for x in 0..width {
                let turn = (u * x) as f64 / width as f64 + (v * y) as f64 / height as f64;
                expected += image[y * width + x] * Complex::from_polar(1.0, -std::f64::consts::TAU * turn);
            }
        }
        assert!((spectrum[u * height + v] - expected).norm() < 1e-9);
        for (back, original) in fft.inverse(spectrum).iter().zip(&image) {
            assert!((back - original).norm() < 1e-12);
        }
    }
}
