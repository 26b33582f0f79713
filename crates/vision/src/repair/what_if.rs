//! Tries edits on an image and reports what they would gain.

use agenticiqa_metrics::{Image, Region};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Edit, Operation};
use crate::fused_nr::{self, Error};
use crate::perception::{self, Examination, Finding};
use crate::vocabulary::{Problem, Severity};

/// Edits are tried on at most this many pixels along the longer side.
const LONGEST: usize = 1024;
/// A repair that gains less is no evidence for the fault.
pub const LEAST_GAIN: f64 = 0.05;
/// Half the width of the 90% interval of a gain. A guess: it has not been fitted yet.
const HALF: f64 = 0.4;

/// What one edit would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhatIf {
    /// The fault that the edit mends.
    pub problem: Problem,
    /// The kind of correction.
    pub operation: Operation,
    /// Its amount, in the unit of the operation.
    pub amount: f64,
    /// The score of the image.
    pub before: f64,
    /// The score after the edit.
    pub after: f64,
    /// The 90% prediction interval of the gain, `[low, high]`.
    pub gain_interval: [f64; 2],
    /// Whether the edit raises the score too little to confirm the fault.
    pub doubtful: bool,
}

impl WhatIf {
    /// Returns the edit.
    pub fn edit(&self) -> Edit {
        Edit { operation: self.operation, amount: self.amount }
    }

    /// Returns by how much the edit raises the score.
    pub fn gain(&self) -> f64 {
        self.after - self.before
    }
}

/// The reason why no edit was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The image is unlike photos (a drawing, a document, one color): a correction has no meaning.
    NotAPhoto,
}

/// What was tried on an image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhatIfs {
    /// The best edit for each fault that an edit can mend, largest gain first.
    pub tried: Vec<WhatIf>,
    /// Faults that no edit can mend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Problem>,
    /// Why nothing was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

/// Tries to mend the faults of an image.
pub fn what_if(image: &Image, examination: &Examination) -> Result<WhatIfs, Error> {
    let reading = fused_nr::read(image)?;
    if reading.strange {
        return Ok(WhatIfs { refusal: Some(Refusal::NotAPhoto), ..WhatIfs::default() });
    }
    let noise = perception::measure(image)?.get("noise");
    let mut what_ifs = WhatIfs::default();
    for finding in examination.detected() {
        let Some(problem) = finding.problem() else { continue };
        let amounts = amounts(problem, finding, noise);
        if amounts.is_empty() {
            what_ifs.lost.push(problem);
            continue;
        }
        if let Some(best) = search(image, reading.judgment.score, problem, &amounts)? {
            what_ifs.tried.push(best);
        }
    }
    what_ifs.tried.sort_by(|one, other| other.gain().total_cmp(&one.gain()));
    Ok(what_ifs)
}

/// Returns the image with the edits that raise its score together, and the score that it then has.
/// Nothing is returned if no edit does.
pub fn mended(image: &Image, what_ifs: &WhatIfs) -> Result<Option<(Image, Vec<Edit>, f64)>, Error> {
    let mut edits: Vec<Edit> =
        what_ifs.tried.iter().filter(|tried| !tried.doubtful).map(|tried| tried.edit()).collect();
    edits.sort_by_key(|edit| edit.operation);
    let (mut best, mut kept) = ((image.clone(), fused_nr::judge(image)?.score), Vec::new());
    for edit in edits {
        let edited = edit.apply(&best.0)?;
        let score = fused_nr::judge(&edited)?.score;
        if score > best.1 {
            best = (edited, score);
            kept.push(edit);
        }
    }
    Ok((!kept.is_empty()).then_some((best.0, kept, best.1)))
}

