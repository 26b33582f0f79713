//! Tries edits on an image and reports what they would gain.

use agenticiqa_metrics::{Image, Region};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Edit, Error, Gains, Operation};
use crate::attributes::Problems;
use crate::fused_nr::{self, Reading};
use crate::perception::{self, Examination};
use crate::vocabulary::{Problem, Severity};

/// Edits of tones and colors are tried on the image shrunk to less than twice this many pixels along the longer side:
/// they change the whole image, and no detail.
const SMALL: usize = 512;
/// Edits of fine detail are tried on a part of the image with sides of at most this many pixels.
const PART: usize = 640;
/// Other amounts are not tried if the first ones raise the score by less than this.
const HOPELESS: f64 = -0.05;
/// A repair that gains less is no evidence for the fault.
pub const LEAST_GAIN: f64 = 0.05;
/// A fault that is not reported is tried if it is the main problem with at least this probability, or visible rather
/// than not ...
const SUSPECTED: f64 = 0.1;
/// ... and told if mending it gains this much.
const CLEAR_GAIN: f64 = 0.13;
/// An image whose gray levels differ by at most this much shows one color.
const FLAT: f32 = 4.0;
/// What a quick search may cost: this many pixels, edited and scored. A core does about 12 million in a second.
const BUDGET: usize = 6_500_000;
/// What the network costs for each edit, in such pixels.
const NETWORK: usize = 100_000;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// The worst faults, as far as the edits add less than 0.3 s on two cores. Their cost is counted and not
    /// timed, so the result is the same on every machine.
    Quick,
    /// Everything that may help.
    Full,
}

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
    /// The image shows nothing but one color.
    OneColor,
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
    /// Faults that were not tried, because that takes long and nobody asked for edits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Problem>,
    /// Why nothing was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

/// A fault that may be mended.
#[derive(Debug, Clone)]
struct Candidate {
    problem: Problem,
    severity: Severity,
    /// Whether the fault is reported, or only possible.
    is_found: bool,
    plans: Vec<Plan>,
}

/// Tries to mend the faults of an image.
pub fn what_if(image: &Image, examination: &Examination, effort: Effort) -> Result<WhatIfs, Error> {
    let refused = |refusal| Ok(WhatIfs { refusal: Some(refusal), ..WhatIfs::default() });
    if is_flat(image) {
        return refused(Refusal::OneColor);
    }
    let reading = fused_nr::read(image)?;
    if reading.strange {
        return refused(Refusal::NotAPhoto);
    }
    let (candidates, skipped) = affordable(image, candidates(image, examination, &reading)?, effort);
    let working = Working { image, small: image.shrunk(shrinking(image)) };
    let search = |candidate: &Candidate| search(&working, reading.judgment.score, candidate.problem, &candidate.plans);
    let edits = candidates.par_iter().map(search).collect::<Result<Vec<_>, Error>>()?;
    let mut what_ifs = WhatIfs { skipped, ..WhatIfs::default() };
    for (Candidate { problem, severity, is_found, .. }, best) in candidates.into_iter().zip(edits) {
        match best {
            // A fault that nobody is sure of is reported only if mending it helps, and if no other edit of
            // tones does much the same.
            best if !is_found => {
                let known = what_ifs.tried.iter().any(|one| !one.doubtful && changes_tones(one.operation));
                let told = |best: &WhatIf| best.gain() >= CLEAR_GAIN && !(known && changes_tones(best.operation));
                what_ifs.tried.extend(best.filter(told));
            }
            // Nobody doubts a severe fault because an edit cannot mend it.
            Some(best) if !best.doubtful || severity < Severity::Severe => what_ifs.tried.push(best),
            _ => what_ifs.lost.push(problem),
        }
    }
    what_ifs.tried.sort_by(|one, other| other.gain().total_cmp(&one.gain()));
    Ok(what_ifs)
}

