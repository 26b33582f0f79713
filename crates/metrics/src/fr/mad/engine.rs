//! Computes the block statistics of MAD. At most one transform is fully in memory at a time.

use multiversion::multiversion;
use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::filters::{ContrastSensitivity, LogGabor, ORIENTATIONS, SCALES};
use super::{ChannelMaps, STABILITY};
use crate::ops::moments::{self, Cells, Moments, STEP, StripMoments, block_count};
use crate::ops::rfft::{HalfSpectrum, ROWS, RealFft2d, RowBuffer};
use crate::ops::{strips, sum};
use crate::{Image, Plane};

/// Luminance of a sample: `(GAIN * (sample ^ GAMMA)) ^ (1 / 3)`, up to a constant that is part of
/// the gain.
const GAIN: f64 = 0.02874;
const GAMMA: f64 = 2.2 / 3.0;
/// Weights of the log-Gabor responses by orientation, as in the published table.
const WEIGHTS: [f32; ORIENTATIONS] = [0.5 / 13.25, 0.75 / 13.25, 1.0 / 13.25, 5.0 / 13.25];

/// Plans and filters for the size of the images, shared by all channels.
pub struct Engine<'a> {
    images: [&'a Image; 2],
    width: usize,
    height: usize,
    /// Number of blocks per row and per column.
    blocks: (usize, usize),
    fft: RealFft2d,
}

impl<'a> Engine<'a> {
    pub fn new(reference: &'a Image, distorted: &'a Image) -> Self {
        let (width, height) = (reference.width(), reference.height());
        let blocks = (block_count(width), block_count(height));
        Self { images: [reference, distorted], width, height, blocks, fft: RealFft2d::new(width, height) }
    }

    /// Spectra of one channel of both images, after `map` is applied to every row.
    fn spectra(&self, channel: usize, map: impl Fn(&mut [f32]) + Sync) -> [HalfSpectrum; 2] {
        self.images.map(|image| {
            let read = |y: usize, row: &mut [f32]| {
                image.read_row(channel, y, row);
                map(row);
            };
            let sums = strips::map(self.height, |rows| {
                let mut row = vec![0.0; self.width];
                rows.map(|y| {
                    read(y, &mut row);
                    sum::sum(&row)
                })
                .sum::<f64>()
            });
            let mean = sums.iter().sum::<f64>() / self.fft.len() as f64;
            self.fft.forward(mean, read)
        })
    }

