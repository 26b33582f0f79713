//! Judges the whole image: its quality, and all that is visible.

use super::findings::Findings;
use super::wording::Wording;
use crate::fusion::Estimate;
use crate::state::{QualityLevel, Score, Severity};

/// What the evidence says, in words, with JSON pointers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgment {
    /// The finding in words, without an initial capital or a full stop.
    pub text: String,
    /// JSON pointers to the evidence.
    pub pointers: Vec<String>,
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
    Judgment { text: wording.phrases().quality(&level), pointers }
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

/// Returns the visible distortions, worst first, in words.
pub(super) fn worst_distortions(findings: &Findings<'_>, wording: Wording) -> String {
    let listed: Vec<String> = findings.visible().iter().map(|finding| wording.found(finding)).collect();
    if !listed.is_empty() {
        return listed.join(wording.phrases().between_clauses());
    }
    let phrases = wording.phrases();
    let looked = findings.greatest_damage().is_some();
    if looked { phrases.nothing_found().to_owned() } else { phrases.nothing_analyzed().to_owned() }
}
