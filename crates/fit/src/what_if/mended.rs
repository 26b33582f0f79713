//! What edits gain on damaged photos, against a score that sees the clean photo.
//!
//! Nobody rated mended photos. Fused-FR compares the damaged and the mended form with the clean photo; the
//! difference is what people would be expected to say of the repair.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Pair};
use agenticiqa_vision::repair::{Effort, Gains, Operation, what_if};
use agenticiqa_vision::{analysis, fused_fr};
use rayon::prelude::*;

use super::damage::forms;
use crate::error::Error;
use crate::fused_nr::photos::{lines, validation};
use crate::samples::hash;
use crate::statistics::mean;

/// Photos with opinions that are damaged: the best.
const CONTENTS: usize = 10;
/// Longer side of the photos that are damaged.
const WORKING: usize = 512;
/// Quantiles at the ends of an interval.
const ENDS: [f64; 2] = [0.05, 0.95];
/// An operation with fewer gains gets the interval of all gains.
const FEWEST: usize = 20;

/// One edit of a damaged photo.
struct Gain {
    operation: Operation,
    /// By how much the score rises.
    told: f64,
    /// By how much the score rises that sees the clean photo.
    seen: f64,
}

/// Fits the intervals of gains to photos that are not kept for validation, and writes them.
pub fn fit(opinions: &Path, output: &Path) -> Result<String, Error> {
    let gains = gains(&best(opinions, false)?)?;
    let everything: Vec<f64> = gains.iter().map(|gain| gain.seen - gain.told).collect();
    let intervals = Operation::ALL.map(|operation| {
        let own: Vec<f64> =
            gains.iter().filter(|gain| gain.operation == operation).map(|gain| gain.seen - gain.told).collect();
        (operation, ends(if own.len() < FEWEST { &everything } else { &own }))
    });
    let text = serde_json::to_string_pretty(&Gains(intervals.into_iter().collect()))? + "\n";
    std::fs::write(output, &text).map_err(|error| Error::file(output, error))?;
    Ok(text)
}

/// Returns the ends of an interval, which always holds the told gain.
fn ends(off: &[f64]) -> [f64; 2] {
    let mut off = off.to_vec();
    off.sort_by(f64::total_cmp);
    let at = |share: f64| off.get((share * off.len() as f64) as usize).copied().unwrap_or_default();
    let rounded = |value: f64| (100.0 * value).round() / 100.0;
    [rounded(at(ENDS[0]).min(-0.05)), rounded(at(ENDS[1]).max(0.05))]
}

/// Reports how often the intervals hold for photos that nothing was fitted to.
pub fn report(opinions: &Path, photos: &[PathBuf]) -> Result<String, Error> {
    let mut paths = best(opinions, true)?;
    if !photos.is_empty() {
        paths.extend(crate::corpus::collect(photos, 0, 0)?.into_iter().map(|content| content.path));
    }
    let gains = gains(&paths)?;
    let mut text = format!(
        "\n## Gains on generated damage of {} photos that nothing was fitted to\n\n\
         The true gain is the one of Fused-FR, which sees the clean photo.\n\n\
         | edit | images | mean gain | mean true gain | both agree that it helps | the interval holds the true gain |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
        paths.len()
    );
    let mut groups: BTreeMap<String, Vec<&Gain>> = BTreeMap::new();
    for gain in &gains {
        groups.entry(name(gain.operation)?).or_default().push(gain);
        groups.entry("**all**".to_owned()).or_default().push(gain);
    }
    for (operation, gains) in groups {
        let of = |value: &dyn Fn(&Gain) -> f64| mean(&gains.iter().map(|gain| value(gain)).collect::<Vec<_>>());
        let held: Vec<f64> = gains
            .iter()
            .map(|gain| {
                let [low, high] = Gains::builtin()?.interval(gain.operation, gain.told)?;
                Ok(f64::from((low..=high).contains(&gain.seen)))
            })
            .collect::<Result<_, agenticiqa_vision::repair::Error>>()?;
        let (told, seen) = (of(&|gain| gain.told), of(&|gain| gain.seen));
        let agree = 100.0 * of(&|gain| f64::from((gain.told >= 0.05) == (gain.seen >= 0.05)));
        let held = 100.0 * mean(&held);
        let _ =
            writeln!(text, "| {operation} | {} | {told:.2} | {seen:.2} | {agree:.0} % | {held:.0} % |", gains.len());
    }
    Ok(text)
}

fn name(operation: Operation) -> Result<String, Error> {
    Ok(serde_json::to_value(operation)?.as_str().unwrap_or_default().replace('_', " "))
}

/// Returns the best photos that are kept for validation, or the best of the others.
fn best(opinions: &Path, kept: bool) -> Result<Vec<PathBuf>, Error> {
    let mut photos: Vec<_> = lines(opinions)?.into_iter().filter(|line| validation(&line.sample_id) == kept).collect();
    photos.sort_by(|one, other| other.opinion().total_cmp(&one.opinion()));
    Ok(photos.iter().take(CONTENTS).map(|line| opinions.join(&line.image_path)).collect())
}

/// Damages photos and tries to mend them.
fn gains(paths: &[PathBuf]) -> Result<Vec<Gain>, Error> {
    let gains = paths.par_iter().map(|path| {
        let image = Decoder::default().open(path)?.image;
        let clean = image.shrunk(image.width().max(image.height()).div_ceil(WORKING));
        let mut gains = Vec::new();
        for form in forms(&clean, hash(&path.to_string_lossy()))? {
            gains.extend(mended(&clean, &form)?);
        }
        Ok(gains)
    });
    Ok(gains.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect())
}

fn mended(clean: &Image, damaged: &Image) -> Result<Vec<Gain>, Error> {
    let tried = what_if(damaged, &analysis::examine(damaged, None)?, Effort::Full)?.tried;
    if tried.is_empty() {
        return Ok(Vec::new());
    }
    let before = fused_fr::judge(&Pair::new(clean, damaged)?)?.score;
    let gain = |one: &agenticiqa_vision::repair::WhatIf| {
        let mended = one.edit().apply(damaged)?;
        let seen = fused_fr::judge(&Pair::new(clean, &mended)?)?.score - before;
        Ok(Gain { operation: one.operation, told: one.gain(), seen })
    };
    tried.iter().map(gain).collect()
}
