//! A batch with the real server, recorded, then replayed without it.

use std::path::Path;
use std::sync::Arc;

use agenticiqa::batch::{Batch, Existing, Input, Options, PathRules, StopSignal, Summary};
use agenticiqa::config::{Environment, Overrides, Settings};
use agenticiqa::imaging::encode_png;
use agenticiqa::metrics::Image;
use agenticiqa::setup;
use agenticiqa::vlm::{Calls, Recording, Traffic};
use serde_json::{Value, json};

use crate::real_vlm::server;

fn settings(environment: &Environment) -> Settings {
    // Random weights on a busy machine are slow. Speed is not tested here.
    let timeouts =
        ["planner", "executor", "summarizer"].map(|role| (format!("{role}.timeout_seconds"), "900".to_owned()));
    let lengths = [("planner", 1500), ("executor", 500), ("summarizer", 300)];
    let lengths = lengths.map(|(role, tokens)| (format!("{role}.max_tokens"), tokens.to_string()));
    let assignments = timeouts.into_iter().chain(lengths).collect();
    // Planned by the built-in analyst, because a random plan may request nothing.
    let (backend, planner_backend) = (Some("openai.tiny-vlm".into()), Some("builtin".into()));
    let overrides = Overrides { backend, planner_backend, max_replan: Some(0), assignments, ..Overrides::default() };
    Settings::load(None, environment, &overrides).unwrap()
}

async fn run(folder: &Path, output: &str, recording: Recording, environment: &Environment) -> Summary {
    let settings = settings(environment);
    let calls = Some(Calls::new(2));
    let traffic = Traffic { recording: Some(recording), calls, ..setup::traffic(&settings) };
    let registry = setup::registry(&settings).unwrap();
    let agent = setup::agent_with(&settings, environment, registry, traffic).unwrap();
    let input = Input::file(folder.join("input.jsonl"));
    let batch = Batch {
        paths: PathRules::new(None, input.path()),
        input,
        output: folder.join(output),
        existing: Existing::Refuse,
        options: Options { concurrency: 3, ..Options::default() },
    };
    batch.run(Arc::new(agent), &StopSignal::default(), &|_| ()).await.unwrap()
}

/// Removes times from a record.
fn timeless(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["timestamp", "execution_time_ms", "node_times_ms", "execution_time", "seconds"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(timeless);
        }
        Value::Array(values) => values.iter_mut().for_each(timeless),
        _ => {}
    }
}

/// Returns the records by ID without times, as text, so that equal text means equal bits.
fn records(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.iter_mut().for_each(timeless);
    let mut records: Vec<String> = records.iter().map(Value::to_string).collect();
    records.sort();
    records
}

#[tokio::test]
async fn a_recorded_batch_gives_the_same_records_without_the_server() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let mut lines = String::new();
    for (number, query) in ["Rate the quality of this image.", "What is wrong with the image?"].into_iter().enumerate()
    {
        let value = |i: usize| ((i % 64) * (i / 64) / (number + 3) + i % 11 * 7) as u8;
        let image = Image::from_gray8(64, 64, (0..64 * 64).map(value).collect()).unwrap();
        std::fs::write(folder.join(format!("{number}.png")), encode_png(&image).unwrap()).unwrap();
        let options = if number == 1 { json!(["Blur", "Noise"]) } else { Value::Null };
        let line = json!({"sample_id": format!("s{number}"), "query": query, "image_path": format!("{number}.png"),
            "options": options, "mos": 3.25});
        lines += &format!("{line}\n");
    }
    std::fs::write(folder.join("input.jsonl"), lines).unwrap();
    let store = folder.join("answers");
    let connected = [("OPENAI_BASE_URL", server::address()), ("OPENAI_API_KEY", "sk-never-stored")];
    let environment = Environment::with_variables(folder, connected).unwrap();
    let recorded = run(folder, "recorded.jsonl", Recording::Record(store.clone()), &environment).await;
    assert_eq!((recorded.written(), recorded.failed), (2, 0), "{:?}", recorded.errors);
    assert!(recorded.tokens > 0);
    let cut_off = Environment::with_variables(folder, [("NO_KEY", "and no address")]).unwrap();
    let replayed = run(folder, "replayed.jsonl", Recording::Replay(store.clone()), &cut_off).await;
    assert_eq!((replayed.written(), replayed.tokens), (2, recorded.tokens));
    assert_eq!(records(&folder.join("replayed.jsonl")), records(&folder.join("recorded.jsonl")));
    let stored = walk(&store);
    assert!(stored.len() > 4);
    assert!(stored.iter().all(|text| !text.contains("sk-never-stored")));
}

fn walk(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![std::fs::read_to_string(path).unwrap()] })
        .collect()
}
