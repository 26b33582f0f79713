//! Two runs on the same samples, side by side: agreement with people, correct answers, tokens and cost.
//! Made to compare `pipeline.mode: grounded` with `paper`, or two backends.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use agenticiqa_statistics::Bootstrap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::compare::{Comparison, Judged, compare};
use super::mcq::key_and_chosen;
use super::rows::{Filter, Line, Rows};
use super::{Accuracy, Error};
use crate::dataset::{self, lines, without_place};

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The path of the file.
    pub input: String,
    /// What models were sent: `grounded` or `paper`; `mixed` if records differ, `unknown` for records of
    /// earlier versions.
    pub mode: String,
    /// The backends, as `planner / executor / summarizer`.
    pub backends: String,
    /// The number of records.
    pub records: u64,
    /// Records without an answer.
    pub failed: u64,
    /// Calls to models, without answers of the cache.
    pub calls: u64,
    /// Tokens of all calls.
    pub tokens: u64,
    /// The cost in US dollars; `null` if the price of a model is unknown.
    pub cost_usd: Option<f64>,
    /// Views of images that were sent.
    pub views: u64,
    /// Claims that contradict a measurement.
    pub disagreements: u64,
    /// New plans.
    pub replans: u64,
    /// The rank correlation of the scores with opinions, if there are opinions.
    pub srcc: Option<f64>,
    /// The share of correct answers, if there are questions with a known answer.
    pub accuracy: Option<Accuracy>,
}

/// A comparison of answers to the same questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The number of questions in both runs.
    pub n: u64,
    /// Questions that only the first run answers correctly.
    pub only_first: u64,
    /// Questions that only the second run answers correctly.
    pub only_second: u64,
    /// The two-sided p-value of the exact McNemar test.
    pub p_value: f64,
}

/// Two runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// The runs.
    pub runs: [Run; 2],
    /// The comparison of the scores, if there are opinions.
    pub scores: Option<Comparison>,
    /// The comparison of the answers, if there are questions with a known answer.
    pub answers: Option<Answers>,
}

/// Compares two files of records.
pub fn runs(first: &Path, second: &Path, filter: &Filter, bootstrap: &Bootstrap) -> Result<Runs, Error> {
    let (mut one, mut other) = (read(first, filter)?, read(second, filter)?);
    let judged = |run: &Read| -> Judged {
        let rows = run.rows.rows.iter();
        rows.filter_map(|row| Some((row.sample_id.clone(), row.score.ok()?, row.mos?))).collect()
    };
    let (of_first, of_second) = (judged(&one), judged(&other));
    let names = (one.run.input.clone(), other.run.input.clone());
    let scores = compare((&names.0, &of_first), (&names.1, &of_second), bootstrap);
    let scores = Some(scores).filter(|found| found.n > 0);
    if let Some(found) = &scores {
        (one.run.srcc, other.run.srcc) = (found.first_srcc, found.second_srcc);
    }
    let (right, wrong) = (one.right(), other.right());
    for (run, right) in [(&mut one.run, &right), (&mut other.run, &wrong)] {
        let correct = right.values().filter(|correct| **correct).count() as u64;
        run.accuracy = (!right.is_empty()).then(|| Accuracy::of(correct, right.len() as u64, bootstrap.confidence));
    }
    Ok(Runs { runs: [one.run, other.run], scores, answers: answers(&right, &wrong) })
}

fn answers(first: &HashMap<String, bool>, second: &HashMap<String, bool>) -> Option<Answers> {
    let both: Vec<(bool, bool)> = first.iter().filter_map(|(id, correct)| Some((*correct, *second.get(id)?))).collect();
    let count = |wanted: (bool, bool)| both.iter().filter(|found| **found == wanted).count() as u64;
    let (only_first, only_second) = (count((true, false)), count((false, true)));
    let p_value = mcnemar(only_first, only_second);
    (!both.is_empty()).then_some(Answers { n: both.len() as u64, only_first, only_second, p_value })
}

/// The exact two-sided McNemar test: a fair coin falls as unevenly as the questions that only one run
/// answers correctly.
fn mcnemar(one: u64, other: u64) -> f64 {
    let (n, least) = (one + other, one.min(other));
    let mut logarithm = -(n as f64) * std::f64::consts::LN_2;
    let mut total = 0.0;
    for k in 0..=least {
        total += logarithm.exp();
        logarithm += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    (2.0 * total).min(1.0)
}

struct Read {
    run: Run,
    rows: Rows,
}

impl Read {
    /// Returns for each question with a known answer whether the given one is correct.
    fn right(&self) -> HashMap<String, bool> {
        let rows = self.rows.rows.iter();
        rows.filter_map(|row| key_and_chosen(row).map(|(key, chosen)| (row.sample_id.clone(), chosen == Some(key))))
            .collect()
    }
}

/// Reads a file line by line. Costs count every record, also of a sample that was tried again.
fn read(path: &Path, filter: &Filter) -> Result<Read, Error> {
    let mut run = Run { input: path.display().to_string(), cost_usd: Some(0.0), ..Run::default() };
    let (mut rows, mut modes, mut backends) = (Rows::default(), BTreeMap::new(), BTreeMap::new());
    for line in lines(path)? {
        let (number, text) = line?;
        let wrong = |reason: String| dataset::Error::Line { path: path.to_owned(), line: number, reason };
        let object: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("not a JSON object: {}", without_place(&error))))?;
        let line = Line::from(object);
        rows.add(&line, filter).map_err(wrong)?;
        add(&mut run, &line);
        let mode = line.own("metadata.mode").and_then(Value::as_str).unwrap_or("unknown");
        *modes.entry(mode.to_owned()).or_insert(0_u64) += 1;
        let of = |role: &str| line.own(&format!("metadata.backends.{role}")).and_then(Value::as_str).unwrap_or("?");
        *backends.entry(["planner", "executor", "summarizer"].map(of).join(" / ")).or_insert(0_u64) += 1;
    }
    if !rows.records {
        return Err(Error::NoScores { path: path.to_owned() });
    }
    let only = |mut found: BTreeMap<String, u64>| match found.len() {
        1 => found.pop_first().map(|(name, _)| name).unwrap_or_default(),
        _ => "mixed".to_owned(),
    };
    (run.mode, run.backends) = (only(modes), only(backends));
    Ok(Read { run, rows })
}