    /// Computes the moments of planes derived from rows of an inverse transform. `derive` writes 4
    /// rows of each plane from 4 rows of complex values.
    fn strip_moments<const N: usize>(
        &self,
        work: &[Complex<f32>],
        strips: &mut [StripMoments; N],
        derive: impl Fn(&[Complex<f32>], [&mut [f32]; N]) + Sync,
    ) {
        let length = strips[0].row_length();
        let rows_together = ROWS / STEP;
        let mut jobs: Vec<[&mut [f32]; N]> = Vec::new();
        let mut chunks = strips.each_mut().map(|strip| strip.data_mut().chunks_mut(length * rows_together));
        for _ in 0..(self.height / STEP).div_ceil(rows_together) {
            jobs.push(chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()));
        }
        jobs.into_par_iter().enumerate().for_each_init(
            || (RowBuffer::default(), vec![0.0; N * STEP * self.width], Cells::default()),
            |(buffer, samples, cells), (number, mut outs)| {
                let cell_rows = outs[0].len() / length;
                let rows = number * ROWS..number * ROWS + cell_rows * STEP;
                let values = self.fft.inverse_rows(work, rows, buffer);
                for (i, values) in values.chunks_exact(STEP * self.width).enumerate() {
                    let mut planes = samples.chunks_exact_mut(STEP * self.width);
                    derive(values, std::array::from_fn(|_| planes.next().unwrap_or_default()));
                    for (samples, out) in samples.chunks_exact(STEP * self.width).zip(&mut outs) {
                        moments::measure_strip(samples, cells, &mut out[i * length..(i + 1) * length]);
                    }
                }
            },
        );
    }

    fn work(&self) -> Vec<Complex<f32>> {
        vec![Complex::default(); self.fft.len()]
    }

    fn strips(&self) -> StripMoments {
        StripMoments::new(self.width, self.height)
    }

    /// Computes all maps of one channel.
    pub fn channel_maps(&self, channel: usize) -> ChannelMaps {
        let [mean, deviation, error] = self.seen(channel);
        let squared = self.squared_errors(channel);
        ChannelMaps { mean, deviation, error, squared, appearance: self.appearance(channel) }
    }

    /// Mean and standard deviation of the reference, and standard deviation of the difference. All
    /// are of lightness filtered by contrast sensitivity.
    fn seen(&self, channel: usize) -> [Plane; 3] {
        let spectra = self.spectra(channel, lightness_of(&self.images));
        let sensitivity = ContrastSensitivity::new(self.width, self.height);
        let mut work = self.work();
        let gain = 1.0 / self.fft.len() as f32;
        // Both filtered images are real: one is the real part, the other the imaginary part.
        self.fft.inverse_columns(&mut work, |u, line| {
            let mut weights = vec![0.0; self.height];
            sensitivity.line(u, gain, &mut weights);
            let mut distorted = vec![Complex::default(); self.height];
            spectra[0].weigh(u, &weights, line);
            spectra[1].weigh(u, &weights, &mut distorted);
            line.iter_mut().zip(&distorted).for_each(|(out, d)| *out = Complex::new(out.re - d.im, out.im + d.re));
            true
        });
        drop(spectra);
        let mut strips = [self.strips(), self.strips()];
        self.strip_moments(&work, &mut strips, reference_and_difference);
        let [reference, difference] = &strips;
        let copy = |moments: Moments<'_>, out: &mut [f32]| out.copy_from_slice(moments.mean);
        [self.blocks(reference, copy), self.blocks(reference, deviations), self.blocks(difference, deviations)]
    }

    /// A map of the values that `derive` computes from the moments of each row of blocks.
    fn blocks(&self, strips: &StripMoments, derive: impl Fn(Moments<'_>, &mut [f32]) + Sync) -> Plane {
        let mut plane = Plane::new(self.blocks.0, self.blocks.1);
        strips::for_each_row(&mut plane, |row, out| {
            let mut values = vec![0.0; strips.row_length()];
            strips.block_row(row, &mut values);
            derive(moments::split(&values), out);
        });
        plane
    }

    /// Mean squared differences of the blocks.
    fn squared_errors(&self, channel: usize) -> Plane {
        let cells = self.squared_error_cells(channel);
        let mut squared = Plane::new(self.blocks.0, self.blocks.1);
        strips::for_each_row(&mut squared, |row, out| {
            let rows: [&[f32]; 4] = std::array::from_fn(|j| cells.row(row + j));
            for (x, out) in out.iter_mut().enumerate() {
                *out = rows.iter().flat_map(|row| &row[x..x + 4]).sum::<f32>() / 256.0;
            }
        });
        squared
    }

    /// Sums of the squared error over cells of 4x4.
    fn squared_error_cells(&self, channel: usize) -> Plane {
        let mut cells = Plane::new(self.width / STEP, self.height / STEP);
        strips::fill(&mut cells, |rows, out| {
            let mut samples = [vec![0.0; self.width], vec![0.0; self.width]];
            for (row, out) in rows.zip(out.chunks_exact_mut(self.width / STEP)) {
                for y in STEP * row..STEP * row + STEP {
                    samples.iter_mut().zip(self.images).for_each(|(row, image)| image.read_row(channel, y, row));
                    add_squared_differences(&samples[0], &samples[1], out);
                }
            }
        });
        cells
    }

    /// The map of changed appearance: differences of the statistics of all log-Gabor responses.
    fn appearance(&self, channel: usize) -> Plane {
        let spectra = self.spectra(channel, |_| ());
        let filters = LogGabor::new(self.width, self.height);
        let gain = 1.0 / self.fft.len() as f32;
        let mut work = self.work();
        let mut strips = [self.strips(), self.strips()];
        let mut map = Plane::new(self.blocks.0, self.blocks.1);
        for (orientation, &weight) in WEIGHTS.iter().enumerate() {
            for scale in 0..SCALES {
                for (spectrum, strips) in spectra.iter().zip(&mut strips) {
                    self.fft.inverse_columns(&mut work, |u, line| {
                        let mut weights = vec![0.0; self.height];
                        let matters = filters.line(orientation, scale, u, gain, &mut weights);
                        if matters {
                            spectrum.weigh(u, &weights, line);
                        }
                        matters
                    });
                    self.strip_moments(&work, std::array::from_mut(strips), |values, [out]| magnitude(values, out));
                }
                self.add_differences(&strips, weight, &mut map);
            }
        }
        map
    }

    fn add_differences(&self, [reference, distorted]: &[StripMoments; 2], weight: f32, map: &mut Plane) {
        let columns = self.blocks.0;
        let length = reference.row_length();
        strips::fill(map, |rows, out| {
            let mut values = [vec![0.0; length], vec![0.0; length]];
            for (row, out) in rows.zip(out.chunks_exact_mut(columns)) {
                reference.block_row(row, &mut values[0]);
                distorted.block_row(row, &mut values[1]);
                add_weighted(moments::split(&values[0]), moments::split(&values[1]), weight, out);
            }
        });
    }
}

