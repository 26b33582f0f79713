//! Problems that people name, and the categories of the specification that they belong to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Axis, Distortion};

/// A problem that spoils an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Problem {
    Blur,
    MotionBlur,
    Noise,
    Compression,
    Underexposure,
    Overexposure,
    Backlight,
    LowContrast,
    ColorCast,
    DullColors,
    Oversaturation,
    Oversharpening,
    Haze,
    Other,
}

impl Problem {
    /// All problems, in the order of the classes of [`Head::MainProblem`](crate::fused_nr::Head::MainProblem) after "none".
    pub const ALL: [Self; 14] = [
        Self::Blur,
        Self::MotionBlur,
        Self::Noise,
        Self::Compression,
        Self::Underexposure,
        Self::Overexposure,
        Self::Backlight,
        Self::LowContrast,
        Self::ColorCast,
        Self::DullColors,
        Self::Oversaturation,
        Self::Oversharpening,
        Self::Haze,
        Self::Other,
    ];

    /// Returns the category of the specification, with direction in [`Self::kind`].
    pub const fn category(self) -> Option<Distortion> {
        match self {
            Self::Blur | Self::MotionBlur => Some(Distortion::Blurs),
            Self::Noise => Some(Distortion::Noise),
            Self::Compression => Some(Distortion::Compression),
            Self::Underexposure | Self::Overexposure | Self::Backlight => Some(Distortion::Brightness),
            Self::LowContrast | Self::Haze => Some(Distortion::Contrast),
            Self::ColorCast | Self::DullColors | Self::Oversaturation => Some(Distortion::Color),
            Self::Oversharpening => Some(Distortion::Sharpness),
            Self::Other => None,
        }
    }

    /// Returns the problem that a finding of perception or of the network names; none for damage that
    /// photos as people take them do not have.
    pub fn named(category: Distortion, kind: &str) -> Option<Self> {
        Some(match (category, kind) {
            (Distortion::Blurs, "motion blur") => Self::MotionBlur,
            (Distortion::Blurs, _) => Self::Blur,
            (Distortion::Noise, _) => Self::Noise,
            (Distortion::Compression, "JPEG blocks" | "smeared detail and ringing") => Self::Compression,
            (Distortion::Brightness, "too dark") => Self::Underexposure,
            (Distortion::Brightness, "backlit") => Self::Backlight,
            (Distortion::Brightness, _) => Self::Overexposure,
            (Distortion::Contrast, "haze") => Self::Haze,
            (Distortion::Contrast, "low contrast") => Self::LowContrast,
            (Distortion::Color, "color cast") => Self::ColorCast,
            (Distortion::Color, "pale colors") => Self::DullColors,
            (Distortion::Color, "oversaturated") => Self::Oversaturation,
            (Distortion::Sharpness, _) => Self::Oversharpening,
            _ => return None,
        })
    }

    /// Returns the axis that shows the problem.
    pub const fn axis(self) -> Option<Axis> {
        match self {
            Self::Blur | Self::MotionBlur | Self::Oversharpening => Some(Axis::Sharpness),
            Self::Noise => Some(Axis::Noise),
            Self::Compression => Some(Axis::Compression),
            Self::Underexposure | Self::Overexposure | Self::Backlight => Some(Axis::Exposure),
            Self::LowContrast => Some(Axis::Contrast),
            Self::Haze => Some(Axis::Haze),
            Self::ColorCast => Some(Axis::Cast),
            Self::DullColors | Self::Oversaturation => Some(Axis::Colorfulness),
            Self::Other => None,
        }
    }

    /// Returns the name of the problem.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blur => "blur",
            Self::MotionBlur => "motion blur",
            Self::Noise => "noise",
            Self::Compression => "compression",
            Self::Underexposure => "underexposure",
            Self::Overexposure => "overexposure",
            Self::Backlight => "backlight",
            Self::LowContrast => "low contrast",
            Self::ColorCast => "color cast",
            Self::DullColors => "dull colors",
            Self::Oversaturation => "oversaturation",
            Self::Oversharpening => "oversharpening",
            Self::Haze => "haze",
            Self::Other => "other",
        }
    }

    /// Returns the kind of the distortion in words.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Blur => "soft focus",
            Self::MotionBlur => "motion blur",
            Self::Noise => "grain",
            Self::Compression => "JPEG blocks",
            Self::Underexposure => "too dark",
            Self::Overexposure => "too bright",
            Self::Backlight => "backlit",
            Self::LowContrast => "low contrast",
            Self::ColorCast => "color cast",
            Self::DullColors => "pale colors",
            Self::Oversaturation => "oversaturated",
            Self::Oversharpening => "halos",
            Self::Haze => "haze",
            Self::Other => "other",
        }
    }
}
