//! Multiple-choice questions: accuracy by type of question, and a confusion matrix.

use std::collections::BTreeMap;
use std::path::Path;

use agenticiqa_statistics::{Interval, wilson};
use serde::{Deserialize, Serialize};

use super::paper::{PublishedAccuracy, published_accuracies};
use super::rows::{Absence, Filter, Row, Rows, read};
use super::{Counts, Error};
use agenticiqa_agent::question::{choice_letter, options_given};
use agenticiqa_agent::state::AnswerOption;

/// An accuracy with its Wilson interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The number of questions.
    pub n: u64,
    /// The number of correct answers.
    pub correct: u64,
    /// The share of correct answers.
    pub accuracy: f64,
    /// The confidence interval.
    pub interval: Interval,
}

impl Accuracy {
    pub(crate) fn of(correct: u64, n: u64, confidence: f64) -> Self {
        let accuracy = if n == 0 { 0.0 } else { correct as f64 / n as f64 };
        Self { n, correct, accuracy, interval: wilson(correct, n, confidence) }
    }
}

/// The questions of one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McqGroup {
    /// The field with the type.
    pub field: String,
    /// The type.
    pub value: String,
    /// The accuracy.
    pub accuracy: Accuracy,
}

/// The number of questions used and left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct McqCounts {
    /// Rows of the file.
    pub rows: usize,
    /// Rows of other splits.
    pub other_split: usize,
    /// Repeated rows of a sample.
    pub duplicates: usize,
    /// Rows without a known correct answer, which are left out.
    pub without_key: usize,
    /// Questions whose answer is not one of the options. They count as wrong.
    pub unanswered: usize,
    /// Questions whose assessment failed. They count as wrong.
    pub failed: usize,
    /// Questions that count.
    pub used: usize,
}

/// The chosen answers (columns) for each correct answer (rows).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// The letters. The last column counts questions without an answer.
    pub letters: Vec<String>,
    /// One row per correct letter; one column per chosen letter and one for no answer.
    pub counts: Vec<Vec<u64>>,
}

/// The result of comparing answers with the correct ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mcq {
    /// The path of the file.
    pub input: String,
    /// The benchmark, if all rows name the same.
    pub dataset: Option<String>,
    /// The number of questions used and left out.
    pub counts: McqCounts,
    /// All questions; unanswered ones count as wrong.
    pub overall: Accuracy,
    /// Only answered questions.
    pub answered: Accuracy,
    /// The accuracy by type of question.
    pub groups: Vec<McqGroup>,
    /// The confusion matrix.
    pub confusion: Confusion,
    /// The results of the paper.
    pub published: Vec<PublishedAccuracy>,
}

/// The fields with types of questions that are shown if present.
pub(crate) const KINDS: [&str; 3] = ["metadata.task_type", "metadata.question_type", "metadata.concern"];

/// Evaluates the answers in a file of records.
pub fn mcq(path: &Path, filter: &Filter, confidence: f64) -> Result<Mcq, Error> {
    let fields = fields(&filter.group_by);
    let found = read(path, &Filter { group_by: fields.clone(), ..filter.clone() })?;
    of_rows(path, &found, &fields, confidence)
}

/// Returns the fields with types of questions and the requested ones.
pub(crate) fn fields(group_by: &[String]) -> Vec<String> {
    let mut fields: Vec<String> = KINDS.iter().map(|&kind| kind.to_owned()).collect();
    fields.extend(group_by.iter().filter(|field| !KINDS.contains(&field.as_str())).cloned());
    fields
}

/// Evaluates the answers in the rows of a file, grouped by `fields`.
pub(crate) fn of_rows(path: &Path, found: &Rows, fields: &[String], confidence: f64) -> Result<Mcq, Error> {
    if !found.records {
        return Err(Error::NoScores { path: path.to_owned() });
    }
    let &Counts { rows, other_split, duplicates, .. } = &found.counts;
    let mut tally =
        Tally { counts: McqCounts { rows, other_split, duplicates, ..McqCounts::default() }, ..Tally::default() };
    for row in &found.rows {
        tally.add(row, fields);
    }
    if tally.counts.used == 0 {
        let reasons = format!("{} without a known answer", tally.counts.without_key);
        return Err(Error::TooFew { path: path.to_owned(), rows, used: 0, needed: 1, reasons });
    }
    let datasets: std::collections::BTreeSet<&String> =
        found.rows.iter().filter_map(|row| row.dataset.as_ref()).collect();
    let dataset = datasets.first().filter(|_| datasets.len() == 1).map(|name| (*name).clone());
    let published = dataset.as_deref().map(published_accuracies).unwrap_or_default();
    Ok(tally.finish(path, dataset, published, confidence))
}

#[derive(Default)]
struct Tally {
    counts: McqCounts,
    correct: u64,
    /// Correct answers and questions, by index of the field, field and type.
    kinds: BTreeMap<(usize, String, String), (u64, u64)>,
    answers: BTreeMap<(char, Option<char>), u64>,
}

