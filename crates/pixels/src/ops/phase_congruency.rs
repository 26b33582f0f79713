//! Phase congruency after Kovesi (`phasecong2`), with the parameters and noise estimate of FSIM.
//!
//! Each of the four orientations has four log-Gabor bands. Where their responses agree in phase,
//! the image has a feature (edge, line or corner), regardless of its contrast. Noise is estimated
//! from the finest band and subtracted.

use archmage::prelude::*;
use magetypes::simd::backends::F32x8Backend;
use magetypes::simd::generic::f32x8;
use multiversion::multiversion;
use rayon::prelude::*;

use crate::Plane;
use crate::ops::block_fft::{BlockFft, to_plane};
use crate::ops::lanes::{LANES, Lanes};
use crate::ops::lanes_fft::{Point, Source, Value};
use crate::ops::log_gabor::{Bank, Noise, ORIENTATIONS, SCALES};
use crate::ops::median::median_with_zeros;
use crate::ops::sum;

/// The noise threshold: standard deviations above the mean energy of the noise.
const NOISE_DEVIATIONS: f64 = 2.0;
/// The estimate was made for another measure of congruency. For this measure it is too high by
/// about this factor.
const NOISE_RESCALING: f64 = 1.7;
/// Keeps the mean phase defined where there is no response.
const EPSILON: f32 = 1e-4;

/// Filters and plans for images of one size.
#[derive(Debug)]
pub struct PhaseCongruency {
    width: usize,
    height: usize,
    fft: BlockFft,
    bank: Bank,
}

impl PhaseCongruency {
    /// Creates filters and plans for `width` x `height`.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, fft: BlockFft::new(width, height), bank: Bank::new(width, height) }
    }

    /// Returns the phase congruency of two luma planes of this size: 0 (none) to 1.
    pub fn maps(&self, [first, second]: [&Plane; 2]) -> [Plane; 2] {
        if rayon::current_num_threads() > 1 {
            // Both images run in parallel, so that the sequential parts of one overlap with the
            // other.
            let of = |luma| move || self.map(luma, &mut Buffers::default());
            return rayon::join(of(first), of(second)).into();
        }
        let mut buffers = Buffers::default();
        [first, second].map(|luma| self.map(luma, &mut buffers))
    }

    fn map(&self, luma: &Plane, buffers: &mut Buffers) -> Plane {
        // No filter passes the mean. Without it, single precision is enough, and flat images
        // return exact zeros.
        let mean = (sum::sum(luma.data()) / luma.data().len().max(1) as f64) as f32;
        let spectrum = self.fft.forward(luma, None, mean);
        let length = self.fft.picture_length();
        let Buffers { middle, finest, energies, energy_totals, amplitude_totals } = buffers;
        finest.resize(length, Lanes::default());
        energies.resize(length, Lanes::default());
        for totals in [&mut *energy_totals, &mut *amplitude_totals] {
            totals.clear();
            totals.resize(length, Lanes::default());
        }
        for orientation in 0..ORIENTATIONS {
            let width = self.width;
            let source = |block: usize, scale: usize| self.filtered(&spectrum, block, orientation, scale);
            let out = finest.par_chunks_mut(width).zip(energies.par_chunks_mut(width));
            let out = out.zip(amplitude_totals.par_chunks_mut(width));
            self.fft.inverse(middle, source, out, |bands, ((finest, energies), amplitudes)| {
                combine(bands, finest, energies, amplitudes);
            });
            let threshold = self.threshold(finest, self.bank.noise[orientation]);
            add_above(threshold, energies, energy_totals);
        }
        divide(energy_totals, amplitude_totals);
        to_plane(energy_totals, self.width, self.height)
    }

    /// One block of the spectrum, multiplied by one filter.
    fn filtered<'a>(&'a self, spectrum: &'a [Point], block: usize, orientation: usize, scale: usize) -> Filtered<'a> {
        let span = block * self.height..(block + 1) * self.height;
        Filtered {
            spectrum: &spectrum[span.clone()],
            radial: &self.bank.radial[scale][span.clone()],
            angular: &self.bank.angular[orientation][span],
        }
    }

    /// The energy of noise alone, estimated from the squared amplitudes of the finest band.
    fn threshold(&self, finest: &[Lanes], noise: Noise) -> f32 {
        // The lanes of the last block below the image are zero.
        let below = finest.len() * LANES - self.width * self.height;
        // The squared amplitude of noise has an exponential distribution: its mean is its median
        // divided by ln 2.
        let mean = median_with_zeros(finest, below) / std::f64::consts::LN_2;
        let power = if noise.finest > 0.0 { mean / noise.finest } else { 0.0 };
        // Rayleigh parameter, mean and deviation of the energy.
        let tau = (power * noise.together).sqrt();
        let half_pi = std::f64::consts::FRAC_PI_2;
        let energy = tau * half_pi.sqrt() + NOISE_DEVIATIONS * ((2.0 - half_pi) * tau * tau).sqrt();
        (energy / NOISE_RESCALING) as f32
    }
}

/// Memory that is reused from one image to the next.
#[derive(Default)]
struct Buffers {
    middle: Vec<Point>,
    /// For one orientation: squared amplitude of the finest band, and energy.
    finest: Vec<Lanes>,
    energies: Vec<Lanes>,
    /// Over all orientations: energy above the noise, and sum of amplitudes.
    energy_totals: Vec<Lanes>,
    amplitude_totals: Vec<Lanes>,
}

