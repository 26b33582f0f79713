//! How likely a claim is true, given where the image lies on its aspect.

use super::scale::Position;
use crate::question::meaning::{Aspect, Claim, Degree, Kind, Pole};

/// From this probability on, an answer is "yes" without "probably".
pub(crate) const SURE: f64 = 0.75;
/// From this amount on, something is there.
pub(crate) const PRESENT: f64 = 0.65;
/// Probabilities this close to one half decide nothing.
const OPEN: f64 = 0.03;

/// An answer to a yes-or-no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Yes,
    Probably,
    Open,
    ProbablyNot,
    No,
}

impl Verdict {
    /// Returns the verdict for a probability.
    pub fn of(probability: f64) -> Self {
        match probability {
            p if (p - 0.5).abs() < OPEN => Self::Open,
            p if p >= SURE => Self::Yes,
            p if p > 0.5 => Self::Probably,
            p if p <= 1.0 - SURE => Self::No,
            _ => Self::ProbablyNot,
        }
    }
}

/// Returns the probability that a claim is true.
pub(crate) fn probability(claim: &Claim, position: &Position) -> f64 {
    let true_as_said = affirmed(claim, position);
    if claim.denied { 1.0 - true_as_said } else { true_as_said }
}

fn affirmed(claim: &Claim, position: &Position) -> f64 {
    let above = |value: f64, limit: f64| 1.0 / (1.0 + (-(value - limit) / position.spread).exp());
    let below = |value: f64, limit: f64| 1.0 - above(value, limit);
    // How much is wrong may be known where the direction is not.
    let faulty = |limit: f64| 1.0 / (1.0 + (-(position.fault - limit) / position.spread.min(0.3)).exp());
    let pole = claim.pole.unwrap_or(Pole::Good);
    let value = position.value;
    match claim.aspect {
        Aspect::Quality => match (pole, claim.degree) {
            (Pole::High | Pole::Good, Some(Degree::Strong | Degree::Extreme)) => above(value, 4.2),
            (Pole::High | Pole::Good, Some(Degree::Moderate | Degree::Enough)) => above(value, 3.0),
            (Pole::High | Pole::Good, _) => above(value, 3.5),
            (Pole::Middle, _) => above(value, 2.5),
            (Pole::Low | Pole::Fault, Some(Degree::Strong | Degree::Severe | Degree::Extreme)) => below(value, 1.8),
            (Pole::Low | Pole::Fault, _) => below(value, 2.5),
        },
        Aspect::Sharpness => amount(claim, position, pole == Pole::Low || pole == Pole::Fault, value),
        aspect if Claim::is_amount(aspect) => amount(claim, position, pole == Pole::High || pole == Pole::Fault, value),
        _ => match pole {
            Pole::Good if claim.aspect == Aspect::Light => (1.0 - faulty(1.1)) * above(value, -0.9),
            Pole::Good => 1.0 - faulty(1.2),
            Pole::Fault if claim.kind == Some(Kind::Backlight) => {
                if position.kind == Some(Kind::Backlight) {
                    faulty(1.0)
                } else {
                    0.08
                }
            }
            Pole::Fault => faulty(0.9),
            Pole::Middle => below(value.abs(), middle(claim.aspect)),
            Pole::High => side(claim, position, value, &above),
            Pole::Low => side(claim, position, -value, &above),
        },
    }
}

/// A claim about one side of an aspect with two sides; `value` grows toward the side.
fn side(claim: &Claim, position: &Position, value: f64, above: &impl Fn(f64, f64) -> f64) -> f64 {
    if claim.kind == Some(Kind::Monochrome) {
        return if position.kind == Some(Kind::Monochrome) { 0.95 } else { above(value, 1.6) };
    }
    if claim.kind == Some(Kind::Oversaturated) {
        return if position.kind == Some(Kind::Oversaturated) {
            above(position.fault, 0.7)
        } else {
            0.4 * above(value, 1.5)
        };
    }
    let plain = start(claim.aspect, claim.pole == Some(Pole::High));
    let exposure = claim.aspect == Aspect::Exposure;
    let unit = if exposure { 1.0 } else { 0.5 };
    match claim.degree {
        None | Some(Degree::Enough) => above(value, plain),
        Some(Degree::Any) => above(value, if exposure { 0.6 } else { plain }),
        Some(Degree::Slight) => above(value, 0.5 * plain) * (1.0 - above(value, plain + 1.8 * unit)),
        Some(Degree::Moderate) => above(value, plain + 0.2 * unit),
        Some(Degree::Too) => above(value, if exposure { plain } else { plain + 0.6 }),
        Some(Degree::Strong) => above(value, plain + unit),
        Some(Degree::Severe) => above(value, plain + 1.5 * unit),
        Some(Degree::Extreme) => above(value, plain + 2.2 * unit),
    }
}

/// Where one side of an aspect begins.
pub(crate) fn start(aspect: Aspect, high: bool) -> f64 {
    match (aspect, high) {
        (Aspect::Exposure, _) => 0.85,
        (Aspect::Light, true) => 0.45,
        (Aspect::Light, false) => 0.5,
        (Aspect::Color, true) => 0.45,
        (Aspect::Color, false) => 0.6,
        (Aspect::Mood, _) => 0.2,
        (Aspect::Symmetry, _) => 0.0,
        (Aspect::Emphasis, _) => 0.3,
        _ => 0.6,
    }
}

fn middle(aspect: Aspect) -> f64 {
    match aspect {
        Aspect::Exposure => 0.9,
        _ => 0.7,
    }
}

/// A claim that an amount is there, or that it is not.
fn amount(claim: &Claim, position: &Position, present: bool, value: f64) -> f64 {
    let above = |value: f64, limit: f64| 1.0 / (1.0 + (-(value - limit) / position.spread).exp());
    if claim.pole == Some(Pole::Middle) {
        return 1.0 - above(value, 2.0);
    }
    if present {
        let value = value * likeness(claim, position);
        return match claim.degree {
            None => above(value, PRESENT),
            Some(Degree::Any | Degree::Enough) => above(value, 0.6),
            Some(Degree::Slight) => above(value, 0.6) * (1.0 - above(value, 2.4)),
            Some(Degree::Moderate) => above(value, 1.2),
            Some(Degree::Too) => above(value, 1.3),
            Some(Degree::Strong) => above(value, 1.6),
            Some(Degree::Severe) => above(value, 2.5),
            Some(Degree::Extreme) => above(value, 3.3),
        };
    }
    let limit = match claim.degree {
        Some(Degree::Extreme | Degree::Any) => 0.6,
        Some(Degree::Strong) => 0.9,
        Some(Degree::Moderate | Degree::Slight) => 1.9,
        Some(Degree::Enough) => 1.6,
        _ if claim.pole == Some(Pole::Good) => 1.4,
        _ => 1.2,
    };
    1.0 - above(value, limit)
}

/// The share of an amount that is of the claimed variety.
pub(crate) fn likeness(claim: &Claim, position: &Position) -> f64 {
    match (claim.kind, position.kind) {
        (None, _) => 1.0,
        (Some(one), Some(other)) if one == other => 1.0,
        (Some(Kind::RareBlur | Kind::Impulse | Kind::ColorNoise | Kind::Banding | Kind::Ringing), _) => 0.25,
        (Some(Kind::Motion), None) => 0.45,
        (Some(Kind::Grain | Kind::Blocks | Kind::Defocus), None) => 0.85,
        (Some(Kind::Defocus), Some(_)) => 0.4,
        (Some(_), Some(_)) => 0.2,
        (Some(_), None) => 0.4,
    }
}
