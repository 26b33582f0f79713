//! The paragraph of measurements: the score, and what shows each fault.

use super::super::conclusion::Case;
use super::Words;
use super::facts::{Facts, Fault};
use crate::language::Language;
use crate::state::UsedEvidence;

/// Returns the sentences of the paragraph. Parts that repeat a number of `told` are left out.
pub(super) fn measured(facts: &Facts<'_>, case: &Case<'_>, words: &dyn Words, told: &str) -> Vec<UsedEvidence> {
    let carriers = facts.carriers.iter().map(|(pointer, _)| pointer.clone()).collect();
    let mut sentences = vec![UsedEvidence { sentence: words.score(facts), evidence: carriers }];
    for fault in &facts.faults {
        let text = match case.language {
            Language::English => new_parts(fault.explanation, told),
            Language::Chinese => listed(fault, words, told),
        };
        if !text.is_empty() {
            sentences
                .push(UsedEvidence { sentence: words.measured(fault, &text), evidence: vec![fault.pointer.clone()] });
        }
    }
    sentences
}

/// Returns the parts of an explanation whose numbers were not told yet.
fn new_parts(explanation: &str, told: &str) -> String {
    let known = numbers(told);
    let parts = explanation.trim_end_matches('.').split(", ");
    let new = parts.filter(|part| numbers(part).iter().all(|number| !known.contains(number)));
    new.collect::<Vec<_>>().join(", ")
}

/// Returns the measurements behind the attribute that shows a fault.
fn listed(fault: &Fault<'_>, words: &dyn Words, told: &str) -> String {
    let known = numbers(told);
    let measurements = fault.shown.into_iter().flat_map(|shown| &shown.measurements);
    let parts = measurements.filter_map(|measured| {
        let value = format!("{:.1}", measured.value);
        let value = value.trim_end_matches(".0");
        let (name, unit) = words.measurement(&measured.name, &measured.unit);
        (!known.contains(&value)).then(|| format!("{name}{value}{unit}"))
    });
    parts.collect::<Vec<_>>().join("，")
}

/// Returns the numbers of a text.
fn numbers(text: &str) -> Vec<&str> {
    let parts = text.split(|character: char| !character.is_ascii_digit() && character != '.');
    parts.map(|part| part.trim_matches('.')).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_told_is_not_repeated() {
        let explanation = "steps of 1.66 on the grid, the file is a JPEG of quality 12";
        let told = "Save it again at quality 80 or more: the file is quality 12.";
        assert_eq!(new_parts(explanation, told), "steps of 1.66 on the grid");
        assert_eq!(new_parts(explanation, ""), explanation);
        assert_eq!(numbers("from 1.5 to 2. Then 3%"), ["1.5", "2", "3"]);
    }
}
