//! The parts of the image that a question asks to choose from.

use super::objects::option_object;
use crate::question::meaning::{self, Aspect, Form, Meaning};
use crate::state::AnswerOption;

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

/// Whether the answer of a question may be a part of the image.
fn asks_for_a_part(meaning: &Meaning) -> bool {
    match meaning.form {
        Form::WhichPart | Form::Where => true,
        Form::Which => meaning.measured().any(|claim| claim.aspect != Aspect::Damage),
        _ => false,
    }
}
