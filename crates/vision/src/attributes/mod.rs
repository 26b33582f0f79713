//! Describes an image on the axes that people use, and names the problems that spoil it.
//!
//! [`describe`] returns one [`Attribute`] per axis: lighting, exposure, sharpness, noise, contrast,
//! colorfulness, cast, compression and haze. Attributes describe; they do not judge. A dark photo of
//! a night is dark and not bad. Whether an attribute hurts is learned from photos in which people
//! named the main problem: [`Problems`] has the probability of each
//! [`Problem`](crate::vocabulary::Problem).
//!
//! The probabilities come from the model of [`fused_nr`]; the measurements from
//! [`perception`]. `docs/perception.md` says how often they are right.

mod evidence;
mod problem;

use agenticiqa_metrics::Image;

use crate::fused_nr::{self, Head, Reading, likeliest};
use crate::perception::{self, Features, Finding};
use crate::vocabulary::{Attribute, Attributes, Axis, Measured, Text};

pub use problem::Problems;

/// The level of an axis that says nothing about an image.
const NOT_APPLICABLE: &str = "not applicable";

/// Describes an image on all axes, given what perception found in it.
pub fn describe(image: &Image, findings: &[Finding]) -> Result<Attributes, fused_nr::Error> {
    let (reading, features) = (fused_nr::read(image)?, perception::measure(image)?);
    let describer = Describer { reading: &reading, features: &features, findings, image };
    Ok(Axis::ALL.into_iter().filter_map(|axis| Some((axis, describer.attribute(axis)?))).collect())
}

/// Puts a part where it lies next to the rest of its image: `softness` runs from 0 to 4, `sharp` is the
/// probability that it is sharp.
pub(crate) fn place_sharpness(attribute: &mut Attribute, softness: f64, sharp: f64) {
    if attribute.value > 0.0 && sharp >= 0.5 {
        return;
    }
    let place = match softness {
        softness if softness < 0.9 => 0,
        softness if softness < 1.9 => 1,
        softness if softness < 3.2 => 2,
        _ => 3,
    };
    attribute.value = -softness / 4.0;
    set_level(attribute, SHARPNESS[place].0, if place == 0 { sharp } else { 1.0 - sharp });
    if place == 0 {
        attribute.kind = None;
    }
}

/// Puts the light of a part where it lies next to the rest of its image.
pub(crate) fn place_light(attribute: &mut Attribute, dark: f64, bright: f64) {
    let value = (0.7 * (bright - dark) + 0.3 * attribute.value).clamp(-1.0, 1.0);
    let place = match value {
        value if value < -0.85 => 0,
        value if value < -0.25 => 1,
        value if value < 0.25 => 2,
        value if value < 0.85 => 3,
        _ => 4,
    };
    attribute.value = value;
    let probability = [dark, dark, 1.0 - dark - bright, bright, bright][place];
    set_level(attribute, LIGHTING[place].0, probability.clamp(0.0, 1.0));
}

fn set_level(attribute: &mut Attribute, level: &str, probability: f64) {
    if let (Ok(level_text), Ok(direction)) = (Text::new(level), Text::new(direction(level))) {
        (attribute.level, attribute.direction, attribute.probability) = (level_text, direction, probability);
    }
}

/// One level of an axis, where it lies, and how probable it is for an image.
pub type Position = (&'static str, f64, f64);

/// Returns the levels of an axis with their probabilities, given what was found in the image.
/// Oversharpening is not among the levels of sharpness.
pub fn positions(image: &Image, findings: &[Finding], axis: Axis) -> Result<Vec<Position>, fused_nr::Error> {
    let (head, words) = head(axis);
    let probabilities = evidence::mixed(head, fused_nr::read(image)?.probabilities(head), findings);
    Ok(words.iter().zip(probabilities).map(|((word, position), share)| (*word, *position, share)).collect())
}

/// Returns the head of an axis, and its words.
const fn head(axis: Axis) -> (Head, Words) {
    match axis {
        Axis::Lighting => (Head::Lighting, LIGHTING),
        Axis::Exposure => (Head::Exposure, EXPOSURE),
        Axis::Sharpness => (Head::Sharpness, SHARPNESS),
        Axis::Noise => (Head::Noise, AMOUNT),
        Axis::Contrast => (Head::Contrast, CONTRAST),
        Axis::Colorfulness => (Head::Color, COLOR),
        Axis::Cast => (Head::Cast, CAST),
        Axis::Compression => (Head::Compression, AMOUNT),
        Axis::Haze => (Head::Haze, HAZE),
    }
}

struct Describer<'a> {
    reading: &'a Reading,
    features: &'a Features,
    findings: &'a [Finding],
    image: &'a Image,
}

/// The words of an axis with their positions, in the order of the classes of its head.
type Words = &'static [(&'static str, f64)];

