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

/// Reads and writes a model whose derive is marked `remote = "Self"`, and lets nothing in that its `check` refuses.
macro_rules! checked_on_read {
    ($model:ty) => {
        impl serde::Serialize for $model {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$model>::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $model {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let model = <$model>::deserialize(deserializer)?;
                model.check().map_err(serde::de::Error::custom)?;
                Ok(model)
            }
        }
    };
}

pub(super) use checked_on_read;
