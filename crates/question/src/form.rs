//! The form of an answer: the letter of an option, a quality level, or a sentence.

use super::words::{contains, contains_listed, phrase_at, starts_with_listed, words};
use crate::language::lexicons;
use crate::meaning::{self, Aspect, Form, Meaning};
use crate::{AnswerForm, AnswerOption};

/// Returns the form of the answer: the requested form, else the form implied by options and
/// wording.
///
/// Options imply a choice. A request for a rating, or no question, implies a score. Everything else
/// is text.
pub fn answer_form(query: &str, options: &[AnswerOption], requested: Option<AnswerForm>) -> AnswerForm {
    match requested {
        Some(form) => form,
        None if !options.is_empty() => AnswerForm::Choice,
        None if asks_for_a_score(query) => AnswerForm::Score,
        None => AnswerForm::Text,
    }
}

fn asks_for_a_score(query: &str) -> bool {
    let words = words(query);
    if words.is_empty() {
        return true;
    }
    if starts_with_listed(&words, |lexicon| lexicon.form.explain) || contains_listed(&words, |lexicon| lexicon.form.why)
    {
        return false;
    }
    if meaning::read_all(query).iter().all(wants_words) {
        return false;
    }
    let rate = contains_listed(&words, |lexicon| lexicon.form.rate);
    if rate && !contains_listed(&words, |lexicon| lexicon.form.not_rate) {
        return true;
    }
    if contains_listed(&words, |lexicon| lexicon.form.how_is_quality) {
        return true;
    }
    // The verb and the noun have to be in the same language.
    lexicons().map(|lexicon| &lexicon.form).any(|form| {
        let asks = || phrase_at(&words, 0, form.asking).is_some() && !contains(&words, form.partial);
        contains(&words, form.quality) && (contains(&words, form.judge) || asks())
    })
}

/// Whether a sentence that may speak of a score wants words: "Is the score below 3?", "Rate the sharpness
/// and the exposure", "What hurts the quality most?", "What is the JPEG quality?"
fn wants_words(meaning: &Meaning) -> bool {
    let of = |aspect: Aspect| meaning.claims.iter().any(|claim| claim.aspect == aspect);
    match meaning.form {
        Form::YesNo | Form::RateSeveral => true,
        Form::Which | Form::Value | Form::HowMuch => of(Aspect::Damage) || of(Aspect::Compression),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_to_rate_are_told_from_questions() {
        for query in [
            "",
            "Assess the quality of this image.",
            "Rate the quality of this photo",
            "How good is this picture?",
            "Score this from 1 to 5",
            "Quality of this image?",
            "What is the overall quality of the image?",
            "How is the quality of the car?",
            "Please evaluate the image quality.",
            "How would you rate the sharpness?",
            "Give me a quality score.",
            "给这张图片打分",
            "请对图像质量评分",
            "这张照片的质量如何？",
            "图像质量怎么样",
            "请评价这幅图像的质量",
            "这张图能得几分？",
        ] {
            assert_eq!(answer_form(query, &[], None), AnswerForm::Score, "{query}");
        }
        for query in [
            "Is the image blurry?",
            "Is the quality good?",
            "Why is the score low?",
            "Rate sharpness, noise and exposure.",
            "Explain how you would rate it",
            "Describe the quality of this image.",
            "What degrades the quality of this image?",
            "What distortion reduces the quality most?",
            "Which part has the best quality?",
            "Was it filmed at a high frame rate?",
            "How severe is the noise?",
            "图像模糊吗？",
            "为什么这张图的质量如何如此低？",
            "天空有噪点吗",
        ] {
            assert_eq!(answer_form(query, &[], None), AnswerForm::Text, "{query}");
        }
    }

    #[test]
    fn options_make_a_choice_and_a_request_wins() {
        let options =
            [AnswerOption { letter: 'A', text: "Yes".into() }, AnswerOption { letter: 'B', text: "No".into() }];
        assert_eq!(answer_form("Rate it", &options, None), AnswerForm::Choice);
        assert_eq!(answer_form("Rate it", &options, Some(AnswerForm::Text)), AnswerForm::Text);
    }
}
