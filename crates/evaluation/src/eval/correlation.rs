//! Correlations of scores with opinions, for a file of records or for tools run on a manifest.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use agenticiqa_statistics::{Bootstrap, Error as PairsError, Pairs};
use serde::{Deserialize, Serialize};

use super::Error;
use super::agreement::Agreement;
use super::compare::{Comparison, Judged, compare};
use super::paper::{PublishedCorrelation, published_correlations};
use super::rows::{Absence, Counts, Filter, Row, Rows, read};
use super::tools::Scored;

/// The settings of an evaluation.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The rows to use and how to group them.
    pub filter: Filter,
    /// How confidence intervals are computed.
    pub bootstrap: Bootstrap,
    /// The dataset whose published results are shown for comparison. Default: taken from the rows.
    pub dataset: Option<String>,
}

/// Samples with a common value of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The name of the field.
    pub field: String,
    /// The value of the field.
    pub value: String,
    /// The agreement of scores and opinions in the group.
    pub agreement: Agreement,
}

/// One set of scores compared with opinions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The name of the tool, or the file of records.
    pub name: String,
    /// The number of samples used and left out.
    pub counts: Counts,
    /// The agreement over all samples.
    pub overall: Agreement,
    /// The agreement by group.
    pub groups: Vec<Group>,
    /// Notes for the reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Sample ID, score and opinion, for plots.
    #[serde(skip)]
    pub points: Vec<(String, f64, f64)>,
}

/// The result of comparing scores with opinions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// The path of the file.
    pub input: String,
    /// The dataset, if all rows name the same.
    pub dataset: Option<String>,
    /// The split, if only one was requested.
    pub split: Option<String>,
    /// How confidence intervals were computed.
    pub bootstrap: Bootstrap,
    /// The sets of scores.
    pub evaluated: Vec<Evaluated>,
    /// The comparisons between sets of scores.
    pub comparisons: Vec<Comparison>,
    /// The results of the paper on the dataset.
    pub published: Vec<PublishedCorrelation>,
}

/// The minimum number of samples for a meaningful correlation.
const LEAST: usize = 3;

/// Evaluates a file of records, optionally compared with another one.
pub fn of_records(path: &Path, other: Option<&Path>, settings: &Settings) -> Result<Correlation, Error> {
    let found = read(path, &settings.filter)?;
    let mut report = of_rows(path, &found, settings)?;
    if let Some(other) = other {
        let second = read(other, &Filter { group_by: Vec::new(), ..settings.filter.clone() })?;
        let judged: Judged =
            second.rows.iter().filter_map(|row| Some((row.sample_id.clone(), row.score.ok()?, row.mos?))).collect();
        let other = other.display().to_string();
        let first = report.evaluated.iter().map(|first| (first.name.as_str(), &first.points));
        let against = |first| compare(first, (&other, &judged), &settings.bootstrap);
        report.comparisons = first.map(against).collect();
    }
    Ok(report)
}

/// Evaluates the rows of a file of records.
pub(crate) fn of_rows(path: &Path, found: &Rows, settings: &Settings) -> Result<Correlation, Error> {
    if !found.records && found.rows.iter().all(|row| row.score.is_err()) {
        return Err(Error::NoScores { path: path.to_owned() });
    }
    let scores: Vec<Result<f64, Absence>> = found.rows.iter().map(|row| row.score).collect();
    let evaluated = evaluate(path, &path.display().to_string(), found, &scores, settings)?;
    Ok(report(path, found, vec![evaluated], Vec::new(), settings))
}

/// Evaluates tools that were run on a manifest. The first tool is compared with each of the others.
pub fn of_tools(path: &Path, scored: &Scored, settings: &Settings) -> Result<Correlation, Error> {
    let found = read(path, &settings.filter)?;
    let positions: HashMap<&str, usize> =
        scored.samples.iter().enumerate().map(|(place, sample)| (sample.sample_id.as_str(), place)).collect();
    let mut evaluated: Vec<Evaluated> = Vec::new();
    for tool in &scored.tools {
        let turn = if tool.lower_is_better == Some(true) { -1.0 } else { 1.0 };
        let of_row = |row: &Row| {
            positions.get(row.sample_id.as_str()).map_or(Err(Absence::Missing), |&position| tool.scores[position])
        };
        let scores: Vec<_> = found.rows.iter().map(|row| of_row(row).map(|score| turn * score)).collect();
        let mut one = evaluate(path, &tool.tool, &found, &scores, settings)?;
        if tool.lower_is_better == Some(true) {
            one.notes.push("lower is better: its scores were negated".to_owned());
        }
        one.notes.extend(tool.failures.iter().cloned());
        evaluated.push(one);
    }
    let against = |first: &Evaluated, other: &Evaluated| {
        compare((&first.name, &first.points), (&other.name, &other.points), &settings.bootstrap)
    };
    let comparisons = match evaluated.split_first() {
        Some((first, others)) => others.iter().map(|other| against(first, other)).collect(),
        None => Vec::new(),
    };
    Ok(report(path, &found, evaluated, comparisons, settings))
}

