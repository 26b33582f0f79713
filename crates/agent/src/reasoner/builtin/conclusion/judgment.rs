//! Judges what the evidence says about the question: yes or no, how much, which part, which
//! distortion.

use super::super::intent::{Extreme, extreme};
use super::super::lexicon::{Mention, degree};
use super::super::planner::terms_of;
use super::findings::{Finding, Findings};
use super::wording::Wording;
use crate::fusion::Estimate;
use crate::language::{List, Sense};
use crate::question::words::{Word, contains_listed, words};
use crate::state::{Distortion, QualityLevel, Score, Severity};

/// The answer of the evidence to a question, in words, with JSON pointers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgment {
    /// Whether the claim of a yes-or-no question is true.
    pub holds: Option<bool>,
    /// Whether the score is too uncertain for yes or no.
    pub undecided: bool,
    /// The severity that the question is about, from 0 to 4.
    pub damage: Option<f64>,
    /// The finding in words, without an initial capital or a full stop.
    pub text: String,
    /// JSON pointers to the evidence.
    pub pointers: Vec<String>,
}

/// Returns whether the claim of a yes-or-no question is true, or nothing if the evidence does not
/// decide it.
///
/// A defect is present from "slight" on; "very" requires "moderate" and "severely" requires
/// "severe". A virtue such as "sharp" holds up to "slight"; "perfectly" requires "none". The
/// overall quality is good from 3.5 on, acceptable from 2.5 on and bad below 2.5.
pub(super) fn truth(
    question: &str,
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
) -> Option<Judgment> {
    let words = words(question);
    let terms = terms_of(question);
    if terms.is_empty() {
        return truth_of_whole(&words, findings, overall, wording);
    }
    if let Some(comparison) = comparison(&words, &terms, findings, wording) {
        return Some(comparison);
    }
    let mut holds = true;
    let (mut texts, mut pointers, mut damage) = (Vec::new(), Vec::new(), 0.0_f64);
    for term in &terms {
        let finding = findings.worst(&findings.scope, term.term.distortions)?;
        holds &= claim_holds(&words, term, &finding);
        damage = damage.max(f64::from(finding.severity as u8));
        if !pointers.contains(&finding.pointer) {
            let unknown =
                term.term.direction.is_some() && finding.severity > Severity::None && finding.direction().is_none();
            texts.push(wording.found(&finding) + if unknown { wording.phrases().direction_unknown() } else { "" });
            pointers.push(finding.pointer);
        }
    }
    let text = texts.join(wording.phrases().between_clauses());
    Some(Judgment { holds: Some(holds), undecided: false, damage: Some(damage), text, pointers })
}

