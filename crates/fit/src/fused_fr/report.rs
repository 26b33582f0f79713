//! Reports the accuracy of Fused-FR as Markdown.

use std::fmt::Write as _;

use agenticiqa_vision::fused_fr::{MEMBERS, Model};

use super::table::Row;
use super::validation::{Prediction, Split, Unseen, coverage, left_out};
use crate::error::Error;
use crate::statistics::{correlation, mean, rank_correlation, rmse};

/// The kinds of distortions of TID2013, in its order.
const KINDS: [&str; 24] = [
    "additive Gaussian noise",
    "noise in color components",
    "spatially correlated noise",
    "masked noise",
    "high-frequency noise",
    "impulse noise",
    "quantization noise",
    "Gaussian blur",
    "denoising",
    "JPEG",
    "JPEG2000",
    "JPEG transmission errors",
    "JPEG2000 transmission errors",
    "non-eccentricity pattern noise",
    "local blocks",
    "mean shift",
    "contrast change",
    "color saturation",
    "multiplicative noise",
    "comfort noise",
    "compression of noisy images",
    "color quantization with dither",
    "chromatic aberration",
    "sparse sampling",
];

/// Categories of the tool list with the kinds of TID2013 that belong to them, numbered from 1.
const CATEGORIES: [(&str, &[usize]); 6] = [
    ("Blurs", &[8, 9]),
    ("Color distortions", &[18, 22, 23]),
    ("Compression", &[10, 11, 12, 13, 21]),
    ("Noise", &[1, 2, 3, 4, 5, 6, 7, 19, 20]),
    ("Brightness change", &[16]),
    ("Contrast", &[17]),
];

/// Returns the whole report.
pub fn report(rows: &[Row], unseen: &Unseen, model: &Model, bytes: usize) -> Result<String, Error> {
    let mut text = format!("Fitted to {} rows; the model has {bytes} bytes. Interval: ", rows.len());
    let _ = writeln!(text, "half width {:.4}, spread {}.\n", model.half_width, model.spread);
    text.push_str("| left out | SRCC | PLCC | RMSE | panel alone, SRCC | 90 % interval holds | half width, mean |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    let opinions: Vec<f64> = rows.iter().map(|row| row.opinion).collect();
    let targets: Vec<f64> = rows.iter().map(|row| row.target).collect();
    for split in Split::ALL {
        let predictions = match split {
            Split::Contents => unseen.contents.clone(),
            Split::Kinds => unseen.kinds.clone(),
            _ => left_out(rows, split)?,
        };
        let (scores, panels) = series(&predictions);
        let (held, half) = coverage(rows, unseen, &predictions, split);
        let _ = writeln!(
            text,
            "| {} | {:.4} | {:.4} | {:.3} | {:.4} | {:.1} % | {half:.2} |",
            split.name(),
            rank_correlation(&scores, &opinions),
            correlation(&scores, &targets),
            rmse(&scores, &targets),
            rank_correlation(&panels, &opinions),
            100.0 * held,
        );
    }
    text.push_str(&members(rows, &opinions));
    text.push_str(&by_category(rows, unseen));
    text.push_str(&by_kind(rows, unseen));
    text.push_str(&by_content(rows, unseen));
    Ok(text)
}

fn series(predictions: &[Prediction]) -> (Vec<f64>, Vec<f64>) {
    predictions.iter().map(|prediction| (prediction.score, prediction.panel)).unzip()
}

fn distances(rows: &[Row], member: usize) -> Vec<f64> {
    rows.iter().map(|row| -row.evidence.distances[member]).collect()
}

fn members(rows: &[Row], opinions: &[f64]) -> String {
    let mut text = "\nSRCC of the members alone: ".to_owned();
    let each = MEMBERS
        .iter()
        .enumerate()
        .map(|(place, member)| format!("{} {:.4}", member.name(), rank_correlation(&distances(rows, place), opinions)));
    text.push_str(&each.collect::<Vec<_>>().join(", "));
    text + ".\n\n"
}

/// Reports SRCC over all kinds of a category together, which shows the strengths of the tool.
fn by_category(rows: &[Row], unseen: &Unseen) -> String {
    let mut text = "| category | types | content left out: SRCC | RMSE | best member, SRCC |\n".to_owned();
    text.push_str("| --- | --- | ---: | ---: | --- |\n");
    for (category, kinds) in CATEGORIES {
        let chosen = rows.iter().zip(&unseen.contents).filter(|(row, _)| kinds.contains(&row.kind));
        let (rows, predictions): (Vec<Row>, Vec<Prediction>) = chosen.map(|(row, one)| (*row, *one)).unzip();
        let opinions: Vec<f64> = rows.iter().map(|row| row.opinion).collect();
        let targets: Vec<f64> = rows.iter().map(|row| row.target).collect();
        let (scores, _) = series(&predictions);
        let (best, agreement) = best_member(&rows, &opinions);
        let listed: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "| {category} | {} | {:.3} | {:.2} | {best} {agreement:.3} |",
            listed.join(", "),
            rank_correlation(&scores, &opinions),
            rmse(&scores, &targets),
        );
    }
    text + "\n"
}

