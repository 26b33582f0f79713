//! The form of an answer: the letter of an option, a quality level, or a sentence.

use super::words::{contains_any, find, starts_with_any, words};
use crate::state::{AnswerForm, AnswerOption};

/// Words that ask for reasons or descriptions.
const EXPLAIN: &[&str] = &["why", "explain", "describe", "compare", "list", "为什么", "为何", "解释", "描述", "说明"];
/// Requests for a rating, at any position.
const RATE: &[&str] = &[
    "rate",
    "rating",
    "score",
    "scoring",
    "grade",
    "how good is",
    "how good are",
    "mos",
    "out of 5",
    "out of five",
    "out of 10",
    "on a scale",
    "quality level",
    "打分",
    "评分",
    "评级",
    "几分",
    "多少分",
    "质量等级",
    "质量分数",
    "质量得分",
];
/// Words before "rate" or "score" that give them another meaning.
const NOT_A_REQUEST: &[&str] =
    &["frame rate", "bit rate", "refresh rate", "sampling rate", "at any rate", "score board", "film score"];
/// Beginnings of questions about the overall quality.
const ASKING: &[&str] = &[
    "what is",
    "what s",
    "what would",
    "what",
    "how is",
    "how s",
    "how would",
    "how does",
    "how do",
    "how",
    "assess",
    "evaluate",
    "judge",
    "measure",
    "estimate",
    "determine",
    "give",
    "tell",
    "please",
    "can you",
    "could you",
    "quality",
    "overall quality",
    "image quality",
    "picture quality",
    "photo quality",
    "perceptual quality",
    "the quality",
    "overall",
];
/// Words of questions that mention quality but ask about one aspect.
const PARTIAL: &[&str] = &[
    "affect*",
    "degrad*",
    "reduc*",
    "caus*",
    "factor*",
    "reason*",
    "distortion*",
    "problem*",
    "issue*",
    "improve*",
    "lower*",
    "limit*",
    "impact*",
    "influence*",
    "which",
    "kind of",
    "type of",
    "aspect*",
];
/// Chinese questions about the overall quality.
const QUALITY_CHINESE: &[&str] = &[
    "质量如何",
    "质量怎么样",
    "质量怎样",
    "质量好不好",
    "质量高不高",
    "质量是多少",
    "画质如何",
    "画质怎么样",
    "画质怎样",
];
/// Chinese verbs that ask for a judgment of the quality; the noun is "质量" or "画质".
const JUDGE_CHINESE: &[&str] = &["评价", "评估", "评定", "判断", "评一下"];

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
    if starts_with_any(&words, EXPLAIN) || contains_any(&words, &["为什么", "为何"]) {
        return false;
    }
    if contains_any(&words, RATE) && !contains_any(&words, NOT_A_REQUEST) || contains_any(&words, QUALITY_CHINESE) {
        return true;
    }
    if contains_any(&words, JUDGE_CHINESE) && contains_any(&words, &["质量", "画质"]) {
        return true;
    }
    find(&words, "quality").is_some() && starts_with_any(&words, ASKING) && !contains_any(&words, PARTIAL)
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
