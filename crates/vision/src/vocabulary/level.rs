//! The five levels of quality.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Score;

/// A level of quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum QualityLevel {
    /// E, 1.
    Bad,
    /// D, 2.
    Poor,
    /// C, 3.
    Fair,
    /// B, 4.
    Good,
    /// A, 5.
    Excellent,
}

impl QualityLevel {
    /// Every level, worst first.
    pub const ALL: [Self; 5] = [Self::Bad, Self::Poor, Self::Fair, Self::Good, Self::Excellent];

    /// Returns the level nearest to a score.
    pub fn of(score: Score) -> Self {
        Self::ALL[(score.value().round() as usize).clamp(1, 5) - 1]
    }

    /// Returns the number of the level, 1 to 5.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Returns the letter of the level, A (excellent) to E (bad).
    pub fn letter(self) -> char {
        char::from(b'E' - self as u8)
    }

    /// Returns the level of a letter in either case.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.letter() == letter.to_ascii_uppercase())
    }

    /// Returns the name of the level.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bad => "Bad",
            Self::Poor => "Poor",
            Self::Fair => "Fair",
            Self::Good => "Good",
            Self::Excellent => "Excellent",
        }
    }
}
