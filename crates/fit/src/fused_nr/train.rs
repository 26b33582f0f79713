//! Fits the model to measured images.

use agenticiqa_distort::Kind;
use agenticiqa_vision::fused_nr::{COUNT, Linear, Link, Model, expected_error, mean_square};
use rayon::prelude::*;

use super::ridge::{Rows, Sums};
use super::samples::{Content, Photo};
use crate::error::Error;
use crate::samples::hash;

/// Number of folds for choosing parameters and for calibration.
pub const FOLDS: u64 = 5;
/// Ridge penalty.
pub const PENALTY: f64 = 2000.0;
/// Weight of a distorted image relative to a photo with opinions.
pub const DAMAGED: f64 = 0.06;
/// Drop of the opinion (0 to 1) from a clean image to one with almost no content left.
const FALL: f64 = 0.6;
/// Maximum factor for the rows of a kind.
const MOST_FACTOR: f64 = 3.0;
/// Ridge penalty of the expected error. Errors are noisy, so the prediction is kept almost
/// constant.
const ERROR_PENALTY: f64 = 3000.0;
/// Added to an error so that its logarithm stays finite.
const LEAST_ERROR: f64 = 0.1;
/// Share of opinions that the interval contains.
pub const HELD: f64 = 0.9;

/// Returns typical value and spread of each feature: the median, and the interquartile range
/// scaled to the deviation of a normal distribution.
pub fn standard(photos: &[&Photo]) -> (Vec<f32>, Vec<f32>) {
    let columns = (0..COUNT).into_par_iter().map(|column| {
        let mut values: Vec<f32> = photos.iter().map(|photo| photo.features[column]).collect();
        values.sort_by(f32::total_cmp);
        let at = |share: f64| values[(share * (values.len() - 1) as f64) as usize];
        let quartiles = (at(0.75) - at(0.25)) / 1.349;
        let tails = (at(0.98) - at(0.02)) / 4.108;
        // Features that are mostly constant, such as shares of clipped pixels, vary only in their
        // tails.
        (at(0.5), quartiles.max(0.5 * tails).max(1e-6))
    });
    columns.unzip()
}

/// Returns the fold of a photo.
pub fn fold(name: &str) -> u64 {
    hash(name) / 101 % FOLDS
}

/// Returns standardized features of photos with their opinions as targets.
pub fn rows<'a>(model: &Model, photos: impl IntoIterator<Item = &'a Photo>) -> Rows {
    let mut rows = Rows { biased: true, ..Rows::default() };
    for photo in photos {
        rows.standard.push(model.standardize(&photo.features));
        rows.targets.push(photo.opinion);
    }
    rows
}

/// Returns the differences between distorted images and their clean photos, with the drop of the
/// opinion as target. Kinds with little visible effect get more weight, so that their order is
/// learned as well as that of noise and blur.
pub fn differences<'a>(model: &Model, contents: impl IntoIterator<Item = &'a Content>) -> Rows {
    let contents: Vec<&Content> = contents.into_iter().collect();
    let factors = factors(&contents);
    let mut rows = Rows::default();
    for content in contents {
        let clean = model.standardize(&content.features);
        for damaged in &content.damaged {
            let factor = factors[damaged.kind as usize];
            let form = model.standardize(&damaged.features);
            rows.standard.push(form.iter().zip(&clean).map(|(form, clean)| factor as f32 * (form - clean)).collect());
            rows.targets.push(-factor * FALL * damaged.visible / 4.0);
        }
    }
    rows
}

/// Returns the factor of each kind: the mean visibility of all kinds relative to its own.
fn factors(contents: &[&Content]) -> Vec<f64> {
    let visible = |kind: Option<Kind>| {
        let of = contents
            .iter()
            .flat_map(|content| &content.damaged)
            .filter(|damaged| kind.is_none_or(|kind| damaged.kind == kind));
        let (count, sum) = of.fold((0.0, 0.0), |(count, sum), damaged| (count + 1.0, sum + damaged.visible));
        sum / f64::max(count, 1.0)
    };
    let all = visible(None);
    Kind::ALL.iter().map(|kind| (all / visible(Some(*kind)).max(1e-3)).clamp(1.0 / MOST_FACTOR, MOST_FACTOR)).collect()
}

/// Creates a model that contains only the standardization.
pub fn empty(photos: &[&Photo]) -> Model {
    let (usual, spread) = standard(photos);
    let nothing = || Linear { weights: vec![0.0; COUNT], bias: 0.0 };
    let mut model = Model {
        usual,
        spread,
        opinion: nothing(),
        error: nothing(),
        link: Link { middle: 0.5, slope: 4.0 },
        width: 1.0,
        common: 1.0,
    };
    let mut squares: Vec<f64> = photos.iter().map(|photo| mean_square(&model.standardize(&photo.features))).collect();
    squares.sort_by(f64::total_cmp);
    model.common = quantile(&squares, 0.95);
    model
}

/// Returns the value below which a share of the sorted values lies.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len() + 1) as f64 * share).ceil() as usize;
    sorted.get(place.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or_default()
}

