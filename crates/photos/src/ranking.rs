//! Ranks photos: measures them, orders them, and says why each one is where it is.

use std::path::PathBuf;

use agenticiqa_agent::Agent;
use agenticiqa_agent::language::Language;
use agenticiqa_tools::Tool;
use agenticiqa_vision::vocabulary::Axis;
use serde::Serialize;

use crate::rank::{self, Place, Value};
use crate::study::{Studies, Study};
use crate::survey::{Failure, Progress, Survey};
use crate::tasks::{ByAnswer, ByTool};
use crate::words;

/// What decides the order of photos.
#[derive(Debug, Clone, Copy)]
pub enum Criterion<'a> {
    /// The overall score.
    Quality,
    /// How good they are on an axis.
    Axis(Axis),
    /// The score of a tool.
    Tool(&'a Tool),
    /// The answer to a question: yes before no, and better before worse.
    Answer(&'a Agent, &'a str),
}

/// A photo of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The path of the photo.
    pub image_path: String,
    /// The score from 1 to 5; none if the photo cannot be used or a tool has no such scale.
    pub score: Option<f64>,
    /// The 90% interval of the score, if there is one.
    pub interval: Option<[f64; 2]>,
    /// The rank from 1, which photos share if the difference is not certain.
    pub rank: Option<usize>,
    /// The percentage of the other photos that are not better.
    pub percentile: Option<f64>,
    /// Why the photo is where it is.
    pub main_reason: Option<String>,
    /// The number of photos that share the rank.
    #[serde(skip)]
    pub sharing: usize,
    /// The index of the photo among those that were given.
    #[serde(skip)]
    pub index: usize,
    /// Why the photo cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The photos that were ranked, best first, and those that cannot be used.
#[derive(Debug)]
pub struct Ranking {
    /// The photos, best first.
    pub rows: Vec<Row>,
    /// Photos that cannot be used.
    pub failed: Vec<(PathBuf, Failure)>,
}

/// Ranks photos.
pub fn rank(survey: &Survey<'_>, paths: &[PathBuf], by: Criterion<'_>, watch: &(dyn Fn(Progress) + Sync)) -> Ranking {
    let measured = match by {
        Criterion::Quality => survey.run(paths, &Studies, &|_, _, study| quality(&study), watch),
        Criterion::Axis(axis) => {
            let results = survey.run(paths, &Studies, &|_, _, study| on_axis(&study, axis), watch);
            let unclear = || Failure::Measure(format!("its {} cannot be judged: it is unlike photos", axis.name()));
            results.into_iter().map(|result| result.and_then(|level| level.ok_or_else(unclear))).collect()
        }
        Criterion::Tool(tool) => survey.run(paths, &ByTool(tool), &|_, _, measured| by_tool(tool, measured), watch),
        Criterion::Answer(agent, query) => {
            let keep = |answered: crate::tasks::Answered| {
                let order = 10.0 * answered.agrees + answered.score.unwrap_or(1.0);
                (Value { order, score: answered.score, interval: None }, answered.answer)
            };
            survey.run(paths, &ByAnswer { agent, query }, &|_, _, answered| keep(answered), watch)
        }
    };
    let (mut values, mut reasons, mut indexes, mut failed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (index, result) in measured.into_iter().enumerate() {
        match result {
            Ok((value, reason)) => {
                values.push(value);
                reasons.push(reason);
                indexes.push(index);
            }
            Err(failure) => failed.push((paths[index].clone(), failure)),
        }
    }
    let rows = rank::rank(&values).into_iter().map(|Place { index, rank, sharing, percentile }| Row {
        image_path: paths[indexes[index]].display().to_string(),
        score: values[index].score,
        interval: values[index].interval,
        rank: Some(rank),
        percentile: Some(percentile),
        main_reason: Some(std::mem::take(&mut reasons[index])),
        sharing,
        index: indexes[index],
        error: None,
    });
    Ranking { rows: rows.collect(), failed }
}

impl Ranking {
    /// Returns the photos that cannot be used as rows without a score.
    pub fn failures(&self) -> impl Iterator<Item = Row> + '_ {
        self.failed.iter().map(|(path, failure)| Row {
            image_path: path.display().to_string(),
            score: None,
            interval: None,
            rank: None,
            percentile: None,
            main_reason: None,
            sharing: 0,
            index: 0,
            error: Some(failure.to_string()),
        })
    }
}

fn quality(study: &Study) -> (Value, String) {
    let value = Value { order: study.score, score: Some(study.score), interval: Some(study.interval) };
    (value, words::main_reason(study, Language::English))
}

fn on_axis(study: &Study, axis: Axis) -> Option<(Value, String)> {
    let level = study.axes.get(&axis)?;
    let value = Value { order: level.score, score: Some(level.score), interval: Some(level.interval) };
    let kind = level.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    Some((value, format!("{}: {}{kind}, {:.0}% sure", axis.name(), level.name, 100.0 * level.probability)))
}

fn by_tool(tool: &Tool, measured: crate::tasks::Measured) -> (Value, String) {
    let lower = tool.metadata().lower_is_better == Some(true);
    let order = if lower { -measured.raw } else { measured.raw };
    let unit = tool.info().map_or("", |info| info.unit);
    let reason = format!("{} {:.4} {unit}", tool.name(), measured.raw).trim_end().to_owned();
    (Value { order, score: measured.score, interval: measured.interval }, reason)
}
