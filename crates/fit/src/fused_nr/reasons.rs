//! Whether the parts of the score name the problem that somebody saw.

use agenticiqa_vision::vocabulary::Problem;

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
