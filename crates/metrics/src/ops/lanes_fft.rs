//! Fourier transforms of eight signals at once.
//!
//! The eight signals lie side by side, one in each lane, so every step of the transform is the same plain arithmetic
//! on eight numbers: no shuffles, no fused operations, the same result on every machine. Lengths of small prime
//! factors run as Stockham stages, others through Bluestein's chirp.

use std::f64::consts::TAU;
use std::mem::swap;

use multiversion::multiversion;

use crate::ops::lanes::{LANES, Lanes};

/// Eight complex signals, real and imaginary parts apart.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    /// Real parts.
    pub re: Vec<Lanes>,
    /// Imaginary parts.
    pub im: Vec<Lanes>,
}

impl Signals {
    /// Eight signals of `length` zeros.
    pub fn new(length: usize) -> Self {
        Self { re: vec![Lanes::default(); length], im: vec![Lanes::default(); length] }
    }
}

/// The largest prime factor that has a stage of its own; beyond it the chirp is faster.
const LARGEST_STAGE: usize = 43;

/// What is needed to transform signals of one length.
#[derive(Debug, Clone)]
pub struct Plan {
    stages: Vec<Stage>,
    chirp: Option<Box<Chirp>>,
}

/// One Stockham stage: `groups` twiddled butterflies of `radix` inputs, each repeated for `stride` neighbours.
#[derive(Debug, Clone)]
struct Stage {
    radix: usize,
    stride: usize,
    /// `radix - 1` factors for each group.
    twiddles: Vec<[f32; 2]>,
    /// The `radix` roots of unity.
    roots: Vec<[f32; 2]>,
}

/// Bluestein's transform of any length as a circular convolution of a convenient one.
#[derive(Debug, Clone)]
struct Chirp {
    /// `exp(-i pi n^2 / length)`.
    chirp: Vec<[f32; 2]>,
    /// The spectrum of the conjugate chirp, divided by the length of the convolution.
    filter: Vec<[f32; 2]>,
    plan: Plan,
}

impl Plan {
    /// A plan for signals of `length` samples.
    pub fn new(length: usize) -> Self {
        let factors = factors(length);
        if factors.iter().any(|&factor| factor > LARGEST_STAGE) {
            return Self { stages: Vec::new(), chirp: Some(Box::new(Chirp::new(length))) };
        }
        let mut stages = Vec::with_capacity(factors.len());
        let (mut rest, mut stride) = (length, 1);
        for radix in factors {
            stages.push(Stage::new(radix, rest, stride));
            rest /= radix;
            stride *= radix;
        }
        Self { stages, chirp: None }
    }

    /// Replaces `signals` by their unnormalised spectra; exchange real and imaginary parts for the inverse.
    /// Both buffers have the plan's length; the content of `scratch` is lost.
    pub fn forward(&self, signals: &mut Signals, scratch: &mut Signals) {
        if let Some(chirp) = &self.chirp {
            chirp.forward(signals);
            return;
        }
        for stage in &self.stages {
            stage.run(signals, scratch);
            swap(signals, scratch);
        }
    }
}

