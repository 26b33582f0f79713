//! Where the image, or a part of it, lies on an aspect, by all the evidence.
//!
//! Two witnesses are joined: the attributes, which were learned from real photos, and the
//! distortions, which were fitted to generated damage and to references. Amounts run from 0 (none)
//! to 4 (extreme), like severities; sharpness is an amount of blur. Light, exposure, contrast and
//! color run from -2 or -4 (low) to 2 or 4 (high). The quality is the score from 1 to 5.

use agenticiqa_vision::vocabulary::{Attribute, Axis, Measured};

use super::super::conclusion::findings::{Finding, Findings, pointer};
use super::Frame;
use crate::fusion::Estimate;
use crate::question::meaning::{self, Aspect, Claim, Kind, Pole};
use crate::state::{Distortion, ExecutorOutput, GLOBAL, Severity};

/// The spread of a position: how far it may be off.
const SPREAD: f64 = 0.3;
/// The spread of a score without an interval.
const SCORE_SPREAD: f64 = 0.35;
/// Half the width of a 90% interval, in standard deviations of the logistic distribution.
const TO_LOGISTIC: f64 = 1.0 / (2.0 * 2.94);

/// A position on an aspect.
#[derive(Debug, Clone)]
pub(crate) struct Position {
    /// The aspect.
    pub aspect: Aspect,
    /// The part of the image.
    pub part: String,
    /// The position.
    pub value: f64,
    /// How much is wrong, from 0 to 4, in any direction.
    pub fault: f64,
    /// How far the position may be off.
    pub spread: f64,
    /// The variety, if it is known.
    pub kind: Option<Kind>,
    /// JSON pointers to the evidence.
    pub pointers: Vec<String>,
    /// The measurements behind it.
    pub measured: Vec<Measured>,
}

/// All that positions are read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scales<'a> {
    pub findings: &'a Findings<'a>,
    pub evidence: &'a ExecutorOutput,
    /// The score of the whole image.
    pub overall: Option<Estimate>,
    /// Whether the image was compared with a reference.
    pub reference: bool,
    /// The image itself.
    pub frame: Frame<'a>,
}

/// What attributes and findings say of one axis.
struct Witnesses<'a> {
    attribute: Option<(&'a Attribute, String)>,
    finding: Option<Finding<'a>>,
}

impl Witnesses<'_> {
    fn value(&self) -> Option<f64> {
        self.attribute.as_ref().map(|(attribute, _)| attribute.value)
    }

    fn level(&self) -> &str {
        self.attribute.as_ref().map_or("", |(attribute, _)| attribute.level.as_str())
    }

    fn severity(&self) -> Option<f64> {
        self.finding.as_ref().map(|finding| f64::from(finding.severity as u8))
    }

    fn said(&self) -> Option<Claim> {
        self.finding.as_ref().filter(|finding| finding.severity > Severity::None).and_then(said)
    }

    fn pointers(&self) -> Vec<String> {
        let finding = self.finding.as_ref().map(|finding| finding.pointer.clone());
        let attribute = self.attribute.as_ref().map(|(_, pointer)| pointer.clone());
        finding.into_iter().chain(attribute).collect()
    }
}

/// Returns what the words of a finding say: its direction and kind.
fn said(finding: &Finding<'_>) -> Option<Claim> {
    let text = finding.explanation?;
    let kind = text.split_once(": ").map_or(text, |(kind, _)| kind);
    let of_category = |claim: &Claim| aspects(finding.distortion).contains(&claim.aspect) && !claim.denied;
    let claims = |text: &str| meaning::read(text).claims.into_iter().find(of_category);
    claims(kind).or_else(|| claims(text))
}

fn aspects(distortion: Distortion) -> &'static [Aspect] {
    match distortion {
        Distortion::Blurs => &[Aspect::Sharpness],
        Distortion::Color => &[Aspect::Cast, Aspect::Color],
        Distortion::Compression => &[Aspect::Compression],
        Distortion::Noise => &[Aspect::Noise],
        Distortion::Brightness => &[Aspect::Exposure, Aspect::Light],
        Distortion::Sharpness => &[Aspect::Halos],
        Distortion::Contrast => &[Aspect::Contrast, Aspect::Haze],
    }
}

