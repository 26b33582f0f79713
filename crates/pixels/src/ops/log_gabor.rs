//! The log-Gabor filters of Kovesi's phase congruency, in the frequency domain.
//!
//! A filter is the product of a radial and an angular band. Both are stored in blocks of eight
//! columns, the layout of spectra in [`block_fft`](crate::ops::block_fft): value (u, v) is lane
//! `u % 8` of `[u / 8 * height + v]`.

use std::f32::consts::PI;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::ops::elementary::{exp, ln, quadrant_angle};
use crate::ops::lanes::{LANES, Lanes};

/// Number of radial bands, each an octave below the previous band.
pub const SCALES: usize = 4;
/// Number of orientations, evenly spread over 180 degrees.
pub const ORIENTATIONS: usize = 4;

/// Wavelength of the finest band in samples.
const SMALLEST_WAVELENGTH: f32 = 6.0;
/// Ratio of the wavelengths of neighboring bands.
const OCTAVE: f32 = 2.0;
/// Width of a band: the standard deviation of its log-Gaussian divided by its center frequency.
const SIGMA_ON_F: f32 = 0.55;
/// Angle between neighboring orientations divided by the standard deviation of the angular
/// Gaussian.
const THETA_ON_SIGMA: f32 = 1.2;
/// Cutoff of the Butterworth low-pass of order 15 that removes the corners of the spectrum.
const CUTOFF: f32 = 0.45;

/// All filters for images of one size.
#[derive(Debug)]
pub struct Bank {
    /// The radial bands, finest first, each divided by the number of samples (the factor of the
    /// inverse transform).
    pub radial: [Vec<Lanes>; SCALES],
    /// The angular bands.
    pub angular: [Vec<Lanes>; ORIENTATIONS],
    /// The response to noise of the filters of each orientation.
    pub noise: [Noise; ORIENTATIONS],
}

/// The power of the filters of one orientation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Noise {
    /// Sum of the squared finest filter.
    pub finest: f64,
    /// Sum of the squared even part of all bands combined: their even response to noise of unit
    /// power.
    pub together: f64,
}

/// Sign and size of the frequencies along one axis, spaced as in the authors' code: odd sizes span
/// -0.5 ..= 0.5.
struct Axis {
    size: usize,
}

impl Axis {
    fn frequency(&self, index: usize) -> f32 {
        let signed = if index < self.size.div_ceil(2) { index as f64 } else { index as f64 - self.size as f64 };
        (signed / (self.size - self.size % 2).max(1) as f64) as f32
    }

    /// The frequency at the mirror position of `index` about 0. The Nyquist frequency is its own
    /// mirror.
    fn mirrored(&self, index: usize) -> f32 {
        self.frequency((self.size - index) % self.size)
    }
}

impl Bank {
    /// Creates the filters for `width` x `height`.
    pub fn new(width: usize, height: usize) -> Self {
        let length = width.div_ceil(LANES) * height;
        let empty = || vec![Lanes::default(); length];
        let mut bank = Self {
            radial: [(); SCALES].map(|()| empty()),
            angular: [(); ORIENTATIONS].map(|()| empty()),
            noise: [Noise::default(); ORIENTATIONS],
        };
        let [r0, r1, r2, r3] = &mut bank.radial;
        let [a0, a1, a2, a3] = &mut bank.angular;
        let radial = (r0.par_chunks_mut(height).zip(r1.par_chunks_mut(height)))
            .zip(r2.par_chunks_mut(height).zip(r3.par_chunks_mut(height)));
        let angular = (a0.par_chunks_mut(height).zip(a1.par_chunks_mut(height)))
            .zip(a2.par_chunks_mut(height).zip(a3.par_chunks_mut(height)));
        let parts: Vec<[Noise; ORIENTATIONS]> = (radial.zip(angular).enumerate())
            .map(|(block, (((r0, r1), (r2, r3)), ((a0, a1), (a2, a3))))| {
                fill_block((width, height), block, [r0, r1, r2, r3], [a0, a1, a2, a3])
            })
            .collect();
        for part in &parts {
            for (noise, part) in bank.noise.iter_mut().zip(part) {
                noise.finest += part.finest;
                noise.together += part.together;
            }
        }
        bank
    }
}

