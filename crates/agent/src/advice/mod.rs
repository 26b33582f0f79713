//! Advice for people: what to do about each fault of an image, in words.
//!
//! It follows from what was measured: an edit that raises the score is recommended with its gain, a fault
//! that no edit mends is said to be lost, and a fault whose repair does not help is said to be doubtful.

mod chinese;
mod english;

use crate::language::Language;
use crate::state::{Axis, Cost, ExecutorOutput, GLOBAL, Problem, Text, WhatIf, WhatIfs};

/// Faults that cost less need no advice.
const WORTH: f64 = 0.05;
/// A file of at least this JPEG quality is not blamed for its compression.
const ENOUGH_QUALITY: f64 = 80.0;
/// Edits of exposure do not bring back clipped tones: said from this share (percent) on.
const CLIPPED: f64 = 1.0;

/// What to do about one fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step<'a> {
    /// Apply an edit. Some tones may stay lost.
    Edit(&'a WhatIf, Lost),
    /// Save the image again from its original, which the file has at this JPEG quality; or else apply an
    /// edit.
    Encode(Option<f64>, Option<&'a WhatIf>),
    /// Take the photo again: no edit mends this fault.
    Again(Problem),
    /// Nothing: mending this fault does not raise the score.
    Doubt(Problem),
}

/// Tones that no edit brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// All tones are there.
    Nothing,
    /// Highlights are clipped.
    Highlights,
    /// Shadows are black.
    Shadows,
}

/// The sentences of a language.
pub(crate) trait Words {
    /// Sentence: what to do.
    fn step(&self, step: Step<'_>) -> String;
    /// A sentence about one object of several.
    fn of_object(&self, object: &str, sentence: &str) -> String;
}

/// Returns the sentences of a language.
fn words(language: Language) -> &'static dyn Words {
    match language {
        Language::English => &english::English,
        Language::Chinese => &chinese::Chinese,
    }
}

/// Returns what to do, in words, most useful first.
pub fn recommendations(evidence: &ExecutorOutput, language: Language) -> Vec<Text> {
    told(evidence, language, |_| true)
}

/// Returns the steps that are wanted, in words.
pub(crate) fn told(evidence: &ExecutorOutput, language: Language, wanted: impl Fn(&Step<'_>) -> bool) -> Vec<Text> {
    let (words, wanted) = (words(language), &wanted);
    let objects: Vec<&Text> = evidence.score_parts.iter().flat_map(|parts| parts.keys()).collect();
    let sentences = objects.into_iter().flat_map(|object| {
        steps(evidence, object.as_str()).into_iter().filter(wanted).map(move |step| {
            let sentence = words.step(step);
            if object.as_str() == GLOBAL { sentence } else { words.of_object(object.as_str(), &sentence) }
        })
    });
    sentences.filter_map(|sentence| Text::new(sentence).ok()).collect()
}

/// Returns what to do about the faults of an object: first what helps, the most expensive fault first,
/// then what is doubtful.
fn steps<'a>(evidence: &'a ExecutorOutput, object: &str) -> Vec<Step<'a>> {
    let costs = evidence.score_parts.as_ref().and_then(|parts| parts.get(object)).map(|parts| &parts.costs);
    let what_ifs = evidence.what_if.as_ref().and_then(|all| all.get(object));
    let faults = costs.into_iter().flatten().filter(|cost| cost.cost >= WORTH);
    let of_fault = |cost: &Cost| step(evidence, object, cost.problem?, what_ifs);
    let mut steps: Vec<Step<'a>> = faults.filter_map(of_fault).collect();
    let named: Vec<Problem> = costs.into_iter().flatten().filter_map(|cost| cost.problem).collect();
    // Edits that help although no fault was named.
    let others = what_ifs.into_iter().flat_map(|all| &all.tried);
    let others = others.filter(|tried| !tried.doubtful && !named.contains(&tried.problem));
    steps.extend(others.map(|tried| Step::Edit(tried, lost(evidence, object, tried))));
    steps.sort_by_key(|step| matches!(step, Step::Doubt(_)));
    steps
}

fn step<'a>(
    evidence: &'a ExecutorOutput,
    object: &str,
    problem: Problem,
    what_ifs: Option<&'a WhatIfs>,
) -> Option<Step<'a>> {
    let tried = what_ifs.and_then(|all| all.tried.iter().find(|tried| tried.problem == problem));
    let helps = tried.filter(|tried| !tried.doubtful);
    if problem == Problem::Compression {
        let quality = measured(evidence, object, Axis::Compression, "JPEG quality of the file");
        let low = quality.filter(|quality| *quality < ENOUGH_QUALITY);
        return match (low, tried) {
            (None, Some(tried)) if tried.doubtful => Some(Step::Doubt(problem)),
            _ => Some(Step::Encode(low, helps)),
        };
    }
    match (helps, tried) {
        (Some(helps), _) => Some(Step::Edit(helps, lost(evidence, object, helps))),
        (None, Some(_)) => Some(Step::Doubt(problem)),
        (None, None) => what_ifs.filter(|all| all.lost.contains(&problem)).map(|_| Step::Again(problem)),
    }
}

/// Returns which tones an edit of brightness does not bring back.
fn lost(evidence: &ExecutorOutput, object: &str, tried: &WhatIf) -> Lost {
    let share = |name: &str| measured(evidence, object, Axis::Exposure, name).unwrap_or_default();
    match tried.problem {
        Problem::Underexposure | Problem::Overexposure | Problem::Backlight => match () {
            () if share("lost highlights") >= CLIPPED => Lost::Highlights,
            () if share("lost shadows") >= 10.0 * CLIPPED => Lost::Shadows,
            () => Lost::Nothing,
        },
        _ => Lost::Nothing,
    }
}

/// Returns a measurement behind an attribute of an object.
fn measured(evidence: &ExecutorOutput, object: &str, axis: Axis, name: &str) -> Option<f64> {
    let attribute = evidence.attributes.as_ref()?.get(object)?.get(&axis)?;
    attribute.measurements.iter().find(|measured| measured.name == name).map(|measured| measured.value)
}

#[cfg(test)]
mod tests;
