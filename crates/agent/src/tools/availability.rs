//! Whether a tool can run here, and what it would take.

/// Whether a tool can run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Built in, nothing needed.
    Native,
    /// Built in, once its model file is given.
    NeedsModel {
        /// How to give it.
        hint: String,
    },
    /// Part of the paper's list, not part of this release.
    NotIncluded {
        /// What it would need.
        reason: String,
    },
}

impl Availability {
    /// Whether the tool can run.
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Native)
    }

    /// Why the tool cannot run; `None` if it can.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Native => None,
            Self::NeedsModel { hint: reason } | Self::NotIncluded { reason } => Some(reason),
        }
    }
}
