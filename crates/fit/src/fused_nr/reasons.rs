//! Whether the parts of the score name the problem that somebody saw, and what repairs gain.

use std::fmt::Write as _;

use agenticiqa_imaging::Decoder;
use agenticiqa_vision::repair::{WhatIf, what_if};
use agenticiqa_vision::vocabulary::Problem;
use rayon::prelude::*;

use super::findings::problem_of;
use super::photos::Photo;
use crate::error::Error;
use crate::statistics::mean;

/// A good photo needs no fixing: gains up to this count as none.
const NO_GAIN: f64 = 0.1;
/// Labels of photos that an edit should improve, with the problems that say so.
const MENDABLE: [(&str, &[Problem]); 4] = [
    ("underexposure", &[Problem::Underexposure, Problem::Backlight]),
    ("overexposure", &[Problem::Overexposure]),
    ("colour cast", &[Problem::ColorCast]),
    ("noise", &[Problem::Noise]),
];

/// Returns the figures of contributions and of what-ifs.
pub fn report(photos: &[&Photo]) -> Result<String, Error> {
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
    let mut text = format!(
        "\n## Reasons\n\nThe rest is {:.2} levels on average. Of {} photos with a problem that has a category, the largest contribution is of that category in {:.0} %.\n\n| label | photos | an edit is tried | it raises the score | mean gain |\n| --- | ---: | ---: | ---: | ---: |\n",
        mean(&rests),
        right.len(),
        100.0 * mean(&right),
    );
    for (label, problems) in MENDABLE {
        let tried = tried(photos, label)?;
        let own: Vec<&WhatIf> =
            tried.iter().filter_map(|all| all.iter().find(|one| problems.contains(&one.problem))).collect();
        let gains: Vec<f64> = own.iter().map(|one| one.gain()).collect();
        let raised = gains.iter().filter(|gain| **gain > 0.0).count();
        let _ = writeln!(text, "| {label} | {} | {} | {raised} | {:.2} |", tried.len(), own.len(), mean(&gains));
    }
    let clean = tried(photos, "none")?;
    let still = clean.iter().filter(|all| all.iter().all(|one| one.gain() <= NO_GAIN)).count();
    let _ = writeln!(
        text,
        "\nOf {} photos labeled without a problem, {:.0} % gain at most {NO_GAIN} by any edit.",
        clean.len(),
        100.0 * still as f64 / clean.len().max(1) as f64
    );
    Ok(text)
}

/// Returns what was tried on each photo with a label.
fn tried(photos: &[&Photo], label: &str) -> Result<Vec<Vec<WhatIf>>, Error> {
    let labeled = photos.par_iter().filter(|photo| photo.label.as_ref().is_some_and(|one| one.main_problem == label));
    labeled
        .map(|photo| {
            let image = Decoder::default().open(&photo.path)?.image;
            Ok(what_if(&image, &photo.examination)?.tried)
        })
        .collect()
}