/// Converts rows of samples to lightness, with a table for 8-bit samples.
fn lightness_of(images: &[&Image; 2]) -> impl Fn(&mut [f32]) + Sync + use<> {
    let lightness = |sample: f32| (GAIN * (f64::from(sample) + f64::from(STABILITY)).powf(GAMMA)) as f32;
    let table: Vec<f32> = (0..=255u8).map(|sample| lightness(f32::from(sample))).collect();
    let whole = images.iter().all(|image| image.bit_depth() == 8);
    move |row: &mut [f32]| {
        for sample in row {
            *sample = match table.get(*sample as usize) {
                Some(&value) if whole => value,
                _ => lightness(*sample),
            };
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn deviations(moments: Moments<'_>, out: &mut [f32]) {
    for (out, &second) in out.iter_mut().zip(moments.second) {
        *out = (second + STABILITY).sqrt();
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_squared_differences(reference: &[f32], distorted: &[f32], cells: &mut [f32]) {
    for ((out, r), d) in cells.iter_mut().zip(reference.chunks_exact(STEP)).zip(distorted.chunks_exact(STEP)) {
        for i in 0..STEP {
            *out += (r[i] - d[i]) * (r[i] - d[i]);
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn reference_and_difference(values: &[Complex<f32>], [reference, difference]: [&mut [f32]; 2]) {
    for ((value, reference), difference) in values.iter().zip(reference).zip(difference) {
        *reference = value.re;
        *difference = value.im - value.re;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn magnitude(values: &[Complex<f32>], out: &mut [f32]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = (value.re * value.re + value.im * value.im + STABILITY).sqrt();
    }
}

/// Adds `weight` times the differences of deviation, skewness (twice) and kurtosis.
#[multiversion(targets("x86_64+avx2"))]
fn add_weighted(reference: Moments<'_>, distorted: Moments<'_>, weight: f32, out: &mut [f32]) {
    let count = out.len();
    let columns = |m: Moments<'_>, x: usize| {
        let deviation = (m.second[x] + STABILITY).sqrt();
        let inverse = 1.0 / deviation;
        let square = inverse * inverse;
        [deviation, m.third[x] * inverse * square, m.fourth[x] * square * square]
    };
    let cut = |m: Moments<'_>| (m.second.len().min(m.third.len()).min(m.fourth.len())).min(count);
    for (x, out) in out.iter_mut().enumerate().take(cut(reference).min(cut(distorted))) {
        let (r, d) = (columns(reference, x), columns(distorted, x));
        *out += weight * ((r[0] - d[0]).abs() + 2.0 * (r[1] - d[1]).abs() + (r[2] - d[2]).abs());
    }
}
