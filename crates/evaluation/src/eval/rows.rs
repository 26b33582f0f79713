//! The rows of an evaluation, from records or manifests: opinion and score of each sample.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Error;
use crate::dataset::{self, lines, without_place};

/// The reason why a row has no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// There is no score.
    Missing,
    /// The assessment or the tool failed.
    Failed,
    /// The score is infinite or not a number.
    NotFinite,
}

/// The number of rows used and left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows of the file.
    pub rows: usize,
    /// Rows of other splits.
    pub other_split: usize,
    /// Repeated rows of a sample.
    pub duplicates: usize,
    /// Rows without an opinion.
    pub without_mos: usize,
    /// Rows without a score.
    pub without_score: usize,
    /// Rows whose assessment or tool failed.
    pub failed: usize,
    /// Rows with an infinite score.
    pub not_finite: usize,
    /// Rows that count.
    pub used: usize,
}

impl Counts {
    /// Describes what was left out and why; empty if nothing was.
    pub fn left_out(&self) -> String {
        let parts = [
            (self.other_split, "of another split"),
            (self.duplicates, "repeated"),
            (self.without_mos, "without mos"),
            (self.failed, "failed"),
            (self.without_score, "without a score"),
            (self.not_finite, "with an infinite score"),
        ];
        let told: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        told.join(", ")
    }

    /// Counts a missing score.
    pub(crate) fn absent(&mut self, absence: Absence) {
        match absence {
            Absence::Missing => self.without_score += 1,
            Absence::Failed => self.failed += 1,
            Absence::NotFinite => self.not_finite += 1,
        }
    }
}

/// The rows to use and the fields to read.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Use only rows of this split.
    pub split: Option<String>,
    /// Fields to group by: dotted paths such as `metadata.distortion`.
    pub group_by: Vec<String>,
    /// The path of the score. Default: the fused score of a record.
    pub score: Option<String>,
}

/// The path of the score in a record.
const SCORE: &str = "summarizer_result.quality_score";

/// The values that are read from a line.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub sample_id: String,
    /// The opinion, oriented so that higher is better.
    pub mos: Option<f64>,
    pub mos_std: Option<f64>,
    pub score: Result<f64, Absence>,
    pub groups: Vec<Option<String>>,
    pub dataset: Option<String>,
    pub mos_range: Option<(f64, f64)>,
    /// The correct answer of a question.
    pub answer: Option<String>,
    /// Whether there is an answer.
    pub answered: bool,
    /// The given answer, if the correct one is known.
    pub final_answer: Option<String>,
    /// The options of a question with a known correct answer.
    pub options: Vec<String>,
}

/// A line: a record, whose input is below `input`, or a sample of a manifest.
pub(crate) struct Line(Map<String, Value>);

impl From<Map<String, Value>> for Line {
    fn from(object: Map<String, Value>) -> Self {
        Self(object)
    }
}

impl Line {
    /// Returns whether the line is a record.
    pub fn is_record(&self) -> bool {
        self.0.contains_key("summarizer_result")
    }

    /// Returns the value at a dotted path: from the input first, which has its own `metadata`, then
    /// from the record.
    pub fn field(&self, path: &str) -> Option<&Value> {
        let input = self.0.get("input").and_then(Value::as_object);
        input.and_then(|input| walk(input, path)).or_else(|| walk(&self.0, path))
    }

    /// Returns the value at a dotted path of the record itself, ignoring the input.
    pub fn own(&self, path: &str) -> Option<&Value> {
        walk(&self.0, path)
    }

    /// Returns the sample ID; empty if there is none.
    pub fn name(&self) -> String {
        self.field("sample_id").and_then(label).unwrap_or_default()
    }

    fn number(&self, path: &str) -> Option<f64> {
        self.field(path)?.as_f64()
    }

    fn text(&self, path: &str) -> Option<String> {
        self.field(path)?.as_str().map(str::to_owned)
    }

    fn score(&self, path: &str) -> Result<f64, Absence> {
        let failed = self.0.get("metadata").and_then(|metadata| metadata.get("final_status")) == Some(&"error".into());
        match walk(&self.0, path).or_else(|| self.field(path)) {
            Some(Value::Number(score)) => match score.as_f64() {
                Some(score) if score.is_finite() => Ok(score),
                _ => Err(Absence::NotFinite),
            },
            _ if failed => Err(Absence::Failed),
            _ => Err(Absence::Missing),
        }
    }

    fn row(&self, filter: &Filter) -> Row {
        let range = self.field("mos_range").and_then(Value::as_array);
        let mos_range = range.and_then(|ends| Some((ends.first()?.as_f64()?, ends.get(1)?.as_f64()?)));
        let falls = self.field("higher_is_better") == Some(&Value::Bool(false));
        let turned = |mos: f64| match mos_range {
            Some((low, high)) => low + high - mos,
            None => -mos,
        };
        let option = |option: &Value| option.as_str().or(option.get("text").and_then(Value::as_str)).map(str::to_owned);
        let answer = self.text("answer");
        // Keep answers and options only for questions with a known answer, to save memory.
        let options = self.0.get("options").or(self.field("options")).filter(|_| answer.is_some());
        let options = options.and_then(Value::as_array);
        let final_answer = self.text("summarizer_result.final_answer");
        Row {
            sample_id: self.name(),
            mos: self.number("mos").map(|mos| if falls { turned(mos) } else { mos }),
            mos_std: self.number("mos_std"),
            score: self.score(filter.score.as_deref().unwrap_or(SCORE)),
            groups: filter.group_by.iter().map(|path| self.field(path).and_then(label)).collect(),
            dataset: self.text("dataset"),
            mos_range,
            answered: final_answer.is_some(),
            final_answer: final_answer.filter(|_| answer.is_some()),
            answer,
            options: options.map(|options| options.iter().filter_map(option).collect()).unwrap_or_default(),
        }
    }
}

