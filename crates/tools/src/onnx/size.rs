//! Input size of a network: the size of the image, or a size by resizing and cropping.

#![cfg_attr(not(feature = "onnx"), allow(dead_code))]

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Input size of a network.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum SizeRule {
    /// The size of the image, written `"native"`.
    #[default]
    Native,
    /// Resized, cropped or both.
    Changed(SizeChange),
}

/// Resizing and cropping, in this order. Sizes are `[width, height]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeChange {
    /// Target size; the aspect ratio is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resize: Option<[usize; 2]>,
    /// Target length of the shorter side; the aspect ratio is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shorter_side: Option<usize>,
    /// Interpolation filter.
    #[serde(default)]
    pub filter: Filter,
    /// Whether resized 8-bit pixels are rounded to whole steps, as Pillow does and torchvision
    /// does not.
    #[serde(default = "yes")]
    pub rounded: bool,
    /// Size of the centered crop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crop: Option<[usize; 2]>,
}

fn yes() -> bool {
    true
}

/// Interpolation filter. Smooth filters widen when an image shrinks (antialiasing).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// The nearest pixel, as in Pillow and Keras.
    Nearest,
    /// Linear interpolation.
    #[default]
    Bilinear,
    /// Cubic interpolation (Keys, a = -1/2).
    Bicubic,
}

/// Maximum side of a network input.
const MAX_SIDE: usize = 1 << 13;

impl SizeRule {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let Self::Changed(change) = self else { return Ok(()) };
        let sides = change.resize.iter().chain(&change.crop).flatten().chain(&change.shorter_side);
        if sides.clone().any(|&side| side == 0 || side > MAX_SIDE) {
            return Err("onnx.size: sides must be from 1 to 8192");
        }
        match (change.resize, change.shorter_side, change.crop) {
            (Some(_), Some(_), _) => Err("onnx.size: resize and shorter_side exclude each other"),
            (None, None, None) => Err("onnx.size must be \"native\" or name resize, shorter_side or crop"),
            (Some([width, height]), None, Some([inner_width, inner_height]))
                if inner_width > width || inner_height > height =>
            {
                Err("onnx.size: the crop is larger than what it is cut from")
            }
            (None, Some(side), Some([width, height])) if width.min(height) > side => {
                Err("onnx.size: the crop is larger than what it is cut from")
            }
            _ => Ok(()),
        }
    }
}

impl SizeChange {
    /// Returns the size to which an image is resized.
    pub(super) fn resized(&self, width: usize, height: usize) -> (usize, usize) {
        match (self.resize, self.shorter_side) {
            (Some([width, height]), _) => (width, height),
            (None, Some(side)) if width <= height => (side, (side * height / width).max(1)),
            (None, Some(side)) => ((side * width / height).max(1), side),
            (None, None) => (width, height),
        }
    }
}

impl Serialize for SizeRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Native => serializer.serialize_str("native"),
            Self::Changed(change) => change.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SizeRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Rule)
    }
}

/// Deserializes the word or the object, so that errors in the object name the field.
struct Rule;

impl<'de> Visitor<'de> for Rule {
    type Value = SizeRule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"native\" or an object with resize, shorter_side or crop")
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<SizeRule, E> {
        match word {
            "native" => Ok(SizeRule::Native),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SizeRule, A::Error> {
        SizeChange::deserialize(MapAccessDeserializer::new(map)).map(SizeRule::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<SizeRule, String> {
        let rule: SizeRule = serde_json::from_str(json).map_err(|error| error.to_string())?;
        rule.check().map(|()| rule).map_err(str::to_owned)
    }

    #[test]
    fn rules_are_read_and_written_back() {
        for json in ["\"native\"", r#"{"resize":[224,200],"filter":"nearest","rounded":true}"#] {
            assert_eq!(serde_json::to_string(&read(json).unwrap()).unwrap(), json);
        }
        for (json, part) in [
            ("\"own\"", "expected \"native\" or an object"),
            ("{}", "must be \"native\" or name"),
            (r#"{"resize":[0,4]}"#, "from 1 to 8192"),
            (r#"{"resize":[8,8],"shorter_side":4}"#, "exclude"),
            (r#"{"shorter_side":8,"crop":[9,9]}"#, "larger than what"),
            (r#"{"width":8}"#, "unknown field `width`"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }

    #[test]
    fn the_shorter_side_keeps_the_shape() {
        let change = SizeChange { shorter_side: Some(256), ..SizeChange::default() };
        assert_eq!(change.resized(512, 384), (341, 256));
        assert_eq!(change.resized(100, 1000), (256, 2560));
    }
}
