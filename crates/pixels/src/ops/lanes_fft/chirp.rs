//! Bluestein's transform: a transform of any length as a circular convolution of a convenient
//! length.

use archmage::prelude::*;

use super::butterflies::{Point, Root, Value};
use super::{Plain, Plan, Workspace, factors, root};
use crate::ops::lanes::Lanes;

/// A plan for signals of one length.
#[derive(Debug, Clone)]
pub struct Chirp {
    /// `exp(-i pi n^2 / length)`.
    chirp: Vec<Root>,
    /// The spectrum of the conjugate chirp, divided by the length of the convolution.
    filter: Vec<Root>,
    plan: Plan,
}

impl Chirp {
    /// Creates a plan for `length` samples.
    pub fn new(length: usize) -> Self {
        let size = (2 * length - 1..).find(|&size| factors(size).iter().all(|&factor| factor <= 8)).unwrap_or(length);
        let chirp: Vec<Root> = (0..length).map(|n| root(n * n % (2 * length), 2 * length)).collect();
        let plan = Plan::new(size);
        let mut conjugate = vec![Point::default(); size];
        for (n, &Root { cos, sin }) in chirp.iter().enumerate() {
            for index in [n, (size - n) % size] {
                conjugate[index] = Point { re: Lanes::splat(cos), im: Lanes::splat(-sin) };
            }
        }
        let scale = 1.0 / size as f32;
        let mut workspace = Workspace::default();
        let spectrum = plan.forward(&Plain(&conjugate), &mut workspace);
        let filter = spectrum.iter().map(|p| Root { cos: p.re.0[0] * scale, sin: p.im.0[0] * scale }).collect();
        Self { chirp, filter, plan }
    }

    /// Replaces `signals` by their unnormalized spectra.
    pub fn forward(&self, signals: &mut [Point]) {
        let mut padded = vec![Point::default(); self.filter.len()];
        let mut workspace = Workspace::default();
        multiply(&self.chirp, signals, &mut padded);
        let spectrum = self.plan.forward(&Plain(&padded), &mut workspace);
        multiply(&self.filter, spectrum, &mut padded);
        // Swapping real and imaginary parts turns the transform into its inverse.
        padded.iter_mut().for_each(|point| std::mem::swap(&mut point.re, &mut point.im));
        let convolved = self.plan.forward(&Plain(&padded), &mut workspace);
        padded.iter_mut().zip(convolved).for_each(|(out, point)| *out = Point { re: point.im, im: point.re });
        multiply(&self.chirp, &padded, signals);
    }
}

/// Writes `factors * values` to `out`, as far as there are factors.
fn multiply(factors: &[Root], values: &[Point], out: &mut [Point]) {
    incant!(products(factors, values, out), [v3, neon, wasm128, scalar]);
}

#[magetypes(v3, neon, wasm128, scalar)]
fn products(token: Token, factors: &[Root], values: &[Point], out: &mut [Point]) {
    for ((&factor, value), out) in factors.iter().zip(values).zip(out) {
        Value::load(token, value).times(factor).store(out);
    }
}
