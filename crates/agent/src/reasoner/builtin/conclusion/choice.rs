//! Selects the option that the evidence supports.

use super::super::intent::{Intent, intent};
use super::super::kinds;
use super::super::lexicon::{Mention, mentions};
use super::super::objects::option_object;
use super::super::planner::terms_of;
use super::findings::Findings;
use super::judgment::{Judgment, degree_number, how_much, quality, truth, which_part, worst_distortions};
use super::wording::Wording;
use crate::fusion::Estimate;
use crate::language::{Direction, List, Sense, lexicons};
use crate::question::words::{Word, longest, longest_listed, starts_with_listed, words};
use crate::state::{AnswerOption, Distortion, QualityLevel, Severity};

/// The letter of an option, and the reason for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The letter.
    pub letter: char,
    /// The judgment that decided it; absent if the evidence decides nothing.
    pub because: Option<Judgment>,
    /// Whether another option fits equally well.
    pub tied: bool,
}

/// The meaning of an option.
struct Reading<'a> {
    letter: char,
    text: &'a str,
    yes: Option<bool>,
    terms: Vec<Mention>,
    /// The severity that it states, from 0 to 4.
    degree: Option<f64>,
    /// The quality level that it names, from 1 to 5.
    level: Option<f64>,
    /// "None of these", "no distortion", "normal".
    nothing_wrong: bool,
    unsure: bool,
}

/// Returns the option that the evidence supports. If the evidence decides nothing, the most
/// cautious option: one that admits not to know, else a plain no, else the first.
pub(super) fn choose(
    question: &str,
    options: &[AnswerOption],
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
) -> Option<Choice> {
    let readings: Vec<Reading<'_>> = options.iter().map(read).collect();
    let decided = by_yes_or_no(question, &readings, findings, overall, wording)
        .or_else(|| by_part(question, options, findings, wording))
        .or_else(|| by_distortion(question, &readings, findings, wording))
        .or_else(|| by_degree(question, &readings, findings, overall, wording));
    decided.or_else(|| {
        let cautious = readings.iter().find(|reading| reading.unsure);
        let plain_no = || readings.iter().find(|reading| reading.yes == Some(false));
        let letter = cautious.or_else(plain_no).or_else(|| readings.first())?.letter;
        Some(Choice { letter, because: None, tied: false })
    })
}

fn read(option: &AnswerOption) -> Reading<'_> {
    let words = words(&option.text);
    let somewhere = |list: List| longest_listed(&words, list);
    let yes = starts_with_listed(&words, |lexicon| lexicon.options.yes).then_some(true);
    let no = || starts_with_listed(&words, |lexicon| lexicon.options.no).then_some(false);
    // Best first: of equally long matches, the worst level wins.
    let level = QualityLevel::ALL.into_iter().rev().filter_map(|level| {
        let named = lexicons().filter_map(|lexicon| longest(&words, (lexicon.judgment.level)(level)));
        Some((named.max()?, f64::from(level.number())))
    });
    let nothing_wrong = somewhere(|lexicon| lexicon.options.nothing_wrong);
    let terms = mentions(&words);
    // "no" and "not" before a distortion are already part of the term.
    let degree_words: Vec<Word<'_>> = if terms.iter().any(|term| term.denied) { Vec::new() } else { words.clone() };
    Reading {
        letter: option.letter,
        text: &option.text,
        yes: yes.or_else(no).filter(|_| nothing_wrong.is_none_or(|length| length < 2)),
        terms,
        degree: degree_number(&degree_words),
        level: level.max_by_key(|(length, _)| *length).map(|(_, level)| level),
        nothing_wrong: nothing_wrong.is_some(),
        unsure: somewhere(|lexicon| lexicon.options.unsure).is_some(),
    }
}

