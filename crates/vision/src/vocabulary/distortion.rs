//! Vocabulary of plans and evidence: distortion categories, severities, the whole image.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Invalid;

/// The region name that stands for the whole image.
pub const GLOBAL: &str = "Global";

/// A category of distortion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("enum" = Distortion::names()))]
pub enum Distortion {
    /// Lost detail: lens, motion, Gaussian blur.
    Blurs,
    /// Colors that are shifted, bleeding, quantized, too strong or too weak.
    Color,
    /// Blocks, ringing and bands of a codec.
    Compression,
    /// Grain, speckles, impulses.
    Noise,
    /// Too dark or too bright.
    Brightness,
    /// Oversharpened edges.
    Sharpness,
    /// Too little or too much contrast.
    Contrast,
}

impl Distortion {
    /// Every category, in the order of the specification.
    pub const ALL: [Self; 7] =
        [Self::Blurs, Self::Color, Self::Compression, Self::Noise, Self::Brightness, Self::Sharpness, Self::Contrast];

    /// Returns the canonical name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blurs => "Blurs",
            Self::Color => "Color distortions",
            Self::Compression => "Compression",
            Self::Noise => "Noise",
            Self::Brightness => "Brightness change",
            Self::Sharpness => "Sharpness",
            Self::Contrast => "Contrast",
        }
    }

    /// Returns the canonical names of all categories.
    pub fn names() -> [&'static str; 7] {
        Self::ALL.map(Self::name)
    }
}

/// How bad a distortion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("enum" = Severity::names()))]
pub enum Severity {
    /// Barely or not visible.
    None,
    /// Visible when looked for.
    Slight,
    /// Visible.
    Moderate,
    /// Disturbing.
    Severe,
    /// Content is lost.
    Extreme,
}

impl Severity {
    /// Every severity, mildest first.
    pub const ALL: [Self; 5] = [Self::None, Self::Slight, Self::Moderate, Self::Severe, Self::Extreme];

    /// Returns the canonical word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Slight => "slight",
            Self::Moderate => "moderate",
            Self::Severe => "severe",
            Self::Extreme => "extreme",
        }
    }

    /// Returns the canonical words of all severities.
    pub fn names() -> [&'static str; 5] {
        Self::ALL.map(Self::name)
    }
}

/// Implements conversions for a closed vocabulary: displays the canonical name, and parses it or
/// one of its synonyms.
macro_rules! word {
    ($word:ty, $field:literal, $synonyms:path) => {
        impl fmt::Display for $word {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl From<$word> for String {
            fn from(word: $word) -> Self {
                word.name().to_owned()
            }
        }

        impl FromStr for $word {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                let folded = text.trim().to_lowercase();
                let canonical = <$word>::ALL.into_iter().find(|word| word.name().to_lowercase() == folded);
                canonical.or_else(|| $synonyms(&folded)).ok_or_else(|| {
                    Invalid::new($field, format!("one of {}", <$word>::names().join(", ")), format!("{text:?}"))
                })
            }
        }

        impl TryFrom<String> for $word {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                text.parse()
            }
        }
    };
}

word!(Distortion, "distortion type", distortion_synonym);
word!(Severity, "severity", severity_synonym);

/// Maps synonyms that models and people use to a category; the first matching stem decides.
fn distortion_synonym(folded: &str) -> Option<Distortion> {
    const SYNONYMS: [(&str, Distortion); 33] = [
        ("blur", Distortion::Blurs),
        ("defocus", Distortion::Blurs),
        ("out of focus", Distortion::Blurs),
        ("soft", Distortion::Blurs),
        ("oversharp", Distortion::Sharpness),
        ("over-sharp", Distortion::Sharpness),
        ("unsharp", Distortion::Blurs),
        ("sharp", Distortion::Sharpness),
        ("colour", Distortion::Color),
        ("color", Distortion::Color),
        ("saturat", Distortion::Color),
        ("white balance", Distortion::Color),
        ("chroma", Distortion::Color),
        ("hue", Distortion::Color),
        ("compress", Distortion::Compression),
        ("jpeg", Distortion::Compression),
        ("block", Distortion::Compression),
        ("artifact", Distortion::Compression),
        ("artefact", Distortion::Compression),
        ("ringing", Distortion::Compression),
        ("banding", Distortion::Compression),
        ("pixelat", Distortion::Compression),
        ("nois", Distortion::Noise),
        ("grain", Distortion::Noise),
        ("bright", Distortion::Brightness),
        ("dark", Distortion::Brightness),
        ("expos", Distortion::Brightness),
        ("illumination", Distortion::Brightness),
        ("light", Distortion::Brightness),
        ("contrast", Distortion::Contrast),
        ("haze", Distortion::Contrast),
        ("hazy", Distortion::Contrast),
        ("washed", Distortion::Contrast),
    ];
    SYNONYMS.into_iter().find(|(stem, _)| folded.contains(stem)).map(|(_, distortion)| distortion)
}

/// Maps synonyms to a severity; "mild" and "heavy" are the words of the paper.
fn severity_synonym(folded: &str) -> Option<Severity> {
    match folded {
        "no" | "negligible" | "imperceptible" | "invisible" | "absent" => Some(Severity::None),
        "mild" | "minor" | "low" | "light" | "minimal" => Some(Severity::Slight),
        "medium" | "noticeable" | "visible" => Some(Severity::Moderate),
        "heavy" | "strong" | "high" | "serious" | "significant" => Some(Severity::Severe),
        "very severe" | "critical" | "very high" | "very heavy" => Some(Severity::Extreme),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_names_and_synonyms_are_read() {
        for (text, category) in [
            ("Blurs", Distortion::Blurs),
            ("motion blur", Distortion::Blurs),
            ("COLOR DISTORTIONS", Distortion::Color),
            ("JPEG artifacts", Distortion::Compression),
            ("overexposure", Distortion::Brightness),
            ("oversharpening", Distortion::Sharpness),
            ("unsharp", Distortion::Blurs),
        ] {
            assert_eq!(text.parse::<Distortion>().unwrap(), category, "{text}");
        }
        assert_eq!("mild".parse::<Severity>().unwrap(), Severity::Slight);
        assert_eq!("Heavy".parse::<Severity>().unwrap(), Severity::Severe);
    }

    #[test]
    fn what_is_no_word_of_the_vocabulary_is_refused_with_the_words_that_are() {
        let error = "tasty".parse::<Severity>().unwrap_err().to_string();
        assert_eq!(error, "severity must be one of none, slight, moderate, severe, extreme, not \"tasty\"");
        assert!("tasty".parse::<Distortion>().unwrap_err().to_string().contains("Brightness change"));
    }
}
