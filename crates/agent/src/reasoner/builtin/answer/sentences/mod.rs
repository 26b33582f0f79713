//! The sentences of answers, in each language.

mod chinese;
mod english;

use super::{Strength, Verdict};
use crate::language::Language;
use crate::question::meaning::{Aspect, Kind};
use agenticiqa_vision::palette::Hue;

use chinese::Chinese;
use english::English;

/// Where an image lies on an aspect, in steps that words can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Blur, with its cause.
    Blur(Strength, Option<Kind>),
    /// Noise.
    Noise(Strength),
    /// Compression artifacts.
    Compression(Strength),
    /// Haze.
    Haze(Strength),
    /// Halos.
    Halos(Strength),
    /// Color cast.
    Cast(Strength, Option<Kind>),
    /// Light from -2 (very dark) to 2 (very bright).
    Light(i8),
    /// Exposure: its side and how far off it is.
    Exposure(i8, Strength),
    /// The subject is darker than what is behind it.
    Backlit,
    /// Contrast from -1 to 1.
    Contrast(i8),
    /// Color from -2 (black and white) to 2 (oversaturated).
    Color(i8),
    /// Mood from -1 to 1.
    Mood(i8),
    /// Whether the left half mirrors the right one.
    Symmetric(bool),
    /// Where a part is, and how much of the image it covers.
    Place { centered: bool, percent: u8 },
}

/// What cannot be judged, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    Beauty,
    Origin,
    Content,
    Composition,
    Unknown,
    Instruction,
    NoReference,
}

/// The sentences of answers.
pub(crate) trait Answers: std::fmt::Debug + Sync {
    /// The start of an answer to a yes-or-no question.
    fn verdict(&self, verdict: Verdict) -> &'static str;
    /// The image or a part of it, as the subject of a sentence.
    fn subject(&self, part: Option<&str>) -> String;
    /// What a subject looks like, as a clause.
    fn look(&self, subject: &str, look: Look) -> String;
    /// The main colors of a subject with their shares, as a clause.
    fn colors(&self, subject: &str, shares: &[(Hue, f64)]) -> String;
    /// A clause after the name of what it is about.
    fn named(&self, aspect: Aspect, clause: &str) -> String;
    /// The quality setting of a JPEG file, as a clause; nothing if the file is no JPEG.
    fn jpeg_quality(&self, quality: Option<f64>) -> String;
    /// Joins clauses.
    fn joined(&self, clauses: &[String]) -> String;
    /// A part was not found: the whole image is described instead.
    fn not_found(&self, part: &str) -> String;
    /// Nothing about this was measured.
    fn not_measured(&self) -> &'static str;
    /// Why a question is not answered.
    fn beyond(&self, beyond: Beyond) -> &'static str;
    /// A word was read as another.
    fn read_as(&self, written: &str, word: &str) -> String;
    /// One part lies farther than another.
    fn compared(&self, first: &str, second: &str, differ: bool) -> String;
    /// A part is the one that was asked for, or all are equal.
    fn best_part(&self, part: &str) -> String;
    /// A part is the one that was asked for, but the next one looks like it.
    fn narrowly(&self, part: &str) -> String;
    /// The parts hardly differ.
    fn all_alike(&self) -> &'static str;
    /// The whole image shows it alike.
    fn everywhere(&self) -> &'static str;
    /// A score against a limit.
    fn against_limit(&self, score: f64, limit: f64, interval: Option<(f64, f64)>) -> String;
    /// A measurement.
    fn value(&self, name: &str, value: &str) -> String;
    /// The size of the image.
    fn size(&self, width: usize, height: usize) -> String;
    /// Pixels per inch of a print.
    fn print(&self, paper: &str, density: f64) -> String;
    /// Nothing has to be mended, or nothing can be.
    fn no_advice(&self) -> &'static str;
    /// Edits were not tried.
    fn not_tried(&self) -> &'static str;
    /// Whether the image differs from the reference.
    fn against_reference(&self, same: bool) -> &'static str;
}

/// Returns the sentences of a language.
pub(crate) fn answers(language: Language) -> &'static dyn Answers {
    match language {
        Language::English => &English,
        Language::Chinese => &Chinese,
    }
}
