//! Tests of reports: counts, selected cases, and their descriptions.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A record with scores of two tools.
fn record(id: &str, score: Option<f64>, mos: f64, tools: [f64; 2]) -> Value {
    let log = |name: &str, score: f64| {
        json!({"tool_name": name, "object_name": "Global", "distortion": "Noise", "raw_score": score, "normalized_score": score,
               "execution_time": 0.5, "timestamp": "2026-01-01T00:00:00Z"})
    };
    let status = if score.is_some() { "success" } else { "error" };
    let conclusion = score.map(|score| {
        json!({"final_answer": "C", "answer_form": "score", "quality_score": score, "quality_level": "Fair",
               "quality_reasoning": "Because of noise.", "need_replan": false, "replan_reason": null,
               "used_evidence": [{"sentence": "Because of noise.", "evidence": ["/tool_logs/1", "/distortion_analysis/Global/0"]}]})
    });
    json!({
        "sample_id": id, "query": "Rate it.", "options": [], "image_path": "a.png", "reference_path": null, "regions": [],
        "plan": {"query_type": "IQA", "query_scope": "Global", "distortion_source": "Inferred", "distortions": null,
                 "reference_mode": "No-Reference", "required_tool": null,
                 "plan": {"distortion_detection": true, "distortion_analysis": true, "tool_selection": false, "tool_execution": true}},
        "executor_evidence": {
            "distortion_analysis": {"Global": [{"type": "Noise", "severity": "severe", "explanation": "grain of 9 levels"}]},
            "attributes": {"Global": {"sharpness": {"level": "blurry", "direction": "blurry", "value": -0.7, "probability": 0.93, "kind": "defocus",
                                       "measurements": [{"name": "edge width", "value": 11.9, "unit": "px"}]}}},
            "tool_logs": [log("BRISQUE", tools[0]), log("NIQE", tools[1])]},
        "summarizer_result": conclusion,
        "metadata": {"execution_time_ms": 20.0, "iteration_count": 0, "replan_history": [], "final_status": status,
                     "error_type": score.is_none().then_some("TimeoutError"),
                     "error_details": score.is_none().then_some(["it took too long"]),
                     "timestamp": "2026-01-01T00:00:10Z", "version": "0.1.0",
                     "backends": {"planner": "openai.gpt-4o", "executor": "builtin", "summarizer": "builtin"},
                     "tokens_used": {"planner": 100, "executor": 0, "summarizer": 0}, "cost_usd": 0.01,
                     "node_times_ms": {"planner": 15.0, "executor": 4.0, "summarizer": 1.0}},
        "input": {"mos": mos, "mos_range": [0, 100], "dataset": "TID2013", "metadata": {"distortion": "noise"}},
    })
}

/// Forty samples whose scores follow the opinions, with one exception.
fn records() -> Vec<Value> {
    let even = |i: usize| {
        let score = 1.0 + f64::from(i as u32) / 10.0;
        let wobble = if i.is_multiple_of(2) { 1.5 } else { -1.5 };
        record(&format!("s{i:02}"), Some(score), 25.0 * (score - 1.0) + wobble, [score, score + 0.002 * i as f64])
    };
    let mut all: Vec<Value> = (0..40).map(even).collect();
    all[20] = record("overrated", Some(3.0), 5.0, [3.0, 3.1]);
    all[25] = record("divided", Some(3.5), 62.5, [1.5, 4.5]);
    all.push(record("failed", None, 50.0, [2.0, 2.0]));
    all
}

fn written(folder: &TempDir, name: &str, records: &[Value]) -> PathBuf {
    let path = folder.path().join(name);
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

fn options() -> Options<'static> {
    Options { cases: 2, bootstrap: Bootstrap { resamples: 50, ..Bootstrap::default() }, ..Options::default() }
}

fn report(path: &Path) -> Report {
    Report::of(&[path.to_owned()], &options(), &|_| {}).unwrap()
}

fn cases(run: &Run, kind: Kind) -> Vec<&str> {
    let of_kind = run.cases.iter().filter(|case| case.kinds.contains(&kind));
    of_kind.map(|case| case.sample_id.as_str()).collect()
}

#[test]
fn records_are_counted_and_the_cases_are_those_that_stand_out() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&written(&folder, "r.jsonl", &records()));
    let run = &report.runs[0];
    let tally = &run.tally;
    assert_eq!((tally.records, tally.succeeded, tally.partial, tally.failed), (41, 40, 0, 1));
    assert_eq!((tally.all_tokens(), tally.cost_unknown), (4100, 0));
    assert!((tally.cost_usd - 0.41).abs() < 1e-9);
    assert_eq!(tally.errors["TimeoutError"].sample_ids, ["failed"]);
    assert_eq!((tally.tools["NIQE"].runs, tally.tools["NIQE"].seconds), (41, 20.5));
    let [planner, .., whole] = tally.time_quantiles();
    assert_eq!((planner.unwrap().0.p99, whole.unwrap().1), (15.0, 820.0));
    assert_eq!(cases(run, Kind::FarFromOpinion), ["overrated"]);
    assert_eq!(cases(run, Kind::ToolsDisagree), ["divided"]);
    assert_eq!(cases(run, Kind::Lowest), ["s00", "s01"]);
    assert_eq!(cases(run, Kind::Highest), ["s39", "s38"]);
    assert_eq!(cases(run, Kind::WrongAnswer), Vec::<&str>::new());
    let far = run.cases.iter().find(|case| case.sample_id == "overrated").unwrap();
    assert!(
        far.reasons[0].starts_with("the mean opinion is 4") && far.reasons[0].contains("lower than"),
        "{:?}",
        far.reasons
    );
    assert_eq!(far.opinion, Some(1.2));
    assert_eq!(far.reasoning[0].1, ["NIQE", "Noise"]);
    let divided = run.cases.iter().find(|case| case.sample_id == "divided").unwrap();
    assert_eq!(divided.reasons, ["BRISQUE scores 1.50, NIQE scores 4.50"]);
}

