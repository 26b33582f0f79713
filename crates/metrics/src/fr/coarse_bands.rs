//! The coarsest bands of the complex steerable pyramids of two images.
//!
//! The pyramid is that of Simoncelli's matlabPyrTools (`buildSCFpyr`): raised-cosine rings in log
//! frequency and powers of a cosine in direction, on one half of the plane, so that the bands are
//! complex. The bands of level L hold frequencies below 2^-(L-1) of the Nyquist frequency. Both
//! images therefore share one transform, as its real and imaginary parts. Only the low frequencies
//! of each row are kept, and the finer levels are never built.

use std::f64::consts::{FRAC_PI_2, PI};

use rayon::prelude::*;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use crate::ops::fft::{self, Fft2d};
use crate::ops::strips;
use crate::{Image, Plane};

/// The spectra of two images inside the ring of one level. The bands of every orientation are made
/// from them.
pub(crate) struct CoarseBands {
    level: usize,
    orientations: usize,
    width: usize,
    height: usize,
    /// One spectrum per image, transposed as [`Fft2d`] expects it.
    spectra: [Vec<Complex<f64>>; 2],
    /// Cosine and sine of the direction of each frequency.
    directions: Vec<(f64, f64)>,
    transform: Fft2d<f64>,
}

impl CoarseBands {
    /// Computes level `level` (1 is the finest) of two images of the same size.
    pub(crate) fn new(images: [&Image; 2], level: usize, orientations: usize) -> Self {
        let reduced = |size: usize| size.div_ceil(1 << (level - 1));
        let (width, height) = (reduced(images[0].width()), reduced(images[0].height()));
        let zeros = vec![Complex::new(0.0, 0.0); width * height];
        let mut bands = Self {
            level,
            orientations,
            width,
            height,
            spectra: [zeros.clone(), zeros],
            directions: vec![(0.0, 0.0); width * height],
            transform: Fft2d::new(width, height),
        };
        bands.keep(&low_columns(images, width / 2), images[0].width());
        bands
    }

    /// Width of a band.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Height of a band.
    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// Separates the spectra of the two images from their packed pair, and applies the ring.
    fn keep(&mut self, packed: &Plane<Complex<f64>>, full_width: usize) {
        let (full_height, middle) = (packed.width(), (packed.height() / 2) as isize);
        let (width, height, level) = (self.width, self.height, self.level);
        let [first, second] = &mut self.spectra;
        let columns = first.par_chunks_mut(height).zip(second.par_chunks_mut(height));
        let columns = columns.zip(self.directions.par_chunks_mut(height)).enumerate();
        columns.for_each(|(u, ((first, second), directions))| {
            let u = signed(u, width);
            let (here, opposite) = (packed.row((middle + u) as usize), packed.row((middle - u) as usize));
            for (v, ((first, second), direction)) in first.iter_mut().zip(second).zip(directions).enumerate() {
                let v = signed(v, height);
                let here = here[v.rem_euclid(full_height as isize) as usize];
                let opposite = opposite[(-v).rem_euclid(full_height as isize) as usize].conj();
                // In units of the Nyquist frequency.
                let (across, down) = (2.0 * u as f64 / full_width as f64, 2.0 * v as f64 / full_height as f64);
                let radius = across.hypot(down);
                let gain = 0.5 * ring(radius, level);
                let difference = (here - opposite).scale(gain);
                *first = (here + opposite).scale(gain);
                *second = Complex::new(difference.im, -difference.re);
                *direction = if radius > 0.0 { (across / radius, down / radius) } else { (0.0, 0.0) };
            }
        });
    }

    /// Returns the band of both images in one orientation, row by row.
    pub(crate) fn orientation(&self, orientation: usize) -> [Vec<Complex<f64>>; 2] {
        let (sine, cosine) = (PI * orientation as f64 / self.orientations as f64).sin_cos();
        let order = self.orientations as i32 - 1;
        let scale = angular_scale(self.orientations);
        let gains = self.directions.iter().map(|(across, down)| {
            let along = across * cosine + down * sine;
            if along > 0.0 { scale * along.powi(order) } else { 0.0 }
        });
        let gains: Vec<f64> = gains.collect();
        [0, 1].map(|image| {
            let spectrum = self.spectra[image].iter().zip(&gains).map(|(value, &gain)| value.scale(gain));
            self.transform.inverse(spectrum.collect())
        })
    }
}

