//! Attributes: how an image looks on the axes that people use, without saying whether that is bad.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// An axis on which images are described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// How light the image looks: very dark, dark, medium, bright, very bright.
    Lighting,
    /// Exposure: under, right, over, backlit, mixed.
    Exposure,
    /// Sharpness of the main subject: very blurry, blurry, slightly soft, sharp, oversharpened.
    Sharpness,
    /// Noise: none, slight, strong.
    Noise,
    /// Contrast: low, normal, high.
    Contrast,
    /// Strength of colors: monochrome, dull, normal, vivid.
    Colorfulness,
    /// Color cast: none, warm, cool, green, magenta, other.
    Cast,
    /// Compression artifacts: none, slight, strong.
    Compression,
    /// Haze: none, hazy.
    Haze,
}

impl Axis {
    /// All axes, in the order in which they are reported.
    pub const ALL: [Self; 9] = [
        Self::Lighting,
        Self::Exposure,
        Self::Sharpness,
        Self::Noise,
        Self::Contrast,
        Self::Colorfulness,
        Self::Cast,
        Self::Compression,
        Self::Haze,
    ];

    /// Returns the name of the axis.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lighting => "lighting",
            Self::Exposure => "exposure",
            Self::Sharpness => "sharpness",
            Self::Noise => "noise",
            Self::Contrast => "contrast",
            Self::Colorfulness => "colorfulness",
            Self::Cast => "cast",
            Self::Compression => "compression",
            Self::Haze => "haze",
        }
    }
}

/// A measurement behind an attribute or a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Name of the measurement.
    pub name: String,
    /// Measured value.
    pub value: f64,
    /// Unit of the value; empty if it has none.
    #[serde(default)]
    pub unit: String,
}

/// What an image looks like on each axis.
pub type Attributes = BTreeMap<Axis, Attribute>;

/// What an image looks like on one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// The most likely level, such as `very dark`, or `not applicable`.
    pub level: Text,
    /// Where the level lies, such as `dark` or `bright`; `none` if it is the neutral one.
    pub direction: Text,
    /// The position on the axis: 0 is neutral, -1 and 1 are the ends of a signed axis (very dark and
    /// very bright, very blurry and oversharpened); other axes run from 0 to 1.
    #[schemars(range(min = -1, max = 1))]
    pub value: f64,
    /// The probability of the level.
    #[schemars(range(min = 0, max = 1))]
    pub probability: f64,
    /// The kind, if it is known: the kind of blur, such as `motion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text>,
    /// Why the axis is not applicable to the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The measurements behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measurements: Vec<Measured>,
}
