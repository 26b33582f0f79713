//! The eyes of the built-in analyst: which distortions an image has, how severe, and by which measurements.
//!
//! [`examine`] measures an image, alone or against its reference, and a fitted model turns the measurements into one
//! [`Finding`] for each of the seven categories. How it was fitted, and how often it is right, is in `docs/perception.md`.
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

use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::vocabulary::{Distortion, Severity};
use agenticiqa_metrics::{self, Image, Pair};
use explain::Evidence;
pub use features::Features;
pub use model::{Category, Forest, Judge, Model, Tree, Unusable, Usual, Verdict};
use view::View;

/// The smallest side of an image that can be examined, in pixels.
pub const SMALLEST_SIDE: usize = view::SMALLEST;

/// How many numbers [`measure`] gives.
pub const MEASURED: usize = 148;

/// The result of every fallible call of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an image cannot be examined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image, or the region of it, is too small to show a distortion.
    #[error(
        "an image of {width}x{height} is too small to be examined: at least {SMALLEST_SIDE}x{SMALLEST_SIDE} pixels are needed"
    )]
    TooSmall {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// The reference does not fit.
    #[error(transparent)]
    Reference(#[from] agenticiqa_metrics::Error),
    /// The model that is built in does not fit the program.
    #[error(transparent)]
    Model(#[from] Unusable),
}

/// A number that a finding rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// What was measured.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit, empty where it has none.
    pub unit: String,
}

/// What was found of one category of distortion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The category.
    pub category: Distortion,
    /// How bad it is.
    pub severity: Severity,
    /// The same without steps, 0 (none) to 4 (extreme).
    pub level: f64,
    /// Which kind of it, where that can be told: "motion blur", "too dark".
    pub kind: Option<&'static str>,
    /// One sentence with the numbers behind it.
    pub explanation: String,
    /// The numbers.
    pub measurements: Vec<Measured>,
}

/// What was found in an image: one finding for each category, in the order of the specification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Examination {
    /// The findings.
    pub findings: Vec<Finding>,
}

impl Examination {
    /// The finding of a category.
    pub fn finding(&self, category: Distortion) -> &Finding {
        &self.findings[category as usize]
    }

    /// The distortions that are there, worst first.
    pub fn detected(&self) -> Vec<&Finding> {
        let mut detected: Vec<&Finding> =
            self.findings.iter().filter(|finding| finding.severity > Severity::None).collect();
        detected.sort_by(|a, b| b.level.total_cmp(&a.level));
        detected
    }
}

/// Examines an image, against its reference if there is one.
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
    Ok(Examination { findings: findings.collect() })
}

/// What is measured of an image alone, by name; measured once and kept with the image.
pub fn measure(image: &Image) -> Result<Arc<Features>> {
    check_size(image)?;
    Ok(image.derived(|| features::measure(&View::of(image))))
}

/// What is measured of an image alone, and of the image against its reference.
pub fn measure_pair(reference: &Image, image: &Image) -> Result<(Arc<Features>, Features)> {
    Pair::new(reference, image)?;
    let (before, after) = (measure(reference)?, measure(image)?);
    let mut pair = pair::measure(&View::of(reference), &View::of(image));
    for ((name, after), before) in after.names().iter().zip(after.values()).zip(before.values()) {
        pair.push(name, after - before);
    }
    Ok((after, pair))
}

/// The level of a verdict: at least slight if the distortion is there, less if not.
pub fn level(verdict: &Verdict) -> f64 {
    let slight = 0.5;
    if verdict.margin > 0.0 {
        verdict.strength.clamp(slight, 4.0)
    } else {
        slight * 0.98 / (1.0 + (-verdict.margin).exp())
    }
}

/// The severity that is nearest to a level.
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