/// The radices of `length`: fours first, then a two, then odd primes.
fn factors(mut length: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    for radix in [4, 2, 3, 5] {
        while length.is_multiple_of(radix) && length > 0 {
            factors.push(radix);
            length /= radix;
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
fn root(numerator: usize, denominator: usize) -> [f32; 2] {
    let angle = -TAU * (numerator % denominator) as f64 / denominator as f64;
    [angle.cos() as f32, angle.sin() as f32]
}

impl Stage {
    fn new(radix: usize, rest: usize, stride: usize) -> Self {
        let groups = rest / radix;
        let twiddles = (0..groups).flat_map(|group| (1..radix).map(move |k| root(group * k, rest))).collect();
        Self { radix, stride, twiddles, roots: (0..radix).map(|k| root(k, radix)).collect() }
    }

    fn run(&self, from: &Signals, to: &mut Signals) {
        match self.radix {
            2 => stage2(&self.twiddles, self.stride, from, to),
            3 => stage3(&self.twiddles, self.stride, from, to),
            4 => stage4(&self.twiddles, self.stride, from, to),
            5 => stage5(&self.twiddles, self.stride, from, to),
            _ => stage_any(self, from, to),
        }
    }
}

#[derive(Clone, Copy)]
struct Complex {
    re: Lanes,
    im: Lanes,
}

impl Complex {
    const ZERO: Self = Self { re: Lanes([0.0; LANES]), im: Lanes([0.0; LANES]) };

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }

    #[inline(always)]
    fn scale(self, factor: f32) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }

    #[inline(always)]
    fn times(self, [c, s]: [f32; 2]) -> Self {
        Self { re: self.re * c - self.im * s, im: self.re * s + self.im * c }
    }

    /// Times -i.
    #[inline(always)]
    fn turned(self) -> Self {
        Self { re: self.im, im: Lanes::default() - self.re }
    }
}

/// Runs `butterfly` on every group and neighbour, twiddles its outputs and stores them in Stockham's order.
#[inline(always)]
fn run_stage<const RADIX: usize>(
    twiddles: &[[f32; 2]],
    stride: usize,
    from: &Signals,
    to: &mut Signals,
    butterfly: impl Fn([Complex; RADIX]) -> [Complex; RADIX],
) {
    let length = from.re.len();
    let span = length / RADIX;
    let groups = span / stride.max(1);
    let inputs: [(&[Lanes], &[Lanes]); RADIX] =
        std::array::from_fn(|j| (&from.re[j * span..(j + 1) * span], &from.im[j * span..(j + 1) * span]));
    let outputs = to.re.chunks_exact_mut(RADIX * stride).zip(to.im.chunks_exact_mut(RADIX * stride));
    for (group, (out_re, out_im)) in (0..groups).zip(outputs) {
        let twiddles = &twiddles[group * (RADIX - 1)..(group + 1) * (RADIX - 1)];
        for neighbour in 0..stride {
            let index = group * stride + neighbour;
            let mut points = [Complex::ZERO; RADIX];
            for (point, (re, im)) in points.iter_mut().zip(inputs) {
                *point = Complex { re: re[index], im: im[index] };
            }
            let points = butterfly(points);
            out_re[neighbour] = points[0].re;
            out_im[neighbour] = points[0].im;
            for k in 1..RADIX {
                let point = points[k].times(twiddles[k - 1]);
                out_re[k * stride + neighbour] = point.re;
                out_im[k * stride + neighbour] = point.im;
            }
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn stage2(twiddles: &[[f32; 2]], stride: usize, from: &Signals, to: &mut Signals) {
    run_stage(twiddles, stride, from, to, |[a, b]| [a.add(b), a.sub(b)]);
}

#[multiversion(targets("x86_64+avx2"))]
fn stage3(twiddles: &[[f32; 2]], stride: usize, from: &Signals, to: &mut Signals) {
    const SIN: f32 = 0.866_025_4;
    run_stage(twiddles, stride, from, to, |[a, b, c]| {
        let (sum, difference) = (b.add(c), b.sub(c).turned().scale(SIN));
        let middle = a.sub(sum.scale(0.5));
        [a.add(sum), middle.add(difference), middle.sub(difference)]
    });
}

#[multiversion(targets("x86_64+avx2"))]
fn stage4(twiddles: &[[f32; 2]], stride: usize, from: &Signals, to: &mut Signals) {
    run_stage(twiddles, stride, from, to, |[a, b, c, d]| {
        let (even, odd) = (a.add(c), b.add(d));
        let (even_difference, odd_difference) = (a.sub(c), b.sub(d).turned());
        [even.add(odd), even_difference.add(odd_difference), even.sub(odd), even_difference.sub(odd_difference)]
    });
}

/// Radix 5 has more intermediate values than there are registers: written lane by lane, the compiler keeps the loop and
/// vectorises all of it.
#[multiversion(targets("x86_64+avx2"))]
fn stage5(twiddles: &[[f32; 2]], stride: usize, from: &Signals, to: &mut Signals) {
    let span = from.re.len() / 5;
    let part = |values: &'_ [Lanes], j: usize, index: usize| values[j * span + index].0;
    let outputs = to.re.chunks_exact_mut(5 * stride).zip(to.im.chunks_exact_mut(5 * stride));
    for ((group, (out_re, out_im)), twiddles) in outputs.enumerate().zip(twiddles.as_chunks::<4>().0) {
        for neighbour in 0..stride {
            let index = group * stride + neighbour;
            let (mut re, mut im) = ([[0.0; LANES]; 5], [[0.0; LANES]; 5]);
            for j in 0..5 {
                re[j] = part(&from.re, j, index);
                im[j] = part(&from.im, j, index);
            }
            butterfly5(&mut re, &mut im, twiddles);
            for k in 0..5 {
                out_re[k * stride + neighbour] = Lanes(re[k]);
                out_im[k * stride + neighbour] = Lanes(im[k]);
            }
        }
    }
}

#[inline(always)]
fn butterfly5(re: &mut [[f32; LANES]; 5], im: &mut [[f32; LANES]; 5], twiddles: &[[f32; 2]; 4]) {
    const COS: [f32; 2] = [0.309_017, -0.809_017];
    const SIN: [f32; 2] = [0.951_056_5, 0.587_785_25];
    for lane in 0..LANES {
        let (a, x) = (re[0][lane], im[0][lane]);
        let (outer, outer_im) = (re[1][lane] + re[4][lane], im[1][lane] + im[4][lane]);
        let (inner, inner_im) = (re[2][lane] + re[3][lane], im[2][lane] + im[3][lane]);
        // Differences times -i.
        let (turned, turned_im) = (im[1][lane] - im[4][lane], re[4][lane] - re[1][lane]);
        let (inner_turned, inner_turned_im) = (im[2][lane] - im[3][lane], re[3][lane] - re[2][lane]);
        let first = (a + COS[0] * outer + COS[1] * inner, x + COS[0] * outer_im + COS[1] * inner_im);
        let second = (a + COS[1] * outer + COS[0] * inner, x + COS[1] * outer_im + COS[0] * inner_im);
        let side = (SIN[0] * turned + SIN[1] * inner_turned, SIN[0] * turned_im + SIN[1] * inner_turned_im);
        let cross = (SIN[1] * turned - SIN[0] * inner_turned, SIN[1] * turned_im - SIN[0] * inner_turned_im);
        re[0][lane] = a + outer + inner;
        im[0][lane] = x + outer_im + inner_im;
        let points = [
            (first.0 + side.0, first.1 + side.1),
            (second.0 + cross.0, second.1 + cross.1),
            (second.0 - cross.0, second.1 - cross.1),
            (first.0 - side.0, first.1 - side.1),
        ];
        for k in 0..4 {
            let ([c, s], (real, imaginary)) = (twiddles[k], points[k]);
            re[k + 1][lane] = real * c - imaginary * s;
            im[k + 1][lane] = real * s + imaginary * c;
        }
    }
}

/// A stage of any odd radix, by the definition; outputs `k` and `radix - k` share their products.
#[multiversion(targets("x86_64+avx2"))]
fn stage_any(stage: &Stage, from: &Signals, to: &mut Signals) {
    let (radix, stride) = (stage.radix, stage.stride);
    let (span, half) = (from.re.len() / radix, radix / 2);
    let mut sums = vec![Complex::ZERO; half];
    let mut differences = vec![Complex::ZERO; half];
    for group in 0..span / stride {
        let twiddles = &stage.twiddles[group * (radix - 1)..(group + 1) * (radix - 1)];
        for neighbour in 0..stride {
            let input = |j: usize| {
                let index = j * span + group * stride + neighbour;
                Complex { re: from.re[index], im: from.im[index] }
            };
            let first = input(0);
            let mut total = first;
            for j in 0..half {
                let (low, high) = (input(j + 1), input(radix - 1 - j));
                sums[j] = low.add(high);
                differences[j] = low.sub(high).turned();
                total = total.add(sums[j]);
            }
            let mut store = |k: usize, value: Complex| {
                let index = (group * radix + k) * stride + neighbour;
                to.re[index] = value.re;
                to.im[index] = value.im;
            };
            store(0, total);
            for k in 1..=half {
                let (mut even, mut odd) = (first, Complex::ZERO);
                for j in 0..half {
                    let [cos, sin] = stage.roots[(j + 1) * k % radix];
                    even = even.add(sums[j].scale(cos));
                    odd = odd.sub(differences[j].scale(sin));
                }
                store(k, even.add(odd).times(twiddles[k - 1]));
                store(radix - k, even.sub(odd).times(twiddles[radix - k - 1]));
            }
        }
    }
}

impl Chirp {
    fn new(length: usize) -> Self {
        let size = (2 * length - 1..).find(|&size| factors(size).iter().all(|&factor| factor <= 5)).unwrap_or(length);
        let chirp: Vec<[f32; 2]> = (0..length).map(|n| root(n * n % (2 * length), 2 * length)).collect();
        let plan = Plan::new(size);
        let mut conjugate = Signals::new(size);
        for (n, &[c, s]) in chirp.iter().enumerate() {
            for index in [n, (size - n) % size] {
                conjugate.re[index] = Lanes::splat(c);
                conjugate.im[index] = Lanes::splat(-s);
            }
        }
        plan.forward(&mut conjugate, &mut Signals::new(size));
        let scale = 1.0 / size as f32;
        let filter =
            conjugate.re.iter().zip(&conjugate.im).map(|(re, im)| [re.0[0] * scale, im.0[0] * scale]).collect();
        Self { chirp, filter, plan }
    }

    fn forward(&self, signals: &mut Signals) {
        let size = self.filter.len();
        let (mut padded, mut scratch) = (Signals::new(size), Signals::new(size));
        multiply(&self.chirp, &signals.re, &signals.im, &mut padded.re, &mut padded.im);
        self.plan.forward(&mut padded, &mut scratch);
        multiply(&self.filter, &padded.re, &padded.im, &mut scratch.im, &mut scratch.re);
        self.plan.forward(&mut scratch, &mut padded);
        multiply(&self.chirp, &scratch.im, &scratch.re, &mut signals.re, &mut signals.im);
    }
}

/// `out = factors * (re + i im)` as far as there are factors.
#[multiversion(targets("x86_64+avx2"))]
fn multiply(factors: &[[f32; 2]], re: &[Lanes], im: &[Lanes], out_re: &mut [Lanes], out_im: &mut [Lanes]) {
    let inputs = factors.iter().zip(re).zip(im);
    for (((&factor, &re), &im), (out_re, out_im)) in inputs.zip(out_re.iter_mut().zip(out_im)) {
        let product = Complex { re, im }.times(factor);
        *out_re = product.re;
        *out_im = product.im;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustfft::FftPlanner;
    use rustfft::num_complex::Complex as Reference;

    fn sample(n: usize, lane: usize, part: usize) -> f32 {
        ((n * n * 7 + lane * 13 + part * 29 + n * lane) % 101) as f32 - 50.0
    }

    #[test]
    fn every_length_gives_the_spectrum_of_every_lane() {
        for length in (1..=70).chain([81, 128, 270, 343, 384, 480, 223, 334, 509, 2 * 47]) {
            let lanes = |n: usize, part: usize| Lanes(std::array::from_fn(|lane| sample(n, lane, part)));
            let mut signals = Signals::new(length);
            for n in 0..length {
                (signals.re[n], signals.im[n]) = (lanes(n, 0), lanes(n, 1));
            }
            Plan::new(length).forward(&mut signals, &mut Signals::new(length));
            let fft = FftPlanner::<f64>::new().plan_fft_forward(length);
            for lane in 0..LANES {
                let point = |n| Reference::new(f64::from(sample(n, lane, 0)), f64::from(sample(n, lane, 1)));
                let mut expected: Vec<_> = (0..length).map(point).collect();
                fft.process(&mut expected);
                let scale = 50.0 * (length as f64).sqrt();
                for (k, expected) in expected.iter().enumerate() {
                    let actual = Reference::new(f64::from(signals.re[k].0[lane]), f64::from(signals.im[k].0[lane]));
                    let error = (actual - expected).norm() / scale;
                    assert!(error < 2e-6, "length {length}, lane {lane}, frequency {k}: error {error}");
                }
            }
        }
    }
}