fn by_yes_or_no(
    question: &str,
    readings: &[Reading<'_>],
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
) -> Option<Choice> {
    let both = [true, false].iter().all(|yes| readings.iter().any(|reading| reading.yes == Some(*yes)));
    if !both {
        return None;
    }
    let judgment = truth(question, findings, overall, wording)?;
    let damage = judgment.damage.unwrap_or(0.0);
    let fitting = readings.iter().filter(|reading| reading.yes == judgment.holds);
    let distance = |reading: &&Reading<'_>| (reading.degree.unwrap_or(damage) - damage).abs();
    let chosen = fitting.min_by(|one, two| distance(one).total_cmp(&distance(two)))?;
    Some(Choice { letter: chosen.letter, because: Some(judgment), tied: false })
}

fn by_part(question: &str, options: &[AnswerOption], findings: &Findings<'_>, wording: Wording) -> Option<Choice> {
    let asked = intent(question) == Intent::WhichPart;
    let named = |option: &AnswerOption| {
        if !asked && !mentions(&words(&option.text)).is_empty() {
            return None;
        }
        let name = option_object(&option.text, &findings.scope)?;
        findings.has(&name).then_some((option.letter, name))
    };
    let parts: Vec<(char, String)> = options.iter().filter_map(named).collect();
    if parts.len() < 2 {
        return None;
    }
    let names: Vec<&str> = parts.iter().map(|(_, name)| name.as_str()).collect();
    let (part, tied, judgment) = which_part(question, &names, findings, wording)?;
    let letter = parts.iter().find(|(_, name)| name == part)?.0;
    Some(Choice { letter, because: Some(judgment), tied })
}

/// "Which distortion?": the option with the most severe distortion. If none of them is present, the
/// option that denies distortions or names something good.
fn by_distortion(
    question: &str,
    readings: &[Reading<'_>],
    findings: &Findings<'_>,
    wording: Wording,
) -> Option<Choice> {
    let mut categories: Vec<Distortion> =
        readings.iter().flat_map(|reading| &reading.terms).map(|term| term.term.distortions[0]).collect();
    categories.sort_unstable();
    categories.dedup();
    let kinds_differ = kinds::differ(readings.iter().map(|reading| reading.text));
    let several = categories.len() > 1 || kinds_differ || intent(question) == Intent::WhichDistortion;
    if !several || categories.is_empty() {
        return None;
    }
    let bad = |reading: &&Reading<'_>| reading.terms.iter().any(|term| term.sense() != Sense::Virtue);
    let mut best: Option<(Presence, char)> = None;
    let mut tied = false;
    for reading in readings.iter().filter(bad) {
        let Some(presence) = present(reading, findings, wording) else { continue };
        match &best {
            Some((most, _)) if presence.rank < most.rank => {}
            Some((most, _)) if presence.rank == most.rank => tied = true,
            _ => (best, tied) = (Some((presence, reading.letter)), false),
        }
    }
    let (Presence { severity, judgment, .. }, letter) = best?;
    if severity >= 1.0 {
        return Some(Choice { letter, because: Some(judgment), tied });
    }
    let harmless = readings.iter().find(|reading| {
        reading.nothing_wrong
            || !reading.terms.is_empty() && reading.terms.iter().all(|term| term.sense() == Sense::Virtue)
    });
    let letter = harmless.map_or(letter, |reading| reading.letter);
    let because = worst_distortions(findings, wording).unwrap_or(judgment);
    Some(Choice { letter, because: Some(because), tied: harmless.is_none() })
}

/// To what degree the distortions of an option are present.
struct Presence {
    /// The mean severity of its distortions. A distortion in the wrong direction counts as 0.
    severity: f64,
    /// The severity, higher if the evidence names the same subtype, lower if it names another.
    rank: f64,
    judgment: Judgment,
}

fn present(reading: &Reading<'_>, findings: &Findings<'_>, wording: Wording) -> Option<Presence> {
    let (mut sum, mut kind, mut texts, mut pointers) = (0.0, 0.0, Vec::new(), Vec::new());
    for term in &reading.terms {
        let finding = findings.worst(&findings.scope, term.term.distortions)?;
        let other_way = matches!((term.term.direction, finding.direction()), (Some(one), Some(two)) if one != two);
        sum += if other_way { 0.0 } else { f64::from(finding.severity as u8) };
        kind += finding.explanation.map_or(0.0, |explanation| kinds::agreement(reading.text, explanation));
        texts.push(wording.found(&finding));
        pointers.push(finding.pointer);
    }
    let severity = sum / reading.terms.len() as f64;
    let text = texts.join(wording.phrases().between_clauses());
    let judgment = Judgment { holds: None, undecided: false, damage: Some(severity), text, pointers };
    Some(Presence { severity, rank: severity + kind, judgment })
}

/// "How severe?", "How is the lighting?", "How is the quality?": the option nearest to the finding.
fn by_degree(
    question: &str,
    readings: &[Reading<'_>],
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
) -> Option<Choice> {
    let asked = terms_of(question);
    let of_options = || {
        let term = readings.iter().flat_map(|reading| &reading.terms).next()?;
        let finding = findings.worst(&findings.scope, term.term.distortions)?;
        let damage = Some(f64::from(finding.severity as u8));
        Some(Judgment {
            holds: None,
            undecided: false,
            damage,
            text: wording.found(&finding),
            pointers: vec![finding.pointer],
        })
    };
    let judgment = match how_much(question, findings, wording).or_else(of_options) {
        Some(judgment) => judgment,
        None if asked.is_empty() => quality(findings, overall?, wording),
        None => return None,
    };
    let damage = judgment.damage?;
    let way = direction(&asked, readings, findings).filter(|_| damage >= 1.0);
    let of_a_defect = asked.iter().any(|term| term.sense() == Sense::Defect);
    let directed = readings.iter().any(|reading| reading.terms.iter().any(|term| term.term.direction.is_some()));
    let fit = |reading: &Reading<'_>| {
        let against = |term: &Mention| matches!((way, term.term.direction), (Some(way), Some(said)) if way != said);
        if reading.terms.iter().any(against) {
            return None;
        }
        target(reading, of_a_defect, directed).map(|target| (target, (target - damage).abs()))
    };
    let fitting: Vec<(f64, f64, char)> = readings
        .iter()
        .filter_map(|reading| fit(reading).map(|(target, distance)| (distance, target, reading.letter)))
        .collect();
    if fitting.is_empty() {
        return None;
    }
    // The nearest option; of two equally near options, the worse.
    let nearest = fitting.iter().min_by(|one, two| one.0.total_cmp(&two.0).then(two.1.total_cmp(&one.1)))?;
    let tied = fitting.iter().filter(|other| (other.0, other.1) == (nearest.0, nearest.1)).count() > 1;
    Some(Choice { letter: nearest.2, because: Some(judgment), tied })
}

/// Returns the severity that an option states, from 0 to 4.
fn target(reading: &Reading<'_>, of_a_defect: bool, directed: bool) -> Option<f64> {
    /// The severity of "blurry" without a degree: between moderate and severe.
    const PLAIN_DEFECT: f64 = 2.5;
    match reading.terms.first().map(Mention::sense) {
        Some(Sense::Virtue) => {
            Some(if reading.degree == Some(f64::from(Severity::Moderate as u8)) { 1.0 } else { 0.0 })
        }
        Some(Sense::Defect) => Some(reading.degree.unwrap_or(PLAIN_DEFECT)),
        _ if reading.nothing_wrong && directed => Some(0.0),
        _ if of_a_defect => reading.degree.or(match reading.level {
            // For a defect, "high" is bad and "low" is good.
            Some(4.0) => Some(3.0),
            Some(2.0) => Some(1.0),
            level => level.map(|level| 5.0 - level),
        }),
        _ => reading.level.map(|level| 5.0 - level).or(reading.degree),
    }
}

/// Returns the direction in which the property of the question is wrong.
fn direction(asked: &[Mention], readings: &[Reading<'_>], findings: &Findings<'_>) -> Option<Direction> {
    let term = asked.first().or_else(|| readings.iter().flat_map(|reading| &reading.terms).next())?;
    findings.worst(&findings.scope, term.term.distortions)?.direction()
}