/// A block of a spectrum times a filter, with the parts swapped for the inverse transform.
struct Filtered<'a> {
    spectrum: &'a [Point],
    radial: &'a [Lanes],
    angular: &'a [Lanes],
}

impl Source for Filtered<'_> {
    #[inline(always)]
    fn value<T: F32x8Backend>(&self, token: T, index: usize) -> Value<T> {
        let load = |lanes: &[Lanes]| f32x8::load_t(token, &lanes[index].0);
        let (value, filter) = (Value::load(token, &self.spectrum[index]), load(self.radial) * load(self.angular));
        Value { re: value.im * filter, im: value.re * filter }
    }
}

/// Computes the energy and the amplitudes of the bands of one orientation in one block of rows.
/// Amplitudes are added to the existing values.
fn combine(bands: [&[Point]; SCALES], finest: &mut [Lanes], energies: &mut [Lanes], amplitudes: &mut [Lanes]) {
    incant!(combine_bands(bands, finest, energies, amplitudes), [v3, neon, wasm128, scalar]);
}

#[magetypes(define(f32x8), v3, neon, wasm128, scalar)]
fn combine_bands(
    token: Token,
    bands: [&[Point]; SCALES],
    finest: &mut [Lanes],
    energies: &mut [Lanes],
    amplitudes: &mut [Lanes],
) {
    let width = finest.len();
    let bands = bands.map(|band| &band[..width]);
    let one = f32x8::splat_t(token, 1.0);
    let outputs = finest.iter_mut().zip(energies).zip(amplitudes);
    for (x, ((finest, energy_out), amplitude_out)) in outputs.enumerate().take(width) {
        // It does not matter here which part is even and which is odd.
        let values = bands.map(|band| Value::load(token, &band[x]));
        let [even, odd] = [values.map(|value| value.re), values.map(|value| value.im)];
        let squares: [_; SCALES] = std::array::from_fn(|scale| even[scale] * even[scale] + odd[scale] * odd[scale]);
        let [root0, root1, root2, root3] = squares.map(|square| square.sqrt());
        let (sum_even, sum_odd) = (even[0] + even[1] + even[2] + even[3], odd[0] + odd[1] + odd[2] + odd[3]);
        let inverse = one / ((sum_even * sum_even + sum_odd * sum_odd).sqrt() + EPSILON);
        let (mean_even, mean_odd) = (sum_even * inverse, sum_odd * inverse);
        let mut energy = sum_even * mean_even + sum_odd * mean_odd;
        for scale in 0..SCALES {
            energy -= (even[scale] * mean_odd - odd[scale] * mean_even).abs();
        }
        squares[0].store(&mut finest.0);
        energy.store(&mut energy_out.0);
        let total = f32x8::load_t(token, &amplitude_out.0) + (root0 + root1 + root2 + root3);
        total.store(&mut amplitude_out.0);
    }
}

/// Adds the energy above the noise to the totals.
#[multiversion(targets("x86_64+avx2"))]
fn add_above(threshold: f32, energies: &[Lanes], totals: &mut [Lanes]) {
    for (total, energy) in totals.iter_mut().zip(energies) {
        *total = *total + energy.map(|energy| if energy > threshold { energy - threshold } else { 0.0 });
    }
}

/// Replaces `energies` by `energy / amplitude`, or 0 where the amplitude is zero.
#[multiversion(targets("x86_64+avx2"))]
fn divide(energies: &mut [Lanes], amplitudes: &[Lanes]) {
    for (energies, amplitudes) in energies.iter_mut().zip(amplitudes) {
        for (energy, &amplitude) in energies.0.iter_mut().zip(&amplitudes.0) {
            let ratio = *energy / if amplitude > 0.0 { amplitude } else { 1.0 };
            *energy = if amplitude > 0.0 { ratio } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed from the definition with GNU Octave in double precision, at even and odd
    /// sizes.
    #[test]
    fn equals_the_definition() {
        let places = [(15, 10), (16, 12), (30, 12), (44, 3), (0, 0), (20, 30)];
        let even = ([0.7455198, 0.499361, 0.3541951, 0.0738425, 0.7275512, 0.1037585], 0.33908193);
        let odd = ([0.751906, 0.5084143, 0.3632257, 0.4952863, 0.7431778, 0.1216929], 0.36574946);
        for ((width, height), (values, mean)) in [((48, 36), even), ((45, 35), odd)] {
            let picture = Plane::from_fn(width, height, |x, y| {
                let texture = ((x * x * 3 + y * 7 + x * y) % 61) as f32 * 0.3;
                let edges = [(x > 15, 80.0), (2 * y + x > 50, 40.0)];
                texture + edges.iter().map(|&(beyond, step)| if beyond { step } else { 0.0 }).sum::<f32>()
            });
            let map = PhaseCongruency::new(width, height).map(&picture, &mut Buffers::default());
            for ((x, y), value) in places.into_iter().zip(values) {
                assert!((map.at(x, y) - value).abs() < 3e-6, "{x},{y}: {} instead of {value}", map.at(x, y));
            }
            assert!((sum::sum(map.data()) / (width * height) as f64 - mean).abs() < 1e-6);
        }
    }

    #[test]
    fn flat_pictures_have_none() {
        let flat = PhaseCongruency::new(61, 47).map(&Plane::from_fn(61, 47, |_, _| 77.3), &mut Buffers::default());
        assert!(flat.data().iter().all(|&value| value == 0.0));
    }
}
