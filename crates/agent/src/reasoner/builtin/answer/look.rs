//! A position in steps that words can tell. The steps begin where claims become true, so that an
//! answer and the sentence after it agree.

use super::Look;
use super::scale::Position;
use super::truth::{PRESENT, start};
use crate::question::meaning::{Aspect, Kind};

/// How strong an amount is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    None,
    Slight,
    Moderate,
    Severe,
    Extreme,
}

impl Strength {
    /// Returns the step of an amount from 0 to 4.
    pub fn of(amount: f64) -> Self {
        match amount {
            amount if amount < PRESENT => Self::None,
            amount if amount < 1.4 => Self::Slight,
            amount if amount < 2.4 => Self::Moderate,
            amount if amount < 3.5 => Self::Severe,
            _ => Self::Extreme,
        }
    }
}

/// Returns what a position looks like; nothing for quality and damage, which have words of their own, and
/// where the direction is not known.
pub(crate) fn look(position: &Position) -> Option<Look> {
    if position.spread.is_infinite() {
        return None;
    }
    let value = position.value;
    let strength = Strength::of(value);
    let side = |far: f64| -> i8 {
        let near = start(position.aspect, value > 0.0);
        let size = i8::from(value.abs() >= near) + i8::from(value.abs() >= near.max(far));
        if value < 0.0 { -size } else { size }
    };
    Some(match position.aspect {
        Aspect::Sharpness => Look::Blur(strength, position.kind),
        Aspect::Noise => Look::Noise(strength),
        Aspect::Compression => Look::Compression(strength),
        Aspect::Haze => Look::Haze(strength),
        Aspect::Halos => Look::Halos(strength),
        Aspect::Cast => Look::Cast(strength, position.kind),
        Aspect::Light => Look::Light(side(1.2)),
        Aspect::Exposure => {
            let side = side(f64::INFINITY).signum();
            match (side, position.kind) {
                (0, Some(Kind::Backlight)) if position.fault >= 0.9 => Look::Backlit,
                (0, _) => Look::Exposure(0, if position.fault >= 0.9 { Strength::Moderate } else { Strength::None }),
                (side, _) => Look::Exposure(side, Strength::of(value.abs()).max(Strength::Slight)),
            }
        }
        Aspect::Contrast => Look::Contrast(side(f64::INFINITY).signum()),
        Aspect::Color => match position.kind {
            Some(Kind::Monochrome) => Look::Color(-2),
            Some(Kind::Oversaturated) => Look::Color(2),
            _ => Look::Color(side(f64::INFINITY).signum()),
        },
        Aspect::Mood => Look::Mood(side(f64::INFINITY).signum()),
        Aspect::Symmetry => Look::Symmetric(value >= 0.0),
        Aspect::Emphasis => {
            let share = position.measured.first().map_or(0.0, |share| share.value);
            Look::Place { centered: value >= start(Aspect::Emphasis, true), percent: share.round() as u8 }
        }
        Aspect::Quality
        | Aspect::Damage
        | Aspect::Hue
        | Aspect::Composition
        | Aspect::Beauty
        | Aspect::Origin
        | Aspect::Content => return None,
    })
}
