//! The parts of the image that a question asks to choose from.

use super::objects::option_object;
use crate::question::meaning::{self, Aspect, Form, Meaning};
use crate::state::AnswerOption;
use agenticiqa_vision::detector;

/// The nine places of an image, row by row, as regions are called.
const PLACES: [&str; 9] = [
    "upper left",
    "upper center",
    "upper right",
    "center left",
    "center",
    "center right",
    "lower left",
    "lower center",
    "lower right",
];

/// Two places that a question names together, with their halves of the image.
const HALVES: [(&str, &str, [&str; 2]); 4] = [
    ("left", "right", ["left half", "right half"]),
    ("top", "bottom", ["top half", "bottom half"]),
    ("左", "右", ["左半", "右半"]),
    ("上", "下", ["上半", "下半"]),
];

/// Returns the parts to compare: those of the options, the halves that the question names, the given
/// regions, or the nine places. Nothing if the question names its parts itself or asks for none.
pub(super) fn parts_asked_for(
    meanings: &[Meaning],
    options: &[AnswerOption],
    names_parts: bool,
    regions: &[&str],
) -> Vec<String> {
    let Some(meaning) = meanings.iter().find(|meaning| asks_for_a_part(meaning)) else { return Vec::new() };
    let of_aspects = options.iter().any(|option| meaning::read(&option.text).measured().next().is_some());
    let named: Vec<String> = options.iter().filter_map(|option| option_object(&option.text, regions)).collect();
    if !options.is_empty() {
        return if named.len() > 1 && !of_aspects { named } else { Vec::new() };
    }
    if !matches!(meaning.form, Form::WhichPart | Form::Where) {
        return Vec::new();
    }
    let text = meaning.text.to_lowercase();
    if let Some((.., halves)) = HALVES.iter().find(|(one, other, _)| text.contains(one) && text.contains(other)) {
        return halves.iter().map(ToString::to_string).collect();
    }
    match (names_parts, regions) {
        (true, _) => Vec::new(),
        (false, []) => PLACES.iter().map(ToString::to_string).collect(),
        (false, regions) => regions.iter().map(ToString::to_string).collect(),
    }
}

/// The things that a question asks to choose from without naming them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Things {
    /// "Which object is the darkest?"
    Any,
    /// "Which car is the sharpest?", "Which person is in focus?"
    Of(&'static str),
}

/// Returns what a question asks to choose from if that are things that a detector has to find.
pub(super) fn things_asked_for(meanings: &[Meaning]) -> Option<Things> {
    meanings.iter().filter(|meaning| matches!(meaning.form, Form::WhichPart | Form::Which)).find_map(|meaning| {
        let text = meaning.text.to_lowercase();
        let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
        in_english(&words).or_else(|| in_chinese(&text))
    })
}

fn in_english(words: &[&str]) -> Option<Things> {
    const BETWEEN: [&str; 9] = ["of", "these", "the", "those", "two", "three", "all", "one", "detected"];
    const ANY: [&str; 6] = ["object", "objects", "thing", "things", "item", "items"];
    let asked = words.iter().position(|word| ["which", "what"].contains(word))?;
    let name = words[asked + 1..].iter().find(|word| !BETWEEN.contains(word))?;
    if ANY.contains(name) { Some(Things::Any) } else { detector::knows(name).map(Things::Of) }
}

fn in_chinese(text: &str) -> Option<Things> {
    const ANY: [&str; 4] = ["物体", "东西", "物品", "对象"];
    let (_, rest) = text.split_once('哪')?;
    let rest = rest.trim_start_matches(['一', '个', '只', '辆', '张', '位', '件', '些', '匹', '头']);
    if ANY.iter().any(|name| rest.starts_with(name)) {
        return Some(Things::Any);
    }
    let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).skip(1).take(4);
    let ends: Vec<usize> = ends.collect();
    ends.into_iter().rev().find_map(|end| detector::knows(&rest[..end]).map(Things::Of))
}

/// Whether the answer of a question may be a part of the image.
fn asks_for_a_part(meaning: &Meaning) -> bool {
    match meaning.form {
        Form::WhichPart | Form::Where => true,
        Form::Which => meaning.measured().any(|claim| claim.aspect != Aspect::Damage),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_asked_for_in_both_languages() {
        for (question, expected) in [
            ("Which object is the darkest?", Some(Things::Any)),
            ("Which of these objects is blurriest?", Some(Things::Any)),
            ("Which of the two cars is sharper?", Some(Things::Of("car"))),
            ("Which person is the sharpest?", Some(Things::Of("person"))),
            ("哪个物体最暗？", Some(Things::Any)),
            ("哪个人最清晰？", Some(Things::Of("person"))),
            ("哪只鸟最模糊？", Some(Things::Of("bird"))),
            ("Which part is the sharpest?", None),
            ("Which distortion is the worst?", None),
            ("Is the car sharp?", None),
            ("哪个部分最清晰？", None),
        ] {
            assert_eq!(things_asked_for(&meaning::read_all(question)), expected, "{question}");
        }
    }
}
