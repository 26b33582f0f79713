//! Writes the answer from the evidence. Each sentence states a measurement and cites it.

mod choice;
mod findings;
mod judgment;
mod wording;

use findings::Findings;
use judgment::{Judgment, how_much, level_of, quality, truth, which_part, worst_distortions};
use wording::Wording;

use super::intent::{Intent, intent};
use crate::fusion::Fusion;
use crate::fusion::{Estimate, counted};
use crate::language::{Language, is_full_stop};
use crate::state::{
    AnswerForm, AnswerOption, ExecutorOutput, GLOBAL, PlannerOutput, QueryType, Score, Severity, UsedEvidence,
};
use agenticiqa_tools::Registry;

/// A tool score above this contradicts a severe distortion.
const HIGH_SCORE: f64 = 4.0;
/// The standard deviation of a judged level: severities are correct within about one step.
const LEVEL_DEVIATION: f64 = 0.7;

/// The input of the conclusion.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The question, without its options.
    pub question: &'a str,
    /// The options.
    pub options: &'a [AnswerOption],
    /// The form of the answer.
    pub form: AnswerForm,
    /// The plan.
    pub plan: &'a PlannerOutput,
    /// The evidence.
    pub evidence: &'a ExecutorOutput,
    /// The combined score of the tools alone.
    pub fused: Option<Estimate>,
    /// The objects with a known region.
    pub placed: &'a [&'a str],
    /// The tools, for the direction of their scores.
    pub registry: &'a Registry,
    /// The language of the answer.
    pub language: Language,
}

/// An answer with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The letter or the sentence.
    pub final_answer: String,
    /// The reasons.
    pub reasoning: String,
    /// The probability of each quality level, worst first; absent if no distortion was judged.
    pub levels: Option<[f64; 5]>,
    /// The evidence for each sentence of the reasoning.
    pub used_evidence: Vec<UsedEvidence>,
}

/// Answers the question from the evidence.
pub fn conclude(case: &Case<'_>) -> Conclusion {
    let findings = Findings::new(case.plan, case.evidence);
    let wording = Wording { language: case.language };
    let levels = counting_damage(case, &findings).map(levels_of);
    let overall = overall(levels, case.fused);
    let mut reasons = Reasons { wording, sentences: Vec::new() };
    let beyond = case.plan.query_type == QueryType::Other && case.evidence.is_empty();
    let final_answer = match case.form {
        _ if beyond => beyond_measuring(case, &findings, wording, &mut reasons),
        AnswerForm::Score => score(&findings, overall, wording, &mut reasons),
        AnswerForm::Choice if !case.options.is_empty() => choice(case, &findings, overall, wording, &mut reasons),
        AnswerForm::Choice | AnswerForm::Text => text(case, &findings, overall, wording, &mut reasons),
    };
    if !beyond {
        describe(case, &findings, &mut reasons);
    }
    let sentences: Vec<String> = reasons.sentences.iter().map(|used| used.sentence.clone()).collect();
    Conclusion { final_answer, reasoning: wording.join(&sentences), levels, used_evidence: reasons.sentences }
}

/// Collects the reasons.
struct Reasons {
    wording: Wording,
    sentences: Vec<UsedEvidence>,
}

impl Reasons {
    /// Adds a sentence. It replaces an earlier sentence that it begins with.
    fn say(&mut self, text: &str, evidence: Vec<String>) {
        let sentence = self.wording.sentence(text);
        let says_it_too = |used: &&mut UsedEvidence| sentence.starts_with(used.sentence.trim_end_matches(is_full_stop));
        match self.sentences.iter_mut().find(says_it_too) {
            Some(used) => {
                let new: Vec<String> =
                    evidence.into_iter().filter(|pointer| !used.evidence.contains(pointer)).collect();
                used.sentence = sentence;
                used.evidence.extend(new);
            }
            None => self.sentences.push(UsedEvidence { sentence, evidence }),
        }
    }
}

