//! Valid inputs to start from.

use std::path::Path;
use std::sync::OnceLock;

use agenticiqa::agent::{Input, Request};
use agenticiqa::checkpoint::Checkpoints;
use agenticiqa::config::{Environment, Settings};
use agenticiqa::events::EventLog;
use agenticiqa::setup;

use crate::http::support::noise;

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn questions() -> Vec<Vec<u8>> {
    texts(&[
        "Is the bird in the upper left sharp, or is it blurred by motion?",
        "Which distortion is the most severe? A. Blur B) Noise (C) JPEG blocks D: none of these",
        "Isn't the sky less noisy than the face? Rate it from 1 to 5, please; is the score above 3.5 at A3, 300 dpi?",
        "这张照片的天空是否过曝？哪里最模糊？A. 左上角 B. 右下角",
        "How can I fix the color cast and the haze without sharpening it too much \u{202e}? \u{0} \u{1b}[2J",
    ])
}

/// What an assessment writes: its record and its checkpoints.
fn written() -> &'static (Vec<u8>, Vec<Vec<u8>>) {
    static WRITTEN: OnceLock<(Vec<u8>, Vec<Vec<u8>>)> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise.png");
        std::fs::write(&path, noise(96, 7)).unwrap();
        let settings = Settings::builtin().unwrap();
        let none: [(&str, &str); 0] = [];
        let environment = Environment::with_variables(folder.path(), none).unwrap();
        let mut agent = setup::agent(&settings, &environment, setup::registry(&settings).unwrap()).unwrap();
        agent.options.checkpoints = Some(Checkpoints::new(folder.path().join("checkpoints")));
        let request = Request {
            query: "Is the upper left less noisy? A. Yes B. No".to_owned(),
            ..Request::new(Input::Path(path))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let record = runtime.block_on(agent.assess(request, EventLog::default())).unwrap();
        let files = std::fs::read_dir(folder.path().join("checkpoints")).unwrap();
        let checkpoints = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
        (serde_json::to_vec(&record).unwrap(), checkpoints)
    })
}

pub fn records() -> Vec<Vec<u8>> {
    vec![written().0.clone()]
}

pub fn checkpoints() -> Vec<Vec<u8>> {
    written().1.clone()
}

pub fn tool_lists() -> Vec<Vec<u8>> {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/iqa_tools/metadata/tools.json");
    let list: serde_json::Value = serde_json::from_slice(&std::fs::read(list).unwrap()).unwrap();
    // One tool of each kind is a small list; the whole one would be slow to change everywhere.
    let part = list.as_object().unwrap().iter().step_by(5).map(|(name, tool)| (name.clone(), tool.clone()));
    let own = serde_json::json!({"type": "NR", "backend": "command", "strengths": ["Noise"], "lower_is_better": true,
        "range": [0, 1], "command": {"run": ["./score.sh", "{image}"], "timeout": 20}});
    let part: serde_json::Map<_, _> = part.chain([("Mine".to_owned(), own)]).collect();
    vec![serde_json::Value::Object(part).to_string().into_bytes()]
}

pub fn messages() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"score_image","arguments":{"image":{"path":"a.png"}}}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"late"}}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[{"uri":"file:///a","name":"a"}]}}"#,
    ])
}

pub fn models() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vision/models");
    ["detector.bin", "perception.bin", "fused-nr.bin", "fused-fr.bin"]
        .map(|name| std::fs::read(folder.join(name)).unwrap())
        .to_vec()
}
