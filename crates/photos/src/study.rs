//! What is measured of one photo. It is measured once and kept by content, see [`Cache`](crate::Cache).

use std::collections::BTreeMap;

use agenticiqa_metrics::{Image, Region};
use agenticiqa_tools::Source;
use agenticiqa_vision::fused_nr::{self, Model};
use agenticiqa_vision::regions;
use agenticiqa_vision::vocabulary::{Axis, Cost};
use agenticiqa_vision::{analysis, attributes, perception};
use serde::{Deserialize, Serialize};

use crate::capture::{self, Taken};
use crate::signature::Signature;
use crate::survey::{Failure, Task};

/// Changes whenever a study of the same pixels would differ.
const VERSION: u32 = 1;
/// Details are compared at the size at which a photo fits on a screen.
const SCREEN: usize = 2048;
/// A subject with a lower probability is not trusted.
const SUBJECT: f64 = 0.4;

/// What is known about a photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// The format of the file.
    pub format: String,
    /// Conversions that were applied when the file was read.
    pub notes: Vec<String>,
    /// The score from 1 to 5.
    pub score: f64,
    /// The 90% prediction interval of the score.
    pub interval: [f64; 2],
    /// Whether the image is unlike photos, so that little can be said about it.
    pub strange: bool,
    /// What each fault costs, the most expensive first.
    pub costs: Vec<Cost>,
    /// How good it is on each axis.
    pub axes: BTreeMap<Axis, Level>,
    /// The subject, if one was found.
    pub subject: Option<Subject>,
    /// Details of the whole photo.
    pub whole: Detail,
    /// When and with what it was taken.
    pub taken: Option<Taken>,
    /// What photos of the same scene are found by.
    pub signature: Signature,
}

/// How good a photo is on one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The most likely level, such as `slightly soft`.
    pub name: String,
    /// The kind, such as `motion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The probability of the level.
    pub probability: f64,
    /// From 1 (bad) to 5 (nothing to improve).
    pub score: f64,
    /// The 90% interval of the score, from the probabilities of the levels.
    pub interval: [f64; 2],
}

/// Where the subject of a photo is, and its details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// What it is, if the detector knows: `person`, `bird`.
    pub class: Option<String>,
    /// Its place, as shares of width and height: left, top, width, height.
    pub place: [f64; 4],
    /// Its details.
    pub detail: Detail,
}

/// Details that differ between photos of one scene, at viewing size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The mean width of edges, in pixels; 0 without edges.
    pub edges: f64,
    /// Noise, in gray levels.
    pub noise: f64,
    /// The share of black pixels that have lost all detail.
    pub black: f64,
    /// The share of white pixels that have lost all detail.
    pub white: f64,
}

/// The width of edges at and below which a photo is as sharp as it can be.
const SHARPEST: f64 = 2.0;
/// The width of edges at and above which nothing is sharp.
const SOFTEST: f64 = 14.0;

impl Detail {
    fn of(image: &Image) -> Option<Self> {
        let features = perception::measure(image).ok()?;
        let [edges, noise, black, white] = ["edge_width", "noise", "clipped_dark", "clipped_bright"];
        let [edges, noise, black, white] = [edges, noise, black, white].map(|name| features.get(name));
        Some(Self { edges, noise, black, white })
    }

    /// Returns the sharpness from 1 (nothing is sharp) to 5, on a logarithmic scale of the width of edges.
    /// Without edges there is none.
    pub fn sharpness(&self) -> Option<f64> {
        let place = (self.edges.max(SHARPEST) / SHARPEST).ln() / (SOFTEST / SHARPEST).ln();
        (self.edges > 0.0).then(|| (5.0 - 4.0 * place).clamp(1.0, 5.0))
    }
}