fn add(run: &mut Run, line: &Line) {
    let number = |path: &str| line.own(path).and_then(Value::as_u64).unwrap_or(0);
    let length = |path: &str| line.own(path).and_then(Value::as_array).map_or(0, |list| list.len() as u64);
    run.records += 1;
    run.failed += u64::from(line.own("metadata.final_status").and_then(Value::as_str) == Some("error"));
    let calls = line.own("metadata.calls").and_then(Value::as_array);
    let paid = |call: &&Value| call.get("cached") != Some(&Value::Bool(true));
    run.calls += calls.map_or(0, |calls| calls.iter().filter(paid).count() as u64);
    run.tokens += ["planner", "executor", "summarizer"]
        .iter()
        .map(|role| number(&format!("metadata.tokens_used.{role}")))
        .sum::<u64>();
    let cost = line.own("metadata.cost_usd").and_then(Value::as_f64);
    run.cost_usd = run.cost_usd.zip(cost).map(|(sum, cost)| sum + cost);
    run.views += length("metadata.views.sent");
    run.disagreements += length("executor_evidence.disagreements") + length("summarizer_result.disagreements");
    run.replans += number("metadata.iteration_count");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(id: usize, mode: &str, score: f64, chosen: &str, tokens: u64) -> Value {
        json!({
            "sample_id": format!("s{id}"), "options": [{"letter": "A", "text": "Blur"}, {"letter": "B", "text": "Noise"}],
            "executor_evidence": {"disagreements": if mode == "grounded" { vec![json!({})] } else { Vec::new() }},
            "summarizer_result": {"final_answer": chosen, "quality_score": score},
            "metadata": {"final_status": "success", "mode": mode, "iteration_count": 1, "cost_usd": 0.01,
                "backends": {"planner": "x.y", "executor": "x.y", "summarizer": "x.y"},
                "tokens_used": {"planner": tokens, "executor": tokens, "summarizer": tokens},
                "calls": [{"cached": false}, {"cached": true}]},
            "input": {"mos": id as f64, "answer": "A"},
        })
    }

    #[test]
    fn modes_are_compared_on_the_same_samples() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, records: Vec<Value>| {
            let path = folder.path().join(name);
            let text: Vec<String> = records.iter().map(Value::to_string).collect();
            std::fs::write(&path, text.join("\n")).unwrap();
            path
        };
        let score = |id: usize| id as f64 / 4.0 + 1.0;
        let grounded = write("g.jsonl", (0..12).map(|id| record(id, "grounded", score(id), "A", 200)).collect());
        let shuffled = |id: usize| score((id * 5) % 12);
        let paper = write(
            "p.jsonl",
            (0..12).map(|id| record(id, "paper", shuffled(id), if id < 8 { "B" } else { "A" }, 100)).collect(),
        );
        let found = runs(&grounded, &paper, &Filter::default(), &Bootstrap::default()).unwrap();
        let [one, other] = &found.runs;
        assert_eq!(
            (one.mode.as_str(), other.mode.as_str(), one.backends.as_str()),
            ("grounded", "paper", "x.y / x.y / x.y")
        );
        assert_eq!((one.tokens, other.tokens, one.calls, one.replans), (7200, 3600, 12, 12));
        assert_eq!((one.disagreements, other.disagreements, one.records), (12, 0, 12));
        assert!((one.cost_usd.unwrap() - 0.12).abs() < 1e-12);
        assert!(one.srcc.unwrap() > 0.999 && other.srcc.unwrap() < 0.9);
        assert_eq!((one.accuracy.unwrap().correct, other.accuracy.unwrap().correct), (12, 4));
        let answers = found.answers.unwrap();
        assert_eq!((answers.n, answers.only_first, answers.only_second), (12, 8, 0));
        assert!((answers.p_value - 2.0 / 256.0).abs() < 1e-12);
        let manifest = write("m.jsonl", vec![json!({"sample_id": "a", "image_path": "a.png"})]);
        assert!(runs(&grounded, &manifest, &Filter::default(), &Bootstrap::default()).is_err());
    }

    #[test]
    fn the_exact_test_is_that_of_a_fair_coin() {
        assert_eq!(mcnemar(0, 0), 1.0);
        assert_eq!(mcnemar(3, 3), 1.0);
        // 1 of 10 heads or fewer, twice: 2 * 11 / 1024.
        assert!((mcnemar(1, 9) - 22.0 / 1024.0).abs() < 1e-12);
        assert!(mcnemar(4000, 4000) <= 1.0 && mcnemar(100, 5000) < 1e-9);
    }
}
