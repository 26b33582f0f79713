//! Whether a tool can run here, and what it would take.

/// Whether a tool can run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Ready,
    /// Something that it needs is not here.
    Missing {
        /// What, and how to get it.
        reason: String,
    },
}

impl Availability {
    /// Whether the tool can run.
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Ready)
    }

    /// Why the tool cannot run; `None` if it can.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ready => None,
            Self::Missing { reason } => Some(reason),
        }
    }
}