impl<'a> Scales<'a> {
    /// Returns the position of a part on an aspect; nothing without evidence.
    pub fn position(&self, part: &str, aspect: Aspect) -> Option<Position> {
        let new = |value: f64, fault: f64, kind: Option<Kind>, pointers: Vec<String>| {
            let measured = self.measured(part, aspect);
            Some(Position { aspect, part: part.to_owned(), value, fault, spread: SPREAD, kind, pointers, measured })
                .filter(|position| !position.pointers.is_empty())
        };
        match aspect {
            Aspect::Sharpness => {
                let on = self.witnesses(part, Axis::Sharpness, Distortion::Blurs);
                let value = self.joined(on.value().map(|value| 4.0 * (-value).max(0.0)), on.severity())?;
                new(value, value, self.blur_kind(&on), on.pointers())
            }
            Aspect::Noise | Aspect::Compression => {
                let (axis, distortion) = match aspect {
                    Aspect::Noise => (Axis::Noise, Distortion::Noise),
                    _ => (Axis::Compression, Distortion::Compression),
                };
                let on = self.witnesses(part, axis, distortion);
                let value = self.joined(on.value().map(|value| 3.0 * value), on.severity())?;
                new(value, value, on.said().and_then(|claim| claim.kind), on.pointers())
            }
            Aspect::Haze => {
                let on = self.witnesses(part, Axis::Haze, Distortion::Contrast);
                let hazy = on.said().is_some_and(|claim| claim.aspect == Aspect::Haze);
                let severity = on.severity().map(|severity| if hazy { severity } else { 0.0 });
                let value = self.joined(on.value().map(|value| 3.5 * value), severity)?;
                new(value, value, None, on.pointers())
            }
            Aspect::Halos => {
                let on = self.witnesses(part, Axis::Sharpness, Distortion::Sharpness);
                let value = self.joined(on.value().map(|value| 3.0 * value.max(0.0)), on.severity())?;
                new(value, value, None, on.pointers())
            }
            Aspect::Light => self.light(part, new),
            Aspect::Exposure => self.exposure(part, new),
            Aspect::Contrast => {
                let on = self.witnesses(part, Axis::Contrast, Distortion::Contrast);
                let found = signed(&on, 0.75);
                let value = strongest(on.value().map(|value| 2.0 * value).filter(|_| self.trusts(&found)), found)?;
                new(value, on.severity().unwrap_or(0.0).max(1.2 * value.abs() - 0.6), None, on.pointers())
            }
            Aspect::Color => self.color(part, new),
            Aspect::Cast => self.cast(part, new),
            Aspect::Quality => self.quality(part),
            Aspect::Damage => {
                let found = self.findings.damage(part).or_else(|| self.findings.damage(GLOBAL))?;
                new(found, found, None, self.findings.pointers_of(if self.findings.has(part) { part } else { GLOBAL }))
            }
            Aspect::Mood => {
                let (color, light) = (self.position(part, Aspect::Color)?, self.position(part, Aspect::Light)?);
                let value = 0.7 * color.value + 0.5 * light.value;
                new(value, 0.0, None, [color.pointers, light.pointers].concat())
            }
            Aspect::Symmetry | Aspect::Emphasis => self.frame.position(part, aspect),
            Aspect::Hue | Aspect::Composition | Aspect::Beauty | Aspect::Origin | Aspect::Content => None,
        }
    }

    fn light(
        &self,
        part: &str,
        new: impl Fn(f64, f64, Option<Kind>, Vec<String>) -> Option<Position>,
    ) -> Option<Position> {
        let on = self.witnesses(part, Axis::Lighting, Distortion::Brightness);
        let found = signed(&on, 0.5);
        let value = match (on.value().map(|value| 2.0 * value), found) {
            (Some(value), Some(found)) => value + 0.4 * found,
            (value, found) => value.or(found)?,
        };
        let exposure = self.position(part, Aspect::Exposure).map_or(0.0, |exposure| exposure.fault);
        new(value, exposure.max(1.3 * (-value - 0.4)), None, on.pointers())
    }

