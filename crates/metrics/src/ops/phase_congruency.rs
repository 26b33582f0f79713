//! Phase congruency after Kovesi (`phasecong2`), with the parameters and the noise estimate of FSIM.
//!
//! Each of four directions has four log-Gabor bands. Where their responses agree in phase, the picture has a feature
//! (edge, line, corner) whatever its contrast. Noise is estimated from the finest band and taken off.

use multiversion::multiversion;

use crate::Plane;
use crate::ops::block_fft::{BlockFft, Workspace, to_plane};
use crate::ops::lanes::{LANES, Lanes};
use crate::ops::lanes_fft::Signals;
use crate::ops::log_gabor::{Bank, Noise, ORIENTATIONS, SCALES};
use crate::ops::median::median;
use crate::ops::sum;

/// Standard deviations of the noise's energy above its mean that are taken off.
const NOISE_DEVIATIONS: f64 = 2.0;
/// The estimate is made for another measure of congruency; for this one it is too high by about this factor.
const NOISE_RESCALING: f64 = 1.7;
/// Keeps the mean phase defined where there is no response.
const EPSILON: f32 = 1e-4;

/// What is needed to measure pictures of one size.
#[derive(Debug)]
pub struct PhaseCongruency {
    width: usize,
    height: usize,
    fft: BlockFft,
    bank: Bank,
}

impl PhaseCongruency {
    /// Filters and plans for `width` x `height`.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, fft: BlockFft::new(width, height), bank: Bank::new(width, height) }
    }

    /// The phase congruency of both luma planes of this size: 0 (none) to 1.
    pub fn maps(&self, [first, second]: [&Plane; 2]) -> [Plane; 2] {
        if rayon::current_num_threads() > 1 {
            // Side by side, so that what is sequential in one picture is hidden by the other.
            let of = |luma| move || self.map(luma, &mut Buffers::default());
            return rayon::join(of(first), of(second)).into();
        }
        let mut buffers = Buffers::default();
        [first, second].map(|luma| self.map(luma, &mut buffers))
    }

    fn map(&self, luma: &Plane, buffers: &mut Buffers) -> Plane {
        // No filter lets the mean through; without it single precision is enough, and flat pictures give exact zeros.
        let mean = (sum::sum(luma.data()) / luma.data().len().max(1) as f64) as f32;
        let spectrum = self.fft.forward(&luma.map(|value| value - mean), None);
        let length = self.fft.picture_length();
        let Buffers { middle, responses, totals } = buffers;
        responses.resize(length * Response::VECTORS, Lanes::default());
        totals.clear();
        totals.resize(length, [Lanes::default(); 2]);
        for orientation in 0..ORIENTATIONS {
            self.respond(&spectrum, orientation, middle, responses);
            let threshold = self.threshold(responses, self.bank.noise[orientation]);
            add_up(self.width, responses, threshold, totals);
        }
        let congruency: Vec<Lanes> = totals.iter().map(|total| divide(total[0], total[1])).collect();
        to_plane(&congruency, self.width, self.height)
    }

    /// The responses of one direction's bands, block by block.
    fn respond(&self, spectrum: &Signals, orientation: usize, middle: &mut Vec<Lanes>, responses: &mut [Lanes]) {
        let height = self.height;
        let angular = &self.bank.angular[orientation];
        let read = |block: usize, scale: usize, signals: &mut Signals| {
            let span = block * height..(block + 1) * height;
            let filter = (&self.bank.radial[scale][span.clone()], &angular[span.clone()]);
            filter_block(filter, (&spectrum.re[span.clone()], &spectrum.im[span]), signals);
        };
        self.fft.inverse::<SCALES>(middle, read, responses, Response::VECTORS, |_, bands, out| combine(bands, out));
    }

    /// The energy that noise alone would give.
    fn threshold(&self, responses: &[Lanes], noise: Noise) -> f32 {
        let (width, height) = (self.width, self.height);
        let mut finest = Vec::with_capacity(width * height);
        for (block, responses) in responses.chunks_exact(width * Response::VECTORS).enumerate() {
            let rows = (height - block * LANES).min(LANES);
            for vector in &responses[..width] {
                match rows {
                    LANES => finest.extend(vector.0),
                    _ => finest.extend_from_slice(&vector.0[..rows]),
                }
            }
        }
        // The squared amplitude of noise is exponentially distributed: its mean is its median over ln 2.
        let mean = median(&finest) / std::f64::consts::LN_2;
        let power = if noise.finest > 0.0 { mean / noise.finest } else { 0.0 };
        // Rayleigh's parameter, mean and deviation of the energy.
        let tau = (power * noise.together).sqrt();
        let half_pi = std::f64::consts::FRAC_PI_2;
        let energy = tau * half_pi.sqrt() + NOISE_DEVIATIONS * ((2.0 - half_pi) * tau * tau).sqrt();
        (energy / NOISE_RESCALING) as f32
    }
}

