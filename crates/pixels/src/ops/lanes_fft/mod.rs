//! Fourier transforms of eight signals at once.
//!
//! Each of the eight signals occupies one lane, so every step of the transform is the same plain
//! arithmetic on eight numbers. There are no shuffles and no fused operations, so the result is
//! identical on every machine. Lengths with small prime factors run as Stockham stages, other
//! lengths through Bluestein's chirp.

use std::f64::consts::TAU;

use magetypes::simd::backends::F32x8Backend;

mod butterflies;
mod chirp;
mod stages;

use butterflies::Root;
pub use butterflies::{Point, Value};
use chirp::Chirp;
use stages::Stage;

/// The input of a transform. A source can compute samples as they are read, which saves a separate
/// pass.
pub trait Source {
    /// Sample `index` of the eight signals.
    fn value<T: F32x8Backend>(&self, token: T, index: usize) -> Value<T>;
}

/// Stored signals, read without change.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'a>(pub &'a [Point]);

impl Source for Plain<'_> {
    #[inline(always)]
    fn value<T: F32x8Backend>(&self, token: T, index: usize) -> Value<T> {
        Value::load(token, &self.0[index])
    }
}

/// The largest prime factor with its own stage; for larger factors the chirp is faster.
const LARGEST_STAGE: usize = 43;

/// A plan for signals of one length.
#[derive(Debug, Clone)]
pub struct Plan {
    length: usize,
    stages: Vec<Stage>,
    chirp: Option<Box<Chirp>>,
}

/// Two buffers, reused from one transform to the next.
#[derive(Debug, Default)]
pub struct Workspace {
    signals: Vec<Point>,
    scratch: Vec<Point>,
}

impl Workspace {
    /// The spectrum of the last transform.
    pub fn spectrum(&self) -> &[Point] {
        &self.signals
    }
}

impl Plan {
    /// Creates a plan for signals of `length` samples.
    pub fn new(length: usize) -> Self {
        let factors = factors(length);
        if factors.iter().any(|&factor| factor > LARGEST_STAGE) {
            return Self { length, stages: Vec::new(), chirp: Some(Box::new(Chirp::new(length))) };
        }
        let mut stages = Vec::with_capacity(factors.len());
        let (mut rest, mut stride) = (length, 1);
        for radix in factors {
            stages.push(Stage::new(radix, rest, stride));
            rest /= radix;
            stride *= radix;
        }
        Self { length, stages, chirp: None }
    }

    /// Returns the unnormalized spectra of the signals in `source`. Swap real and imaginary parts
    /// for the inverse.
    pub fn forward<'w>(&self, source: &impl Source, workspace: &'w mut Workspace) -> &'w [Point] {
        let Workspace { signals, scratch } = workspace;
        signals.resize(self.length, Point::default());
        scratch.resize(self.length, Point::default());
        let rest = match self.stages.split_first() {
            Some((first, rest)) if first.reads_sources() => {
                first.run_from(source, signals);
                rest
            }
            _ => {
                stages::read(source, signals);
                &self.stages
            }
        };
        for stage in rest {
            stage.run(signals, scratch);
            std::mem::swap(signals, scratch);
        }
        if let Some(chirp) = &self.chirp {
            chirp.forward(signals);
        }
        signals
    }
}

/// The radices of `length`. A factor of two that remains after the fours is merged with a three or
/// a four and comes first. The other radices follow in ascending order.
fn factors(mut length: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    for radix in [4, 2, 3, 5] {
        while length > 0 && length.is_multiple_of(radix) {
            factors.push(radix);
            length /= radix;
        }
    }
    if let Some(two) = factors.iter().position(|&factor| factor == 2) {
        let partner = factors.iter().position(|&factor| factor == 3).or(factors.iter().position(|&factor| factor == 4));
        if let Some(partner) = partner {
            let radix = 2 * factors[partner];
            factors.remove(two.max(partner));
            factors.remove(two.min(partner));
            factors.insert(0, radix);
        }
    }
    let mut prime = 7;
    while prime * prime <= length {
        while length.is_multiple_of(prime) {
            factors.push(prime);
            length /= prime;
        }
        prime += 2;
    }
    if length > 1 {
        factors.push(length);
    }
    factors
}

/// `exp(-2 pi i numerator / denominator)`.
fn root(numerator: usize, denominator: usize) -> Root {
    let angle = -TAU * (numerator % denominator) as f64 / denominator as f64;
    Root { cos: angle.cos() as f32, sin: angle.sin() as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::lanes::{LANES, Lanes};
    use rustfft::FftPlanner;
    use rustfft::num_complex::Complex as Reference;

    fn sample(n: usize, lane: usize, part: usize) -> f32 {
        ((n * n * 7 + lane * 13 + part * 29 + n * lane) % 101) as f32 - 50.0
    }

    #[test]
    fn every_length_gives_the_spectrum_of_every_lane() {
        let mut workspace = Workspace::default();
        for length in (1..=70).chain([81, 128, 270, 343, 384, 480, 223, 334, 509, 2 * 47]) {
            let lanes = |n: usize, part: usize| Lanes(std::array::from_fn(|lane| sample(n, lane, part)));
            let signals: Vec<Point> = (0..length).map(|n| Point { re: lanes(n, 0), im: lanes(n, 1) }).collect();
            let spectrum = Plan::new(length).forward(&Plain(&signals), &mut workspace);
            let fft = FftPlanner::<f64>::new().plan_fft_forward(length);
            for lane in 0..LANES {
                let point = |n| Reference::new(f64::from(sample(n, lane, 0)), f64::from(sample(n, lane, 1)));
                let mut expected: Vec<_> = (0..length).map(point).collect();
                fft.process(&mut expected);
                let scale = 50.0 * (length as f64).sqrt();
                for (k, expected) in expected.iter().enumerate() {
                    let actual = Reference::new(f64::from(spectrum[k].re.0[lane]), f64::from(spectrum[k].im.0[lane]));
                    let error = (actual - expected).norm() / scale;
                    assert!(error < 2e-6, "length {length}, lane {lane}, frequency {k}: error {error}");
                }
            }
        }
    }

    #[test]
    fn radices_are_few_and_multiply_to_the_length() {
        assert_eq!(factors(480), [6, 4, 4, 5]);
        assert_eq!(factors(270), [6, 3, 3, 5]);
        assert_eq!(factors(32), [8, 4]);
        for length in 1..2000 {
            assert_eq!(factors(length).iter().product::<usize>(), length);
        }
    }
}
