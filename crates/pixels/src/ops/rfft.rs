//! Fourier transforms of real images with bounded memory for large photos. Only half of each
//! spectrum is stored, and inverse transforms return a few rows at a time instead of a whole
//! plane.
//!
//! As in [`fft`](crate::ops::fft), spectra are stored transposed: one line per horizontal
//! frequency.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use crate::ops::fft::transpose;

/// Rows that an inverse transform returns together.
pub const ROWS: usize = 16;

/// Lines per job of the column transforms; enough to keep the overhead of a job small.
const LINES: usize = 8;

/// Plans for real images of one size, in single precision.
pub struct RealFft2d {
    width: usize,
    height: usize,
    row: [Arc<dyn Fft<f32>>; 2],
    column: [Arc<dyn Fft<f32>>; 2],
}

/// The spectrum of a real image: horizontal frequencies `0..=width / 2`. The others are their
/// conjugates.
pub struct HalfSpectrum {
    width: usize,
    height: usize,
    data: Vec<Complex<f32>>,
}

/// Rows of an image with transform buffers, reused from one strip to the next.
#[derive(Default)]
pub struct RowBuffer {
    samples: Vec<Complex<f32>>,
    scratch: Vec<Complex<f32>>,
}

impl RealFft2d {
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

    /// Number of samples of an image of this size.
    pub fn len(&self) -> usize {
        self.width * self.height
    }

    /// Whether the size is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the unnormalized spectrum of an image whose rows `read_row` writes.
    ///
    /// `mean` is subtracted from the samples and added back to the spectrum, so that rounding
    /// errors scale with the structure instead of the mean. Apart from the mean, the spectrum of a
    /// flat image is exactly zero.
    pub fn forward(&self, mean: f64, read_row: impl Fn(usize, &mut [f32]) + Sync) -> HalfSpectrum {
        let (width, height, half) = (self.width, self.height, self.width / 2 + 1);
        let mut rows = vec![Complex::default(); half * height];
        rows.par_chunks_mut(2 * half).enumerate().for_each_init(
            || (vec![0.0; width], RowBuffer::default()),
            |(row, buffer), (pair, spectra)| {
                let samples = buffer.resize(width, self.row[0].as_ref());
                samples.fill(Complex::default());
                read_row(2 * pair, row);
                samples.iter_mut().zip(row.iter()).for_each(|(z, &sample)| z.re = sample - mean as f32);
                if 2 * pair + 1 < height {
                    read_row(2 * pair + 1, row);
                    samples.iter_mut().zip(row.iter()).for_each(|(z, &sample)| z.im = sample - mean as f32);
                }
                self.row[0].process_with_scratch(&mut buffer.samples, &mut buffer.scratch);
                separate(&buffer.samples, spectra, half);
            },
        );
        let mut data = transpose(&rows, half, height);
        drop(rows);
        transform(&self.column[0], &mut data);
        if let Some(constant) = data.first_mut() {
            constant.re += (mean * self.len() as f64) as f32;
        }
        HalfSpectrum { width, height, data }
    }

    /// Runs the first half of an inverse transform, into `work` of the image's size. `fill` writes
    /// the spectrum line of a horizontal frequency, or returns `false` if the line is zero.
    pub fn inverse_columns(&self, work: &mut [Complex<f32>], fill: impl Fn(usize, &mut [Complex<f32>]) -> bool + Sync) {
        let fft = &self.column[1];
        let scratch = || vec![Complex::default(); fft.get_inplace_scratch_len()];
        work.par_chunks_mut(self.height.max(1)).enumerate().with_min_len(LINES).for_each_init(
            scratch,
            |scratch, (u, line)| {
                if fill(u, line) {
                    fft.process_with_scratch(line, scratch);
                } else {
                    line.fill(Complex::default());
                }
            },
        );
    }

    /// Runs the second half of an inverse transform. Returns the image's `rows` (at most
    /// [`ROWS`]), one after another, times the number of samples.
    pub fn inverse_rows<'b>(
        &self,
        work: &[Complex<f32>],
        rows: Range<usize>,
        buffer: &'b mut RowBuffer,
    ) -> &'b [Complex<f32>] {
        /// Lines that are transposed together: one cache line of output each.
        const TILE: usize = 8;
        let (width, count) = (self.width, rows.len());
        let samples = buffer.resize(width * count, self.row[1].as_ref());
        for (tile, lines) in work.chunks(self.height * TILE).enumerate() {
            let left = tile * TILE;
            let columns = left..(left + TILE).min(width);
            for (y, row) in rows.clone().zip(samples.chunks_exact_mut(width)) {
                for (i, out) in row[columns.clone()].iter_mut().enumerate() {
                    *out = lines[i * self.height + y];
                }
            }
        }
        self.row[1].process_with_scratch(&mut buffer.samples, &mut buffer.scratch);
        &buffer.samples
    }
}

