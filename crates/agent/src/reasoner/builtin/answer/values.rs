//! Answers that are numbers or that compare with one: measurements, print sizes, limits, edits.

use super::ask::Asked;
use super::truth::Verdict;
use super::{Answer, Beyond, Position, Writer, look::Strength};
use crate::advice::recommendations;
use crate::question::meaning::{Aspect, Meaning};
use crate::state::{GLOBAL, Score, Text};

/// Papers by name, with their longer and shorter side in inches.
const PAPERS: [(&str, f64, f64); 12] = [
    ("a0", 46.8, 33.1),
    ("a1", 33.1, 23.4),
    ("a2", 23.4, 16.5),
    ("a3", 16.5, 11.7),
    ("a4", 11.7, 8.3),
    ("a5", 8.3, 5.8),
    ("a6", 5.8, 4.1),
    ("4x6", 6.0, 4.0),
    ("8x10", 10.0, 8.0),
    ("letter", 11.0, 8.5),
    ("poster", 36.0, 24.0),
    ("海报", 36.0, 24.0),
];
/// The paper of a question that names none.
const USUAL: (&str, f64, f64) = ("A4", 11.7, 8.3);
/// Pixels per inch that are enough at arm's length.
const ENOUGH: f64 = 150.0;

/// The measurements behind positions: "What is the value of the sharpness?"
pub(super) fn numbers(positions: &[&Position], writer: &Writer<'_>) -> String {
    let answers = writer.answers();
    let measured = positions.iter().flat_map(|position| &position.measured);
    let listed: Vec<String> = measured
        .map(|measured| {
            let space = if measured.unit.is_empty() || measured.unit == "%" { "" } else { " " };
            answers.value(&measured.name, &format!("{:.2}{space}{}", measured.value, measured.unit))
        })
        .collect();
    if listed.is_empty() {
        return String::new();
    }
    let space = writer.language.phrases().between_sentences();
    writer.sentence(&listed.join(writer.language.phrases().between_clauses())) + space
}

/// "What is the JPEG quality of the file?"
pub(super) fn jpeg_quality(positions: &[&Position], writer: &Writer<'_>) -> Answer {
    let answers = writer.answers();
    let mut measured = positions.iter().flat_map(|position| &position.measured);
    let quality = measured.find(|measured| measured.name == "JPEG quality of the file").map(|measured| measured.value);
    let states = positions.iter().map(|position| writer.state(position));
    let clauses: Vec<String> = std::iter::once(answers.jpeg_quality(quality)).chain(states).collect();
    writer.answer("", positions, &answers.joined(&clauses))
}

/// "What is the resolution?"
pub(super) fn value(writer: &Writer<'_>) -> Option<Answer> {
    let (width, height) = writer.size?;
    Some(writer.answer("", &[], &writer.answers().size(width, height)))
}

/// "Would it print well at A3?"
pub(super) fn print(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let (width, height) = writer.size?;
    let text = asked.meaning.text.to_lowercase();
    let (paper, long, short) = PAPERS.into_iter().find(|(name, ..)| text.contains(name)).unwrap_or(USUAL);
    let density = (width.max(height) as f64 / long).min(width.min(height) as f64 / short);
    let blur = asked.scales.position(GLOBAL, Aspect::Sharpness);
    let sharp = blur.as_ref().is_none_or(|blur| Strength::of(blur.value) <= Strength::Slight);
    let verdict = match (density >= ENOUGH, sharp) {
        (true, true) => Verdict::Yes,
        (true, false) | (false, true) if density >= 0.6 * ENOUGH => Verdict::ProbablyNot,
        _ => Verdict::No,
    };
    let print = writer.answers().print(&paper.to_uppercase(), density);
    let clauses: Vec<String> = std::iter::once(print).chain(blur.iter().map(|blur| writer.state(blur))).collect();
    let positions: Vec<_> = blur.iter().collect();
    Some(writer.answer(writer.answers().verdict(verdict), &positions, &writer.answers().joined(&clauses)))
}

