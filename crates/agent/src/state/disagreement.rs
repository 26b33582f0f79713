//! Where a model and a measurement, or two backends, say different things. Both sides are kept;
//! nothing decides who is right.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SummarizerOutput, Text};

/// One side of a disagreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Who says it: a backend, or the tools.
    pub by: Text,
    /// What is said: a severity or a quality level.
    pub value: Text,
    /// The reason, in words or in numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

/// A claim of a model that contradicts a measurement by two levels or more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// The object, or `Global` for the whole image.
    pub object: Text,
    /// What it is about: a distortion, or `quality level`.
    pub about: Text,
    /// What the model says.
    pub claimed: Claim,
    /// What was measured.
    pub measured: Claim,
    /// How many levels lie between them.
    #[schemars(range(min = 2, max = 4))]
    pub levels: u8,
}

impl Disagreement {
    /// Returns the disagreement as a reason for a new plan.
    pub fn reason(&self) -> String {
        let Self { object, about, claimed, measured, .. } = self;
        let place = if object.as_str() == super::GLOBAL { String::new() } else { format!(" of {object}") };
        format!(
            "Contradictory evidence: {} says {} for {about}{place}, but {} says {}",
            claimed.by, claimed.value, measured.by, measured.value
        )
    }
}

/// The conclusion of a second backend from the same plan and the same evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondOpinion {
    /// The backend.
    pub backend: Text,
    /// Its conclusion; `null` if it has none.
    pub result: Option<SummarizerOutput>,
    /// The reason why there is no conclusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
    /// Whether both backends give the same answer; `null` for answers in words, which are not compared.
    pub agrees: Option<bool>,
}
