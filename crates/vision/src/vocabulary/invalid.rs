//! Error for a value that a field may not have.

/// A field has a value that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {expected}, not {found}")]
pub struct Invalid {
    /// The field, with its path if it is nested.
    pub field: String,
    /// The allowed values.
    pub expected: String,
    /// The value that was found.
    pub found: String,
}

impl Invalid {
    /// Creates an error: `field` must be `expected` but is `found`.
    pub fn new(field: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { field: field.into(), expected: expected.into(), found: found.into() }
    }
}