/// "Is the quality above 4?": the score against the limit.
pub(super) fn limit(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let (limit, above) = limit_of(asked.meaning)?;
    let part = asked.scope.first().copied().unwrap_or(GLOBAL);
    let position = asked.scales.position(part, Aspect::Quality)?;
    let probability = 1.0 / (1.0 + (-(position.value - limit) / position.spread).exp());
    let probability = if above { probability } else { 1.0 - probability };
    let interval = asked.scales.overall.and_then(|overall| overall.interval);
    let interval = interval.map(|interval| (interval.low(), interval.high()));
    let because = writer.answers().against_limit(position.value, limit, interval);
    Some(writer.answer(writer.answers().verdict(Verdict::of(probability)), &[&position], &because))
}

/// Returns the score that a question names, and whether the quality should be above it.
fn limit_of(meaning: &Meaning) -> Option<(f64, bool)> {
    const ABOVE: &str =
        "above|over|greater than|more than|at least|exceed|higher than|better than|reach|高于|超过|大于|至少|达到";
    const BELOW: &str = "below|under|less than|lower than|worse than|at most|低于|小于|不到|不足";
    let text = meaning.text.to_lowercase();
    let after = |words: &str| {
        let found = words.split('|').filter_map(|word| Some((text.find(word)?, word.len())));
        found.min().and_then(|(at, length)| number(&text[at + length..]))
    };
    let above = after(ABOVE).map(|limit| (limit, true));
    let (limit, above) = above.or_else(|| after(BELOW).map(|limit| (limit, false)))?;
    Score::new(limit).ok().map(|limit| (limit.value(), above))
}

/// Returns the number at the start of a text, which may follow a character such as in "有3.5分".
fn number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let text = text.strip_prefix(|first: char| !first.is_ascii()).unwrap_or(text).trim_start();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.').parse().ok()
}

/// "How can I fix it?": the edits that were tried.
pub(super) fn advice(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let part = asked.scope.first().copied().unwrap_or(GLOBAL);
    let answers = writer.answers();
    let all = asked.scales.evidence.what_if.as_ref();
    if all.is_none_or(|all| !all.contains_key(part) && !all.contains_key(GLOBAL)) {
        let position = asked.scales.position(part, Aspect::Damage)?;
        let because = answers.joined(&[writer.damage.to_owned(), answers.not_tried().to_owned()]);
        return Some(writer.answer("", &[&position], &because));
    }
    let steps = recommendations(asked.scales.evidence, writer.language);
    let steps: Vec<&str> = steps.iter().map(Text::as_str).collect();
    let because = match &steps[..] {
        [] => answers.no_advice().to_owned(),
        steps => steps.join(writer.language.phrases().between_sentences()),
    };
    let mut answer = writer.answer("", &[], &because);
    answer.pointers.push("/what_if".to_owned());
    Some(answer)
}

/// "Can you see a difference from the original?"
pub(super) fn against_reference(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let answers = writer.answers();
    if !asked.scales.reference {
        return Some(writer.answer(answers.beyond(Beyond::NoReference), &[], writer.quality));
    }
    let position = asked.scales.position(GLOBAL, Aspect::Damage)?;
    let same = position.value < 0.5;
    let words = ["differ", "区别", "差异", "差别", "changed", "不同"];
    let text = asked.meaning.text.to_lowercase();
    let denied =
        ["indifferent", "no difference", "not differ", "没有区别", "没有差"].iter().any(|word| text.contains(word));
    let asks_difference = words.iter().any(|word| text.contains(word)) != denied;
    let closed = text
        .split_whitespace()
        .next()
        .is_some_and(|first| !matches!(first, "what" | "how" | "which" | "where" | "describe" | "compare" | "list"));
    let verdict = match (closed, same != asks_difference) {
        (false, _) => "",
        (true, true) => answers.verdict(Verdict::Yes),
        (true, false) => answers.verdict(Verdict::No),
    };
    let because = answers.joined(&[answers.against_reference(same).to_owned(), writer.damage.to_owned()]);
    Some(writer.answer(verdict, &[&position], &because))
}
