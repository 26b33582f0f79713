//! Why a value of the state is refused: which field, what was expected, what was there.

/// A field with a value that it may not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {expected}, not {found}")]
pub struct Invalid {
    /// The field, with its path where it is nested.
    pub field: String,
    /// What the field may hold.
    pub expected: String,
    /// What it held.
    pub found: String,
}

impl Invalid {
    /// `field` must be `expected` but is `found`.
    pub fn new(field: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { field: field.into(), expected: expected.into(), found: found.into() }
    }
}