/// Returns the member with the highest correlation with opinions, and that correlation.
fn best_member(rows: &[Row], opinions: &[f64]) -> (&'static str, f64) {
    let agreement = |place: usize| rank_correlation(&distances(rows, place), opinions);
    let members = MEMBERS.iter().enumerate().map(|(place, member)| (member.name(), agreement(place)));
    members.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or(("", f64::NAN))
}

/// Reports SRCC, mean error of the score and coverage for each kind.
fn by_kind(rows: &[Row], unseen: &Unseen) -> String {
    let mut text = "| type | content left out: SRCC | RMSE | type left out: SRCC | RMSE | error, mean | trust, mean | best member, SRCC |\n"
        .to_owned();
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for (index, name) in KINDS.iter().enumerate() {
        let chosen = |all: &[Prediction]| -> (Vec<Row>, Vec<Prediction>) {
            rows.iter().zip(all).filter(|(row, _)| row.kind == index + 1).map(|(row, one)| (*row, *one)).unzip()
        };
        let ((rows, contents), (_, kinds)) = (chosen(&unseen.contents), chosen(&unseen.kinds));
        let opinions: Vec<f64> = rows.iter().map(|row| row.opinion).collect();
        let targets: Vec<f64> = rows.iter().map(|row| row.target).collect();
        let (with_content, _) = series(&contents);
        let (with_kind, _) = series(&kinds);
        let trust: Vec<f64> = kinds.iter().map(|prediction| 1.0 - prediction.variance).collect();
        let (best, agreement) = best_member(&rows, &opinions);
        let _ = writeln!(
            text,
            "| {} {name} | {:.3} | {:.2} | {:.3} | {:.2} | {:+.2} | {:.2} | {best} {agreement:.3} |",
            index + 1,
            rank_correlation(&with_content, &opinions),
            rmse(&with_content, &targets),
            rank_correlation(&with_kind, &opinions),
            rmse(&with_kind, &targets),
            mean(&with_kind) - mean(&targets),
            mean(&trust),
        );
    }
    text + "\n"
}

fn by_content(rows: &[Row], unseen: &Unseen) -> String {
    let mut contents: Vec<usize> = rows.iter().map(|row| row.content).collect();
    contents.sort_unstable();
    contents.dedup();
    let each = contents.into_iter().map(|content| {
        let chosen = rows.iter().zip(&unseen.contents).filter(|(row, _)| row.content == content);
        let (opinions, scores): (Vec<f64>, Vec<f64>) = chosen.map(|(row, one)| (row.opinion, one.score)).unzip();
        format!("{content}: {:.4}", rank_correlation(&scores, &opinions))
    });
    format!("SRCC within each content when it is left out: {}.\n", each.collect::<Vec<_>>().join(", "))
}