impl RowBuffer {
    fn resize(&mut self, length: usize, fft: &dyn Fft<f32>) -> &mut [Complex<f32>] {
        self.samples.resize(length, Complex::default());
        self.scratch.resize(fft.get_inplace_scratch_len(), Complex::default());
        &mut self.samples
    }
}

impl HalfSpectrum {
    /// Writes the line of horizontal frequency `u` (out of all `width`), each value times its
    /// weight.
    pub fn weigh(&self, u: usize, weights: &[f32], line: &mut [Complex<f32>]) {
        let stored = |u: usize| &self.data[u * self.height..(u + 1) * self.height];
        if u <= self.width / 2 {
            for ((out, value), &weight) in line.iter_mut().zip(stored(u)).zip(weights) {
                *out = value.scale(weight);
            }
            return;
        }
        // The conjugate of the opposite frequency: (width - u, -v).
        let opposite = stored(self.width - u);
        let mirrored = opposite.iter().take(1).chain(opposite.iter().skip(1).rev());
        for ((out, value), &weight) in line.iter_mut().zip(mirrored).zip(weights) {
            *out = Complex::new(value.re * weight, -value.im * weight);
        }
    }
}

/// Separates the spectrum of `first + i * second` into the half spectra of two real rows. The
/// second row may be missing.
fn separate(mixed: &[Complex<f32>], spectra: &mut [Complex<f32>], half: usize) {
    let (first, second) = spectra.split_at_mut(half.min(spectra.len()));
    let opposite = |u: usize| mixed[if u == 0 { 0 } else { mixed.len() - u }];
    for (u, out) in first.iter_mut().enumerate() {
        let (a, b) = (mixed[u], opposite(u));
        *out = Complex::new(0.5 * (a.re + b.re), 0.5 * (a.im - b.im));
    }
    for (u, out) in second.iter_mut().enumerate() {
        let (a, b) = (mixed[u], opposite(u));
        *out = Complex::new(0.5 * (a.im + b.im), 0.5 * (b.re - a.re));
    }
}

fn transform(fft: &Arc<dyn Fft<f32>>, lines: &mut [Complex<f32>]) {
    let length = fft.len().max(1);
    lines.par_chunks_mut(length * LINES).for_each_init(
        || vec![Complex::default(); fft.get_inplace_scratch_len()],
        |scratch, lines| fft.process_with_scratch(lines, scratch),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::fft::Fft2d;

    fn sample(x: usize, y: usize) -> f32 {
        ((x * 7 + y * y * 3 + x * y) % 19) as f32 + 100.0
    }

    #[test]
    fn half_spectra_agree_with_the_complex_transform() {
        for (width, height) in [(12, 9), (15, 8), (7, 7)] {
            let fft = RealFft2d::new(width, height);
            let spectrum =
                fft.forward(108.0, |y, row| row.iter_mut().enumerate().for_each(|(x, out)| *out = sample(x, y)));
            let image =
                (0..width * height).map(|i| Complex::new(f64::from(sample(i % width, i / width)), 0.0)).collect();
            let expected = Fft2d::<f64>::new(width, height).forward(image);
            let weights: Vec<f32> = (0..height).map(|v| v as f32 + 1.0).collect();
            for u in 0..width {
                let mut line = vec![Complex::default(); height];
                spectrum.weigh(u, &weights, &mut line);
                for v in 0..height {
                    let expected = expected[u * height + v] * (v as f64 + 1.0);
                    assert!((f64::from(line[v].re) - expected.re).abs() < 1e-2, "{u} {v}");
                    assert!((f64::from(line[v].im) - expected.im).abs() < 1e-2, "{u} {v}");
                }
            }
        }
    }

    #[test]
    fn the_inverse_in_two_halves_gives_the_image_back() {
        let (width, height) = (21, 34);
        let fft = RealFft2d::new(width, height);
        let spectrum = fft.forward(0.0, |y, row| row.iter_mut().enumerate().for_each(|(x, out)| *out = sample(x, y)));
        let mut work = vec![Complex::default(); fft.len()];
        let weights = vec![1.0 / fft.len() as f32; height];
        fft.inverse_columns(&mut work, |u, line| {
            spectrum.weigh(u, &weights, line);
            true
        });
        let mut buffer = RowBuffer::default();
        for top in (0..height).step_by(ROWS) {
            let rows = top..(top + ROWS).min(height);
            let image = fft.inverse_rows(&work, rows.clone(), &mut buffer);
            for (y, row) in rows.zip(image.chunks_exact(width)) {
                for (x, value) in row.iter().enumerate() {
                    assert!((value.re - sample(x, y)).abs() < 1e-4 && value.im.abs() < 1e-4);
                }
            }
        }
    }
}