/// Memory that one picture leaves to the next.
#[derive(Default)]
struct Buffers {
    middle: Vec<Lanes>,
    responses: Vec<Lanes>,
    totals: Vec<[Lanes; 2]>,
}

/// What is kept of one direction: three runs of vectors for each block of rows.
struct Response;

impl Response {
    /// Squared amplitude of the finest band, energy, sum of amplitudes.
    const VECTORS: usize = 3;
}

#[multiversion(targets("x86_64+avx2"))]
fn filter_block((radial, angular): (&[Lanes], &[Lanes]), (re, im): (&[Lanes], &[Lanes]), out: &mut Signals) {
    let values = re.iter().zip(im).zip(radial.iter().zip(angular));
    for (((&re, &im), (&radial, &angular)), (out_re, out_im)) in values.zip(out.re.iter_mut().zip(&mut out.im)) {
        let filter = radial * angular;
        *out_re = re * filter;
        *out_im = im * filter;
    }
}

/// Energy and amplitudes of the bands of one direction in one block of rows.
#[multiversion(targets("x86_64+avx2"))]
fn combine(bands: &[Workspace; SCALES], out: &mut [Lanes]) {
    let width = out.len() / Response::VECTORS;
    let (finest, rest) = out.split_at_mut(width);
    let (energies, amplitudes) = rest.split_at_mut(width);
    let parts: [(&[Lanes], &[Lanes]); SCALES] =
        std::array::from_fn(|scale| (&bands[scale].signals.re[..width], &bands[scale].signals.im[..width]));
    for x in 0..width {
        let even = [parts[0].0[x], parts[1].0[x], parts[2].0[x], parts[3].0[x]];
        let odd = [parts[0].1[x], parts[1].1[x], parts[2].1[x], parts[3].1[x]];
        let square = |scale: usize| even[scale] * even[scale] + odd[scale] * odd[scale];
        let root = |scale: usize| square(scale).map(f32::sqrt);
        let amplitude = root(0) + root(1) + root(2) + root(3);
        let (sum_even, sum_odd) = (even[0] + even[1] + even[2] + even[3], odd[0] + odd[1] + odd[2] + odd[3]);
        let inverse = (sum_even * sum_even + sum_odd * sum_odd).map(|square| 1.0 / (square.sqrt() + EPSILON));
        let (mean_even, mean_odd) = (sum_even * inverse, sum_odd * inverse);
        let mut energy = sum_even * mean_even + sum_odd * mean_odd;
        for scale in 0..SCALES {
            energy = energy - (even[scale] * mean_odd - odd[scale] * mean_even).map(f32::abs);
        }
        finest[x] = square(0);
        energies[x] = energy;
        amplitudes[x] = amplitude;
    }
}

/// Adds the energy above the noise, and the amplitudes, to the totals.
#[multiversion(targets("x86_64+avx2"))]
fn add_up(width: usize, responses: &[Lanes], threshold: f32, totals: &mut [[Lanes; 2]]) {
    for (responses, totals) in responses.chunks_exact(width * Response::VECTORS).zip(totals.chunks_exact_mut(width)) {
        let (energies, amplitudes) = responses[width..].split_at(width);
        for ((total, &energy), &amplitude) in totals.iter_mut().zip(energies).zip(amplitudes) {
            let above = energy.map(|energy| if energy > threshold { energy - threshold } else { 0.0 });
            total[0] = total[0] + above;
            total[1] = total[1] + amplitude;
        }
    }
}

/// `energy / amplitude`, 0 where there is no amplitude.
#[inline(always)]
fn divide(energy: Lanes, amplitude: Lanes) -> Lanes {
    Lanes(std::array::from_fn(|lane| if amplitude.0[lane] > 0.0 { energy.0[lane] / amplitude.0[lane] } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the definition, computed with GNU Octave in double precision, at even and odd sizes.
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
