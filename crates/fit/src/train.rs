//! Fits the perception model to samples.

use agenticiqa_distort::Kind;
use agenticiqa_vision::perception::{Category, Forest, Judge, Usual};
use agenticiqa_vision::vocabulary::Distortion;
use rayon::prelude::*;

use crate::boost::{Binned, Growth, Loss, grow};
use crate::labels;
use crate::samples::Sample;

/// Parameters of the forests that detect a distortion.
const PRESENCE: Growth = Growth { trees: 90, depth: 4, rate: 0.18, damping: 2.0, least: 2.0, columns: 0.4, rows: 0.7 };
/// Parameters of the forests that estimate its strength.
const STRENGTH: Growth = Growth { trees: 70, depth: 3, rate: 0.15, damping: 3.0, least: 6.0, columns: 0.4, rows: 0.7 };
/// Number of folds for finding thresholds; each fold is predicted by a model of the others.
const FOLDS: u64 = 3;
/// A distortion less visible than this counts as absent. Between this and `VISIBLE` a sample is
/// not used.
const INVISIBLE: f64 = 0.25;
/// A distortion at least this visible counts as present.
const VISIBLE: f64 = 0.5;
/// Allowed share of false reports on clean images, by category; together they leave nine in ten
/// images without a report.
const FALSE_ON_CLEAN: [f64; 7] = [0.02, 0.01, 0.02, 0.012, 0.012, 0.01, 0.008];
/// Allowed share of false reports on images with other distortions.
const FALSE_ON_OTHERS: f64 = 0.05;
/// Minimum log-odds for a report, without a reference and with one, where there is less doubt.
const LEAST: f64 = -1.0;
const LEAST_WITH_REFERENCE: f64 = 0.0;
/// Visibility from which a change of tone can be detected without a reference.
const STRONG_TONE: f64 = 1.5;
/// Allowed share of false reports of tone or color on clean images of other sources (folders
/// without opinions). Most photos come from one source, whose usual tones and colors are not usual
/// elsewhere.
const FALSE_ELSEWHERE: f64 = 0.03;
/// Weight of images of other sources, which are few.
const ELSEWHERE_WEIGHT: f64 = 6.0;
/// Weight of clean photos, which are few but important.
const CLEAN_WEIGHT: f64 = 2.0;

/// Returns the target of a category for a sample; `None` if it is undecided. Without a reference a
/// weak change of tone cannot be distinguished from a scene with such tones, so only strong
/// changes are targets.
pub fn target(sample: &Sample, category: Distortion, mode: Mode) -> Option<f64> {
    let own = sample.given.iter().find(|given| labels::category(Kind::ALL[given.kind]) == Some(category));
    if let Some(own) = own {
        let tone = matches!(category, Distortion::Brightness | Distortion::Contrast);
        let weak = own.visible() < STRONG_TONE;
        return if tone && weak && mode == Mode::Single { None } else { Some(own.visible()) };
    }
    let related = |kind: usize| labels::related(Kind::ALL[kind]).contains(&category);
    if sample.given.iter().any(|given| related(given.kind)) { None } else { Some(0.0) }
}

/// Which features of a sample are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Single,
    Pair,
}

/// Returns the features of a sample.
pub fn values(sample: &Sample, mode: Mode) -> Vec<f64> {
    let numbers = if mode == Mode::Single { &sample.single } else { &sample.pair };
    numbers.iter().map(|&number| f64::from(number)).collect()
}

/// A sample and the photo it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    pub sample: &'a Sample,
    /// Identifies the photo.
    pub photo: u64,
    /// Whether it comes from a folder without opinions.
    pub elsewhere: bool,
}

impl Taken<'_> {
    fn is_clean(&self) -> bool {
        self.sample.given.is_empty()
    }

    /// Returns whether it is a clean image of another source, and the category differs between
    /// sources.
    fn is_elsewhere(&self, category: Distortion) -> bool {
        let differs = matches!(category, Distortion::Color | Distortion::Brightness | Distortion::Contrast);
        self.is_clean() && self.elsewhere && differs
    }

    fn weight(&self, category: Distortion) -> f64 {
        match self.is_clean() {
            true if self.is_elsewhere(category) => ELSEWHERE_WEIGHT,
            true => CLEAN_WEIGHT,
            false => 1.0,
        }
    }
}