fn report(
    path: &Path,
    found: &Rows,
    evaluated: Vec<Evaluated>,
    comparisons: Vec<Comparison>,
    settings: &Settings,
) -> Correlation {
    let datasets: BTreeSet<&String> = found.rows.iter().filter_map(|row| row.dataset.as_ref()).collect();
    let own = datasets.first().filter(|_| datasets.len() == 1).map(|name| (*name).clone());
    let dataset = settings.dataset.clone().or(own);
    Correlation {
        input: path.display().to_string(),
        published: dataset.as_deref().map(published_correlations).unwrap_or_default(),
        dataset,
        split: settings.filter.split.clone(),
        bootstrap: settings.bootstrap,
        evaluated,
        comparisons,
    }
}

/// Evaluates one set of scores, in the order of the rows of `found`.
fn evaluate(
    path: &Path,
    name: &str,
    found: &Rows,
    scores: &[Result<f64, Absence>],
    settings: &Settings,
) -> Result<Evaluated, Error> {
    let mut counts = found.counts.clone();
    let mut used: Vec<(&Row, f64, f64)> = Vec::new();
    for (row, score) in found.rows.iter().zip(scores) {
        match (row.mos.filter(|mos| mos.is_finite()), score) {
            (None, _) => counts.without_mos += 1,
            (Some(_), Err(absence)) => counts.absent(*absence),
            (Some(mos), Ok(score)) => used.push((row, *score, mos)),
        }
    }
    counts.used = used.len();
    if used.len() < LEAST {
        let reasons = format!("of the others, {} ({name})", counts.left_out());
        return Err(Error::TooFew {
            path: path.to_owned(),
            rows: counts.rows,
            used: used.len(),
            needed: LEAST,
            reasons,
        });
    }
    let overall = agreement(&used, &settings.bootstrap)?;
    let mut groups = Vec::new();
    for (place, field) in settings.filter.group_by.iter().enumerate() {
        let mut members: BTreeMap<&str, Vec<(&Row, f64, f64)>> = BTreeMap::new();
        for row in &used {
            members.entry(row.0.groups[place].as_deref().unwrap_or("(none)")).or_default().push(*row);
        }
        for (value, rows) in members {
            let agreement = agreement(&rows, &settings.bootstrap)?;
            groups.push(Group { field: field.clone(), value: value.to_owned(), agreement });
        }
    }
    let points = used.iter().map(|(row, score, mos)| (row.sample_id.clone(), *score, *mos)).collect();
    Ok(Evaluated { name: name.to_owned(), counts, overall, groups, notes: notes(&used), points })
}

fn agreement(rows: &[(&Row, f64, f64)], bootstrap: &Bootstrap) -> Result<Agreement, PairsError> {
    let deviations: Option<Vec<f64>> = rows.iter().map(|(row, ..)| row.mos_std.filter(|own| *own > 0.0)).collect();
    let (scores, opinions) = rows.iter().map(|(_, score, mos)| (*score, *mos)).unzip();
    Ok(Agreement::of(&Pairs::new(scores, opinions)?, deviations.as_deref(), bootstrap))
}

/// Returns notes on problems of a correlation over all rows.
fn notes(rows: &[(&Row, f64, f64)]) -> Vec<String> {
    let mut scales: Vec<(f64, f64)> = rows.iter().filter_map(|(row, ..)| row.mos_range).collect();
    scales.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    scales.dedup();
    if scales.len() < 2 {
        return Vec::new();
    }
    vec![format!("opinions are on {} different scales: evaluate each dataset separately", scales.len())]
}
