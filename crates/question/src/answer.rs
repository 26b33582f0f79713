//! The form of an answer, and the options to choose from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerForm {
    /// A quality level from A to E, with its score.
    Score,
    /// The letter of an option.
    Choice,
    /// A short sentence.
    Text,
}

/// An option of a multiple-choice question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerOption {
    /// The letter of the option.
    pub letter: char,
    /// The text of the option.
    pub text: String,
}
