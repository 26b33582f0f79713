//! Tests of whole runs with the built-in analyst or a model with simulated delay.

use agenticiqa_agent::state::ByNode;
use agenticiqa_vlm::RateCard;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::testing::{agent, folder, records};
use super::*;

async fn run(batch: &Batch) -> Result<Summary, Error> {
    batch.run(Arc::new(agent()), &StopSignal::default(), &|_| ()).await
}

fn ids(batch: &Batch) -> Vec<String> {
    records(&batch.output).iter().map(|record| record["sample_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_sample_gets_a_record_and_bad_lines_do_too() {
    let (place, batch) = folder(6);
    let input = place.path().join("input.jsonl");
    let mut lines = std::fs::read_to_string(&input).unwrap();
    lines += "{\"sample_id\": \"s2\", \"query\": \"Rate it.\", \"image_path\": \"1.png\"}\n";
    lines += "\n{\"query\": \"Rate it.\"}\n";
    lines += "{\"sample_id\": \"gone\", \"query\": \"Rate it.\", \"image_path\": \"gone.png\", \"mos\": 4}\n";
    std::fs::write(&input, lines).unwrap();
    let summary = run(&batch).await.unwrap();
    assert_eq!((summary.total, summary.written(), summary.failed), (9, 9, 3));
    let found: BTreeSet<String> = ids(&batch).into_iter().collect();
    assert_eq!(found.len(), 9);
    let records = records(&batch.output);
    let of = |id: &str| records.iter().find(|record| record["sample_id"] == id).unwrap();
    for record in &records {
        serde_json::from_value::<agenticiqa_agent::state::AssessmentRecord>(record.clone()).unwrap();
    }
    let repeated = &of("input.jsonl:7")["metadata"];
    assert_eq!(repeated["error_type"], "InputError");
    let detail = repeated["error_details"][0].as_str().unwrap();
    assert_eq!(detail, "line 7: sample_id \"s2\" is that of line 3 already: give every line its own");
    assert_eq!(of("input.jsonl:9")["metadata"]["error_details"][0], "line 9: sample_id is missing: add it to the line");
    assert_eq!(of("gone")["metadata"]["error_type"], "PictureError");
    assert_eq!(of("gone")["input"]["mos"], 4);
    assert!(summary.error_lines()[0].starts_with("2x InputError: input.jsonl:7, input.jsonl:9 (line 7: "));
}

#[tokio::test]
async fn a_second_run_does_what_is_missing_and_tries_failed_samples_again() {
    let (place, mut batch) = folder(10);
    batch.options.max_samples = Some(4);
    assert_eq!(run(&batch).await.unwrap().written(), 4);
    let picture = place.path().join("1.png");
    let bytes = std::fs::read(&picture).unwrap();
    std::fs::write(&picture, "no image").unwrap();
    batch.options.max_samples = None;
    let summary = run(&batch).await.unwrap();
    assert_eq!((summary.done_before, summary.written(), summary.failed), (4, 6, 2));
    assert_eq!(ids(&batch).into_iter().collect::<BTreeSet<_>>().len(), 10);
    std::fs::write(&picture, bytes).unwrap();
    let summary = run(&batch).await.unwrap();
    assert_eq!((summary.done_before, summary.written(), summary.failed), (8, 2, 0));
    assert_eq!(ids(&batch).len(), 10);
    let nothing = run(&batch).await.unwrap();
    assert_eq!((nothing.written(), nothing.ending), (0, Ending::Complete));
}

#[tokio::test]
async fn ranges_count_samples_from_one() {
    let (_place, mut batch) = folder(9);
    batch.options.sample_range = 3..=5;
    assert_eq!(run(&batch).await.unwrap().written(), 3);
    assert_eq!(ids(&batch).into_iter().collect::<BTreeSet<_>>(), ["s2", "s3", "s4"].map(str::to_owned).into());
    batch.options.sample_range = 5..=u64::MAX;
    batch.options.max_samples = Some(2);
    run(&batch).await.unwrap();
    assert!(ids(&batch).contains(&"s6".to_owned()) && ids(&batch).len() == 5);
}

#[tokio::test]
async fn input_and_output_must_not_be_one_file() {
    let (place, mut batch) = folder(2);
    batch.output = place.path().join("./input.jsonl");
    let before = std::fs::read(&batch.output).unwrap();
    assert!(matches!(run(&batch).await, Err(Error::SameFile(_))));
    assert_eq!(std::fs::read(&batch.output).unwrap(), before);
}

#[tokio::test]
async fn a_stopped_run_finishes_what_it_has_begun() {
    let (_place, batch) = folder(40);
    let stop = StopSignal::default();
    let asked = stop.clone();
    let watch = move |progress: &Progress<'_>| {
        if progress.summary.written() == 5 {
            asked.stop();
        }
    };
    let summary = batch.run(Arc::new(agent()), &stop, &watch).await.unwrap();
    assert_eq!(summary.ending, Ending::Stopped);
    assert!((5..=5 + 4).contains(&summary.written()), "{}", summary.written());
    assert_eq!(ids(&batch).len() as u64, summary.written());
    let rest = run(&batch).await.unwrap();
    assert_eq!((rest.done_before + rest.written(), rest.ending), (40, Ending::Complete));
}

#[tokio::test]
async fn an_abandoned_run_does_not_wait_for_its_samples() {
    let (_place, batch) = folder(40);
    let stop = StopSignal::default();
    let asked = stop.clone();
    let watch = move |progress: &Progress<'_>| {
        if progress.summary.written() == 5 {
            asked.abandon();
        }
    };
    let summary = batch.run(Arc::new(agent()), &stop, &watch).await.unwrap();
    assert_eq!((summary.ending, summary.written()), (Ending::Stopped, 5));
    let rest = run(&batch).await.unwrap();
    assert_eq!((rest.done_before, rest.written(), rest.ending), (5, 35, Ending::Complete));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_ends_the_run_with_what_to_do() {
    let (_place, mut batch) = folder(5);
    batch.output = "/dev/full".into();
    batch.existing = Existing::Refuse;
    let error = run(&batch).await.unwrap_err();
    assert!(matches!(error, Error::Output { written: 0, .. }), "{error}");
}

#[tokio::test]
async fn a_table_is_as_good_as_lines() {
    let (place, mut batch) = folder(0);
    let mut table = "sample_id,query,image_path,mos\n".to_owned();
    for number in 0..3 {
        writeln!(table, "t{number},Rate it.,{number}.png,{number}.5").unwrap();
    }
    let path = place.path().join("input.csv");
    std::fs::write(&path, table).unwrap();
    batch.input = Input::file(path);
    assert_eq!((run(&batch).await.unwrap().written(), run(&batch).await.unwrap().done_before), (3, 3));
    let records = records(&batch.output);
    assert!(records.iter().all(|record| record["input"]["mos"].as_f64().unwrap().fract() == 0.5));
}

#[tokio::test]
async fn samples_beyond_their_time_are_errors() {
    let (_place, mut batch) = folder(2);
    batch.options.sample_timeout = Some(Duration::ZERO);
    let summary = run(&batch).await.unwrap();
    assert_eq!(summary.errors["TimeoutError"].count, 2);
}

#[tokio::test]
async fn a_dry_run_looks_at_everything_and_changes_nothing() {
    let (place, mut batch) = folder(8);
    let input = place.path().join("input.jsonl");
    let lines = std::fs::read_to_string(&input).unwrap();
    std::fs::write(
        &input,
        lines.replace(
            "\"s5\", \"query\": \"Rate it.\", \"image_path\": \"1.png\"",
            "\"s5\", \"query\": \"Rate it.\", \"image_path\": \"gone.png\"",
        ) + "nonsense\n",
    )
    .unwrap();
    let mut models = ByNode::default();
    let rates: RateCard = serde_json::from_str(r#"{"openai.gpt-4o": {"prompt": 2.5, "completion": 10.0}}"#).unwrap();
    let estimate = batch.estimate(&models, &rates).unwrap();
    assert_eq!((estimate.total, estimate.open, estimate.flawed), (9, 9, 2));
    assert_eq!((estimate.calls, estimate.tokens, estimate.cost_usd), (0, 0, Some(0.0)));
    assert!(estimate.flaws[0].0 == 6 && estimate.flaws[0].1.contains("gone.png"), "{:?}", estimate.flaws);
    assert!(!batch.output.exists());
    batch.options.max_samples = Some(3);
    run(&batch).await.unwrap();
    let before = std::fs::read(&batch.output).unwrap();
    models.planner = Some("openai.gpt-4o".parse().unwrap());
    models.executor = Some("openai.unheard-of".parse().unwrap());
    let estimate = batch.estimate(&models, &rates).unwrap();
    assert_eq!((estimate.done, estimate.open, estimate.calls, estimate.from_records), (3, 3, 12, 3));
    assert_eq!(estimate.tokens, 0, "the records took none");
    std::fs::remove_file(&batch.output).unwrap();
    let estimate = batch.estimate(&models, &rates).unwrap();
    assert_eq!((estimate.calls, estimate.cost_usd), (12, None));
    models.executor = models.planner.clone();
    let estimate = batch.estimate(&models, &rates).unwrap();
    // Three samples: 12 calls of 700 tokens, 9 images of 1000 tokens (3 for the planner, 6 for the
    // executor), 12 answers of 200.
    assert_eq!(estimate.tokens, 12 * 700 + 9 * 1000 + 12 * 200);
    assert!((estimate.cost_usd.unwrap() - ((12.0 * 700.0 + 9000.0) * 2.5 + 2400.0 * 10.0) / 1e6).abs() < 1e-9);
    std::fs::write(&batch.output, before).unwrap();
    batch.existing = Existing::Refuse;
    assert!(matches!(batch.estimate(&models, &rates), Err(Error::OutputExists(_))));
}
