//! Validation of models when they are deserialized.

/// Implements serde for a model marked `remote = "Self"` and rejects values that fail its `check`.
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
