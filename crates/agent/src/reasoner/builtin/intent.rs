//! What a question asks for: yes or no, a distortion, a degree, a part of the image, or the
//! quality.

use super::lexicon::{Mention, Sense, phrase_at};
use crate::question::words::{Word, contains_any, starts_with_any, words};

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

const YES_NO: [&str; 24] = [
    "is",
    "are",
    "was",
    "were",
    "does",
    "do",
    "did",
    "has",
    "have",
    "can",
    "could",
    "will",
    "would",
    "should",
    "isn t",
    "aren t",
    "doesn t",
    "是否",
    "是不是",
    "有没有",
    "有无",
    "会不会",
    "能否",
    "可否",
];
const WHICH_DISTORTION: [&str; 22] = [
    "which distortion*",
    "what distortion*",
    "which degradation*",
    "what degradation*",
    "type of distortion*",
    "kind of distortion*",
    "types of distortion*",
    "kinds of distortion*",
    "which artifact*",
    "what artifact*",
    "which problem*",
    "what problem*",
    "what issue*",
    "what kind of degradation*",
    "main distortion*",
    "what is wrong",
    "哪种失真",
    "什么失真",
    "哪些失真",
    "哪类失真",
    "什么问题",
    "哪种问题",
];
const WHICH_PART: [&str; 27] = [
    "which part*",
    "which region*",
    "which area*",
    "which object*",
    "which element*",
    "which section*",
    "which side",
    "which person",
    "which inputs*",
    "which of the following part*",
    "which of the following object*",
    "which of the following region*",
    "which of the following area*",
    "what part*",
    "what area*",
    "what region*",
    "what object*",
    "where",
    "哪个部分",
    "哪一部分",
    "哪部分",
    "哪个区域",
    "哪里",
    "什么地方",
    "哪个物体",
    "哪个对象",
    "哪个位置",
];
const HOW_MUCH: [&str; 24] = [
    "how",
    "what level",
    "what degree",
    "to what extent",
    "what is the level",
    "what is the degree",
    "what is the severity",
    "severity of",
    "如何",
    "怎么样",
    "怎样",
    "多严重",
    "多模糊",
    "多大",
    "程度",
    "严重程度",
    "有多",
    "几级",
    "what is the sharpness",
    "what is the clarity",
    "what is the contrast",
    "what is the brightness",
    "what is the noise level",
    "what do you think of",
];

/// Returns what a question (without its options) asks for.
pub(super) fn intent(question: &str) -> Intent {
    let words = words(question);
    if contains_any(&words, &WHICH_PART) {
        Intent::WhichPart
    } else if contains_any(&words, &WHICH_DISTORTION) {
        Intent::WhichDistortion
    } else if is_yes_no(&words) {
        Intent::YesNo
    } else if contains_any(&words, &HOW_MUCH) {
        Intent::HowMuch
    } else {
        Intent::Overall
    }
}

/// Returns whether yes or no answers a question.
fn is_yes_no(words: &[Word<'_>]) -> bool {
    let alternatives = contains_any(words, &["or", "还是"]) && !contains_any(words, &["or not"]);
    let chinese = contains_any(words, &["吗", "是否", "是不是", "有没有", "有无", "会不会", "能否", "么"])
        && !contains_any(words, &["什么", "怎么", "为什么"]);
    let clause = (0..words.len()).filter(|at| *at == 0 || words[*at].after_mark);
    let english = clause.into_iter().any(|at| starts_with_any(&words[at..], &YES_NO));
    (english || chinese) && !alternatives
}

/// Returns whether a question asks for the best ("the sharpest part") or the worst ("the most
/// blurred").
pub(super) fn extreme(question: &[Word<'_>], mentions: &[Mention]) -> Extreme {
    let least = (0..question.len()).any(|at| phrase_at(question, at, "least|less|fewest|最少|最不|最轻").is_some());
    let good = mentions.iter().any(|mention| mention.sense() == Sense::Virtue)
        || (0..question.len()).any(|at| {
            phrase_at(question, at, "best|better|highest|good|finest|cleanest|最好|最佳|更好|最高").is_some()
        });
    let bad = mentions.iter().any(|mention| mention.sense() == Sense::Defect)
        || (0..question.len())
            .any(|at| phrase_at(question, at, "worst|worse|lowest|poorest|bad|最差|最糟|更差|最低").is_some());
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
