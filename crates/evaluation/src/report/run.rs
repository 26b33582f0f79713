//! One file of records: read once and evaluated; the records of its cases are read again.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::cases::{Chosen, Expectation, choose};
use super::details::Case;
use super::stream::{Broken, Lines, read_again};
use super::tally::Tally;
use super::{Error, Options};
use crate::eval::rows::{Filter, Line, Rows, Taken};
use crate::eval::{self, Correlation, Mcq, Settings, mcq};
use agenticiqa_agent::state::ExecutorOutput;
use agenticiqa_batch::path_rules::PathRules;

/// The default field to group by.
const DISTORTION: &str = "metadata.distortion";

/// The values of a record that are kept in addition to its row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glance {
    /// The byte offset of its line.
    pub offset: u64,
    /// The difference between the highest and the lowest tool score, on 1 to 5.
    pub spread: Option<f64>,
}

/// One file of records.
#[derive(Debug)]
pub struct Run {
    /// The path of the file.
    pub path: PathBuf,
    /// The name of the file.
    pub name: String,
    /// The counts over all records.
    pub tally: Tally,
    /// The lines that are not records.
    pub broken: Broken,
    /// The correlation of scores with opinions, if there are opinions.
    pub correlation: Option<Correlation>,
    /// The reason why scores are not compared with opinions, although there are some.
    pub not_compared: Option<String>,
    /// The accuracy of answers, if correct answers are known.
    pub answers: Option<Mcq>,
    /// The fields to group by.
    pub group_by: Vec<String>,
    pub(super) number: usize,
    /// The fields that are read from each record: those to group by, then the types of questions.
    fields: Vec<String>,
    pub(super) bytes: u64,
    pub(super) rows: Rows,
    pub(super) glances: Vec<Glance>,
    pub(super) chosen: Vec<Chosen>,
    pub(super) cases: Vec<Case>,
}

impl Run {
    /// Reads a file. Calls `told` with the progress.
    pub(super) fn read(
        path: &Path,
        number: usize,
        options: &Options<'_>,
        told: &mut dyn FnMut(u64),
    ) -> Result<Self, Error> {
        let mut run = Self::new(path, number, options);
        let filter = Filter { group_by: run.fields.clone(), ..Filter::default() };
        let mut lines = Lines::open(path)?;
        while let Some(line) = lines.next()? {
            match line.object {
                None => {}
                Some(Err(reason)) => run.broken.add(line.number, reason),
                Some(Ok(object)) => run.take(object, (line.number, line.offset), &filter),
            }
            if line.number % 256 == 0 {
                told(lines.offset());
            }
        }
        run.bytes = lines.offset();
        told(run.bytes);
        if run.tally.records == 0 {
            let reason = match run.broken.first.first() {
                None => "the file is empty".to_owned(),
                Some((line, reason)) => {
                    format!("it has no assessment records; line {line}: {reason}")
                }
            };
            return Err(Error::NoRecords { path: path.to_owned(), reason });
        }
        let grouped = |place: usize| run.rows.rows.iter().any(|row| row.groups[place].is_some());
        if options.group_by.is_empty() && !grouped(0) {
            run.group_by.clear();
        }
        Ok(run)
    }

    fn new(path: &Path, number: usize, options: &Options<'_>) -> Self {
        let asked = options.group_by.clone();
        let group_by = if asked.is_empty() { vec![DISTORTION.to_owned()] } else { asked };
        let kinds = mcq::KINDS.iter().map(|&kind| kind.to_owned()).filter(|kind| !group_by.contains(kind));
        let fields = group_by.iter().cloned().chain(kinds).collect();
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self {
            path: path.to_owned(),
            name,
            tally: Tally::default(),
            broken: Broken::default(),
            correlation: None,
            not_compared: None,
            answers: None,
            group_by,
            number,
            fields,
            bytes: 0,
            rows: Rows::default(),
            glances: Vec::new(),
            chosen: Vec::new(),
            cases: Vec::new(),
        }
    }

    fn take(&mut self, object: Map<String, Value>, (number, offset): (u64, u64), filter: &Filter) {
        let line = Line::from(object);
        if !line.is_record() {
            return self.broken.add(number, "it is not an assessment record: it has no summarizer_result");
        }
        let taken = match self.rows.add(&line, filter) {
            Ok(taken) => taken,
            Err(reason) => return self.broken.add(number, reason),
        };
        let evidence = line.own("executor_evidence").and_then(|evidence| ExecutorOutput::deserialize(evidence).ok());
        self.tally.add(&line, evidence.as_ref());
        let glance = Glance { offset, spread: evidence.as_ref().and_then(spread) };
        match taken {
            Taken::Added => self.glances.push(glance),
            Taken::Replaced(place) => self.glances[place] = glance,
            Taken::LeftOut => {}
        }
    }

    /// Compares scores and answers with people's, and selects cases.
    pub(super) fn evaluate(&mut self, options: &Options<'_>) -> Result<(), Error> {
        let filter = Filter { group_by: self.group_by.clone(), ..Filter::default() };
        let settings = Settings { filter, bootstrap: options.bootstrap, dataset: None };
        if self.rows.rows.iter().any(|row| row.mos.is_some()) {
            match eval::correlation::of_rows(&self.path, &self.rows, &settings) {
                Ok(correlation) => self.correlation = Some(correlation),
                Err(reason) => self.not_compared = Some(reason.to_string()),
            }
        }
        if self.rows.rows.iter().any(|row| mcq::key_and_chosen(row).is_some()) {
            let confidence = options.bootstrap.confidence;
            self.answers = Some(mcq::of_rows(&self.path, &self.rows, &self.fields, confidence)?);
        }
        self.chosen = choose(self, options.cases, options.bootstrap.seed);
        Ok(())
    }

    /// Reads the records of the selected cases again and renders their images.
    pub(super) fn look_at_cases(&mut self, options: &Options<'_>, done: &mut dyn FnMut()) -> Result<(), Error> {
        let offsets: Vec<u64> = self.chosen.iter().map(|chosen| self.glances[chosen.place].offset).collect();
        let paths = PathRules::new(options.root.as_deref(), Some(&self.path));
        for (chosen, record) in self.chosen.iter().zip(read_again(&self.path, &offsets)?) {
            let mut case = Case::of(self, chosen, record);
            if let Some(studio) = &options.studio {
                case.pictures = studio.pictures(&case, &paths);
            }
            self.cases.push(case);
            done();
        }
        Ok(())
    }

    /// Returns how scores are mapped to opinions: by the fitted curve, else linearly.
    pub(super) fn expectation(&self) -> Option<Expectation> {
        let overall = &self.correlation.as_ref()?.evaluated.first()?.overall;
        Some(match (overall.curve, overall.rmse) {
            (Some(curve), Some(error)) => Expectation::Fitted(curve, error),
            _ => Expectation::Linear,
        })
    }

    /// Returns all scores, sorted.
    pub(super) fn sorted_scores(&self) -> Vec<f64> {
        let mut scores: Vec<f64> = self.rows.rows.iter().filter_map(|row| row.score.ok()).collect();
        scores.sort_by(f64::total_cmp);
        scores
    }
}

/// Returns the range of the tool scores for the whole image.
fn spread(evidence: &ExecutorOutput) -> Option<f64> {
    let whole = evidence.distinct_runs().into_iter().filter(|log| log.region.is_none());
    let scores = whole.filter_map(|log| Some(log.normalized_score?.value()));
    let (low, high) =
        scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), score| (low.min(score), high.max(score)));
    (high > low).then_some(high - low)
}