/// Fills the filters for one block of columns and returns their share of the power.
///
/// The frequency plane is mirrored about y = 0, so half of the rows are computed and two are
/// written at a time. Radii are equal at mirrored positions. The angular weight of direction `o`
/// equals the weight at the mirrored position of the direction opposite to `ORIENTATIONS - o`.
#[multiversion(targets("x86_64+avx2"))]
fn fill_block(
    (width, height): (usize, usize),
    block: usize,
    mut radial: [&mut [Lanes]; SCALES],
    mut angular: [&mut [Lanes]; ORIENTATIONS],
) -> [Noise; ORIENTATIONS] {
    let (across, down) = (Axis { size: width }, Axis { size: height });
    let scale = 1.0 / (width * height) as f32;
    let column = |lane: usize| block * LANES + lane;
    // Columns beyond the last one have no filter and stay zero.
    let inside = Lanes(std::array::from_fn(|lane| if column(lane) < width { 1.0 } else { 0.0 }));
    let x = Lanes(std::array::from_fn(|lane| across.frequency(column(lane) % width)));
    let mirrored_x = Lanes(std::array::from_fn(|lane| across.mirrored(column(lane) % width)));
    // The Nyquist frequency is its own mirror.
    let nyquist = Lanes(std::array::from_fn(|lane| if mirrored_x.0[lane] == x.0[lane] { x.0[lane] } else { 0.0 }));
    let mut power = [[[0.0f64; LANES]; 2]; ORIENTATIONS];
    for v in 0..=height / 2 {
        let (y, mirror) = (down.frequency(v), (height - v) % height);
        let bands = radial_bands(x, y, inside);
        let here = angular_bands(x, y);
        let mut store = |v: usize, here: &[Lanes; ORIENTATIONS]| {
            radial.iter_mut().zip(bands).for_each(|(out, band)| out[v] = band * scale);
            angular.iter_mut().zip(here).for_each(|(out, &here)| out[v] = here);
        };
        store(v, &here);
        if mirror == v {
            add_power(&bands, &here, &angular_bands(mirrored_x, y), &mut power);
            continue;
        }
        let opposite = angular_bands(x.map(|x| -x), -y);
        let below = mirrored(&here, &opposite);
        store(mirror, &below);
        add_power(&bands, &here, &choose(nyquist, &below, &opposite), &mut power);
        add_power(&bands, &below, &choose(nyquist, &here, &mirrored(&opposite, &here)), &mut power);
    }
    power.map(|[finest, together]| Noise { finest: finest.iter().sum(), together: together.iter().sum() })
}

/// The angular bands at (x, -y), computed from those at (x, y) and (-x, -y).
#[inline(always)]
fn mirrored(bands: &[Lanes; ORIENTATIONS], opposite: &[Lanes; ORIENTATIONS]) -> [Lanes; ORIENTATIONS] {
    std::array::from_fn(|o| if o == 0 { bands[0] } else { opposite[ORIENTATIONS - o] })
}

/// Selects `first` in lanes where `condition` is not 0, and `second` elsewhere.
#[inline(always)]
fn choose<const N: usize>(condition: Lanes, first: &[Lanes; N], second: &[Lanes; N]) -> [Lanes; N] {
    let pick = |n: usize, lane: usize| if condition.0[lane] != 0.0 { first[n].0[lane] } else { second[n].0[lane] };
    std::array::from_fn(|n| Lanes(std::array::from_fn(|lane| pick(n, lane))))
}

/// Adds the squares of the finest filter of each orientation, and of the even part of all bands
/// combined.
#[inline(always)]
fn add_power(
    bands: &[Lanes; SCALES],
    here: &[Lanes; ORIENTATIONS],
    opposite: &[Lanes; ORIENTATIONS],
    power: &mut [[[f64; LANES]; 2]; ORIENTATIONS],
) {
    let all = bands[0] + bands[1] + bands[2] + bands[3];
    for (orientation, power) in power.iter_mut().enumerate() {
        let finest = bands[0] * here[orientation];
        let even = all * (here[orientation] + opposite[orientation]) * 0.5;
        for (sums, values) in power.iter_mut().zip([finest, even]) {
            sums.iter_mut().zip(values.0).for_each(|(sum, value)| *sum += f64::from(value) * f64::from(value));
        }
    }
}

