//! What a question asks for: yes or no, a distortion, a degree, a part of the image, or the
//! quality.

use super::lexicon::Mention;
use crate::language::Sense;
use crate::question::words::{Word, contains_listed, starts_with_listed, words};

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// "Is the car blurry?"
    YesNo,
    /// "Which distortion is the worst?"
    WhichDistortion,
    /// "Which part is the sharpest?"
    WhichPart,
    /// "How severe is the noise?", "How is the lighting?"
    HowMuch,
    /// Everything else.
    Overall,
}

/// Whether a question asks for the best or the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extreme {
    /// The part with the least damage.
    Best,
    /// The part with the most damage.
    Worst,
}

/// Returns what a question (without its options) asks for.
pub(super) fn intent(question: &str) -> Intent {
    let words = words(question);
    if contains_listed(&words, |lexicon| lexicon.intent.which_part) {
        Intent::WhichPart
    } else if contains_listed(&words, |lexicon| lexicon.intent.which_distortion) {
        Intent::WhichDistortion
    } else if is_yes_no(&words) {
        Intent::YesNo
    } else if contains_listed(&words, |lexicon| lexicon.intent.how_much) {
        Intent::HowMuch
    } else {
        Intent::Overall
    }
}

/// Returns whether yes or no answers a question.
fn is_yes_no(words: &[Word<'_>]) -> bool {
    let alternatives =
        contains_listed(words, |lexicon| lexicon.intent.or) && !contains_listed(words, |lexicon| lexicon.intent.or_not);
    let anywhere = contains_listed(words, |lexicon| lexicon.intent.yes_no)
        && !contains_listed(words, |lexicon| lexicon.intent.not_yes_no);
    let mut clauses = (0..words.len()).filter(|at| *at == 0 || words[*at].after_mark);
    let at_start = clauses.any(|at| starts_with_listed(&words[at..], |lexicon| lexicon.intent.yes_no_start));
    (at_start || anywhere) && !alternatives
}

/// Returns whether a question asks for the best ("the sharpest part") or the worst ("the most
/// blurred").
pub(super) fn extreme(question: &[Word<'_>], mentions: &[Mention]) -> Extreme {
    let least = contains_listed(question, |lexicon| lexicon.intent.least);
    let good = mentions.iter().any(|mention| mention.sense() == Sense::Virtue)
        || contains_listed(question, |lexicon| lexicon.intent.best);
    let bad = mentions.iter().any(|mention| mention.sense() == Sense::Defect)
        || contains_listed(question, |lexicon| lexicon.intent.worst);
    match (good && !bad, least) {
        (true, false) | (false, true) => Extreme::Best,
        _ => Extreme::Worst,
    }
}

/// Returns whether the options of a question are parts of the image.
pub(super) fn asks_for_a_part(question: &str) -> bool {
    intent(question) == Intent::WhichPart
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::mentions;
    use super::*;

    #[test]
    fn questions_are_told_apart() {
        for (question, expected) in [
            ("Is the car blurry?", Intent::YesNo),
            ("In this photo, is the sky noisy?", Intent::YesNo),
            ("Is it blurry or noisy?", Intent::Overall),
            ("图像模糊吗？", Intent::YesNo),
            ("天空是否过曝", Intent::YesNo),
            ("Which distortion is the most severe?", Intent::WhichDistortion),
            ("What kind of distortion is there?", Intent::WhichDistortion),
            ("哪种失真最严重？", Intent::WhichDistortion),
            ("Which part is the sharpest?", Intent::WhichPart),
            ("哪个区域最模糊？", Intent::WhichPart),
            ("How severe is the noise?", Intent::HowMuch),
            ("光线如何？", Intent::HowMuch),
            ("Assess the quality of this image.", Intent::Overall),
        ] {
            assert_eq!(intent(question), expected, "{question}");
        }
    }

    #[test]
    fn best_and_worst_are_told_apart() {
        for (question, expected) in [
            ("Which part is the sharpest?", Extreme::Best),
            ("Which part is the most blurred?", Extreme::Worst),
            ("Which part is the least noisy?", Extreme::Best),
            ("Which part has the best quality?", Extreme::Best),
            ("Which part is least sharp?", Extreme::Worst),
            ("哪个区域最清晰？", Extreme::Best),
            ("哪个部分质量最差？", Extreme::Worst),
        ] {
            assert_eq!(extreme(&words(question), &mentions(&words(question))), expected, "{question}");
        }
    }
}
