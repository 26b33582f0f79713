//! Validated values: non-empty text, scores from 1 to 5, non-negative times.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Invalid;

/// Text that is not blank, without leading and trailing whitespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("minLength" = 1))]
pub struct Text(String);

impl Text {
    /// Trims the text and checks that it is not blank.
    pub fn new(text: impl AsRef<str>) -> Result<Self, Invalid> {
        match text.as_ref().trim() {
            "" => Err(Invalid::new("text", "non-empty text", "blank")),
            trimmed => Ok(Self(trimmed.to_owned())),
        }
    }

    /// Returns the text, or `(missing)` if it is blank, for records of values that could not be
    /// read.
    pub fn or_missing(text: &str) -> Self {
        Self::new(text).unwrap_or_else(|_| Self("(missing)".to_owned()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Text {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A quality score from 1 (bad) to 5 (excellent).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(with = "f64", extend("minimum" = 1.0, "maximum" = 5.0))]
pub struct Score(f64);

impl Score {
    /// Creates a score, which must lie in 1..=5.
    pub fn new(score: f64) -> Result<Self, Invalid> {
        if (1.0..=5.0).contains(&score) {
            Ok(Self(score))
        } else {
            Err(Invalid::new("score", "within [1, 5]", score.to_string()))
        }
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = Invalid;

    fn try_from(score: f64) -> Result<Self, Invalid> {
        Self::new(score)
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> Self {
        score.0
    }
}

/// A non-negative time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(with = "f64", extend("minimum" = 0.0))]
pub struct Seconds(f64);

impl Seconds {
    /// Creates a time, which must be finite and not negative.
    pub fn new(seconds: f64) -> Result<Self, Invalid> {
        if seconds.is_finite() && seconds >= 0.0 {
            Ok(Self(seconds))
        } else {
            Err(Invalid::new("execution_time", "a non-negative number of seconds", seconds.to_string()))
        }
    }

    /// Returns the number of seconds.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl From<std::time::Duration> for Seconds {
    fn from(duration: std::time::Duration) -> Self {
        Self(duration.as_secs_f64())
    }
}

impl TryFrom<f64> for Seconds {
    type Error = Invalid;

    fn try_from(seconds: f64) -> Result<Self, Invalid> {
        Self::new(seconds)
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

/// The raw score of a tool. It may be infinite (PSNR of identical images) or NaN (a failed run).
///
/// JSON cannot express these values, so they are written as the strings `"Infinity"`,
/// `"-Infinity"` and `"NaN"`, which many readers of floating-point fields accept. Scores compare
/// by their bits, so that round trips can be tested.
#[derive(Debug, Clone, Copy)]
pub struct RawScore(pub f64);

impl PartialEq for RawScore {
    fn eq(&self, other: &Self) -> bool {
        self.0.total_cmp(&other.0).is_eq()
    }
}

impl Serialize for RawScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            score if score.is_finite() => serializer.serialize_f64(score),
            score if score.is_nan() => serializer.serialize_str("NaN"),
            score => serializer.serialize_str(if score > 0.0 { "Infinity" } else { "-Infinity" }),
        }
    }
}

impl<'de> Deserialize<'de> for RawScore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "raw_score must be a number, \"NaN\", \"Infinity\" or \"-Infinity\"")]
        enum Written {
            Number(f64),
            Word(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(score) => Ok(Self(score)),
            Written::Word(word) => match word.as_str() {
                "NaN" => Ok(Self(f64::NAN)),
                "Infinity" => Ok(Self(f64::INFINITY)),
                "-Infinity" => Ok(Self(f64::NEG_INFINITY)),
                _ => Err(serde::de::Error::custom(Invalid::new("raw_score", "a number", format!("{word:?}")))),
            },
        }
    }
}

impl JsonSchema for RawScore {
    fn schema_name() -> Cow<'static, str> {
        "RawScore".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]})
    }
}

/// One item or a list of items; a single item is written without brackets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// A single item.
    One(T),
    /// A list of items.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// Creates a value from a list; `None` if the list is empty.
    pub fn from_vec(mut items: Vec<T>) -> Option<Self> {
        match items.len() {
            0 => None,
            1 => items.pop().map(Self::One),
            _ => Some(Self::Many(items)),
        }
    }

    /// Returns all items.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Many(items) => items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_is_read_back_is_the_one_that_was_written() {
        // Without the feature `float_roundtrip`, serde_json changes the last bit of some numbers.
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let score = Score::new(1.0 + 4.0 * (bits >> 11) as f64 / (1_u64 << 53) as f64).unwrap();
            let text = serde_json::to_string(&score).unwrap();
            assert_eq!(serde_json::from_str::<Score>(&text).unwrap(), score, "{text}");
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value.as_f64(), Some(score.value()), "{text}");
        }
    }
}