/// The radial bands at the frequencies (x, y); 0 at the origin.
#[inline(always)]
fn radial_bands(x: Lanes, y: f32, inside: Lanes) -> [Lanes; SCALES] {
    let square = x.map(|x| x * x + y * y);
    let low_pass = square.map(|square| {
        // The ratio of the radii to the power of 30.
        let ratio = square / (CUTOFF * CUTOFF);
        let power2 = ratio * ratio;
        let power4 = power2 * power2;
        let power8 = power4 * power4;
        1.0 / (1.0 + power8 * power4 * power2 * ratio)
    });
    let weight = low_pass * inside * square.map(|square| if square > 0.0 { 1.0 } else { 0.0 });
    let logarithm = square.map(|square| 0.5 * ln(if square > 0.0 { square } else { 1.0 }));
    let width = 2.0 * SIGMA_ON_F.ln() * SIGMA_ON_F.ln();
    let mut wavelength = SMALLEST_WAVELENGTH;
    let mut bands = [Lanes::default(); SCALES];
    for band in &mut bands {
        let center = wavelength.ln();
        wavelength *= OCTAVE;
        *band = logarithm.map(|logarithm| exp(-(logarithm + center) * (logarithm + center) / width)) * weight;
    }
    bands
}

/// The angular bands in the direction of frequencies (x, y).
#[inline(always)]
fn angular_bands(x: Lanes, y: f32) -> [Lanes; ORIENTATIONS] {
    let sigma = PI / ORIENTATIONS as f32 / THETA_ON_SIGMA;
    let width = 2.0 * sigma * sigma;
    // Angles are counter-clockwise, but rows are numbered downwards.
    let theta = x.map(|x| {
        let quadrant = quadrant_angle(x.abs(), y.abs());
        let half = if x < 0.0 { PI - quadrant } else { quadrant };
        if y > 0.0 { -half } else { half }
    });
    let mut bands = [Lanes::default(); ORIENTATIONS];
    for (orientation, band) in bands.iter_mut().enumerate() {
        let direction = orientation as f32 * PI / ORIENTATIONS as f32;
        *band = theta.map(|theta| {
            let distance = (theta - direction).abs();
            let distance = if distance > PI { 2.0 * PI - distance } else { distance };
            exp(-distance * distance / width)
        });
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One filter value as in the authors' code, in double precision.
    fn expected(u: usize, v: usize, size: (usize, usize), scale: usize, orientation: usize) -> f64 {
        let frequency = |index: usize, size: usize| {
            let signed = index as f64 - if index >= size.div_ceil(2) { size as f64 } else { 0.0 };
            signed / if size % 2 == 1 { size as f64 - 1.0 } else { size as f64 }
        };
        let (x, y) = (frequency(u, size.0), frequency(v, size.1));
        let radius = x.hypot(y);
        if radius == 0.0 {
            return 0.0;
        }
        let wavelength = 6.0 * 2f64.powi(scale as i32);
        let band = (-(radius * wavelength).ln().powi(2) / (2.0 * 0.55f64.ln().powi(2))).exp();
        let low_pass = 1.0 / (1.0 + (radius / 0.45).powi(30));
        let (theta, angle) = ((-y).atan2(x), orientation as f64 * std::f64::consts::PI / 4.0);
        let distance = (theta.sin() * angle.cos() - theta.cos() * angle.sin())
            .atan2(theta.cos() * angle.cos() + theta.sin() * angle.sin());
        let sigma = std::f64::consts::PI / 4.0 / 1.2;
        band * low_pass * (-distance.powi(2) / (2.0 * sigma * sigma)).exp()
    }

    #[test]
    fn filters_and_their_power_equal_the_definition() {
        for (width, height) in [(20, 14), (21, 15), (9, 16)] {
            let bank = Bank::new(width, height);
            for orientation in 0..ORIENTATIONS {
                let (mut finest, mut together) = (0.0, 0.0);
                for u in 0..width {
                    for v in 0..height {
                        let mut even = 0.0;
                        for scale in 0..SCALES {
                            let place = |filters: &[Lanes]| filters[u / LANES * height + v].0[u % LANES];
                            let filter = place(&bank.radial[scale]) * place(&bank.angular[orientation]);
                            let expected = |u, v| expected(u, v, (width, height), scale, orientation);
                            let error = f64::from(filter) * (width * height) as f64 - expected(u, v);
                            assert!(error.abs() < 2e-6, "{u},{v} of {width}x{height}: {error}");
                            even += (expected(u, v) + expected((width - u) % width, (height - v) % height)) / 2.0;
                            finest += if scale == 0 { expected(u, v).powi(2) } else { 0.0 };
                        }
                        together += even * even;
                    }
                }
                assert!((bank.noise[orientation].finest / finest - 1.0).abs() < 1e-5);
                assert!((bank.noise[orientation].together / together - 1.0).abs() < 1e-5);
            }
        }
    }
}