impl Tally {
    fn add(&mut self, row: &Row, fields: &[String]) {
        let Some((key, chosen)) = key_and_chosen(row) else {
            self.counts.without_key += 1;
            return;
        };
        self.counts.used += 1;
        match (chosen, row.score) {
            (Some(_), _) => {}
            (None, Err(Absence::Failed)) => self.counts.failed += 1,
            (None, _) => self.counts.unanswered += 1,
        }
        let right = u64::from(chosen == Some(key));
        self.correct += right;
        *self.answers.entry((key, chosen)).or_default() += 1;
        for (place, (field, kind)) in fields.iter().zip(&row.groups).enumerate() {
            let Some(kind) = kind else { continue };
            let (correct, n) = self.kinds.entry((place, field.clone(), kind.clone())).or_default();
            *correct += right;
            *n += 1;
        }
    }

    fn finish(self, path: &Path, dataset: Option<String>, published: Vec<PublishedAccuracy>, confidence: f64) -> Mcq {
        let n = self.counts.used as u64;
        let answered = n - (self.counts.unanswered + self.counts.failed) as u64;
        let group = |((_, field, value), (correct, n))| McqGroup {
            field,
            value,
            accuracy: Accuracy::of(correct, n, confidence),
        };
        let letters: std::collections::BTreeSet<char> =
            self.answers.keys().flat_map(|(key, chosen)| [Some(*key), *chosen]).flatten().collect();
        let count = |key: char, chosen: Option<char>| self.answers.get(&(key, chosen)).copied().unwrap_or_default();
        let row = |&key: &char| {
            letters.iter().map(|&letter| Some(letter)).chain([None]).map(|chosen| count(key, chosen)).collect()
        };
        let confusion = Confusion {
            letters: letters.iter().map(char::to_string).collect(),
            counts: letters.iter().map(row).collect(),
        };
        Mcq {
            input: path.display().to_string(),
            dataset,
            overall: Accuracy::of(self.correct, n, confidence),
            answered: Accuracy::of(self.correct, answered, confidence),
            groups: self.kinds.into_iter().map(group).collect(),
            confusion,
            counts: self.counts,
            published,
        }
    }
}

/// Returns the correct and the chosen letter, or `None` if no correct answer is known.
pub(crate) fn key_and_chosen(row: &Row) -> Option<(char, Option<char>)> {
    let answer = row.answer.as_deref()?;
    let options = options(row);
    let chosen = row.final_answer.as_deref().and_then(|answer| choice_letter(answer, &options));
    Some((choice_letter(answer, &options)?, chosen))
}

/// Returns the options of a row, or only letters if it has none.
fn options(row: &Row) -> Vec<AnswerOption> {
    let listed = options_given(&row.options).unwrap_or_default();
    if !listed.is_empty() {
        return listed;
    }
    ('A'..='Z').map(|letter| AnswerOption { letter, text: String::new() }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn record(id: usize, answer: &str, chosen: Option<&str>, task: &str) -> Value {
        let status = if chosen.is_some() { "success" } else { "error" };
        json!({
            "sample_id": format!("q{id}"),
            "options": [{"letter": "A", "text": "Blur"}, {"letter": "B", "text": "Noise"}, {"letter": "C", "text": "None"}],
            "summarizer_result": chosen.map(|chosen| json!({"final_answer": chosen, "quality_score": null})),
            "metadata": {"final_status": status},
            "input": {"answer": answer, "dataset": "AgenticIQA-Eval", "metadata": {"task_type": task}},
        })
    }

    #[test]
    fn answers_are_counted_by_kind_and_letter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let records = [
            record(1, "A", Some("A"), "planner"),
            record(2, "Noise", Some("B"), "planner"),
            record(3, "B", Some("A"), "summarizer"),
            record(4, "C", None, "summarizer"),
            record(5, "Z", Some("A"), "summarizer"),
        ];
        let text: Vec<String> = records.iter().map(Value::to_string).collect();
        std::fs::write(&path, text.join("\n")).unwrap();
        let found = mcq(&path, &Filter::default(), 0.95).unwrap();
        let counts = McqCounts { rows: 5, without_key: 1, failed: 1, used: 4, ..McqCounts::default() };
        assert_eq!(found.counts, counts);
        assert_eq!((found.overall.correct, found.overall.n, found.answered.n), (2, 4, 3));
        let kinds: Vec<_> =
            found.groups.iter().map(|group| (group.value.as_str(), group.accuracy.correct, group.accuracy.n)).collect();
        assert_eq!(kinds, [("planner", 2, 2), ("summarizer", 0, 2)]);
        assert_eq!(found.confusion.letters, ["A", "B", "C"]);
        assert_eq!(found.confusion.counts, [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]]);
        assert_eq!(found.published.len(), 6);
        std::fs::write(&path, r#"{"sample_id": "a", "image_path": "a.png", "answer": "A"}"#).unwrap();
        assert!(mcq(&path, &Filter::default(), 0.95).unwrap_err().to_string().contains("it is a manifest"));
    }
}