    fn exposure(
        &self,
        part: &str,
        new: impl Fn(f64, f64, Option<Kind>, Vec<String>) -> Option<Position>,
    ) -> Option<Position> {
        let on = self.witnesses(part, Axis::Exposure, Distortion::Brightness);
        let found = signed(&on, 1.0);
        let light = self.attribute(part, Axis::Lighting).map_or(0.0, |(light, _)| light.value);
        // Very dark and very bright images lean to that side even where their exposure may be meant.
        let attribute = on.value().filter(|_| self.trusts(&found)).map(|value| 3.0 * value + 0.3 * light);
        let unknown = attribute.is_none() && found.is_none();
        let value = strongest(attribute, found).or_else(|| on.severity().map(|_| 0.0))?;
        let other = match on.level() {
            "backlit" | "mixed" => 2.5 * on.attribute.as_ref().map_or(0.0, |(attribute, _)| attribute.probability),
            _ => 0.0,
        };
        let backlit = on.level() == "backlit" || on.said().is_some_and(|claim| claim.kind == Some(Kind::Backlight));
        let fault = value.abs().max(on.severity().unwrap_or(0.0)).max(other);
        let position = new(value, fault, backlit.then_some(Kind::Backlight), on.pointers())?;
        // Nothing says whether it is too dark or too bright.
        Some(if unknown { Position { spread: f64::INFINITY, ..position } } else { position })
    }

    fn color(
        &self,
        part: &str,
        new: impl Fn(f64, f64, Option<Kind>, Vec<String>) -> Option<Position>,
    ) -> Option<Position> {
        let on = self.witnesses(part, Axis::Colorfulness, Distortion::Color);
        let said = on.said().filter(|claim| claim.aspect == Aspect::Color);
        let severity = on.severity().filter(|_| said.is_some()).unwrap_or(0.0);
        let found = said.and_then(|claim| claim.pole).filter(|_| severity > 0.0).map(|pole| match pole {
            Pole::Low => -0.6 - 0.4 * severity,
            _ => 1.2 + 0.3 * severity,
        });
        let value = on.value().map(|value| 2.0 * value);
        let value = match (value, found) {
            (Some(value), Some(found)) => {
                if found < 0.0 {
                    value.min(found)
                } else {
                    value.max(found)
                }
            }
            (value, found) => value.or(found).or_else(|| on.severity().map(|_| 0.0))?,
        };
        let oversaturated = found.is_some_and(|found| found > 0.0);
        let monochrome = on.level() == "monochrome";
        let kind = if oversaturated { Some(Kind::Oversaturated) } else { monochrome.then_some(Kind::Monochrome) };
        let dull = (-1.4 * value - 0.6).max(0.0);
        new(value, severity.max(dull), kind, on.pointers())
    }

    fn cast(
        &self,
        part: &str,
        new: impl Fn(f64, f64, Option<Kind>, Vec<String>) -> Option<Position>,
    ) -> Option<Position> {
        let on = self.witnesses(part, Axis::Cast, Distortion::Color);
        let of_strength = on.said().is_some_and(|claim| claim.aspect == Aspect::Color);
        let severity = on.severity().map(|severity| if of_strength { 0.4 * severity } else { severity });
        let value = self.joined(on.value().map(|value| 2.6 * value), severity)?;
        let kind = match on.level() {
            "warm" => Some(Kind::Warm),
            "cool" => Some(Kind::Cool),
            "green" => Some(Kind::Green),
            "magenta" => Some(Kind::Magenta),
            _ => on.said().and_then(|claim| claim.kind),
        };
        new(value, value, kind, on.pointers())
    }

    fn quality(&self, part: &str) -> Option<Position> {
        let parts = self.evidence.score_parts.as_ref().and_then(|parts| parts.get_key_value(part));
        let of_part = parts.map(|(name, parts)| {
            let value = parts.clean - parts.costs.iter().map(|cost| cost.cost).sum::<f64>();
            (value.clamp(1.0, 5.0), SCORE_SPREAD, vec![pointer("score_parts", name.as_str(), None)])
        });
        let overall = self.overall.map(|overall| {
            let spread =
                overall.interval.map_or(SCORE_SPREAD, |interval| (interval.high() - interval.low()) * TO_LOGISTIC);
            (overall.score, spread, self.scored())
        });
        let (value, spread, pointers) = if part == GLOBAL { overall.or(of_part) } else { of_part.or(overall) }?;
        let fault = (4.5 - value).max(0.0);
        let (part, measured) = (part.to_owned(), Vec::new());
        Some(Position { aspect: Aspect::Quality, part, value, fault, spread, kind: None, pointers, measured })
    }

