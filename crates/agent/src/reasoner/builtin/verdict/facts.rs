//! What is known about an image: its level, its faults, and how sure that is.

use std::collections::BTreeMap;

use super::super::conclusion::Case;
use crate::fusion::{Fusion, counted};
use crate::state::{
    Attribute, Axis, Distortion, GLOBAL, Interval, Problem, QualityLevel, Score, ScoreParts, Severity, Text,
};

/// Scores of tools that differ by more disagree.
const DISAGREE: f64 = 1.0;

/// A fault of the image.
#[derive(Debug)]
pub(super) struct Fault<'a> {
    /// The category.
    pub distortion: Distortion,
    /// The problem, if it is one that photos have.
    pub problem: Option<Problem>,
    /// How severe it is.
    pub severity: Severity,
    /// Levels of the score that it costs.
    pub cost: f64,
    /// Whether mending it does not raise the score.
    pub doubtful: bool,
    /// The measurements, in English.
    pub explanation: &'a str,
    /// The attribute that shows it.
    pub shown: Option<&'a Attribute>,
    /// The JSON pointer to the evidence.
    pub pointer: String,
}

/// How sure the level is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The interval has one level.
    Sure,
    /// The interval has a second level.
    Or(QualityLevel),
    /// The image is unlike the photos that the score was fitted to.
    Unlike,
    /// The tools that count disagree.
    Disagreement,
    /// Opinions of such images differ by more than a level.
    Opinions,
}

/// What is known about an image or an object.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    /// The name of the object; nothing for the whole image.
    pub subject: Option<String>,
    /// The score.
    pub score: f64,
    /// Its level.
    pub level: QualityLevel,
    /// Its interval.
    pub interval: Option<Interval>,
    /// How sure the level is.
    pub certainty: Certainty,
    /// The faults, most expensive first.
    pub faults: Vec<Fault<'a>>,
    /// What the faults do not explain.
    pub rest: f64,
    /// Pointers to the runs of the tools that determine the score, and their names.
    pub carriers: Vec<(String, &'a str)>,
}

impl<'a> Facts<'a> {
    /// Collects the facts about the only object of the question. Nothing is returned without a score or
    /// without parts of it.
    pub fn of(case: &Case<'a>, levels: Option<&[f64; 5]>) -> Option<Self> {
        let scope = case.plan.query_scope.names();
        let [object] = scope[..] else { return None };
        let estimate = case.fused?.fused(&Fusion::default(), levels);
        let score = Score::new(estimate.score).ok()?;
        let parts = case.evidence.score_parts.as_ref()?.get(object)?;
        let faults = faults(case, object, parts);
        let named: f64 = parts.costs.iter().map(|cost| cost.cost).sum();
        let carriers = counted(case.evidence, case.registry);
        let logs = case.evidence.tool_logs.iter().enumerate();
        let carriers = logs.filter(|(_, log)| carriers.iter().any(|one| std::ptr::eq(*one, *log)));
        Some(Self {
            subject: (object != GLOBAL).then(|| object.to_owned()),
            score: score.value(),
            level: QualityLevel::of(score),
            interval: estimate.interval,
            certainty: certainty(case, object, score, estimate.interval),
            faults,
            rest: score.value() - parts.clean + named,
            carriers: carriers.map(|(place, log)| (format!("/tool_logs/{place}"), log.tool_name.as_str())).collect(),
        })
    }
}

fn faults<'a>(case: &Case<'a>, object: &str, parts: &ScoreParts) -> Vec<Fault<'a>> {
    let doubted = |problem: Problem| {
        let what_ifs = case.evidence.what_if.as_ref().and_then(|all| all.get(object));
        what_ifs.is_some_and(|all| all.tried.iter().any(|tried| tried.problem == problem && tried.doubtful))
    };
    let attributes: Option<&'a BTreeMap<Axis, Attribute>> =
        case.evidence.attributes.as_ref().and_then(|all| all.get(object));
    let analyses = case.evidence.distortion_analysis.as_ref().and_then(|all| all.get(object)).into_iter().flatten();
    let mut faults: Vec<Fault<'a>> = analyses
        .enumerate()
        .filter(|(_, analysis)| analysis.severity > Severity::None)
        .map(|(place, analysis)| {
            let cost = parts.costs.iter().find(|cost| cost.distortion == analysis.distortion);
            let problem = cost.and_then(|cost| cost.problem);
            Fault {
                distortion: analysis.distortion,
                problem,
                severity: analysis.severity,
                cost: cost.map_or(0.0, |cost| cost.cost),
                doubtful: problem.is_some_and(doubted),
                explanation: analysis.explanation.as_str(),
                shown: problem.and_then(Problem::axis).and_then(|axis| attributes?.get(&axis)),
                pointer: pointer(object, place),
            }
        })
        .collect();
    faults.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    faults
}

fn pointer(object: &str, place: usize) -> String {
    format!("/distortion_analysis/{}/{place}", object.replace('~', "~0").replace('/', "~1"))
}

fn certainty(case: &Case<'_>, object: &str, score: Score, interval: Option<Interval>) -> Certainty {
    let own = QualityLevel::of(score);
    let (first, last) = interval.map_or((own, own), |interval| interval.open_levels(score));
    if first == last {
        return Certainty::Sure;
    }
    let attributes = case.evidence.attributes.as_ref().and_then(|all| all.get(object));
    let unlike = |one: &Attribute| one.reason.as_ref().map(Text::as_str).is_some_and(|why| why.contains("unlike"));
    if attributes.is_some_and(|all| all.values().any(unlike)) {
        return Certainty::Unlike;
    }
    let runs = counted(case.evidence, case.registry);
    let scores: Vec<f64> = runs.iter().filter_map(|log| Some(log.normalized_score?.value())).collect();
    let (least, most) = scores.iter().fold((5.0_f64, 1.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
    match () {
        () if most - least > DISAGREE => Certainty::Disagreement,
        () if last.number() - first.number() > 1 => Certainty::Opinions,
        () => Certainty::Or(if first == own { last } else { first }),
    }
}
