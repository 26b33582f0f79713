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

/// The words and phrases with which models and people name the categories. A star stands for any
/// ending; other names must be whole words, because "light" also begins "lightning". In a text with
/// words of several categories, the first category counts.
#[rustfmt::skip]
const WORDS: [(Distortion, &[&str]); 7] = [
    (Distortion::Blurs, &["blur*", "defocus*", "misfocus*", "out of focus", "unfocused", "soft", "softer", "softness",
        "soften*", "unsharp*", "smear*"]),
    (Distortion::Sharpness, &["sharp*", "oversharp*", "resharp*"]),
    (Distortion::Color, &["color*", "colour*", "discolor*", "discolour*", "satur*", "desatur*", "oversatur*",
        "undersatur*", "white balance", "chroma*", "hue", "hues", "tint", "tints", "tinted"]),
    (Distortion::Compression, &["compress*", "overcompress*", "recompress*", "jpeg*", "jpg", "block", "blocks",
        "blocky", "blockiness", "blocking", "artifact*", "artefact*", "ringing", "banding", "pixelat*"]),
    (Distortion::Noise, &["nois*", "denois*", "grain", "grains", "grainy", "graininess", "speckle*"]),
    (Distortion::Brightness, &["bright*", "overbright*", "dark*", "dim", "dimly", "dimness", "expos*", "overexpos*",
        "underexpos*", "illuminat*", "light", "lightness", "lighting", "lowlight", "backlit", "backlight*"]),
    (Distortion::Contrast, &["contrast*", "haze", "hazy", "haziness", "washed"]),
];

impl Distortion {
    /// Returns whether the text names this category. "slight" does not name light.
    pub fn is_named_in(self, text: &str) -> bool {
        let words = words(text);
        let named = |name: &str| match name.strip_suffix('*') {
            Some(stem) => words.contains(&format!(" {stem}")),
            None => words.contains(&format!(" {name} ")),
        };
        let synonyms = WORDS.iter().find(|(category, _)| *category == self).map_or(&[][..], |(_, names)| *names);
        named(&self.name().to_lowercase()) || synonyms.iter().any(|name| named(name))
    }
}

/// Returns the words of a text in lower case, each between single spaces.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(String::from(" "), |all, word| all + word + " ")
}

fn distortion_synonym(folded: &str) -> Option<Distortion> {
    WORDS.iter().map(|(category, _)| *category).find(|category| category.is_named_in(folded))
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
            ("out-of-focus", Distortion::Blurs),
            ("over-sharpened edges", Distortion::Sharpness),
            ("Low-light", Distortion::Brightness),
        ] {
            assert_eq!(text.parse::<Distortion>().unwrap(), category, "{text}");
        }
        assert_eq!("mild".parse::<Severity>().unwrap(), Severity::Slight);
        assert_eq!("Heavy".parse::<Severity>().unwrap(), Severity::Severe);
    }

    #[test]
    fn every_form_of_a_word_is_read() {
        for (category, forms) in [
            (Distortion::Blurs, "blurring soften softened softening softer defocusing defocused unsharpness"),
            (Distortion::Sharpness, "sharpen sharper sharpened oversharpen over-sharpening"),
            (Distortion::Color, "colorfulness colourful saturate saturated oversaturate desaturating discolored"),
            (Distortion::Compression, "compressing overcompressed pixelation blockiness artefacts"),
            (Distortion::Noise, "noisy denoise denoising denoised grains grainy"),
            (
                Distortion::Brightness,
                "brighten brighter darken darker darkening lowlight low-light lightness overexpose overexposed \
                 over-exposed underexposing exposure",
            ),
            (Distortion::Contrast, "washed washed-out contrasts contrasty"),
        ] {
            for form in forms.split_whitespace() {
                assert_eq!(form.parse::<Distortion>().ok(), Some(category), "{form}");
            }
        }
    }

    #[test]
    fn parts_of_other_words_are_not_read() {
        for (text, category) in [
            ("slight contrast loss", Some(Distortion::Contrast)),
            ("highlights", None),
            ("delightful", None),
            ("a stumbling block", Some(Distortion::Compression)),
            ("blockbuster", None),
            ("ingrained dirt", None),
            ("lightning", None),
            ("software", None),
            ("a poisonous snake", None),
        ] {
            assert_eq!(text.parse::<Distortion>().ok(), category, "{text}");
        }
        assert!(!Distortion::Brightness.is_named_in("A slight loss of contrast in the highlights."));
    }

    #[test]
    fn what_is_no_word_of_the_vocabulary_is_refused_with_the_words_that_are() {
        let error = "tasty".parse::<Severity>().unwrap_err().to_string();
        assert_eq!(error, "severity must be one of none, slight, moderate, severe, extreme, not \"tasty\"");
        assert!("tasty".parse::<Distortion>().unwrap_err().to_string().contains("Brightness change"));
    }
}