/// Returns the value at a path in nested objects.
fn walk<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let first = object.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part)).filter(|value| !value.is_null())
}

/// Returns the value of a group as text.
fn label(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The rows of a file that belong to the split, each sample once.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub rows: Vec<Row>,
    pub counts: Counts,
    /// Whether the lines are records.
    pub records: bool,
    /// The index of the row of each sample.
    paths: HashMap<String, usize>,
}

/// The result of adding a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// A new row was added at the end.
    Added,
    /// The row at this index, of the same sample, was replaced.
    Replaced(usize),
    /// The line was ignored: another split, or not better than the existing row of the sample.
    LeftOut,
}

impl Rows {
    /// Adds a line. A line without a sample ID is an error.
    pub fn add(&mut self, line: &Line, filter: &Filter) -> Result<Taken, String> {
        self.counts.rows += 1;
        self.records |= line.is_record();
        if filter.split.is_some() && line.text("split") != filter.split {
            self.counts.other_split += 1;
            return Ok(Taken::LeftOut);
        }
        let row = line.row(filter);
        if row.sample_id.is_empty() {
            return Err("it has no sample_id".to_owned());
        }
        let Some(&place) = self.paths.get(&row.sample_id) else {
            self.paths.insert(row.sample_id.clone(), self.rows.len());
            self.rows.push(row);
            return Ok(Taken::Added);
        };
        self.counts.duplicates += 1;
        let good = |row: &Row| row.score.is_ok() || row.answered;
        if good(&row) || !good(&self.rows[place]) {
            self.rows[place] = row;
            return Ok(Taken::Replaced(place));
        }
        Ok(Taken::LeftOut)
    }
}

/// Reads a file line by line and keeps only the requested fields.
pub(super) fn read(path: &Path, filter: &Filter) -> Result<Rows, Error> {
    let mut found = Rows::default();
    for line in lines(path)? {
        let (number, text) = line?;
        let wrong = |reason: String| dataset::Error::Line { path: path.to_owned(), line: number, reason };
        let object: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("not a JSON object: {}", without_place(&error))))?;
        found.add(&object.into(), filter).map_err(wrong)?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(value: Value) -> Line {
        Line(value.as_object().unwrap().clone())
    }

    #[test]
    fn fields_of_the_input_come_before_those_of_the_record() {
        let record = line(json!({
            "sample_id": "a", "summarizer_result": {"quality_score": 3.5}, "metadata": {"final_status": "success"},
            "input": {"mos": 2.0, "metadata": {"distortion": "blur", "level": 3}}
        }));
        assert_eq!(record.field("metadata.distortion"), Some(&json!("blur")));
        assert_eq!(record.field("metadata.final_status"), Some(&json!("success")));
        let filter = Filter { group_by: vec!["metadata.level".into(), "nothing".into()], ..Filter::default() };
        let row = record.row(&filter);
        assert_eq!((row.mos, row.score, row.groups), (Some(2.0), Ok(3.5), vec![Some("3".into()), None]));
    }

    #[test]
    fn absent_scores_are_told_apart() {
        let score = |value: Value| line(value).score(SCORE);
        assert_eq!(score(json!({"summarizer_result": {"quality_score": null}})), Err(Absence::Missing));
        let failed = json!({"summarizer_result": null, "metadata": {"final_status": "error"}});
        assert_eq!(score(failed), Err(Absence::Failed));
        assert_eq!(score(json!({"summarizer_result": {"quality_score": 2}})), Ok(2.0));
    }

    #[test]
    fn opinions_are_turned_so_that_higher_is_better() {
        let mos = |value: Value| line(value).row(&Filter::default()).mos;
        assert_eq!(mos(json!({"mos": 0.25, "mos_range": [0, 1], "higher_is_better": false})), Some(0.75));
        assert_eq!(mos(json!({"mos": 0.25, "higher_is_better": false})), Some(-0.25));
        assert_eq!(mos(json!({"mos": 0.25, "mos_range": [0, 1]})), Some(0.25));
        assert_eq!(mos(json!({"mos": null})), None);
    }

    #[test]
    fn a_sample_counts_once_by_its_last_row_with_a_score() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let record = |id: &str, score: Value| {
            json!({"sample_id": id, "summarizer_result": {"quality_score": score}, "input": {"mos": 1.0, "split": "test"}}).to_string()
        };
        let text = [record("a", Value::Null), record("b", json!(2)), record("a", json!(3)), record("b", Value::Null)];
        std::fs::write(&path, text.join("\n")).unwrap();
        let found = read(&path, &Filter::default()).unwrap();
        assert_eq!(found.rows.iter().map(|row| row.score).collect::<Vec<_>>(), [Ok(3.0), Ok(2.0)]);
        assert_eq!((found.counts.rows, found.counts.duplicates, found.records), (4, 2, true));
        let none = read(&path, &Filter { split: Some("train".into()), ..Filter::default() }).unwrap();
        assert_eq!((none.rows.len(), none.counts.other_split), (0, 4));
        std::fs::write(&path, "{\"sample_id\": \"a\"}\n[1]\n").unwrap();
        assert!(
            read(&path, &Filter::default()).unwrap_err().to_string().contains("r.jsonl, line 2: not a JSON object")
        );
    }
}
