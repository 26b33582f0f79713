//! Compares findings with human opinions about real photos. This is a check; nothing is fitted.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use agenticiqa_imaging::Decoder;
use agenticiqa_vision::analysis;
use agenticiqa_vision::perception::{Examination, examine};
use agenticiqa_vision::repair::{Effort, WhatIfs, what_if};
use agenticiqa_vision::vocabulary::{Distortion, Severity};
use rayon::prelude::*;

use crate::corpus::Entry;
use crate::error::Error;

/// Number of groups of equal size.
const GROUPS: usize = 5;

/// Returns the findings of one image as JSON, and the time they took.
pub fn show(path: &Path, reference: Option<&Path>) -> Result<String, Error> {
    let image = Decoder::default().open(path)?.image;
    let reference = reference.map(|path| Decoder::default().open(path)).transpose()?.map(|picture| picture.image);
    let begun = Instant::now();
    let examination = examine(&image, reference.as_ref())?;
    let first = begun.elapsed();
    let begun = Instant::now();
    let again = examine(&image, reference.as_ref())?;
    let second = begun.elapsed();
    debug_assert_eq!(examination, again);
    let mut text = format!("{}\nfirst {first:.0?}, again {second:.0?}\n", serde_json::to_string_pretty(&examination)?);
    if reference.is_none() {
        text += &times(path)?;
    }
    Ok(text)
}

/// Measures how long an assessment takes without and with what-ifs, once everything is loaded.
fn times(path: &Path) -> Result<String, Error> {
    let mut begun = Instant::now();
    let mut passed = || std::mem::replace(&mut begun, Instant::now()).elapsed();
    let image = Decoder::default().open(path)?.image;
    let decoded = passed();
    let examination = analysis::examine(&image, None)?;
    let assessed = passed();
    let tried = what_if(&image, &examination, Effort::Quick)?;
    let quick = passed();
    let all = what_if(&image, &examination, Effort::Full)?;
    let full = passed();
    let problems = |what_ifs: &WhatIfs| what_ifs.tried.iter().map(|tried| tried.problem.name()).collect::<Vec<_>>();
    Ok(format!(
        "decoded in {decoded:.0?}, assessed in {assessed:.0?}\nquick what-ifs ({}) in {quick:.0?}, skipped {:?}\nall what-ifs ({}) in {full:.0?}\n",
        problems(&tried).join(", "),
        tried.skipped,
        problems(&all).join(", "),
    ))
}

/// Compares findings with the opinions of every `step`-th photo of a manifest.
pub fn compare(folder: &Path, step: usize) -> Result<String, Error> {
    let manifest = folder.join("manifest.jsonl");
    let text = fs::read_to_string(&manifest).map_err(|error| Error::file(&manifest, error))?;
    let mut entries: Vec<Entry> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    entries.sort_by(|a, b| a.mos.total_cmp(&b.mos).then_with(|| a.image_path.cmp(&b.image_path)));
    let chosen: Vec<&Entry> = entries.iter().step_by(step.max(1)).collect();
    let judged: Vec<(f64, Examination)> = chosen
        .par_iter()
        .map(|entry| {
            let image = Decoder::default().open(folder.join(&entry.image_path))?.image;
            Ok((entry.mos, examine(&image, None)?))
        })
        .collect::<Result<_, Error>>()?;
    let mut report = String::from(
        "| opinion (0 to 1) | photos | clean | Blurs | Color | Compr. | Noise | Bright. | Sharpn. | Contr. |\n",
    );
    report += "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for group in judged.chunks(judged.len().div_ceil(GROUPS).max(1)) {
        let share = |test: &dyn Fn(&Examination) -> bool| {
            100.0 * group.iter().filter(|(_, found)| test(found)).count() as f64 / group.len() as f64
        };
        let bounds = (group.first().map_or(0.0, |first| first.0), group.last().map_or(0.0, |last| last.0));
        let _ = write!(
            report,
            "| {:.2} to {:.2} | {} | {:.0} % ",
            bounds.0,
            bounds.1,
            group.len(),
            share(&|found| found.detected().is_empty())
        );
        for category in Distortion::ALL {
            let _ = write!(report, "| {:.0} % ", share(&|found| found.finding(category).severity > Severity::None));
        }
        report += "|\n";
    }
    let scores: Vec<f64> = judged.iter().map(|(mos, _)| *mos).collect();
    let worst: Vec<f64> =
        judged.iter().map(|(_, found)| found.findings.iter().map(|finding| finding.level).sum()).collect();
    let _ = writeln!(
        report,
        "\nRank correlation of the sum of levels with opinion: {:.3}",
        correlation(&ranks(&scores), &ranks(&worst))
    );
    Ok(report)
}

/// Returns ranks; equal values share their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let first = order.iter().position(|index| *index == group[0]).unwrap_or(0);
        group.iter().for_each(|&i| ranks[i] = first as f64 + (group.len() - 1) as f64 / 2.0);
    }
    ranks
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product: f64 = a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
    let squares = |values: &[f64], mean: f64| values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    product / (squares(a, mean_a) * squares(b, mean_b)).sqrt().max(1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert!((correlation(&[0.0, 1.0, 2.0], &[2.0, 1.0, 0.0]) + 1.0).abs() < 1e-12);
    }
}
