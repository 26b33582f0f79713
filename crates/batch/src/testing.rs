//! An agent, images and inputs for tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa_imaging::encode_png;
use agenticiqa_metrics::Image;

use super::{Batch, Existing, Input, Options, PathRules};
use agenticiqa_agent::reasoner::Reasoner;
use agenticiqa_agent::reasoner::builtin::Builtin;
use agenticiqa_agent::state::ByNode;
use agenticiqa_agent::{Agent, Options as AgentOptions};
use agenticiqa_tools::{Registry, ToolCache};

/// An agent with the built-in analyst.
pub fn agent() -> Agent {
    with_reasoners(Arc::new(Builtin), Arc::new(Builtin), Arc::new(Builtin))
}

/// An agent with these reasoners.
pub fn with_reasoners(planner: Arc<dyn Reasoner>, executor: Arc<dyn Reasoner>, summarizer: Arc<dyn Reasoner>) -> Agent {
    Agent {
        registry: Arc::new(Registry::builtin().unwrap()),
        cache: Arc::new(ToolCache::new(1000, None)),
        reasoners: ByNode { planner, executor, summarizer },
        options: AgentOptions::default(),
    }
}

/// A folder with images and an input of `count` samples.
pub fn folder(count: usize) -> (tempfile::TempDir, Batch) {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..4_usize {
        let value = |i: usize| ((i % 24) * (i / 24) * (number + 1) + i % 7 * 9) as u8;
        let image = Image::from_gray8(24, 24, (0..576).map(value).collect()).unwrap();
        std::fs::write(folder.path().join(format!("{number}.png")), encode_png(&image).unwrap()).unwrap();
    }
    let mut lines = String::new();
    for number in 0..count {
        let picture = format!("{}.png", number % 4);
        writeln!(lines, "{{\"sample_id\": \"s{number}\", \"query\": \"Rate it.\", \"image_path\": \"{picture}\"}}")
            .unwrap();
    }
    std::fs::write(folder.path().join("input.jsonl"), lines).unwrap();
    let batch = batch(folder.path());
    (folder, batch)
}

fn batch(folder: &Path) -> Batch {
    let input = Input::file(folder.join("input.jsonl"));
    Batch {
        paths: PathRules::new(Some(folder), input.path()),
        input,
        output: folder.join("output.jsonl"),
        existing: Existing::Resume,
        options: Options { concurrency: 4, ..Options::default() },
    }
}

/// Reads the records of an output as JSON.
pub fn records(path: &PathBuf) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
