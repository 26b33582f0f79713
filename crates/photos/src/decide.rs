//! Which photo of a group to keep, and why.
//!
//! Photos of one scene share their content, so they are compared by what differs: sharpness of the subject,
//! exposure, noise and the score. How much each counts was fitted by `agenticiqa-fit scenes` to pairs of
//! which one was damaged on purpose. The intervals of the scores are of no use here: they cover
//! what people think of a scene, which is the same for both.

use std::sync::OnceLock;

use agenticiqa_vision::vocabulary::{Axis, Distortion, Problem};
use serde::{Deserialize, Serialize};

use crate::similar::Unusable;
use crate::study::{Detail, Study};

static MODEL: &str = include_str!("../models/better.json");

/// Subjects that overlap less are not the same thing.
const SAME_SUBJECT: f64 = 0.3;

/// What two photos of one scene are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Sharpness of the subject, or of the whole photo.
    Sharpness,
    /// Sharpness as the network sees it.
    Focus,
    /// Exposure.
    Exposure,
    /// Noise.
    Noise,
    /// The overall score.
    Score,
}

impl Aspect {
    /// All aspects, in the order of the weights.
    pub const ALL: [Self; 5] = [Self::Sharpness, Self::Focus, Self::Exposure, Self::Noise, Self::Score];
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The weight of each aspect, never negative.
    pub weights: [f64; 5],
    /// One of two photos is better for certain from this probability on.
    pub certain: f64,
}

impl Model {
    /// Returns the built-in model, which is read once per process.
    pub fn builtin() -> Result<&'static Self, Unusable> {
        static BUILTIN: OnceLock<Result<Model, Unusable>> = OnceLock::new();
        let read = || serde_json::from_str(MODEL).map_err(|error| Unusable::new(&error));
        BUILTIN.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Returns the probability that the first photo is the better one.
    pub fn probability(&self, one: &Merits, other: &Merits) -> f64 {
        let sum: f64 = self.weights.iter().zip(differences(one, other)).map(|(weight, by)| weight * by).sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// Returns the aspect that tells people why the first photo is better: the one in which it is
    /// better by most of what can be seen. The score says least, so it is the last resort.
    pub fn main_aspect(&self, one: &Merits, other: &Merits) -> Option<Aspect> {
        let differences = differences(one, other);
        let seen =
            Aspect::ALL.into_iter().zip(differences).zip(VISIBLE).map(|((aspect, by), least)| (aspect, by / least));
        let best = seen.filter(|(_, by)| *by >= 1.0).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(aspect, _)| aspect);
        best.or((differences[4] > 0.0).then_some(Aspect::Score))
    }
}

/// From this difference on an aspect is a reason: a tenth of the scale for sharpness and focus, an
/// eighth for exposure, a third more noise. Chosen by looking at bursts.
const VISIBLE: [f64; 4] = [0.4, 0.4, 0.5, 0.3];

/// What is compared of a photo; small, so that a million fit into memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Merits {
    /// The overall score.
    pub score: f64,
    /// Sharpness of the whole photo from 1 to 5; none without edges.
    pub whole: Option<f64>,
    /// Sharpness of the subject.
    pub subject: Option<SharpSubject>,
    /// Sharpness as the network sees it, from 1 to 5.
    pub focus: Option<f64>,
    /// How good the exposure is, from 1 to 5.
    pub exposure: f64,
    /// Noise in gray levels.
    pub noise: f64,
    /// The shares of black and of white pixels.
    pub clipped: [f64; 2],
    /// The fault that costs most, if it is worth a word.
    pub fault: Option<Problem>,
}

/// How sharp the subject is, and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct SharpSubject {
    /// Its class, if the detector knows it.
    pub class: Option<String>,
    /// Its place as shares of width and height.
    pub place: [f64; 4],
    /// Its sharpness from 1 to 5.
    pub sharpness: f64,
}

impl Merits {
    /// Takes what is compared from a study.
    pub fn of(study: &Study) -> Self {
        let axis = |axis: Axis| study.axes.get(&axis).map(|level| level.score);
        let Detail { noise, black, white, .. } = study.whole;
        let lost = study.cost(Distortion::Brightness) + 8.0 * white.min(0.25) + 2.0 * black.min(0.25);
        let subject = study.subject.as_ref().and_then(|subject| {
            let sharpness = subject.detail.sharpness()?;
            Some(SharpSubject { class: subject.class.clone(), place: subject.place, sharpness })
        });
        let worst = study.costs.first().filter(|cost| cost.cost >= 0.2);
        Self {
            score: study.score,
            whole: study.whole.sharpness(),
            subject,
            focus: axis(Axis::Sharpness),
            exposure: (axis(Axis::Exposure).unwrap_or(5.0) - lost).max(1.0),
            noise,
            clipped: [black, white],
            fault: worst.and_then(|cost| cost.problem),
        }
    }