/// Returns the faults that are reported, worst first, and then those that are possible, likeliest first.
fn candidates(image: &Image, examination: &Examination, reading: &Reading) -> Result<Vec<Candidate>, Error> {
    let noise = perception::measure(image)?.get("noise");
    let candidate = |problem, severity, is_found| {
        let plans = plans(problem, severity, noise);
        Candidate { problem, severity, is_found, plans }
    };
    let found = examination.detected().into_iter();
    let found = found.filter_map(|finding| Some(candidate(finding.problem()?, finding.severity, true)));
    let mut candidates: Vec<Candidate> = found.collect();
    for problem in Problems::of(reading).suspected(SUSPECTED) {
        if candidates.iter().all(|known| known.problem != problem) {
            candidates.push(candidate(problem, Severity::Slight, false));
        }
    }
    Ok(candidates)
}

/// Returns the faults that may be tried, and the reported ones for which the effort is too small.
fn affordable(image: &Image, candidates: Vec<Candidate>, effort: Effort) -> (Vec<Candidate>, Vec<Problem>) {
    if effort == Effort::Full {
        return (candidates, Vec::new());
    }
    let mut left = BUDGET;
    let (affordable, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| {
        let cost: usize = candidate.plans.iter().map(|(operation, amounts)| cost(image, *operation, amounts)).sum();
        let fits = cost <= left;
        left -= if fits { cost } else { 0 };
        fits
    });
    (affordable, others.into_iter().filter(|other| other.is_found).map(|other| other.problem).collect())
}

/// Returns what trying the amounts of an operation costs at most, in pixels that are edited and scored.
fn cost(image: &Image, operation: Operation, amounts: &[f64]) -> usize {
    let (width, height) = (image.width(), image.height());
    let pixels = if changes_detail(operation) {
        width.min(PART) * height.min(PART)
    } else {
        let factor = shrinking(image);
        (width / factor) * (height / factor)
    };
    // Before any edit, every second amount, two neighbors, one between.
    let most = (1 + amounts.len().div_ceil(2) + 3).min(amounts.len() + 2);
    most * (pixels + NETWORK)
}

