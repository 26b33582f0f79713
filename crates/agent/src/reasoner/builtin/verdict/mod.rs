//! Answers about the whole quality, told like a person would.
//!
//! The first sentence is the verdict with its main reason, the second has the other reasons, the third
//! says what to do. Measurements follow in a paragraph of their own. The reasons are the parts of the score,
//! so text and score cannot disagree. No number is said twice, and only tools that count are named.

mod chinese;
mod english;
mod facts;
mod measurements;

use super::conclusion::{Case, Conclusion};
use crate::advice::{self, Step};
use crate::language::Language;
use crate::question::meaning::{self, Aspect, Form};
use crate::state::{AnswerForm, QualityLevel, QueryType, UsedEvidence};
use facts::{Certainty, Facts, Fault};

/// At most this many further faults are told.
const FURTHER: usize = 3;
/// At most this many pieces of advice are told; the record has all of them.
const ADVICE: usize = 2;
/// What has no name is told if it costs at least this much.
const UNNAMED: f64 = 0.5;
/// The start of the paragraph of measurements.
const PARAGRAPH: &str = "\n\n";

/// The sentences of a language.
trait Words {
    /// Sentence: the level, with the main reason.
    fn verdict(&self, subject: Option<&str>, level: QualityLevel, reason: Reason<'_>) -> String;
    /// Sentence: further faults, which are sure or doubtful.
    fn further(&self, faults: &[&Fault<'_>], sure: bool) -> String;
    /// Sentence: what is missing, or what is missing besides the faults, has no name.
    fn unnamed(&self, faults: bool) -> &'static str;
    /// Sentence: why the level is uncertain.
    fn uncertain(&self, certainty: Certainty) -> Option<String>;
    /// Sentence: the score with its interval, and the tools that determine it.
    fn score(&self, facts: &Facts<'_>) -> String;
    /// Sentence: what was measured of a fault.
    fn measured(&self, fault: &Fault<'_>, measurements: &str) -> String;
    /// The name of a measurement, and its unit.
    fn measurement<'a>(&self, name: &'a str, unit: &'a str) -> (&'a str, &'a str);
    /// The text between two sentences.
    fn between(&self) -> &'static str;
}

/// The main reason of a verdict.
#[derive(Debug, Clone, Copy)]
enum Reason<'a> {
    /// This fault costs most.
    Fault(&'a Fault<'a>),
    /// This fault costs most, but most of the loss has no name.
    Partly(&'a Fault<'a>),
    /// No fault was found.
    Nothing,
}

/// Returns the sentences of a language.
fn words(language: Language) -> &'static dyn Words {
    match language {
        Language::English => &english::English,
        Language::Chinese => &chinese::Chinese,
    }
}

/// Tells a conclusion like a person would, if the question asks for the quality and makes no claim.
pub(super) fn told(case: &Case<'_>, concluded: &Conclusion) -> Option<Conclusion> {
    if !asks_for_quality(case) {
        return None;
    }
    let facts = Facts::of(case, concluded.levels.as_ref())?;
    let words = words(case.language);
    let mut sentences: Vec<UsedEvidence> = Vec::new();
    let mut say = |sentence: String, evidence: Vec<String>| sentences.push(UsedEvidence { sentence, evidence });
    let pointers = |faults: &[&Fault<'_>]| faults.iter().map(|fault| fault.pointer.clone()).collect::<Vec<_>>();

    let reason = match facts.faults.first() {
        Some(main) if facts.rest < -main.cost.max(UNNAMED) => Reason::Partly(main),
        Some(main) => Reason::Fault(main),
        None => Reason::Nothing,
    };
    let subject = facts.subject.as_deref();
    let mut because: Vec<String> = facts.faults.first().map(|main| main.pointer.clone()).into_iter().collect();
    because.extend(facts.carriers.iter().map(|(pointer, _)| pointer.clone()));
    let verdict = words.verdict(subject, facts.level, reason);
    say(verdict.clone(), because);

    let others: Vec<&Fault<'_>> = facts.faults.iter().skip(1).take(FURTHER).collect();
    let (doubtful, sure): (Vec<&Fault<'_>>, Vec<&Fault<'_>>) = others.iter().partition(|fault| fault.doubtful);
    for (faults, are_sure) in [(sure, true), (doubtful, false)] {
        if !faults.is_empty() {
            say(words.further(&faults, are_sure), pointers(&faults));
        }
    }
    let unexplained = facts.rest <= -UNNAMED && facts.level < QualityLevel::Good;
    if unexplained || matches!(reason, Reason::Nothing) && facts.level <= QualityLevel::Fair {
        say(words.unnamed(!facts.faults.is_empty()).to_owned(), Vec::new());
    }
    if let Some(sentence) = words.uncertain(facts.certainty) {
        say(sentence, Vec::new());
    }
    // Doubts about further faults were told with them.
    let main = facts.faults.first().and_then(|main| main.problem);
    let news = |step: &Step<'_>| !matches!(step, Step::Doubt(problem) if Some(*problem) != main);
    for sentence in advice::told(case.evidence, case.language, news).iter().take(ADVICE) {
        say(sentence.to_string(), Vec::new());
    }
    let told: String = sentences.iter().map(|used| used.sentence.as_str()).collect::<Vec<_>>().join(words.between());

    let measured = measurements::measured(&facts, case, words, &told);
    let measurements: Vec<&str> = measured.iter().map(|used| used.sentence.as_str()).collect();
    let reasoning = [told, measurements.join(words.between())].join(PARAGRAPH);
    sentences.extend(measured);
    let final_answer = match case.form {
        AnswerForm::Text => verdict,
        AnswerForm::Score | AnswerForm::Choice => concluded.final_answer.clone(),
    };
    Some(Conclusion { final_answer, reasoning, levels: concluded.levels, used_evidence: sentences })
}

/// Returns whether a question asks for the quality, without options and without naming a property.
fn asks_for_quality(case: &Case<'_>) -> bool {
    let meanings = meaning::read_all(case.question);
    let form = match case.form {
        AnswerForm::Choice => false,
        AnswerForm::Text => meanings.iter().all(|meaning| meaning.form == Form::Whole),
        AnswerForm::Score => true,
    };
    let claims = || meanings.iter().flat_map(|meaning| meaning.measured()).map(|claim| claim.aspect);
    let names_property = claims().any(|aspect| !matches!(aspect, Aspect::Quality | Aspect::Damage));
    let asked: String =
        case.question.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let plain =
        |tool: &str| tool.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let names_tool = case.plan.required_tools().iter().any(|tool| asked.contains(&plain(tool)));
    form && !names_tool && case.options.is_empty() && case.plan.query_type != QueryType::Other && !names_property
}

#[cfg(test)]
mod tests;
