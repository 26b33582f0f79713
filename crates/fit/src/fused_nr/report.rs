//! Reports the accuracy of the model on data that it was not fitted to.

use std::fmt::Write as _;

use agenticiqa_distort::Kind;
use agenticiqa_vision::fused_nr::{COUNT, Judgment, Model};

use super::ridge::Sums;
use super::samples::{Content, Photo};
use super::train::{self, DAMAGED, PENALTY, Parts, level};
use crate::error::Error;
use crate::statistics::{correlation, mean, rank_correlation, rmse};

/// Penalties, and weights of distorted images, that are compared.
const PENALTIES: [f64; 4] = [500.0, 1000.0, 2000.0, 4000.0];
const WEIGHTS: [f64; 6] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.3];

/// Returns the whole report.
pub fn report(model: &Model, parts: &Parts, photos: &[Photo], contents: &[Content]) -> Result<String, Error> {
    let mut text = String::new();
    let judged: Vec<(&Photo, Judgment)> =
        photos.iter().filter(|photo| photo.validation).map(|photo| (photo, model.judge(&photo.features))).collect();
    text += "## Photos that were never fitted to\n\n| photos | number | SRCC | PLCC | RMSE, levels | 90 % interval holds | half width, mean |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    text += &row("all", &judged);
    for subset in subsets(photos) {
        let of: Vec<_> = judged.iter().filter(|(photo, _)| photo.subset == subset).copied().collect();
        text += &row(&format!("subset {subset}"), &of);
    }
    text += &left_out(model, photos, contents)?;
    text += &choice(parts)?;
    text += &damage(model, contents);
    Ok(text)
}

fn subsets(photos: &[Photo]) -> Vec<u64> {
    let mut subsets: Vec<u64> = photos.iter().map(|photo| photo.subset).collect();
    subsets.sort_unstable();
    subsets.dedup();
    subsets
}

fn row(name: &str, judged: &[(&Photo, Judgment)]) -> String {
    let opinions: Vec<f64> = judged.iter().map(|(photo, _)| level(photo.opinion)).collect();
    let scores: Vec<f64> = judged.iter().map(|(_, judgment)| judgment.score).collect();
    let held = judged.iter().filter(|(photo, judgment)| (judgment.low..=judgment.high).contains(&level(photo.opinion)));
    let half: Vec<f64> = judged.iter().map(|(_, judgment)| (judgment.high - judgment.low) / 2.0).collect();
    format!(
        "| {name} | {} | {:.4} | {:.4} | {:.3} | {:.1} % | {:.2} |\n",
        judged.len(),
        rank_correlation(&scores, &opinions),
        correlation(&scores, &opinions),
        rmse(&scores, &opinions),
        100.0 * held.count() as f64 / judged.len() as f64,
        mean(&half),
    )
}

/// Tests a fit to two subsets on the third.
fn left_out(model: &Model, photos: &[Photo], contents: &[Content]) -> Result<String, Error> {
    let mut text =
        "\n## A whole subset left out\n\n| left out | photos | SRCC | PLCC |\n| --- | ---: | ---: | ---: |\n"
            .to_owned();
    let differences = train::differences(model, contents.iter().filter(|content| !content.validation));
    let differences = Sums::of(&differences, COUNT);
    for subset in subsets(photos) {
        let seen = train::rows(model, photos.iter().filter(|photo| photo.subset != subset && !photo.validation));
        let mut sums = Sums::of(&seen, COUNT);
        sums.add(&differences, DAMAGED);
        let linear = sums.solve(PENALTY)?;
        let unseen = train::rows(model, photos.iter().filter(|photo| photo.subset == subset));
        let scores: Vec<f64> = unseen.standard.iter().map(|standard| linear.of(standard)).collect();
        let _ = writeln!(
            text,
            "| subset {subset} | {} | {:.4} | {:.4} |",
            scores.len(),
            rank_correlation(&scores, &unseen.targets),
            correlation(&scores, &unseen.targets)
        );
    }
    Ok(text)
}

/// Cross-validates the hyperparameters, on the photos that are fitted to.
fn choice(parts: &Parts) -> Result<String, Error> {
    let mut text = "\n## Cross-validation (five parts of the photos that are fitted to)\n\n| penalty | weight of damaged images | SRCC | PLCC |\n| ---: | ---: | ---: | ---: |\n".to_owned();
    let grid = PENALTIES.map(|penalty| (penalty, DAMAGED)).into_iter().chain(WEIGHTS.map(|weight| (PENALTY, weight)));
    for (penalty, weight) in grid {
        let (opinions, scores): (Vec<f64>, Vec<f64>) = parts
            .unseen(penalty, weight)?
            .into_iter()
            .flat_map(|(opinions, scores)| opinions.into_iter().zip(scores))
            .unzip();
        let (srcc, plcc) = (rank_correlation(&scores, &opinions), correlation(&scores, &opinions));
        let _ = writeln!(text, "| {penalty} | {weight} | {srcc:.4} | {plcc:.4} |");
    }
    Ok(text)
}

/// Reports how the score falls with the level of generated damage, on contents that were not
/// fitted to.
fn damage(model: &Model, contents: &[Content]) -> String {
    let unseen: Vec<&Content> = contents.iter().filter(|content| content.validation).collect();
    let mut text = format!(
        "\n## Generated distortions of {} photos that were never fitted to\n\nRank correlation of the fall of the score with the level: within each photo (mean), and of all photos together.\n\n| distortion | within a photo | all together | fall at level 5, mean |\n| --- | ---: | ---: | ---: |\n",
        unseen.len()
    );
    for kind in Kind::ALL {
        let (mut falls, mut levels, mut within, mut last) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for content in &unseen {
            let clean = model.judge(&content.features).score;
            let of = content.damaged.iter().filter(|damaged| damaged.kind == kind);
            let (fall, level): (Vec<f64>, Vec<f64>) =
                of.map(|damaged| (clean - model.judge(&damaged.features).score, f64::from(damaged.level))).unzip();
            within.push(rank_correlation(&fall, &level));
            last.extend(fall.last());
            falls.extend(fall);
            levels.extend(level);
        }
        let all = rank_correlation(&falls, &levels);
        let _ = writeln!(text, "| {} | {:.3} | {all:.3} | {:.2} |", kind.name(), mean(&within), mean(&last));
    }
    text
}
