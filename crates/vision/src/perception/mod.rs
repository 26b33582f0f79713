//! Detects distortions in an image: which ones, how severe, and which measurements show it.
//!
//! [`examine`] measures an image, alone or against its reference. A fitted model turns the
//! measurements into one [`Finding`] for each of the seven categories. `docs/perception.md`
//! describes how it was fitted and how often it is right.
//!
//! ```
//! use agenticiqa_metrics::Image;
//! use agenticiqa_distort::{Kind, distort};
//! use agenticiqa_vision::perception::examine;
//! use agenticiqa_vision::vocabulary::{Distortion, Severity};
//!
//! let clean = Image::from_gray8(256, 256, (0..65536).map(|i| (64 + (i % 256) / 4 + (i / 4096) * 4) as u8).collect())?;
//! let noisy = distort(&clean, Kind::WhiteNoise, 5, 1)?;
//! let examination = examine(&noisy, Some(&clean))?;
//! assert!(examination.finding(Distortion::Noise).severity >= Severity::Slight);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod explain;
mod features;
mod model;
mod pair;
mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

pub use crate::vocabulary::Measured;
use crate::vocabulary::{Attributes, Distortion, Problem, ScoreParts, Severity};
use agenticiqa_metrics::{self, Image, Pair};
use explain::Evidence;
pub use features::Features;
pub use model::{Category, Forest, Judge, Model, Tree, Unusable, Usual, Verdict};
use view::View;

/// Minimum side of an image that can be examined, in pixels.
pub const SMALLEST_SIDE: usize = view::SMALLEST;

/// Number of features that [`measure`] returns.
pub const MEASURED: usize = 148;

/// Result type of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// Reasons why an image cannot be examined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image or region is too small to show a distortion.
    #[error(
        "an image of {width}x{height} is too small to be examined: at least {SMALLEST_SIDE}x{SMALLEST_SIDE} pixels are needed"
    )]
    TooSmall {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// The reference cannot be compared with the image, for example because its size differs.
    #[error(transparent)]
    Reference(#[from] agenticiqa_metrics::Error),
    /// The built-in model does not match this version of the code.
    #[error(transparent)]
    Model(#[from] Unusable),
}

/// The result for one category of distortion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The category.
    pub category: Distortion,
    /// Severity, in five steps.
    pub severity: Severity,
    /// Severity as a continuous number from 0 (none) to 4 (extreme).
    pub level: f64,
    /// The kind of distortion if it is known, such as "motion blur" or "too dark".
    pub kind: Option<&'static str>,
    /// One sentence that explains the result with its measurements.
    pub explanation: String,
    /// The measurements.
    pub measurements: Vec<Measured>,
}

impl Finding {
    /// Returns the problem that spoils the image, if it is one that photos have.
    pub fn problem(&self) -> Option<Problem> {
        Problem::named(self.category, self.kind?)
    }
}

/// What was found in an image.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Examination {
    /// One finding per category, in the order of the specification.
    pub findings: Vec<Finding>,
    /// What the image looks like; empty if only its distortions were examined.
    pub attributes: Attributes,
    /// The parts of its score; nothing if only its distortions were examined.
    pub parts: Option<ScoreParts>,
}

impl Examination {
    /// Returns the finding of a category.
    pub fn finding(&self, category: Distortion) -> &Finding {
        &self.findings[category as usize]
    }

    /// Returns the detected distortions, worst first.
    pub fn detected(&self) -> Vec<&Finding> {
        let mut detected: Vec<&Finding> =
            self.findings.iter().filter(|finding| finding.severity > Severity::None).collect();
        detected.sort_by(|a, b| b.level.total_cmp(&a.level));
        detected
    }
}

/// Detects the distortions of an image, against its reference if given.
pub fn examine(image: &Image, reference: Option<&Image>) -> Result<Examination> {
    let model = model()?;
    let (single, pair) = match reference {
        Some(reference) => measure_pair(reference, image).map(|(single, pair)| (single, Some(pair)))?,
        None => (measure(image)?, None),
    };
    model.check(&single)?;
    let verdicts = match &pair {
        Some(pair) => {
            model.check_pair(pair)?;
            model.pair.judge(pair)
        }
        None => model.single.judge(&single),
    };
    let evidence = Evidence { single: &single, pair: pair.as_ref(), model, jpeg_quality: image.source().jpeg_quality };
    let findings = Distortion::ALL.into_iter().zip(verdicts).map(|(category, verdict)| {
        let level = level(&verdict);
        evidence.finding(category, severity(level), level)
    });
    Ok(Examination { findings: findings.collect(), attributes: Attributes::new(), parts: None })
}

/// Returns the level of each distortion of an image without a reference, from 0 to 4.
pub fn levels(image: &Image) -> Result<BTreeMap<Distortion, f64>> {
    let (model, features) = (model()?, measure(image)?);
    model.check(&features)?;
    Ok(Distortion::ALL.into_iter().zip(model.single.judge(&features).iter().map(level)).collect())
}

/// Measures an image without a reference. The result is cached in the image.
pub fn measure(image: &Image) -> Result<Arc<Features>> {
    check_size(image)?;
    Ok(image.derived(|| features::measure(&View::of(image))))
}

/// Measures an image alone, and against its reference.
pub fn measure_pair(reference: &Image, image: &Image) -> Result<(Arc<Features>, Features)> {
    Pair::new(reference, image)?;
    let (before, after) = (measure(reference)?, measure(image)?);
    let mut pair = pair::measure(&View::of(reference), &View::of(image));
    for ((name, after), before) in after.names().iter().zip(after.values()).zip(before.values()) {
        pair.push(name, after - before);
    }
    Ok((after, pair))
}

/// Returns the level of a verdict: at least 0.5 (slight) if the distortion is present, less
/// otherwise.
pub fn level(verdict: &Verdict) -> f64 {
    let slight = 0.5;
    if verdict.margin > 0.0 {
        verdict.strength.clamp(slight, 4.0)
    } else {
        slight * 0.98 / (1.0 + (-verdict.margin).exp())
    }
}

/// Returns the severity nearest to a level.
pub fn severity(level: f64) -> Severity {
    Severity::ALL[(level.clamp(0.0, 4.0) + 0.5).floor().min(4.0) as usize]
}

fn check_size(image: &Image) -> Result<()> {
    let (width, height) = (image.width(), image.height());
    if width.min(height) < SMALLEST_SIDE {
        return Err(Error::TooSmall { width, height });
    }
    Ok(())
}

fn model() -> Result<&'static Model> {
    static MODEL: OnceLock<std::result::Result<Model, Unusable>> = OnceLock::new();
    MODEL.get_or_init(Model::builtin).as_ref().map_err(|error| Error::Model(error.clone()))
}
