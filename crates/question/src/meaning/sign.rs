//! The signs that words of a question stand for.

pub use crate::kind::Kind;

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// How light the image looks.
    Light,
    /// Underexposed, right or overexposed.
    Exposure,
    /// Blurred or sharp.
    Sharpness,
    /// Noise and grain.
    Noise,
    /// Difference between tones.
    Contrast,
    /// Strength of colors.
    Color,
    /// A wrong color over the image.
    Cast,
    /// Blocks, bands and ringing of a codec.
    Compression,
    /// Haze and fog.
    Haze,
    /// Halos of oversharpening.
    Halos,
    /// The overall quality.
    Quality,
    /// Any distortion.
    Damage,
    /// Lively or gloomy, by light and color only.
    Mood,
    /// The colors of the image by name.
    Hue,
    /// Whether the left half mirrors the right one.
    Symmetry,
    /// How much a part is the subject: where it is and how large.
    Emphasis,
    /// Arrangement of the image, which is not measured.
    Composition,
    /// Beauty and taste, which are not measured.
    Beauty,
    /// Photo, drawing or generated image, which is not measured.
    Origin,
    /// What or who is shown, which is not measured.
    Content,
}

impl Aspect {
    /// Whether the evidence says something about the aspect.
    pub fn is_measured(self) -> bool {
        !matches!(self, Self::Composition | Self::Beauty | Self::Origin | Self::Content)
    }

    /// The name of the aspect in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Light => "lighting",
            Self::Exposure => "exposure",
            Self::Sharpness => "sharpness",
            Self::Noise => "noise",
            Self::Contrast => "contrast",
            Self::Color => "colorfulness",
            Self::Cast => "cast",
            Self::Compression => "compression",
            Self::Haze => "haze",
            Self::Halos => "oversharpening",
            Self::Quality => "quality",
            Self::Damage => "any distortion",
            Self::Mood => "mood",
            Self::Hue => "main color",
            Self::Symmetry => "symmetry",
            Self::Emphasis => "emphasis",
            Self::Composition => "composition",
            Self::Beauty => "beauty",
            Self::Origin => "origin",
            Self::Content => "content",
        }
    }
}

/// The side of an aspect that a claim names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pole {
    /// Dark, underexposed, blurred, flat, dull; no noise.
    Low,
    /// Neither side.
    Middle,
    /// Bright, overexposed, sharp, contrasty, vivid; much noise.
    High,
    /// As it should be.
    Good,
    /// Any fault of the aspect.
    Fault,
}

impl Pole {
    /// The opposite side.
    pub fn opposite(self) -> Self {
        match self {
            Self::Low => Self::High,
            Self::High => Self::Low,
            Self::Good => Self::Fault,
            Self::Fault => Self::Good,
            Self::Middle => Self::Middle,
        }
    }
}

/// How strong a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Degree {
    /// "any", "at all": the least of it counts.
    Any,
    /// "slightly".
    Slight,
    /// "moderately".
    Moderate,
    /// "very".
    Strong,
    /// "severely".
    Severe,
    /// "extremely", "totally".
    Extreme,
    /// "too": so much that it hurts.
    Too,
    /// "enough".
    Enough,
}

/// A judgment that a property needs: "high sharpness".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// "high", "strong".
    High,
    /// "good", "fine".
    Good,
    /// "medium", "average".
    Medium,
    /// "poor", "bad".
    Poor,
    /// "low", "weak".
    Low,
}

/// What words stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// An aspect without a judgment: "sharpness".
    Property(Aspect),
    /// A place on an aspect: "blurry".
    State(Aspect, Pole, Option<Kind>),
    /// "the focus": how sharp, or what is sharp.
    Focus,
    /// "high", "good".
    Grade(Grade),
    /// "very".
    Degree(Degree),
    /// "problem", "issue": a fault of what it is said of, or any fault.
    Issue,
    /// "not", "without": denies what follows.
    Deny,
    /// "free": denies what is before it, or after "free of".
    Free,
    /// "lack of": too little of what follows.
    Lack,
    /// "too much": too much of what follows.
    Excess,
    /// "more", or the ending of "sharper".
    More,
    /// "less".
    Less,
    /// "most", or the ending of "sharpest".
    Most,
    /// "least".
    Least,
    /// "than".
    Than,
    /// "and".
    And,
    /// "or".
    Or,
    /// "but", "while": ends the scope of a denial.
    But,
    /// A yes-or-no question begins.
    Ask,
    /// "which", "what".
    Which,
    /// "how".
    How,
    /// "how many".
    HowMany,
    /// "where".
    Where,
    /// "why".
    Why,
    /// "part", "object": what "which" asks for.
    Part,
    /// "rate", "assess".
    Rate,
    /// "describe".
    Describe,
    /// "fix", "improve".
    Advice,
    /// "value", "number": a measurement is asked for.
    Value,
    /// "resolution", "size in pixels".
    Resolution,
    /// "print", with the paper if it is named.
    Print,
    /// "the reference", "the original".
    Reference,
    /// "difference", "same", "lossless".
    Difference,
    /// An order to the program instead of a question.
    Instruction,
    /// A word that says nothing about the image.
    Filler,
}