/// Returns the edits to try against a problem; none if it cannot be mended.
fn amounts(problem: Problem, finding: &Finding, noise: f64) -> Vec<Edit> {
    let (operation, amounts): (_, &[f64]) = match problem {
        Problem::Underexposure => (Operation::Exposure, &[0.4, 0.8, 1.2, 1.6, 2.0]),
        Problem::Overexposure => (Operation::Exposure, &[-0.3, -0.6, -0.9, -1.2]),
        Problem::Backlight => (Operation::Shadows, &[0.3, 0.6, 0.9]),
        Problem::LowContrast | Problem::Haze => (Operation::Contrast, &[0.4, 0.7, 1.0]),
        Problem::ColorCast => (Operation::WhiteBalance, &[0.4, 0.7, 1.0]),
        Problem::DullColors => (Operation::Saturation, &[1.2, 1.4, 1.7]),
        Problem::Oversaturation => (Operation::Saturation, &[0.9, 0.8, 0.65]),
        Problem::Noise => (Operation::Denoise, &[0.7, 1.2, 2.0]),
        Problem::Compression => (Operation::Deblock, &[0.5, 1.0]),
        Problem::Blur if finding.severity < Severity::Severe => (Operation::Sharpen, &[0.5, 1.0, 1.5]),
        Problem::Oversharpening => (Operation::Soften, &[0.5, 0.7, 1.0]),
        Problem::Blur | Problem::MotionBlur | Problem::Other => return Vec::new(),
    };
    // The strength of the denoiser is a multiple of the measured noise.
    let scale = if operation == Operation::Denoise { noise.max(1.0) } else { 1.0 };
    amounts.iter().map(|amount| Edit { operation, amount: scale * amount }).collect()
}

/// Returns the edit with the highest score.
fn search(image: &Image, score: f64, problem: Problem, edits: &[Edit]) -> Result<Option<WhatIf>, Error> {
    let Some(operation) = edits.first().map(|edit| edit.operation) else { return Ok(None) };
    let working = working(image, operation)?;
    let before = fused_nr::judge(&working)?.score;
    let score_of =
        |edit: &Edit| -> Result<(Edit, f64), Error> { Ok((*edit, fused_nr::judge(&edit.apply(&working)?)?.score)) };
    let mut scored: Vec<(Edit, f64)> = edits.par_iter().map(score_of).collect::<Result<_, _>>()?;
    let best = best_place(&scored);
    // Between the best amount and its neighbors may lie a better one.
    let halves = [best.checked_sub(1), Some(best + 1)].into_iter().flatten().filter_map(|other| scored.get(other));
    let halves: Vec<Edit> =
        halves.map(|(edit, _)| Edit { operation, amount: (edit.amount + scored[best].0.amount) / 2.0 }).collect();
    scored.extend(halves.par_iter().map(score_of).collect::<Result<Vec<_>, _>>()?);
    let (edit, after) = scored[best_place(&scored)];
    let gain = after - before;
    Ok(Some(WhatIf {
        problem,
        operation,
        amount: (100.0 * edit.amount).round() / 100.0,
        before: score,
        after: (score + gain).clamp(fused_nr::WORST, fused_nr::BEST),
        gain_interval: [gain - HALF, gain + HALF],
        doubtful: gain < LEAST_GAIN,
    }))
}

fn best_place(scored: &[(Edit, f64)]) -> usize {
    let places = scored.iter().enumerate();
    places.max_by(|(_, one), (_, other)| one.1.total_cmp(&other.1)).map_or(0, |(place, _)| place)
}

/// Returns what edits are tried on. Large images are shrunk; edits of fine detail get the middle at full
/// resolution instead.
fn working(image: &Image, operation: Operation) -> Result<Image, Error> {
    let (width, height) = (image.width(), image.height());
    if width.max(height) <= LONGEST {
        return Ok(image.clone());
    }
    match operation {
        Operation::Denoise | Operation::Deblock | Operation::Sharpen | Operation::Soften => {
            let (wide, high) = (width.min(LONGEST), height.min(LONGEST));
            // The grid of JPEG blocks stays where it is.
            let (x, y) = ((width - wide) / 16 * 8, (height - high) / 16 * 8);
            Ok(image.crop(&Region { x, y, width: wide, height: high })?)
        }
        _ => Ok(image.shrunk(width.max(height).div_ceil(LONGEST))),
    }
}
