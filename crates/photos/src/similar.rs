//! Whether two photos show the same scene.
//!
//! A logistic model of four differences of [`Signature`]s, fitted by `agenticiqa-fit scenes` to pairs made
//! from photos: crops, exposures, small moves and blur of one scene against other scenes. `docs/culling.md`
//! has its precision and recall.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::signature::{Signature, VIEW};

static MODEL: &str = include_str!("../models/scenes.json");

/// Number of differences of a pair.
pub const DIFFERENCES: usize = 4;
/// Views are compared at shifts of up to this many of their 16 parts.
const SHIFT: usize = 3;

/// The fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Constant term.
    pub bias: f64,
    /// Weight of each difference.
    pub weights: [f64; DIFFERENCES],
    /// Photos show the same scene from this probability on ...
    pub alike: f64,
    /// ... or from this one on if they were taken within seconds of each other.
    pub burst: f64,
    /// What the network sees in a typical photo, on the scale of a unit vector times 1000.
    pub center: Vec<i32>,
}

/// The reason why the built-in model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model of scenes cannot be used: {0}")]
pub struct Unusable(String);

impl Unusable {
    pub(crate) fn new(reason: &dyn std::fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

impl Model {
    /// Returns the built-in model, which is read once per process.
    pub fn builtin() -> Result<&'static Self, Unusable> {
        static BUILTIN: OnceLock<Result<Model, Unusable>> = OnceLock::new();
        let read = || serde_json::from_str(MODEL).map_err(|error| Unusable(error.to_string()));
        BUILTIN.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Returns the differences of two signatures; 0 is none.
    pub fn differences(&self, one: &Signature, other: &Signature) -> [f64; DIFFERENCES] {
        let [bits, colors] = quick(one, other);
        let seen = 1.0 - cosine(&self.centered(one), &self.centered(other));
        [bits, 1.0 - correlation(&one.view, &other.view), colors, seen]
    }

    /// Returns the probability that two photos show the same scene.
    pub fn probability(&self, one: &Signature, other: &Signature) -> f64 {
        let differences = self.differences(one, other);
        let sum: f64 = self.weights.iter().zip(differences).map(|(weight, difference)| weight * difference).sum();
        1.0 / (1.0 + (-(self.bias + sum)).exp())
    }

    /// Returns whether two photos may reach a probability, by the two differences that are computed at once.
    /// Most pairs of a folder do not.
    pub fn may_reach(&self, one: &Signature, other: &Signature, least: f64) -> bool {
        let [bits, colors] = quick(one, other);
        let most = self.bias + self.weights[0] * bits + self.weights[2] * colors;
        1.0 / (1.0 + (-most).exp()) >= least
    }

    fn centered(&self, signature: &Signature) -> Vec<f64> {
        let unit = unit(signature.seen.iter().map(|value| f64::from(*value)).collect());
        let center = self.center.iter().map(|value| f64::from(*value) / 1000.0).chain(std::iter::repeat(0.0));
        unit.into_iter().zip(center).map(|(value, center)| value - center).collect()
    }
}

/// Returns the differences of the hashes and of the colors.
fn quick(one: &Signature, other: &Signature) -> [f64; 2] {
    let bits = f64::from((one.hash ^ other.hash).count_ones()) / 64.0;
    let apart = one.colors.iter().zip(&other.colors).map(|(a, b)| i64::from(a.abs_diff(*b)));
    [bits, apart.sum::<i64>() as f64 / (32.0 * one.colors.len() as f64)]
}

/// Scales a vector to length 1.
pub fn unit(mut values: Vec<f64>) -> Vec<f64> {
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    values.iter_mut().for_each(|value| *value /= length);
    values
}

fn cosine(one: &[f64], other: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt().max(f64::MIN_POSITIVE)
}

/// Returns the highest correlation of two views at small shifts.
fn correlation(one: &[u8; VIEW * VIEW], other: &[u8; VIEW * VIEW]) -> f64 {
    let shifts = 0..=2 * SHIFT;
    let pairs = shifts.clone().flat_map(|down| shifts.clone().map(move |across| (across, down)));
    pairs.map(|(across, down)| shifted(one, other, across, down)).fold(-1.0, f64::max)
}

/// Returns the correlation where `other`, shifted by up to [`SHIFT`] parts each way, covers `one`.
fn shifted(one: &[u8; VIEW * VIEW], other: &[u8; VIEW * VIEW], across: usize, down: usize) -> f64 {
    let range = |shift: usize| (shift.saturating_sub(SHIFT), SHIFT.saturating_sub(shift));
    let ((left, other_left), (top, other_top)) = (range(across), range(down));
    let (width, height) = (VIEW - left.max(other_left), VIEW - top.max(other_top));
    // Whole numbers: exact, and fast enough for every pair of a burst.
    let (mut a, mut b, mut aa, mut bb, mut ab) = (0i64, 0i64, 0i64, 0i64, 0i64);
    for y in 0..height {
        let row = &one[(top + y) * VIEW + left..][..width];
        let other_row = &other[(other_top + y) * VIEW + other_left..][..width];
        for (x, z) in row.iter().zip(other_row) {
            let (x, z) = (i64::from(*x), i64::from(*z));
            (a, b, aa, bb, ab) = (a + x, b + z, aa + x * x, bb + z * z, ab + x * z);
        }
    }
    let count = (width * height) as i64;
    let (one, other) = (count * aa - a * a, count * bb - b * b);
    if one == 0 || other == 0 {
        // Flat views have no pattern to compare: alike if both are.
        return if one == other { 1.0 } else { 0.0 };
    }
    (count * ab - a * b) as f64 / ((one as f64) * (other as f64)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shifted_view_is_found_and_another_is_not() {
        let view = |dx: usize| -> [u8; VIEW * VIEW] {
            std::array::from_fn(|at| {
                let (x, y) = (at % VIEW + dx, at / VIEW);
                ((x * 37 + y * 91 + x * y * 13) % 199) as u8
            })
        };
        assert!((correlation(&view(0), &view(0)) - 1.0).abs() < 1e-12);
        assert!((correlation(&view(0), &view(2)) - 1.0).abs() < 1e-12);
        assert!((correlation(&view(2), &view(0)) - 1.0).abs() < 1e-12);
        assert!(correlation(&view(0), &view(40)) < 0.6);
        assert_eq!(correlation(&[7; 256], &[9; 256]), 1.0);
        assert_eq!(correlation(&[7; 256], &view(0)), 0.0);
    }
}
