//! What models are sent.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What models are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The prompts of the specification, with views and measurements in the user message.
    #[default]
    Grounded,
    /// The prompts of the specification and nothing else, to reproduce the paper.
    Paper,
}

impl Mode {
    /// The name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grounded => "grounded",
            Self::Paper => "paper",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