/// Returns whether an image shows nothing but one color.
fn is_flat(image: &Image) -> bool {
    let ends = |(low, high): (f32, f32), sample: &f32| (low.min(*sample), high.max(*sample));
    let (low, high) = image.gray().data().iter().fold((f32::MAX, f32::MIN), ends);
    high - low <= FLAT
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

/// A kind of correction and the amounts to try.
type Plan = (Operation, Vec<f64>);

/// Returns what to try against a problem; nothing if it cannot be mended.
fn plans(problem: Problem, severity: Severity, noise: f64) -> Vec<Plan> {
    let plan = |operation, amounts: &[f64]| (operation, amounts.to_vec());
    match problem {
        Problem::Underexposure => {
            vec![plan(Operation::Exposure, &[0.3, 0.6, 1.0, 1.4, 1.9, 2.5]), plan(Operation::Shadows, &[0.3, 0.7])]
        }
        Problem::Overexposure => vec![plan(Operation::Exposure, &[-0.2, -0.4, -0.7, -1.0, -1.4])],
        Problem::Backlight => vec![plan(Operation::Shadows, &[0.2, 0.4, 0.7, 1.0])],
        Problem::LowContrast | Problem::Haze => vec![plan(Operation::Contrast, &[0.2, 0.4, 0.7, 1.0])],
        Problem::ColorCast => {
            vec![plan(Operation::WhiteBalance, &[0.3, 0.6, 1.0]), plan(Operation::WhitePatch, &[0.3, 0.6, 1.0])]
        }
        Problem::DullColors => vec![plan(Operation::Saturation, &[1.1, 1.3, 1.6])],
        Problem::Oversaturation => vec![plan(Operation::Saturation, &[0.9, 0.8, 0.65])],
        // The strength of the denoiser is a multiple of the measured noise.
        Problem::Noise => {
            let amounts = [0.5, 1.0, 1.5, 2.2].map(|times| times * noise.max(1.0));
            vec![plan(Operation::Denoise, &amounts)]
        }
        Problem::Compression => vec![plan(Operation::Deblock, &[0.25, 0.5, 1.0])],
        Problem::Blur if severity < Severity::Severe => vec![plan(Operation::Sharpen, &[0.25, 0.5, 1.0, 1.5])],
        Problem::Oversharpening => vec![plan(Operation::Soften, &[0.4, 0.6, 1.0])],
        Problem::Blur | Problem::MotionBlur | Problem::Other => Vec::new(),
    }
}

/// Returns the edit with the highest score.
fn search(working: &Working<'_>, score: f64, problem: Problem, plans: &[Plan]) -> Result<Option<WhatIf>, Error> {
    let mut best: Option<(Edit, f64)> = None;
    for (operation, amounts) in plans {
        let (edit, gain) = search_along(working, *operation, amounts)?;
        if best.is_none_or(|(_, most)| gain > most) {
            best = Some((edit, gain));
        }
    }
    let Some((edit, gain)) = best else { return Ok(None) };
    Ok(Some(WhatIf {
        problem,
        operation: edit.operation,
        amount: (100.0 * edit.amount).round() / 100.0,
        before: score,
        after: (score + gain).clamp(fused_nr::WORST, fused_nr::BEST),
        gain_interval: Gains::builtin()?.interval(edit.operation, gain)?,
        doubtful: gain < LEAST_GAIN,
    }))
}

/// Returns the amount with the highest score, and its gain. The score is expected to rise and to fall once along the
/// amounts: every second one is tried first, then the neighbors of the best, then one between the best two.
fn search_along(working: &Working<'_>, operation: Operation, amounts: &[f64]) -> Result<(Edit, f64), Error> {
    let part = working.part(operation)?;
    let before = fused_nr::judge(&part)?.score;
    let gains_of = |amounts: &[f64]| -> Result<Vec<(f64, f64)>, Error> {
        let gain_of = |amount: &f64| {
            let edited = Edit { operation, amount: *amount }.apply(&part)?;
            Ok((*amount, fused_nr::judge(&edited)?.score - before))
        };
        amounts.par_iter().map(gain_of).collect()
    };
    let is_first = |place: usize| (amounts.len() - 1 - place) % 2 == 0;
    let first: Vec<f64> = (0..amounts.len()).filter(|place| is_first(*place)).map(|place| amounts[place]).collect();
    let mut tried = gains_of(&first)?;
    if best(&tried).1 > HOPELESS {
        let place = amounts.iter().position(|amount| *amount == best(&tried).0).unwrap_or_default();
        let neighbors: Vec<f64> = [place.checked_sub(1), Some(place + 1)]
            .into_iter()
            .flatten()
            .filter_map(|neighbor| amounts.get(neighbor).copied())
            .collect();
        tried.extend(gains_of(&neighbors)?);
        let top = best(&tried).0;
        let others: Vec<(f64, f64)> = tried.iter().copied().filter(|(amount, _)| *amount != top).collect();
        if !others.is_empty() {
            tried.extend(gains_of(&[(top + best(&others).0) / 2.0])?);
        }
    }
    let (amount, gain) = best(&tried);
    Ok((Edit { operation, amount }, gain))
}

/// Returns the amount with the largest gain.
fn best(tried: &[(f64, f64)]) -> (f64, f64) {
    tried.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
}

/// Returns whether an operation changes fine detail, and not tones or colors of the whole image.
fn changes_detail(operation: Operation) -> bool {
    matches!(operation, Operation::Denoise | Operation::Deblock | Operation::Sharpen | Operation::Soften)
}

/// Returns whether an operation makes tones darker or brighter.
fn changes_tones(operation: Operation) -> bool {
    matches!(operation, Operation::Exposure | Operation::Shadows | Operation::Contrast)
}

/// Returns the factor by which an image is shrunk for edits of tones and colors.
fn shrinking(image: &Image) -> usize {
    (image.width().max(image.height()) / SMALL).max(1)
}

/// What edits are tried on.
struct Working<'a> {
    image: &'a Image,
    /// The image, shrunk for edits of tones and colors.
    small: Image,
}

impl Working<'_> {
    /// Returns what an operation is tried on.
    fn part(&self, operation: Operation) -> Result<Image, Error> {
        if !changes_detail(operation) {
            return Ok(self.small.clone());
        }
        let (width, height) = (self.image.width(), self.image.height());
        let (wide, high) = (width.min(PART), height.min(PART));
        // The middle; the grid of JPEG blocks stays where it is.
        let (x, y) = ((width - wide) / 16 * 8, (height - high) / 16 * 8);
        Ok(self.image.crop(&Region { x, y, width: wide, height: high })?)
    }
}