const LIGHTING: Words = &[("very dark", -1.0), ("dark", -0.5), ("medium", 0.0), ("bright", 0.5), ("very bright", 1.0)];
const EXPOSURE: Words = &[("under", -1.0), ("right", 0.0), ("over", 1.0), ("backlit", 0.0), ("mixed", 0.0)];
const SHARPNESS: Words = &[("sharp", 0.0), ("slightly soft", -0.33), ("blurry", -0.67), ("very blurry", -1.0)];
const AMOUNT: Words = &[("none", 0.0), ("slight", 0.5), ("strong", 1.0)];
const CONTRAST: Words = &[("low", -1.0), ("normal", 0.0), ("high", 1.0)];
const COLOR: Words = &[("monochrome", -1.0), ("dull", -0.5), ("normal", 0.0), ("vivid", 1.0)];
const CAST: Words = &[("none", 0.0), ("warm", 1.0), ("cool", 1.0), ("green", 1.0), ("magenta", 1.0), ("other", 1.0)];
const HAZE: Words = &[("none", 0.0), ("hazy", 1.0)];
/// Kinds of blur, after "none".
const BLUR_KINDS: [&str; 3] = ["defocus", "motion", "soft"];

/// Returns where a level lies on its axis.
fn direction(level: &str) -> &str {
    match level {
        "very dark" | "dark" => "dark",
        "bright" | "very bright" => "bright",
        "slightly soft" | "blurry" | "very blurry" => "blurry",
        "monochrome" | "dull" => "dull",
        "slight" | "strong" | "hazy" => "present",
        "medium" | "right" | "sharp" | "normal" | NOT_APPLICABLE => "none",
        other => other,
    }
}

impl Describer<'_> {
    /// Returns the probability of each class of a head.
    fn probabilities(&self, head: Head) -> Vec<f64> {
        evidence::mixed(head, self.reading.probabilities(head), self.findings)
    }

    fn attribute(&self, axis: Axis) -> Option<Attribute> {
        if let Some(reason) = self.not_applicable(axis) {
            let attribute = self.level(axis, NOT_APPLICABLE, 0.0, 0.0, None)?;
            return Some(Attribute { reason: Text::new(reason).ok(), ..attribute });
        }
        if axis == Axis::Sharpness {
            return self.sharpness();
        }
        let (head, words) = head(axis);
        let probabilities = self.probabilities(head);
        let place = likeliest(&probabilities);
        let value = words.iter().zip(&probabilities).map(|((_, position), share)| position * share).sum();
        self.level(axis, words[place].0, value, probabilities[place], None)
    }

    /// Returns why an axis says nothing about this image. Light, contrast and strength of color can
    /// be seen in any image.
    fn not_applicable(&self, axis: Axis) -> Option<&'static str> {
        if matches!(axis, Axis::Lighting | Axis::Contrast | Axis::Colorfulness) {
            None
        } else if axis == Axis::Sharpness && self.features.get("edge_width") == 0.0 {
            Some("the image has no edges")
        } else if self.reading.strange {
            Some("the image is unlike the photos that the model knows")
        } else {
            None
        }
    }

    /// Combines blur and oversharpening, which have a head each.
    fn sharpness(&self) -> Option<Attribute> {
        let probabilities = self.probabilities(Head::Sharpness);
        let halos = self.probabilities(Head::Sharpened)[1];
        let soft: f64 = SHARPNESS.iter().zip(&probabilities).map(|((_, position), share)| position * share).sum();
        let place = likeliest(&probabilities);
        let value = (soft + halos * probabilities[0]).clamp(-1.0, 1.0);
        if place == 0 && halos > 0.5 {
            return self.level(Axis::Sharpness, "oversharpened", value, halos, None);
        }
        let kinds = self.reading.probabilities(Head::BlurKind);
        let kind = (place > 0).then(|| BLUR_KINDS[likeliest(&kinds[1..])]);
        self.level(Axis::Sharpness, SHARPNESS[place].0, value, probabilities[place], kind)
    }

    fn level(&self, axis: Axis, level: &str, value: f64, probability: f64, kind: Option<&str>) -> Option<Attribute> {
        Some(Attribute {
            level: Text::new(level).ok()?,
            direction: Text::new(direction(level)).ok()?,
            value,
            probability,
            kind: kind.and_then(|kind| Text::new(kind).ok()),
            reason: None,
            measurements: self.measurements(axis),
        })
    }

    fn measurements(&self, axis: Axis) -> Vec<Measured> {
        let new = |name: &str, value: f64, unit: &str| Measured { name: name.into(), value, unit: unit.into() };
        let get = |name: &str| self.features.get(name);
        match axis {
            Axis::Lighting => vec![new("mean brightness", get("brightness"), "gray levels")],
            Axis::Exposure => vec![
                new("lost shadows", 100.0 * get("clipped_dark"), "%"),
                new("lost highlights", 100.0 * get("clipped_bright"), "%"),
            ],
            Axis::Sharpness => vec![
                new("edge width", get("edge_width"), "px"),
                new("overshoot next to edges", 100.0 * get("overshoot"), "%"),
            ],
            Axis::Noise => vec![new("noise", get("noise"), "gray levels")],
            Axis::Contrast => vec![
                new("contrast", get("contrast"), "gray levels"),
                new("range of tones", get("contrast_range"), "gray levels"),
            ],
            Axis::Colorfulness => vec![new("saturation", 100.0 * get("saturation"), "%")],
            Axis::Cast => vec![new("color of the grayest quarter", get("cast_gray"), "levels")],
            Axis::Compression => {
                let steps = new("steps on the 8x8 grid against others", get("grid_steps").exp(), "ratio");
                let quality = self.image.source().jpeg_quality;
                let quality = quality.map(|quality| new("JPEG quality of the file", quality, ""));
                std::iter::once(steps).chain(quality).collect()
            }
            Axis::Haze => vec![new("darkest tone", get("black_point"), "gray levels")],
        }
    }
}
