//! Subtypes of a distortion category, such as "motion blur" and "out of focus".

use super::lexicon::phrase_at;
use crate::question::words::words;

/// The subtypes, each with the number of its family. Only subtypes of one family exclude each
/// other.
const KINDS: [(usize, &str); 11] = [
    (0, "motion|motion blur*|camera shake|shaky|运动模糊|抖动|拖影"),
    (0, "out of focus|soft focus|defocus*|unfocused|lens blur*|gaussian blur*|失焦|虚焦|脱焦|对焦不准"),
    (1, "block*|macroblock*|jpeg block*|块效应|方块|马赛克"),
    (1, "band|bands|banding|posteri*|color banding|colour banding|色带|条带|断层"),
    (1, "pixelat*|large pixels|像素化|锯齿"),
    (1, "ringing|mosquito|振铃"),
    (2, "impulse|salt and pepper|speckle*|椒盐"),
    (2, "color noise|colour noise|chroma noise|彩色噪声|彩色噪点"),
    (2, "grain|grainy|graininess|gaussian noise|颗粒|颗粒感"),
    (3, "color cast*|colour cast*|tint|tinted|偏色|色偏"),
    (3, "color fring*|colour fring*|chromatic aberration|purple fringing|紫边|色差"),
];

/// Returns the subtypes that a text names.
fn kinds(text: &str) -> Vec<usize> {
    let words = words(text);
    let named = |kind: &usize| (0..words.len()).any(|at| phrase_at(&words, at, KINDS[*kind].1).is_some());
    (0..KINDS.len()).filter(named).collect()
}

/// Positive if both texts name the same subtype, negative for different subtypes of one family,
/// else 0.
pub(super) fn agreement(option: &str, explanation: &str) -> f64 {
    let (said, found) = (kinds(option), kinds(explanation));
    let compare = |kind: &usize| {
        let related = found.iter().any(|other| KINDS[*other].0 == KINDS[*kind].0);
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
    let named: Vec<usize> = texts.flat_map(kinds).collect();
    named.iter().any(|one| named.iter().any(|two| one != two && KINDS[*one].0 == KINDS[*two].0))
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