    /// Returns the sharpness of both photos: of their subjects if they show the same one, or else of the
    /// whole photos, and the subject's class.
    pub fn sharpness<'a>(&'a self, other: &'a Self) -> Option<(f64, f64, Option<&'a str>)> {
        if let (Some(one), Some(two)) = (&self.subject, &other.subject)
            && one.class == two.class
            && overlap(one.place, two.place) >= SAME_SUBJECT
        {
            return Some((one.sharpness, two.sharpness, Some(one.class.as_deref().unwrap_or("subject"))));
        }
        Some((self.whole?, other.whole?, None))
    }
}

/// Returns by how much the first photo is better in each aspect.
pub fn differences(one: &Merits, other: &Merits) -> [f64; 5] {
    let sharpness = one.sharpness(other).map_or(0.0, |(one, other, _)| one - other);
    let focus = one.focus.zip(other.focus).map_or(0.0, |(one, other)| one - other);
    let noise = ((other.noise + 1.0) / (one.noise + 1.0)).ln();
    [sharpness, focus, one.exposure - other.exposure, noise, one.score - other.score]
}

/// Returns the share of the union of two places that both cover.
fn overlap(one: [f64; 4], other: [f64; 4]) -> f64 {
    let along = |at: usize| {
        let end = (one[at] + one[at + 2]).min(other[at] + other[at + 2]);
        (end - one[at].max(other[at])).max(0.0)
    };
    let both = along(0) * along(1);
    both / (one[2] * one[3] + other[2] * other[3] - both).max(f64::MIN_POSITIVE)
}

/// What to do with a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The best of its group, or alone.
    Keep,
    /// Another photo of the group is better for certain.
    Reject,
    /// No photo of the group is better or worse for certain.
    Unsure,
}

impl std::str::FromStr for Decision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Keep, Self::Reject, Self::Unsure];
        let known = all.into_iter().find(|decision| decision.name().eq_ignore_ascii_case(text.trim()));
        known.ok_or_else(|| format!("{text:?} is not keep, reject or unsure"))
    }
}

impl Decision {
    /// Returns the name of the decision.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Reject => "reject",
            Self::Unsure => "unsure",
        }
    }
}

/// Returns the index of the best of some photos, and what to do with each.
///
/// The best is the one with the highest sum of probabilities to be better than each other one, so a single
/// odd comparison does not decide. One of several copies of a file is kept, the others are rejected.
pub fn decide(merits: &[&Merits], digests: &[[u8; 32]], model: &Model) -> (usize, Vec<Decision>) {
    let wins = |one: usize| -> f64 {
        let others = (0..merits.len()).filter(|other| *other != one);
        others.map(|other| model.probability(merits[one], merits[other])).sum()
    };
    let wins: Vec<f64> = (0..merits.len()).map(wins).collect();
    let best = (0..merits.len()).fold(0, |best, one| if wins[one] > wins[best] + 1e-9 { one } else { best });
    let decision = |one: usize| match () {
        () if one == best => Decision::Keep,
        () if digests[..one].contains(&digests[one]) || digests[one] == digests[best] => Decision::Reject,
        () if model.probability(merits[best], merits[one]) >= model.certain => Decision::Reject,
        () => Decision::Unsure,
    };
    (best, (0..merits.len()).map(decision).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merits(sharpness: f64, noise: f64) -> Merits {
        Merits {
            score: 3.5,
            whole: Some(sharpness),
            subject: None,
            focus: None,
            exposure: 4.0,
            noise,
            clipped: [0.0; 2],
            fault: None,
        }
    }

    #[test]
    fn the_sharpest_is_kept_the_like_are_unsure_and_copies_are_rejected() {
        let model = Model { weights: [2.0, 1.0, 1.0, 1.0, 1.0], certain: 0.9 };
        let photos = [merits(4.0, 1.0), merits(4.1, 1.0), merits(2.0, 1.0), merits(4.1, 1.0)];
        let all: Vec<&Merits> = photos.iter().collect();
        let digests = [[1; 32], [2; 32], [3; 32], [2; 32]];
        let (best, decisions) = decide(&all, &digests, &model);
        assert_eq!(best, 1);
        use Decision::{Keep, Reject, Unsure};
        assert_eq!(decisions, [Unsure, Keep, Reject, Reject]);
        assert_eq!(model.main_aspect(&photos[1], &photos[2]), Some(Aspect::Sharpness));
        assert_eq!(model.main_aspect(&photos[2], &photos[1]), None);
    }

    #[test]
    fn subjects_are_compared_if_they_are_the_same() {
        let subject = |class: &str, left: f64, sharpness: f64| {
            Some(SharpSubject { class: Some(class.to_owned()), place: [left, 0.2, 0.3, 0.5], sharpness })
        };
        let bird = Merits { subject: subject("bird", 0.3, 4.1), ..merits(2.0, 1.0) };
        let moved = Merits { subject: subject("bird", 0.35, 2.8), ..merits(4.0, 1.0) };
        let cat = Merits { subject: subject("cat", 0.3, 2.8), ..merits(4.0, 1.0) };
        assert_eq!(bird.sharpness(&moved), Some((4.1, 2.8, Some("bird"))));
        assert_eq!(bird.sharpness(&cat), Some((2.0, 4.0, None)));
    }
}