/// Maps an opinion to the scale of the score.
pub fn level(opinion: f64) -> f64 {
    1.0 + 4.0 * opinion
}

/// Fits the link between predictions and opinions, by search over a grid that is refined.
pub fn link(sums: &[f64], opinions: &[f64]) -> Link {
    let cost = |link: &Link| -> f64 {
        sums.iter().zip(opinions).map(|(sum, opinion)| (link.score(*sum) - level(*opinion)).powi(2)).sum()
    };
    let mut best = Link { middle: 0.5, slope: 5.0 };
    let (mut reach_middle, mut reach_slope) = (0.3, 4.0);
    for _ in 0..12 {
        let around = |value: f64, reach: f64| (-4..=4).map(move |step| value + reach * f64::from(step) / 4.0);
        let candidates = around(best.middle, reach_middle)
            .flat_map(|middle| around(best.slope, reach_slope).map(move |slope| Link { middle, slope }));
        best = candidates.filter(|link| link.slope > 0.1).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(best);
        (reach_middle, reach_slope) = (reach_middle / 2.0, reach_slope / 2.0);
    }
    best
}

/// Opinions of a fold, and the predictions of a fit that has not seen it.
pub type Unseen = (Vec<f64>, Vec<f64>);

/// Sums of each fold of the photos, and of the differences.
pub struct Parts {
    folds: Vec<(Rows, Sums)>,
    differences: Sums,
}

impl Parts {
    pub fn new(model: &Model, photos: &[&Photo], contents: &[&Content]) -> Self {
        let of = |part: u64| rows(model, photos.iter().copied().filter(|photo| fold(&photo.name) == part));
        let folds = (0..FOLDS).map(of).map(|rows| (rows.clone(), Sums::of(&rows, COUNT))).collect();
        let differences = Sums::of(&differences(model, contents.iter().copied()), COUNT);
        Self { folds, differences }
    }

    /// Fits to all folds except one, or to all.
    pub fn fit(&self, left_out: Option<usize>, penalty: f64, damaged: f64) -> Result<Linear, Error> {
        let mut sums = Sums::nothing(COUNT);
        for (part, (_, of)) in self.folds.iter().enumerate() {
            if Some(part) != left_out {
                sums.add(of, 1.0);
            }
        }
        sums.add(&self.differences, damaged);
        sums.solve(penalty)
    }

    /// Returns, for each fold, its opinions and the predictions of a fit that has not seen it.
    pub fn unseen(&self, penalty: f64, damaged: f64) -> Result<Vec<Unseen>, Error> {
        let mut all = Vec::new();
        for (part, (rows, _)) in self.folds.iter().enumerate() {
            let linear = self.fit(Some(part), penalty, damaged)?;
            all.push((rows.targets.clone(), rows.standard.iter().map(|row| linear.of(row)).collect()));
        }
        Ok(all)
    }

    /// Completes a model: the fit to all folds, the link, the expected error, and the width of the
    /// interval, all calibrated on predictions for unseen photos.
    pub fn complete(&self, mut model: Model) -> Result<Model, Error> {
        let unseen = self.unseen(PENALTY, DAMAGED)?;
        let (opinions, sums): (Vec<f64>, Vec<f64>) =
            unseen.iter().flat_map(|(opinions, sums)| opinions.iter().copied().zip(sums.iter().copied())).unzip();
        model.opinion = self.fit(None, PENALTY, DAMAGED)?;
        model.link = link(&sums, &opinions);
        let errors: Vec<Rows> = self
            .folds
            .iter()
            .zip(&unseen)
            .map(|((rows, _), (opinions, sums))| {
                let error = |(opinion, sum): (&f64, &f64)| (model.link.score(*sum) - level(*opinion)).abs();
                let targets = opinions.iter().zip(sums).map(error).collect();
                Rows { standard: rows.standard.clone(), targets, biased: true }
            })
            .collect();
        let logarithms = |rows: &Rows| Rows {
            targets: rows.targets.iter().map(|error| (error + LEAST_ERROR).ln()).collect(),
            ..rows.clone()
        };
        let sums: Vec<Sums> = errors.par_iter().map(|rows| Sums::of(&logarithms(rows), COUNT)).collect();
        let fit = |left_out: Option<usize>| {
            let mut all = Sums::nothing(COUNT);
            let taken = sums.iter().enumerate().filter(|(part, _)| Some(*part) != left_out);
            taken.for_each(|(_, sums)| all.add(sums, 1.0));
            all.solve(ERROR_PENALTY)
        };
        let mut ratios = Vec::new();
        for (part, rows) in errors.iter().enumerate() {
            let linear = fit(Some(part))?;
            ratios.extend(
                rows.standard
                    .iter()
                    .zip(&rows.targets)
                    .map(|(standard, error)| error / expected_error(linear.of(standard), model.unusual(standard))),
            );
        }
        ratios.sort_by(f64::total_cmp);
        model.error = fit(None)?;
        model.width = quantile(&ratios, HELD);
        Ok(model)
    }
}