/// Returns the probability of each level, worst first, for a damage from 0 to 4.
///
/// The damage is the worst severity plus 0.15 of each further one; the level is 5 minus the damage.
/// Neighboring levels get a share by a normal distribution, because a severity may be wrong by a
/// step.
fn levels_of(damage: f64) -> [f64; 5] {
    let center = 5.0 - damage;
    let weights: [f64; 5] = std::array::from_fn(|index| {
        let distance = (index as f64 + 1.0 - center) / LEVEL_DEVIATION;
        (-0.5 * distance * distance).exp()
    });
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// Returns the damage if it counts in the score.
///
/// Severities come from measurements of the same pixels and are not fitted to opinions. They are
/// not a second opinion on a score that is, so they explain that score and do not change it.
fn counting_damage(case: &Case<'_>, findings: &Findings<'_>) -> Option<f64> {
    let carried = case.fused.is_some_and(|fused| fused.interval.is_some());
    findings.greatest_damage().filter(|_| !carried)
}

/// Fuses levels and tools into a score from 1 to 5, as in the paper. Either may be absent.
fn overall(levels: Option<[f64; 5]>, fused: Option<Estimate>) -> Option<Estimate> {
    let alone =
        || levels.map(|levels| Estimate { score: Fusion::default().score(None, Some(&levels)), interval: None });
    fused.map(|fused| fused.fused(&Fusion::default(), levels.as_ref())).or_else(alone)
}

/// Answers questions of taste and content, which cannot be measured.
fn beyond_measuring(case: &Case<'_>, findings: &Findings<'_>, wording: Wording, reasons: &mut Reasons) -> String {
    let honest = wording.phrases().beyond_measuring();
    reasons.say(honest, Vec::new());
    match case.form {
        AnswerForm::Choice if !case.options.is_empty() => {
            guess(case, findings, wording, reasons).unwrap_or_else(|| wording.sentence(honest))
        }
        AnswerForm::Score => wording.phrases().undetermined().to_owned(),
        _ => wording.sentence(honest),
    }
}

/// Picks an option without supporting evidence and says so.
fn guess(case: &Case<'_>, findings: &Findings<'_>, wording: Wording, reasons: &mut Reasons) -> Option<String> {
    let choice = choice::choose(case.question, case.options, findings, None, wording)?;
    let letter = choice.letter;
    reasons.say(&wording.phrases().guess(letter), Vec::new());
    Some(letter.to_string())
}

fn score(findings: &Findings<'_>, overall: Option<Estimate>, wording: Wording, reasons: &mut Reasons) -> String {
    let Some(overall) = overall else {
        reasons.say(wording.phrases().no_level(), Vec::new());
        return wording.phrases().undetermined().to_owned();
    };
    let judgment = quality(findings, overall, wording);
    reasons.say(&judgment.text, judgment.pointers);
    level_of(overall.score).letter().to_string()
}

fn choice(
    case: &Case<'_>,
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
    reasons: &mut Reasons,
) -> String {
    let chosen = choice::choose(case.question, case.options, findings, overall, wording);
    let Some((chosen, because)) = chosen.and_then(|chosen| chosen.because.clone().map(|because| (chosen, because)))
    else {
        return guess(case, findings, wording, reasons).unwrap_or_default();
    };
    let letter = chosen.letter;
    let (text, pointers) = (because.text, because.pointers);
    reasons.say(&wording.phrases().chosen(letter, &text), pointers.clone());
    if chosen.tied {
        reasons.say(wording.phrases().tied(), pointers);
    }
    letter.to_string()
}

fn text(
    case: &Case<'_>,
    findings: &Findings<'_>,
    overall: Option<Estimate>,
    wording: Wording,
    reasons: &mut Reasons,
) -> String {
    let judgment = match intent(case.question) {
        Intent::YesNo => truth(case.question, findings, overall, wording),
        Intent::WhichDistortion => worst_distortions(findings, wording),
        Intent::WhichPart => {
            which_part(case.question, &findings.scope, findings, wording).map(|(_, _, judgment)| judgment)
        }
        Intent::HowMuch => how_much(case.question, findings, wording),
        Intent::Overall => how_much(case.question, findings, wording).filter(|_| overall.is_none()),
    };
    if let Some(Judgment { holds, undecided, text, pointers, .. }) = judgment {
        reasons.say(&text, pointers);
        let decided = holds.filter(|_| !undecided);
        let yes_or_no = if holds.is_some() || undecided { wording.phrases().verdict(decided) } else { "" };
        return wording.sentence(&format!("{yes_or_no}{text}"));
    }
    if intent(case.question) != Intent::Overall {
        reasons.say(wording.phrases().unanswered(), Vec::new());
    }
    let Some(overall) = overall else {
        return wording.phrases().nothing_measured().to_owned();
    };
    let judgment = quality(findings, overall, wording);
    reasons.say(&judgment.text, judgment.pointers);
    let worst = findings.visible().first().map(|finding| wording.found(finding));
    let clauses: Vec<String> = std::iter::once(judgment.text).chain(worst).collect();
    wording.sentence(&clauses.join(wording.phrases().between_clauses()))
}

/// Describes the measurements, missing measurements and contradictions.
fn describe(case: &Case<'_>, findings: &Findings<'_>, reasons: &mut Reasons) {
    say_places(case, findings, reasons);
    let wording = reasons.wording;
    let analyzed = findings.all();
    for finding in &analyzed {
        reasons.say(&wording.analysis(finding), vec![finding.pointer.clone()]);
    }
    if analyzed.is_empty() {
        let looked: Vec<String> = findings.scope.iter().flat_map(|part| findings.pointers_of(part)).collect();
        let found_nothing = !looked.is_empty() && findings.greatest_damage() == Some(0.0);
        let phrases = wording.phrases();
        let text = if found_nothing { phrases.nothing_found() } else { phrases.nothing_analyzed() };
        reasons.say(text, if found_nothing { looked } else { vec!["/distortion_analysis".to_owned()] });
    }
    for (pointer, log) in findings.runs() {
        let direction = case.registry.get(log.tool_name.as_str()).ok().and_then(|tool| tool.metadata().lower_is_better);
        reasons.say(&wording.run(log, direction), vec![pointer]);
    }
    let scored: Vec<String> =
        findings.runs().filter(|(_, log)| log.normalized_score.is_some()).map(|(pointer, _)| pointer).collect();
    match case.fused {
        _ if scored.is_empty() => {
            reasons.say(wording.phrases().no_scores(), vec!["/tool_logs".to_owned()]);
        }
        Some(fused) if case.evidence.distinct_runs().len() > 1 => {
            let phrases = wording.phrases();
            let sentence =
                carriers(case, findings).map_or_else(|| phrases.together(fused.score), |tools| phrases.carried(&tools));
            reasons.say(&sentence, scored);
        }
        _ => {}
    }
    say_contradictions(findings, reasons);
}

/// Returns the tools that determine the score while others are only evidence. Returns nothing if
/// all tools count or if damage counts.
fn carriers(case: &Case<'_>, findings: &Findings<'_>) -> Option<String> {
    if counting_damage(case, findings).is_some() {
        return None;
    }
    let counted = counted(case.evidence, case.registry);
    let others = counted.len() < case.evidence.distinct_runs().len();
    if !others || counted.iter().any(|log| log.interval.is_none()) {
        return None;
    }
    let mut names: Vec<&str> = counted.iter().map(|log| log.tool_name.as_str()).collect();
    names.dedup();
    Some(names.join(", "))
}

/// States which objects were not measured separately because their region is unknown.
fn say_places(case: &Case<'_>, findings: &Findings<'_>, reasons: &mut Reasons) {
    for part in findings.scope.iter().filter(|part| **part != GLOBAL && !case.placed.contains(part)) {
        let runs: Vec<_> = findings.runs().filter(|(_, log)| log.object_name.as_str() == *part).collect();
        if runs.iter().any(|(_, log)| log.region.is_some()) {
            continue;
        }
        let pointers =
            findings.pointers_of(part).into_iter().chain(runs.into_iter().map(|(pointer, _)| pointer)).collect();
        let name = reasons.wording.part(part);
        reasons.say(&reasons.wording.phrases().region_unknown(&name), pointers);
    }
}

/// States severe distortions that contradict high scores of the same object.
fn say_contradictions(findings: &Findings<'_>, reasons: &mut Reasons) {
    let high = |score: Option<Score>| score.map(Score::value).filter(|score| *score > HIGH_SCORE);
    let wording = reasons.wording;
    for finding in findings.all().iter().filter(|finding| finding.severity >= Severity::Severe) {
        for (pointer, log) in findings.runs().filter(|(_, log)| log.object_name.as_str() == finding.part) {
            let Some(score) = high(log.normalized_score) else { continue };
            let contradiction = wording.phrases().contradiction(&wording.found(finding), log.tool_name.as_str(), score);
            reasons.say(&contradiction, vec![finding.pointer.clone(), pointer]);
        }
    }
}

#[cfg(test)]
mod tests;