#[test]
fn page_and_markdown_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&written(&folder, "r.jsonl", &records()));
    let (html, markdown) = (report.html().unwrap(), report.markdown().unwrap());
    for part in [
        "TimeoutError",
        "it took too long",
        "openai.gpt-4o",
        "4,100 tokens",
        "grain of 9 levels",
        "blurry (defocus)",
        "edge width 11.9 px",
        "93.0 %",
        "Because of noise.",
        "AgenticIQA (GPT-4o), paper",
        "detect distortions → analyze distortions → run tools",
        "BRISQUE scores 1.50, NIQE scores 4.50",
        "40 of 41 records used, left out: 1 failed",
        "planner",
        "15.0 ms",
    ] {
        assert!(html.contains(part), "{part} is not in the page");
        assert!(markdown.contains(part), "{part} is not in the Markdown");
    }
    assert_eq!(html.matches("class=\"ring\" cx").count(), report.runs[0].cases.len());
    assert!(markdown.contains("█"), "the histogram");
    let written = report.write(&folder.path().join("new/folder")).unwrap();
    assert!(written.iter().all(|path| path.is_file()));
}

#[test]
fn a_sample_counts_once_by_its_last_good_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = records();
    all.push(record("failed", Some(1.0), 50.0, [1.0, 1.0]));
    all.push(record("s39", None, 50.0, [1.0, 1.0]));
    let report = report(&written(&folder, "r.jsonl", &all));
    let run = &report.runs[0];
    assert_eq!((run.rows.rows.len(), run.rows.counts.duplicates, run.tally.records), (41, 2, 43));
    assert!(cases(run, Kind::Lowest).contains(&"failed"));
    let again = run.cases.iter().find(|case| case.sample_id == "failed").unwrap();
    assert_eq!((again.score, again.status.as_str()), (Some(1.0), "success"));
    assert_eq!(cases(run, Kind::Highest), ["s39", "s38"]);
}

#[test]
fn wrong_answers_are_cases_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let question = |id: usize, given: &str| {
        let mut record = record(&format!("q{id}"), Some(3.0), 50.0, [3.0, 3.0]);
        record["options"] = json!([{"letter": "A", "text": "Blur"}, {"letter": "B", "text": "Noise"}]);
        record["summarizer_result"]["final_answer"] = given.into();
        record["input"] = json!({"answer": "B", "metadata": {"task_type": "planner"}});
        record
    };
    let questions: Vec<Value> = (0..9).map(|id| question(id, if id < 3 { "A" } else { "B" })).collect();
    let report = report(&written(&folder, "q.jsonl", &questions));
    let run = &report.runs[0];
    assert!(run.correlation.is_none() && run.not_compared.is_none());
    assert_eq!(run.answers.as_ref().unwrap().overall.correct, 6);
    let wrong = cases(run, Kind::WrongAnswer);
    assert_eq!(wrong.len(), 2);
    assert!(wrong.iter().all(|id| ["q0", "q1", "q2"].contains(id)), "{wrong:?}");
    let html = report.html().unwrap();
    for part in ["A was chosen, B is correct", "66.7 %", "task_type: planner", "Correct answer (rows)"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn records_of_other_versions_are_taken_as_far_as_they_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let bare = |id: usize| json!({"sample_id": id, "summarizer_result": {"quality_score": 2.0, "new": 1}, "executor_evidence": {"odd": []}, "plan": 7});
    let path = written(&folder, "r.jsonl", &[bare(1), bare(2)]);
    let report = report(&path);
    assert_eq!((report.runs[0].tally.records, report.runs[0].cases.len()), (2, 2));
    assert!(report.html().unwrap().contains("class=\"case\""));
    assert!(report.markdown().unwrap().contains("not given"));
}

#[test]
fn large_runs_are_drawn_in_part_and_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let many: Vec<Value> = (0..6000)
        .map(|i| {
            let score = 1.0 + f64::from(i % 400) / 100.0;
            json!({"sample_id": format!("s{i}"), "summarizer_result": {"quality_score": score}, "input": {"mos": score + f64::from(i % 7)}})
        })
        .collect();
    let path = written(&folder, "r.jsonl", &many);
    let options = Options { bootstrap: Bootstrap { resamples: 0, ..Bootstrap::default() }, ..options() };
    let html = Report::of(&[path], &options, &|_| {}).unwrap().html().unwrap();
    assert!(html.contains("Showing a random 5,000 of 6,000 points."));
    let drawn = html.matches("<circle class=\"point\"").count();
    assert!((4990..=5000).contains(&drawn), "{drawn}");
}