    fn measured(&self, part: &str, aspect: Aspect) -> Vec<Measured> {
        let axis = match aspect {
            Aspect::Sharpness | Aspect::Halos => Axis::Sharpness,
            Aspect::Noise => Axis::Noise,
            Aspect::Compression => Axis::Compression,
            Aspect::Haze => Axis::Haze,
            Aspect::Light => Axis::Lighting,
            Aspect::Exposure => Axis::Exposure,
            Aspect::Contrast => Axis::Contrast,
            Aspect::Color => Axis::Colorfulness,
            Aspect::Cast => Axis::Cast,
            _ => return Vec::new(),
        };
        self.attribute(part, axis).map(|(attribute, _)| attribute.measurements.clone()).unwrap_or_default()
    }

    /// Returns the pointers to all that a score comes from.
    pub fn scored(&self) -> Vec<String> {
        let visible = self.findings.all().into_iter().filter(|finding| finding.severity > Severity::None);
        let scored = self.findings.runs().filter(|(_, log)| log.normalized_score.is_some()).map(|(pointer, _)| pointer);
        visible.map(|finding| finding.pointer).chain(scored).collect()
    }

    fn witnesses(&self, part: &str, axis: Axis, distortion: Distortion) -> Witnesses<'a> {
        Witnesses { attribute: self.attribute(part, axis), finding: self.findings.of(part, distortion) }
    }

    fn attribute(&self, part: &str, axis: Axis) -> Option<(&'a Attribute, String)> {
        let all = self.evidence.attributes.as_ref()?;
        let (name, attributes) = all.get_key_value(part).or_else(|| all.get_key_value(GLOBAL))?;
        let attribute = attributes.get(&axis).filter(|attribute| attribute.reason.is_none())?;
        Some((attribute, format!("{}/{}", pointer("attributes", name.as_str(), None), axis.name())))
    }

    /// Whether the attributes count next to a finding. Against a reference, the findings are measured.
    fn trusts(&self, found: &Option<f64>) -> bool {
        !self.reference || found.is_none()
    }

    /// Joins an amount of the attributes with a severity.
    fn joined(&self, attribute: Option<f64>, severity: Option<f64>) -> Option<f64> {
        match (attribute, severity) {
            (_, Some(severity)) if self.reference => Some(severity),
            (Some(attribute), Some(severity)) if severity > 0.0 => Some(severity.max(0.5 * (attribute + severity))),
            (Some(attribute), Some(_)) => Some(0.8 * attribute),
            (attribute, severity) => attribute.or(severity),
        }
    }

    fn blur_kind(&self, on: &Witnesses<'_>) -> Option<Kind> {
        // Perception calls every blur that is not of motion "soft focus".
        let found = on.said().and_then(|claim| claim.kind).filter(|kind| *kind == Kind::Motion);
        let attribute = on.attribute.as_ref().and_then(|(attribute, _)| match attribute.kind.as_ref()?.as_str() {
            "motion" => Some(Kind::Motion),
            "defocus" => Some(Kind::Defocus),
            _ => None,
        });
        found.or(attribute)
    }
}

/// Returns the severity of a finding with its direction.
fn signed(on: &Witnesses<'_>, scale: f64) -> Option<f64> {
    let severity = on.severity()?;
    if severity == 0.0 {
        return Some(0.0);
    }
    match on.said()?.pole? {
        Pole::Low => Some(-severity * scale),
        Pole::High if on.said()?.aspect == Aspect::Haze => Some(-severity * scale),
        Pole::High => Some(severity * scale),
        _ => Some(0.0),
    }
}

/// Returns the position that is farther from neutral, or the only one that is known.
fn strongest(attribute: Option<f64>, found: Option<f64>) -> Option<f64> {
    match (attribute, found) {
        (Some(one), Some(0.0)) => Some(0.9 * one),
        (Some(one), Some(other)) if one * other < 0.0 => Some(other),
        (Some(one), Some(other)) => Some(if one.abs() > other.abs() { one } else { other }),
        (one, other) => one.or(other),
    }
}
