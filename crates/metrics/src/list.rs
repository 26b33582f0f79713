//! All metrics, and their names.

use crate::{Metric, fr, nr};

/// Returns every metric with its authors' parameters: full-reference metrics first, in the order
/// of the documentation.
pub fn all() -> impl Iterator<Item = &'static dyn Metric> {
    fr::METRICS.iter().chain(nr::METRICS).copied()
}

/// Returns the metric with this name. Case, `-`, `_` and spaces are ignored.
pub fn find(name: &str) -> Option<&'static dyn Metric> {
    let wanted = fold_name(name);
    all().find(|metric| fold_name(metric.info().name) == wanted)
}

/// Returns the form in which names of metrics, tools and datasets are compared. Case, spaces and
/// punctuation do not matter, and British spelling is accepted.
///
/// ```
/// assert_eq!(agenticiqa_metrics::fold_name("Colour-Cast"), agenticiqa_metrics::fold_name("color_cast"));
/// ```
pub fn fold_name(name: &str) -> String {
    // "+" is part of a name: CLIPIQA and CLIPIQA+ are two metrics.
    let letters = name.chars().filter(|c| c.is_alphanumeric() || *c == '+');
    letters.flat_map(char::to_lowercase).collect::<String>().replace("colour", "color")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_spelling_and_are_unique() {
        assert_eq!(find("ms_ssim").map(|m| m.info().name), find("MS-SSIM").map(|m| m.info().name));
        let mut names: Vec<_> = all().map(|metric| fold_name(metric.info().name)).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
