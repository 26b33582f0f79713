//! Whether the parts of the score name the problem that somebody saw.

use agenticiqa_vision::perception::Examination;
use agenticiqa_vision::vocabulary::{Attribute, Problem, Severity};

use super::findings::problem_of;
use super::photos::Photo;
use crate::statistics::mean;

/// Returns the figures of contributions.
pub fn report(photos: &[&Photo]) -> String {
    let parts = |photo: &Photo| photo.examination.parts.clone();
    let rests: Vec<f64> = photos
        .iter()
        .filter_map(|photo| {
            let parts = parts(photo)?;
            let costs: f64 = parts.costs.iter().map(|cost| cost.cost).sum();
            Some((photo.reading.judgment.score - parts.clean + costs).abs())
        })
        .collect();
    let spoiled: Vec<(&&Photo, Problem)> =
        photos.iter().filter_map(|photo| Some((photo, problem_of(photo.label.as_ref()?)?))).collect();
    let largest = |photo: &Photo| parts(photo).and_then(|parts| Some(parts.costs.first()?.distortion));
    let right: Vec<f64> = spoiled
        .iter()
        .filter(|(_, problem)| problem.category().is_some())
        .map(|(photo, problem)| f64::from(largest(photo) == problem.category()))
        .collect();
    format!(
        "\n## Reasons\n\nThe rest is {:.2} levels on average. Of {} photos with a problem that has a category, the largest contribution is of that category in {:.0} %.\n",
        mean(&rests),
        right.len(),
        100.0 * mean(&right),
    )
}

/// Returns how often a finding is at least moderate while the attribute that shows it is as it should be.
pub fn contradictions<'a>(examinations: impl Iterator<Item = &'a Examination>) -> String {
    let (mut findings, mut contradicted) = (0, 0);
    for examination in examinations {
        for finding in examination.detected() {
            let axis = finding.problem().and_then(Problem::axis);
            let Some(attribute) = axis.and_then(|axis| examination.attributes.get(&axis)) else { continue };
            findings += 1;
            contradicted += usize::from(steps(finding.severity, attribute) >= 2);
        }
    }
    format!("\nOf {findings} findings, {contradicted} lie two steps or more from the level of their attribute.\n")
}

/// Returns how many steps a severity lies from the level of an attribute.
fn steps(severity: Severity, attribute: &Attribute) -> usize {
    // What a level of an attribute stands for, on the scale of severities.
    let (low, high): (usize, usize) = match attribute.level.as_str() {
        "none" | "sharp" | "right" | "normal" | "medium" => (0, 0),
        "slightly soft" | "slight" => (1, 2),
        "blurry" => (2, 3),
        "very blurry" => (3, 4),
        _ => (1, 4),
    };
    let severity = severity as usize;
    low.saturating_sub(severity).max(severity.saturating_sub(high))
}
