//! Writes the sentences of the conclusion in the language of the question.

use super::findings::Finding;
use crate::language::{Language, Phrases, Run, ends_sentence};
use crate::state::{GLOBAL, QualityLevel, Severity, ToolExecutionLog};
use crate::words;

/// Writes sentences in one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wording {
    /// The language.
    pub language: Language,
}

impl Wording {
    /// The sentences of the language.
    pub fn phrases(self) -> &'static dyn Phrases {
        self.language.phrases()
    }

    /// The name of an object.
    pub fn part(self, name: &str) -> String {
        if name == GLOBAL { self.phrases().whole_image().to_owned() } else { self.phrases().object(name) }
    }

    /// The name of a quality level.
    pub fn level(self, level: QualityLevel) -> String {
        words::word(level, self.language)
    }

    /// A range of quality levels: "between fair and good".
    pub fn between(self, first: QualityLevel, last: QualityLevel) -> String {
        words::between(first, last, self.language)
    }

    /// "severe blur in the car", "no visible noise in the whole image".
    pub fn found(self, finding: &Finding<'_>) -> String {
        let phrases = self.phrases();
        let (part, distortion) = (self.part(finding.part), finding.distortion);
        let directed = || finding.direction().map(|direction| phrases.directed(distortion, direction));
        match finding.severity {
            Severity::None => phrases.not_found(phrases.distortion(distortion), &part),
            severity => {
                let name = directed().unwrap_or_else(|| phrases.distortion(distortion));
                phrases.found(phrases.severity(severity), name, &part)
            }
        }
    }

    /// A sentence about one analysis, with its explanation.
    pub fn analysis(self, finding: &Finding<'_>) -> String {
        let found = self.found(finding);
        match finding.explanation {
            Some(explanation) => self.sentence(&self.phrases().explained(&found, explanation)),
            None => self.sentence(&found),
        }
    }

    /// A sentence about one run of a tool.
    pub fn run(self, log: &ToolExecutionLog, lower_is_better: Option<bool>) -> String {
        let phrases = self.phrases();
        let tool = log.tool_name.as_str();
        let part = self.part(if log.region.is_some() { log.object_name.as_str() } else { GLOBAL });
        let direction = lower_is_better.map_or("", |lower_is_better| phrases.direction(lower_is_better));
        let raw = log.raw_score.map(|raw| self.number(raw.0));
        let run = |raw| Run { tool, raw, direction, part: &part };
        let text = match (&raw, log.normalized_score) {
            (Some(raw), Some(score)) => {
                let interval = log.interval.map(|interval| phrases.interval(interval.low(), interval.high()));
                phrases.scored(&run(raw), score.value(), &interval.unwrap_or_default())
            }
            (Some(raw), None) => phrases.unscaled(&run(raw)),
            (None, _) => phrases.failed(tool, &part, log.error.as_deref()),
        };
        self.sentence(&text) + if log.fallback { phrases.replaces() } else { "" }
    }

    /// Formats a number with its significant digits.
    fn number(self, value: f64) -> String {
        match value {
            value if value.is_nan() => self.phrases().not_a_number().to_owned(),
            value if value.is_infinite() => self.phrases().infinity(value > 0.0).to_owned(),
            value if value.abs() >= 100.0 => format!("{value:.1}"),
            value if value.abs() >= 1.0 => format!("{value:.2}"),
            value => format!("{value:.4}"),
        }
    }

    /// Makes a sentence: upper-case start, full stop at the end.
    pub fn sentence(self, text: &str) -> String {
        let mut characters = text.trim().chars();
        let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        let mut sentence = first + characters.as_str();
        if !sentence.ends_with(ends_sentence) {
            sentence.push_str(self.phrases().full_stop());
        }
        sentence
    }

    /// Joins sentences.
    pub fn join(self, sentences: &[String]) -> String {
        sentences.join(self.phrases().between_sentences())
    }
}