fn claim_holds(words: &[Word<'_>], term: &Mention, finding: &Finding<'_>) -> bool {
    let says = |list: List| contains_listed(words, list);
    let bad = || says(|lexicon| lexicon.judgment.bad) && !says(|lexicon| lexicon.judgment.not_bad);
    let sense = match term.sense() {
        Sense::Property if bad() => Sense::Defect,
        Sense::Property => Sense::Virtue,
        sense => sense,
    };
    if sense == Sense::Virtue {
        let strict = says(|lexicon| lexicon.judgment.strictly);
        return finding.severity <= if strict { Severity::None } else { Severity::Slight };
    }
    let threshold = if says(|lexicon| lexicon.judgment.severely) {
        Severity::Severe
    } else if says(|lexicon| lexicon.judgment.very) {
        Severity::Moderate
    } else {
        Severity::Slight
    };
    let other_way = match (term.term.direction.filter(|_| !term.denied), finding.direction()) {
        (Some(asked), Some(found)) => asked != found,
        _ => false,
    };
    finding.severity >= threshold && !other_way
}

/// "Is the foreground sharper than the background?": compares the first object with the second.
fn comparison(words: &[Word<'_>], terms: &[Mention], findings: &Findings<'_>, wording: Wording) -> Option<Judgment> {
    let [first, second] = findings.scope[..] else { return None };
    if !contains_listed(words, |lexicon| lexicon.judgment.than) {
        return None;
    }
    let term = terms.first()?;
    let one = findings.worst(&[first], term.term.distortions)?;
    let two = findings.worst(&[second], term.term.distortions)?;
    let holds = if term.sense() == Sense::Defect { one.severity > two.severity } else { one.severity < two.severity };
    let text = [wording.found(&one), wording.found(&two)].join(wording.phrases().between_clauses());
    let damage = f64::from(one.severity.max(two.severity) as u8);
    Some(Judgment {
        holds: Some(holds),
        undecided: false,
        damage: Some(damage),
        text,
        pointers: vec![one.pointer, two.pointer],
    })
}

/// "Is the quality good?", "Is there any distortion?"
fn truth_of_whole(
    words: &[Word<'_>],
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
) -> Option<Judgment> {
    let says = |list: List| contains_listed(words, list);
    if says(|lexicon| lexicon.judgment.damage) {
        let damage = findings.greatest_damage()?;
        let denied = says(|lexicon| lexicon.judgment.without) && !says(|lexicon| lexicon.judgment.whether);
        let judgment = worst_distortions(findings, wording)?;
        return Some(Judgment { holds: Some((damage >= 1.0) != denied), damage: Some(damage), ..judgment });
    }
    let overall = overall?;
    let (limit, above) = if says(|lexicon| lexicon.judgment.tolerable) {
        (2.5, true)
    } else if says(|lexicon| lexicon.judgment.bad) {
        (2.5, false)
    } else if says(|lexicon| lexicon.judgment.good) {
        (3.5, true)
    } else {
        return None;
    };
    let judgment = quality(findings, overall, wording);
    let undecided = overall.interval.is_some_and(|interval| interval.holds(limit)) && open(overall).is_some();
    Some(Judgment { holds: Some((overall.score >= limit) == above), undecided, ..judgment })
}

/// The overall quality, in words.
pub(super) fn quality(findings: &Findings<'_>, overall: Estimate, wording: Wording) -> Judgment {
    let level = match open(overall) {
        Some((first, last)) => wording.between(first, last),
        None => wording.level(level_of(overall.score)),
    };
    let mut pointers: Vec<String> =
        findings.all().into_iter().filter(|finding| finding.severity > Severity::None).map(|one| one.pointer).collect();
    pointers.extend(findings.runs().filter(|(_, log)| log.normalized_score.is_some()).map(|(pointer, _)| pointer));
    let text = wording.phrases().quality(&level);
    Judgment { holds: None, undecided: false, damage: Some(5.0 - overall.score), text, pointers }
}

/// Returns the lowest and highest possible level if the score does not determine one.
fn open(overall: Estimate) -> Option<(QualityLevel, QualityLevel)> {
    let (first, last) = overall.interval?.open_levels(Score::new(overall.score).ok()?);
    (first != last).then_some((first, last))
}

/// Returns the level nearest to a score from 1 to 5.
pub(super) fn level_of(overall: f64) -> QualityLevel {
    QualityLevel::ALL[(overall.round() as usize).clamp(1, 5) - 1]
}

/// Returns the severity of the distortions that the question names.
pub(super) fn how_much(question: &str, findings: &Findings<'_>, wording: Wording) -> Option<Judgment> {
    let terms = terms_of(question);
    let distortions: Vec<Distortion> = terms.iter().flat_map(|term| term.term.distortions).copied().collect();
    let finding = findings.worst(&findings.scope, &distortions)?;
    let damage = Some(f64::from(finding.severity as u8));
    Some(Judgment {
        holds: None,
        undecided: false,
        damage,
        text: wording.found(&finding),
        pointers: vec![finding.pointer],
    })
}

/// Returns the visible distortions, worst first.
pub(super) fn worst_distortions(findings: &Findings<'_>, wording: Wording) -> Option<Judgment> {
    let damage = findings.greatest_damage()?;
    let visible = findings.visible();
    let pointers: Vec<String> = match &visible[..] {
        [] => findings.scope.iter().flat_map(|part| findings.pointers_of(part)).collect(),
        visible => visible.iter().map(|finding| finding.pointer.clone()).collect(),
    };
    let listed: Vec<String> = visible.iter().map(|finding| wording.found(finding)).collect();
    let text = if listed.is_empty() {
        wording.phrases().nothing_found().to_owned()
    } else {
        listed.join(wording.phrases().between_clauses())
    };
    Some(Judgment { holds: None, undecided: false, damage: Some(damage), text, pointers })
}

/// Returns the best or the worst of `parts`, as the question asks, and whether another one is
/// equal.
pub(super) fn which_part<'p>(
    question: &str,
    parts: &[&'p str],
    findings: &Findings<'_>,
    wording: Wording,
) -> Option<(&'p str, bool, Judgment)> {
    let words = words(question);
    let terms = terms_of(question);
    let distortions: Vec<Distortion> = terms.iter().flat_map(|term| term.term.distortions).copied().collect();
    let damage_of = |part: &str| {
        if !findings.has(part) {
            return None;
        }
        let named = findings.worst(&[part], &distortions).map(|finding| f64::from(finding.severity as u8));
        if distortions.is_empty() { findings.damage(part) } else { named }
    };
    let sign = if extreme(&words, &terms) == Extreme::Best { -1.0 } else { 1.0 };
    let known: Vec<(&str, f64)> =
        parts.iter().filter_map(|part| damage_of(part).map(|damage| (*part, damage))).collect();
    let (part, damage) =
        known.iter().copied().reduce(|best, next| if sign * next.1 > sign * best.1 { next } else { best })?;
    let tied = known.iter().filter(|(_, other)| *other == damage).count() > 1;
    let finding = if distortions.is_empty() {
        findings.all().into_iter().filter(|finding| finding.part == part).max_by_key(|finding| finding.severity)
    } else {
        findings.worst(&[part], &distortions)
    };
    let text = finding.map_or_else(|| wording.part(part), |finding| wording.found(&finding));
    let pointers = known.iter().flat_map(|(part, _)| findings.pointers_of(part)).collect();
    Some((part, tied, Judgment { holds: None, undecided: false, damage: Some(damage), text, pointers }))
}

/// Returns the degree that a text states, from 0 to 4.
pub(super) fn degree_number(words: &[Word<'_>]) -> Option<f64> {
    degree(words).map(|severity| f64::from(severity as u8))
}
