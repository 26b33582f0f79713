//! Subtypes of a distortion category, such as "motion blur" and "out of focus".

use crate::language::{Kind, lexicons};
use crate::question::words::{longest, words};

const KINDS: [Kind; 11] = [
    Kind::Motion,
    Kind::Defocus,
    Kind::Blocks,
    Kind::Banding,
    Kind::Pixelation,
    Kind::Ringing,
    Kind::Impulse,
    Kind::ColorNoise,
    Kind::Grain,
    Kind::Cast,
    Kind::Fringing,
];

/// Returns the family of a subtype. Only subtypes of one family exclude each other.
fn family(kind: Kind) -> usize {
    match kind {
        Kind::Motion | Kind::Defocus => 0,
        Kind::Blocks | Kind::Banding | Kind::Pixelation | Kind::Ringing => 1,
        Kind::Impulse | Kind::ColorNoise | Kind::Grain => 2,
        Kind::Cast | Kind::Fringing => 3,
    }
}

/// Returns the subtypes that a text names.
fn kinds(text: &str) -> Vec<Kind> {
    let words = words(text);
    let named = |kind: &Kind| lexicons().any(|lexicon| longest(&words, (lexicon.kind)(*kind)).is_some());
    KINDS.into_iter().filter(named).collect()
}

/// Positive if both texts name the same subtype, negative for different subtypes of one family,
/// else 0.
pub(super) fn agreement(option: &str, explanation: &str) -> f64 {
    let (said, found) = (kinds(option), kinds(explanation));
    let compare = |kind: &Kind| {
        let related = found.iter().any(|other| family(*other) == family(*kind));
        match (found.contains(kind), related) {
            (true, _) => 0.5,
            (false, true) => -0.5,
            (false, false) => 0.0,
        }
    };
    said.iter().map(compare).sum()
}

/// Returns whether the texts name different subtypes of one family.
pub(super) fn differ<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let named: Vec<Kind> = texts.flat_map(kinds).collect();
    named.iter().any(|one| named.iter().any(|two| one != two && family(*one) == family(*two)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_one_family_exclude_one_another() {
        assert!(agreement("Motion blur", "motion blur: edges are 4.0 px wide") > 0.0);
        assert!(agreement("Out of focus", "motion blur: edges are 4.0 px wide") < 0.0);
        assert_eq!(agreement("Out of focus", "JPEG blocks: steps on the grid"), 0.0);
        assert_eq!(agreement("Blurry", "motion blur"), 0.0);
        assert!(differ(["Motion blur", "defocus"].into_iter()));
        assert!(!differ(["Motion blur", "noise"].into_iter()));
    }
}
