//! The full examination of an image: its attributes, and the distortions that spoil it.
//!
//! Two witnesses look for distortions. [`perception`] measures pixels and was fitted to generated
//! damage; it is strong on noise, blocks and changes against a reference. [`attributes`] come from a
//! network that was trained on real photos; it knows what people call blurry, dark or pale. Without
//! a reference, a distortion is reported if one of them is sure. In images that are unlike photos
//! (drawings, documents, test patterns) neither is, and nothing but noise is reported.

use agenticiqa_metrics::{Image, Region};

use crate::attributes::{self, Problems};
use crate::contributions;
use crate::fused_nr;
use crate::fused_nr::{Head, Reading, likeliest};
use crate::perception::{self, Examination, Finding, severity};
use crate::regions::{self, Focus, Look, MissedFocus};
use crate::vocabulary::{Attribute, Axis, Distortion, Measured, Problem, Severity};

/// A background is taken to be blurred on purpose if the network says so with at least this probability.
const ON_PURPOSE: f64 = 0.5;
/// The highest level of a problem whose attribute is most likely as it should be.
const UNSEEN: f64 = 1.4;

/// Reasons why an image cannot be examined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image cannot be described.
    #[error(transparent)]
    Description(#[from] fused_nr::Error),
    /// The weights of its parts are damaged.
    #[error(transparent)]
    Parts(#[from] contributions::Unusable),
}

impl From<perception::Error> for Error {
    fn from(error: perception::Error) -> Self {
        Self::Description(error.into())
    }
}

impl From<fused_nr::Unusable> for Error {
    fn from(error: fused_nr::Unusable) -> Self {
        Self::Description(error.into())
    }
}

/// Describes an image and finds its distortions, against its reference if given.
pub fn examine(image: &Image, reference: Option<&Image>) -> Result<Examination, Error> {
    let mut examination = perception::examine(image, reference)?;
    let reading = fused_nr::read(image)?;
    if reference.is_none() && reading.strange {
        let learned = |finding: &&mut Finding| finding.category != Distortion::Noise;
        examination.findings.iter_mut().filter(learned).for_each(doubt);
    } else if reference.is_none() {
        spare_background(&mut examination.findings[Distortion::Blurs as usize], image, &reading);
    }
    examination.attributes = attributes::describe(image, &examination.findings)?;
    if reference.is_none() && !reading.strange {
        let (model, problems) = (fused_nr::builtin()?, Problems::of(&reading));
        let Examination { findings, attributes, .. } = &mut examination;
        let found = findings.iter().any(|finding| finding.severity >= Severity::Moderate);
        let is_spared = |category| category == Distortion::Blurs && is_blurred_on_purpose(&reading);
        for finding in findings.iter_mut().filter(|finding| !is_spared(finding.category)) {
            let cost = |head: &Head| model.cost(*head, &reading);
            let level = heads(finding.category).iter().map(cost).fold(0.5, f64::max);
            let problem = problems.shown(finding.category);
            let shows = problem.axis().and_then(|axis| attributes.get_key_value(&axis));
            // What the attribute does not show is at most slight.
            let is_shown = shows.is_none_or(|(_, attribute)| attribute.direction.as_str() != "none");
            let level = if is_shown { level } else { level.min(UNSEEN) };
            if problems.reports(finding.category, found) && level > finding.level {
                raise(finding, level, problem, shows);
            }
        }
        let Examination { findings, attributes, .. } = &mut examination;
        if blame_missed_focus(&mut findings[Distortion::Blurs as usize], image)
            && let Some(sharpness) = attributes.get_mut(&Axis::Sharpness)
        {
            attributes::place_sharpness(sharpness, MISSED_FOCUS, 0.0);
        }
    }
    let parts = contributions::parts(&examination, reference.is_none().then_some(&*reading))?;
    examination.parts = Some(parts);
    Ok(examination)
}

/// The level of blur in a portrait whose face is out of focus.
const MISSED_FOCUS: f64 = 3.0;

/// Takes back a finding that was learned from photos and may be wrong in other images. How dark,
/// bright or blurred they are is measured, but whether that is bad is not known.
fn doubt(finding: &mut Finding) {
    if finding.severity > Severity::None {
        finding.explanation = format!("not judged, because the image is unlike photos: {}", finding.explanation);
    }
    (finding.level, finding.severity, finding.kind) = (finding.level.min(0.49), Severity::None, None);
}

/// Whether the network sees a sharp subject, and blur on purpose around it.
fn is_blurred_on_purpose(reading: &Reading) -> bool {
    likeliest(&reading.probabilities(Head::Sharpness)) == 0 && reading.probabilities(Head::Bokeh)[1] >= ON_PURPOSE
}

/// Takes back the blur of a background behind a sharp subject: it is intended. Pixels alone cannot tell
/// it from a missed focus, so the network has to see a sharp subject and a blur on purpose too.
fn spare_background(finding: &mut Finding, image: &Image, reading: &Reading) {
    if finding.severity == Severity::None || !is_blurred_on_purpose(reading) {
        return;
    }
    let focus = Focus::of(image, regions::detected_subject(image));
    if focus.is_intended() {
        let Focus { sharpest, soft, .. } = focus;
        let measured = format!("detail {sharpest:.0} in the subject, hardly any in {:.0}%", 100.0 * soft);
        finding.explanation = format!("background blur, intended: {measured}; {}", finding.explanation);
        (finding.level, finding.severity, finding.kind) = (finding.level.min(0.49), Severity::None, None);
    }
}

/// Raises a finding to the level that the network sees.
fn raise(finding: &mut Finding, level: f64, problem: Problem, shows: Option<(&Axis, &Attribute)>) {
    (finding.level, finding.severity) = (level, severity(level).max(Severity::Slight));
    finding.kind = Some(problem.kind());
    let Some((axis, Attribute { level, probability, measurements, .. })) = shows else { return };
    let measured: Vec<String> = measurements.iter().map(words).collect();
    finding.explanation = format!("{} {level} ({:.0}%), {}", axis.name(), 100.0 * probability, measured.join(", "));
}

/// A soft face before a sharp background is the worst fault that a portrait can have, however sharp the
/// rest is.
fn blame_missed_focus(finding: &mut Finding, image: &Image) -> bool {
    let Ok(Some(MissedFocus { eyes, background, .. })) = regions::missed_focus(image) else { return false };
    let raised = finding.level < MISSED_FOCUS;
    if raised {
        (finding.level, finding.severity) = (MISSED_FOCUS, severity(MISSED_FOCUS));
        finding.kind = Some(Problem::Blur.kind());
        finding.explanation =
            format!("the face is out of focus: detail {eyes:.0} around the eyes, {background:.0} in the background");
    }
    raised
}

/// Describes a part of an image and finds its distortions. How sharp and how light it is, is judged next
/// to the rest of the image.
pub fn examine_part(image: &Image, region: &Region) -> Result<Examination, Error> {
    let crop = image.crop(region).map_err(fused_nr::Error::from)?;
    let mut examination = examine(&crop, None)?;
    let reading = fused_nr::read(&crop)?;
    if reading.strange || (region.width, region.height) == (image.width(), image.height()) {
        return Ok(examination);
    }
    let look = regions::look(image, region)?;
    let Examination { findings, attributes, .. } = &mut examination;
    if let Some(attribute) = attributes.get_mut(&Axis::Sharpness).filter(|attribute| attribute.reason.is_none()) {
        let softness = (-4.0 * attribute.value).max(0.0);
        attributes::place_sharpness(attribute, look.softness(softness), look.sharp);
        set_blur(&mut findings[Distortion::Blurs as usize], &look, attribute);
    }
    if let Some(attribute) = attributes.get_mut(&Axis::Lighting) {
        attributes::place_light(attribute, look.dark, look.bright);
    }
    examination.parts = Some(contributions::parts(&examination, Some(&*reading))?);
    Ok(examination)
}

/// Fits the blur of a part to how sharp it looks next to the rest.
fn set_blur(finding: &mut Finding, look: &Look, attribute: &Attribute) {
    let level = look.softness(finding.level);
    let percent = 100.0 * look.sharp;
    if look.sharp >= 0.5 {
        if finding.severity > Severity::None {
            finding.explanation =
                format!("sharp next to the rest of the image ({percent:.0}%): {}", finding.explanation);
        }
        (finding.level, finding.severity, finding.kind) = (level.min(0.49), Severity::None, None);
    } else {
        if finding.severity == Severity::None {
            let measured: Vec<String> = attribute.measurements.iter().map(words).collect();
            finding.explanation =
                format!("soft next to the rest of the image ({:.0}%), {}", 100.0 - percent, measured.join(", "));
            finding.kind = Some(Problem::Blur.kind());
        }
        (finding.level, finding.severity) = (level, severity(level).max(Severity::Slight));
    }
}

fn words(measured: &Measured) -> String {
    let Measured { name, value, unit } = measured;
    let space = if unit.is_empty() || unit == "%" { "" } else { " " };
    format!("{name} {value:.1}{space}{unit}")
}

/// Returns the heads that show a distortion.
const fn heads(category: Distortion) -> &'static [Head] {
    match category {
        Distortion::Blurs => &[Head::Sharpness],
        Distortion::Noise => &[Head::Noise],
        Distortion::Compression => &[Head::Compression],
        Distortion::Brightness => &[Head::Exposure, Head::Lighting],
        Distortion::Contrast => &[Head::Contrast, Head::Haze],
        Distortion::Color => &[Head::Cast, Head::Color],
        Distortion::Sharpness => &[Head::Sharpened],
    }
}