/// The spectrum of `images[0] + i images[1]` for horizontal frequencies from `-highest` to
/// `highest`. There is one row per horizontal frequency; vertical frequencies run along it.
fn low_columns(images: [&Image; 2], highest: usize) -> Plane<Complex<f64>> {
    let (width, height) = (images[0].width(), images[0].height());
    let mut planner = FftPlanner::new();
    let (along_rows, along_columns) = (planner.plan_fft_forward(width), planner.plan_fft_forward(height));
    let kept = 2 * highest + 1;
    let mut rows: Plane<Complex<f64>> = Plane::new(kept, height);
    let zero = Complex::new(0.0, 0.0);
    let scratch = along_rows.get_inplace_scratch_len();
    let buffers = || (vec![0.0; width], vec![0.0; width], vec![zero; width], vec![zero; scratch]);
    strips::fill_with(&mut rows, buffers, |(first, second, line, scratch), rows, samples| {
        for (y, out) in rows.zip(samples.chunks_exact_mut(kept)) {
            images[0].read_gray(y, 0..width, first);
            images[1].read_gray(y, 0..width, second);
            for ((value, &re), &im) in line.iter_mut().zip(&*first).zip(&*second) {
                *value = Complex::new(f64::from(re), f64::from(im));
            }
            along_rows.process_with_scratch(line, scratch);
            out[..highest].copy_from_slice(&line[width - highest..]);
            out[highest..].copy_from_slice(&line[..=highest]);
        }
    });
    let mut columns = fft::transpose(rows.data(), kept, height);
    columns.par_chunks_mut(height).for_each(|column| along_columns.process(column));
    Plane::from_vec(height, kept, columns).unwrap_or_else(|| Plane::new(height, kept))
}

/// The signed frequency of index `index` in a transform of `size` samples.
fn signed(index: usize, size: usize) -> isize {
    if index < size.div_ceil(2) { index as isize } else { index as isize - size as isize }
}

/// The gain of the ring of `level` at `radius` (in units of the Nyquist frequency): the low-passes
/// of the finer levels times the high-pass of this level. Their edges are one octave wide and
/// shift by one octave from level to level.
fn ring(radius: f64, level: usize) -> f64 {
    let octaves = radius.log2() + level as f64;
    let low = if octaves <= 0.0 { 1.0 } else { (FRAC_PI_2 * octaves.min(1.0)).cos() };
    let high = if octaves <= -1.0 { 0.0 } else { (FRAC_PI_2 * octaves.min(0.0)).cos() };
    low * high
}

/// Scales the squared gains of all orientations to a sum of 4, because the real parts of the bands
/// alone reconstruct the image.
fn angular_scale(orientations: usize) -> f64 {
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    let order = orientations - 1;
    let squared = 4f64.powi(order as i32) * factorial(order).powi(2) / (orientations as f64 * factorial(2 * order));
    2.0 * squared.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::gray_noise;

    #[test]
    fn rings_of_neighboring_levels_share_the_energy() {
        for level in 1..5 {
            let radius = 0.7 / f64::from(1 << level);
            assert!((ring(radius, level).powi(2) + ring(radius, level + 1).powi(2) - 1.0).abs() < 1e-12);
        }
        assert_eq!(ring(0.0, 4), 0.0);
        assert_eq!(ring(1.0 / 16.0, 4), 1.0);
        assert!(ring(1.0 / 8.0, 4) < 1e-15 && ring(1.0 / 32.0, 4) < 1e-15);
    }

    /// The definition without shortcuts: the whole transform of one image, filtered, cropped and
    /// transformed back.
    #[test]
    fn bands_equal_those_of_the_whole_pyramid() {
        for (width, height) in [(64, 64), (70, 67), (129, 80)] {
            let images = [gray_noise(width, height, 1), gray_noise(width, height, 2)];
            let bands = CoarseBands::new([&images[0], &images[1]], 4, 8);
            let orientation = 3;
            let computed = bands.orientation(orientation);
            for (image, computed) in images.iter().zip(&computed) {
                let expected = whole_pyramid_band(image, orientation);
                assert_eq!(expected.len(), computed.len());
                for (a, b) in computed.iter().zip(&expected) {
                    assert!((a - b).norm() < 1e-9, "{a} against {b}");
                }
            }
        }
    }

    fn whole_pyramid_band(image: &Image, orientation: usize) -> Vec<Complex<f64>> {
        let (width, height) = (image.width(), image.height());
        let samples = image.gray().data().iter().map(|&v| Complex::new(f64::from(v), 0.0)).collect();
        let spectrum = Fft2d::new(width, height).forward(samples);
        let (small_width, small_height) = (width.div_ceil(8), height.div_ceil(8));
        let mut cropped = Vec::new();
        for u in (0..small_width).map(|u| signed(u, small_width)) {
            for v in (0..small_height).map(|v| signed(v, small_height)) {
                let (x, y) = (2.0 * u as f64 / width as f64, 2.0 * v as f64 / height as f64);
                let place = u.rem_euclid(width as isize) as usize * height + v.rem_euclid(height as isize) as usize;
                let angle = y.atan2(x) - PI * orientation as f64 / 8.0;
                let gain = ring(x.hypot(y), 4) * angular_scale(8) * angle.cos().max(0.0).powi(7);
                cropped.push(spectrum[place] * gain);
            }
        }
        Fft2d::new(small_width, small_height).inverse(cropped)
    }
}
