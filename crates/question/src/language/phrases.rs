//! The sentences that a language must provide to write answers.

use std::fmt::Debug;

use super::lexicon::Direction;
use agenticiqa_vision::vocabulary::{Distortion, QualityLevel, Severity};

/// A run of a tool that returned a score, for [`Phrases::scored`] and [`Phrases::unscaled`].
#[derive(Debug)]
pub struct Run<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The raw score as text.
    pub raw: &'a str,
    /// The direction of the score as text, or nothing.
    pub direction: &'a str,
    /// The name of the object as text.
    pub part: &'a str,
}

/// The sentences of a language.
///
/// A clause has no initial capital and no full stop: it can be a sentence or a part of one.
pub trait Phrases: Debug + Sync {
    /// The mark at the end of a sentence.
    fn full_stop(&self) -> &'static str;
    /// All marks that end a sentence.
    fn sentence_ends(&self) -> &'static [char];
    /// The text between two sentences.
    fn between_sentences(&self) -> &'static str;
    /// The text between two clauses.
    fn between_clauses(&self) -> &'static str;

    /// The whole image, as an object.
    fn whole_image(&self) -> &'static str;
    /// The name of an object in a sentence.
    fn object(&self, name: &str) -> String;
    /// The name of a distortion category.
    fn distortion(&self, distortion: Distortion) -> &'static str;
    /// The name of a distortion whose direction is known, such as "underexposure".
    fn directed(&self, distortion: Distortion, direction: Direction) -> &'static str;
    /// The name of a severity.
    fn severity(&self, severity: Severity) -> &'static str;
    /// The name of a quality level.
    fn level(&self, level: QualityLevel) -> &'static str;
    /// A range of quality levels.
    fn levels(&self, first: &str, last: &str) -> String;
    /// The text for a score that is not a number.
    fn not_a_number(&self) -> &'static str;
    /// The text for an infinite score.
    fn infinity(&self, positive: bool) -> &'static str;

    /// Clause: an object has a distortion.
    fn found(&self, severity: &str, distortion: &str, part: &str) -> String;
    /// Clause: an object does not have a distortion.
    fn not_found(&self, distortion: &str, part: &str) -> String;
    /// Clause: a finding with its explanation.
    fn explained(&self, found: &str, explanation: &str) -> String;
    /// Clause: no visible distortion.
    fn nothing_found(&self) -> &'static str;
    /// Clause: no analysis was made.
    fn nothing_analyzed(&self) -> &'static str;
    /// Clause: the overall quality.
    fn quality(&self, level: &str) -> String;

    /// The direction of a tool score.
    fn direction(&self, lower_is_better: bool) -> &'static str;
    /// Addition to a score: the 90% prediction interval.
    fn interval(&self, low: f64, high: f64) -> String;
    /// Clause: a run with a raw score and a score from 1 to 5.
    fn scored(&self, run: &Run<'_>, score: f64, interval: &str) -> String;
    /// Clause: a run with a raw score only.
    fn unscaled(&self, run: &Run<'_>) -> String;
    /// Clause: a run without a score.
    fn failed(&self, tool: &str, part: &str, error: Option<&str>) -> String;
    /// Addition to a run: the tool replaces another one.
    fn replaces(&self) -> &'static str;
    /// Clause: the combined score of all tools.
    fn together(&self, score: f64) -> String;
    /// Clause: the tools that determine the score.
    fn carried(&self, tools: &str) -> String;
    /// Clause: no tool has a score.
    fn no_scores(&self) -> &'static str;
    /// Clause: an object was not measured separately.
    fn region_unknown(&self, part: &str) -> String;
    /// Clause: a finding contradicts a tool score.
    fn contradiction(&self, found: &str, tool: &str, score: f64) -> String;
    /// Sentence: the score does not determine the quality level.
    fn level_open(&self, low: f64, high: f64, levels: &str) -> String;

    /// The answer when no score is possible.
    fn undetermined(&self) -> &'static str;
    /// The answer when nothing was measured.
    fn nothing_measured(&self) -> &'static str;
    /// Clause: there is no measurement for a level.
    fn no_level(&self) -> &'static str;
    /// Clause: the option that the evidence supports.
    fn chosen(&self, letter: char, because: &str) -> String;
    /// Clause: another option fits equally well.
    fn tied(&self) -> &'static str;
    /// Clause: the option is a guess.
    fn guess(&self, letter: char) -> String;
}