/// Fits all categories.
pub fn judge(samples: &[Taken<'_>], names: &[String], mode: Mode) -> Judge {
    let rows: Vec<Vec<f64>> = samples.par_iter().map(|taken| values(taken.sample, mode)).collect();
    let categories = Distortion::ALL.map(|category| fit(samples, &rows, category, mode));
    Judge { features: names.to_vec(), categories: categories.into() }
}

fn fit(samples: &[Taken<'_>], rows: &[Vec<f64>], category: Distortion, mode: Mode) -> Category {
    let targets: Vec<Option<f64>> = samples.iter().map(|taken| target(taken.sample, category, mode)).collect();
    let mut margins = vec![0.0; samples.len()];
    for fold in 0..FOLDS {
        let (start, forest) = presence(samples, rows, &targets, category, |i| samples[i].photo % FOLDS != fold);
        for i in (0..samples.len()).filter(|&i| samples[i].photo % FOLDS == fold) {
            margins[i] = start + forest.value(&rows[i]);
        }
    }
    let least = if mode == Mode::Pair { LEAST_WITH_REFERENCE } else { LEAST };
    let threshold = threshold(samples, &targets, &margins, category).max(least);
    let (start, presence) = presence(samples, rows, &targets, category, |_| true);
    let (strength_start, strength) = strength(samples, rows, category);
    Category { start, presence, threshold, strength_start, strength }
}

fn presence(
    samples: &[Taken<'_>],
    rows: &[Vec<f64>],
    targets: &[Option<f64>],
    category: Distortion,
    chosen: impl Fn(usize) -> bool,
) -> (f64, Forest) {
    let clear = |i: &usize| targets[*i].is_some_and(|target| !(INVISIBLE..VISIBLE).contains(&target));
    let indices: Vec<usize> = (0..rows.len()).filter(|&i| chosen(i)).filter(clear).collect();
    let data = Binned::new(&indices.iter().map(|&i| rows[i].as_slice()).collect::<Vec<_>>());
    let there: Vec<f64> =
        indices.iter().map(|&i| f64::from(u8::from(targets[i].is_some_and(|target| target >= VISIBLE)))).collect();
    let weights: Vec<f64> = indices.iter().map(|&i| samples[i].weight(category)).collect();
    grow(&data, &there, &weights, Loss::Logistic, &PRESENCE)
}

/// Fits the strength to images with the distortion, so that it does not predict presence.
fn strength(samples: &[Taken<'_>], rows: &[Vec<f64>], category: Distortion) -> (f64, Forest) {
    let own = |i: usize| {
        let given =
            samples[i].sample.given.iter().find(|given| labels::category(Kind::ALL[given.kind]) == Some(category));
        given.map(|given| (i, given.visible()))
    };
    let chosen: Vec<(usize, f64)> =
        (0..rows.len()).filter_map(own).filter(|(_, visible)| *visible >= INVISIBLE).collect();
    let data = Binned::new(&chosen.iter().map(|&(i, _)| rows[i].as_slice()).collect::<Vec<_>>());
    let targets: Vec<f64> = chosen.iter().map(|&(_, visible)| visible).collect();
    grow(&data, &targets, &vec![1.0; targets.len()], Loss::Squared, &STRENGTH)
}

/// Returns the lowest threshold with few enough false reports.
fn threshold(samples: &[Taken<'_>], targets: &[Option<f64>], margins: &[f64], category: Distortion) -> f64 {
    let limit = |chosen: &dyn Fn(usize) -> bool, share: f64| {
        let mut found: Vec<f64> = (0..samples.len()).filter(|&i| chosen(i)).map(|i| margins[i]).collect();
        found.sort_unstable_by(f64::total_cmp);
        let at = ((1.0 - share) * found.len() as f64).floor() as usize;
        found.get(at).copied().unwrap_or(f64::NEG_INFINITY)
    };
    let absent = |i: usize| targets[i].is_some_and(|target| target < INVISIBLE);
    let clean = limit(&|i| samples[i].is_clean(), FALSE_ON_CLEAN[category as usize]);
    let elsewhere = limit(&|i| samples[i].is_elsewhere(category), FALSE_ELSEWHERE);
    let others = limit(&|i| absent(i) && !samples[i].is_clean(), FALSE_ON_OTHERS);
    clean.max(others).max(elsewhere)
}

/// Returns the usual range of features in clean photos.
pub fn usual(samples: &[Taken<'_>], names: &[String], wanted: &[&str]) -> Vec<Usual> {
    let range = |name: &&str| {
        let at = names.iter().position(|other| other == name)?;
        let clean = samples.iter().filter(|taken| taken.is_clean());
        let mut found: Vec<f64> = clean.map(|taken| f64::from(taken.sample.single[at])).collect();
        found.sort_unstable_by(f64::total_cmp);
        let quantile = |share: f64| found.get((share * found.len().saturating_sub(1) as f64).round() as usize).copied();
        Some(Usual { name: (*name).to_owned(), low: quantile(0.05)?, high: quantile(0.95)? })
    };
    wanted.iter().filter_map(range).collect()
}
