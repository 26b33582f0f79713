//! A score as a sum: what a clean image would get, minus what each fault costs, plus a rest.
//!
//! [`parts`] says what each distortion of an [`Examination`] costs, from its level and from the
//! probability that it is the main problem. The weights are never negative, so more damage never costs
//! less. They were fitted (`agenticiqa-fit contributions`) to the scores of photos, and to the fall of
//! the score when a clean photo is damaged on purpose; the spread of those falls gives the interval.
//! What the costs leave open is content, composition, and what the model sees but cannot name.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::attributes::Problems;
use crate::fused_nr::Reading;
use crate::perception::{Examination, Finding};
use crate::vocabulary::{Cost, Distortion, ScoreParts, Severity};

/// The fitted weights.
static WEIGHTS: &str = include_str!("../models/contributions.json");

/// The weights of one way to score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The score of an image in which nothing is found.
    pub clean: f64,
    /// The weights of each category.
    pub terms: BTreeMap<Distortion, Term>,
}

/// The weights of one category.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// What one level costs.
    pub level: f64,
    /// What one level costs in addition if this is the main problem.
    pub main: f64,
    /// The 5% and 95% quantiles of measured falls, divided by the cost.
    pub spread: [f64; 2],
}

/// The weights of both ways to score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Without a reference.
    pub alone: Weights,
    /// With a reference.
    pub compared: Weights,
}

/// The reason why the built-in weights cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the weights of contributions cannot be used: {0}")]
pub struct Unusable(String);

/// Returns the built-in weights, which are read once per process.
pub fn builtin() -> Result<&'static Model, Unusable> {
    static MODEL: OnceLock<Result<Model, Unusable>> = OnceLock::new();
    let read = || serde_json::from_str(WEIGHTS).map_err(|error| Unusable(error.to_string()));
    MODEL.get_or_init(read).as_ref().map_err(Clone::clone)
}

/// Returns the parts of the score of an image. `reading` is what [`fused_nr`](crate::fused_nr) says of an
/// image without a reference.
pub fn parts(examination: &Examination, reading: Option<&Reading>) -> Result<ScoreParts, Unusable> {
    let weights = if reading.is_some() { &builtin()?.alone } else { &builtin()?.compared };
    let mut costs: Vec<Cost> = numbers(examination, reading)
        .into_iter()
        .filter_map(|(finding, level, main)| {
            let term = weights.terms.get(&finding.category)?;
            let cost = term.level * level + term.main * main;
            let interval = term.spread.map(|factor| factor * cost);
            Some(Cost { distortion: finding.category, problem: finding.problem(), cost, interval })
        })
        .collect();
    costs.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    Ok(ScoreParts { clean: weights.clean, costs })
}

/// Returns what the costs are computed from: each found distortion with its level, and with the level
/// times the probability that it is the main problem.
pub fn numbers<'a>(examination: &'a Examination, reading: Option<&Reading>) -> Vec<(&'a Finding, f64, f64)> {
    let problems = reading.map(Problems::of);
    let found = examination.findings.iter().filter(|finding| finding.severity > Severity::None);
    found
        .map(|finding| {
            let share = problems.as_ref().map_or(0.0, |problems| problems.share(finding.category));
            (finding, finding.level, finding.level * share)
        })
        .collect()
}