impl Study {
    /// Studies a decoded photo.
    pub fn of(source: &Source) -> Result<Self, Failure> {
        let image = &source.picture.image;
        let failed = |error: &dyn std::fmt::Display| Failure::Measure(error.to_string());
        let reading = fused_nr::read(image).map_err(|error| failed(&error))?;
        let examination = analysis::examine(image, None).map_err(|error| failed(&error))?;
        // The examination adds to the findings that its attributes were made of.
        let findings = perception::examine(image, None).map_err(|error| failed(&error))?.findings;
        let mut axes = BTreeMap::new();
        for (axis, attribute) in &examination.attributes {
            let positions = attributes::positions(image, &findings, *axis).map_err(|error| failed(&error))?;
            let applies = attribute.reason.is_none();
            if applies && let Some(level) = level(*axis, attribute, &positions) {
                axes.insert(*axis, level);
            }
        }
        let view = image.shrunk(image.width().max(image.height()).div_ceil(SCREEN));
        let whole = Detail::of(&view).ok_or_else(|| failed(&"its details cannot be measured"))?;
        let found = regions::resolve(image, &["subject"]).map_err(|error| failed(&error))?;
        let subject = found.first().filter(|found| found.is_place() && found.probability >= Some(SUBJECT));
        let subject = subject.and_then(|found| {
            let class = found.class.as_ref().map(ToString::to_string);
            Some(Subject { class, ..Subject::at(found.region(), image, &view)? })
        });
        Ok(Self {
            width: image.width(),
            height: image.height(),
            format: source.picture.format.to_string(),
            notes: source.picture.notes.iter().map(ToString::to_string).collect(),
            score: reading.judgment.score,
            interval: [reading.judgment.low, reading.judgment.high],
            strange: reading.strange,
            costs: examination.parts.map(|parts| parts.costs).unwrap_or_default(),
            axes,
            subject,
            whole,
            taken: capture::read(&source.bytes),
            signature: Signature::of(image).map_err(|error| failed(&error))?,
        })
    }

    /// Returns what the faults of one category cost.
    pub fn cost(&self, wanted: agenticiqa_vision::vocabulary::Distortion) -> f64 {
        self.costs.iter().filter(|cost| cost.distortion == wanted).map(|cost| cost.cost).sum()
    }
}

impl Subject {
    fn at(region: Region, image: &Image, view: &Image) -> Option<Self> {
        let share = |part: usize, whole: usize| part as f64 / whole as f64;
        let place = [
            share(region.x, image.width()),
            share(region.y, image.height()),
            share(region.width, image.width()),
            share(region.height, image.height()),
        ];
        let scaled = |part: usize, whole: usize, seen: usize| part * seen / whole;
        let (across, down) = (image.width(), image.height());
        let crop = view.crop(&Region {
            x: scaled(region.x, across, view.width()),
            y: scaled(region.y, down, view.height()),
            width: scaled(region.width, across, view.width()).max(1),
            height: scaled(region.height, down, view.height()).max(1),
        });
        Some(Self { class: None, place, detail: Detail::of(&crop.ok()?)? })
    }
}

/// Returns how good a level of an axis is, from 0 (bad) to 1. People want light, exposure and contrast in
/// the middle, strong colors, and no fault at all.
fn goodness(axis: Axis, level: &str, position: f64) -> f64 {
    match (axis, level) {
        (Axis::Exposure, "backlit" | "mixed") => 0.5,
        (Axis::Colorfulness, _) => (position + 1.0) / 2.0,
        _ => 1.0 - position.abs(),
    }
}

fn level(
    axis: Axis,
    attribute: &agenticiqa_vision::vocabulary::Attribute,
    positions: &[attributes::Position],
) -> Option<Level> {
    let mut spread: Vec<(f64, f64)> =
        positions.iter().map(|(name, position, share)| (1.0 + 4.0 * goodness(axis, name, *position), *share)).collect();
    spread.sort_by(|one, other| one.0.total_cmp(&other.0));
    let score: f64 = spread.iter().map(|(score, share)| score * share).sum();
    let quantile = |wanted: f64| {
        let mut sum = 0.0;
        let reached = spread.iter().find(|(_, share)| {
            sum += share;
            sum >= wanted
        });
        reached.or(spread.last()).map(|(score, _)| *score)
    };
    // The expected value may lie outside the quantiles of a few steps.
    let (low, high) = (quantile(0.05)?.min(score), quantile(0.95)?.max(score));
    Some(Level {
        name: attribute.level.to_string(),
        kind: attribute.kind.as_ref().map(ToString::to_string),
        probability: attribute.probability,
        score,
        interval: [low, high],
    })
}

/// Studies photos.
#[derive(Debug, Clone, Copy, Default)]
pub struct Studies;

impl Task for Studies {
    type Output = Study;

    fn key(&self) -> String {
        format!("study {VERSION} {}", Model::fingerprint())
    }

    fn measure(&self, source: &Source) -> Result<Study, Failure> {
        Study::of(source)
    }
}
