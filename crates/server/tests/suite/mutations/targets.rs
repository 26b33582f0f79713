//! What reads input from outside: any bytes are accepted or refused, and nothing panics. The fuzz
//! targets in `fuzz/` call the same functions.

use agenticiqa::checkpoint::Checkpoint;
use agenticiqa::question::{meaning, options_in, understand};
use agenticiqa::state::AssessmentRecord;
use agenticiqa::tools::ToolList;
use agenticiqa::{detector, fused_fr, fused_nr, perception};
use sha2::{Digest as _, Sha256};

/// The largest input that is tried.
const LARGEST: usize = 16 << 20;

/// Reads a question with its options.
pub fn question(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = meaning::check_length(&text, &[]);
    drop(meaning::read_all(&text));
    drop(options_in(&text));
    drop(understand(&text, &["Blur", &text]));
}

/// Reads a record. One that can be read can be written and read again.
pub fn record(bytes: &[u8]) {
    if let Ok(record) = serde_json::from_slice::<AssessmentRecord>(bytes) {
        let written = serde_json::to_vec(&record).unwrap();
        let again: AssessmentRecord = serde_json::from_slice(&written).unwrap();
        assert_eq!(serde_json::to_vec(&again).unwrap(), written);
    }
}

/// Reads a checkpoint.
pub fn checkpoint(bytes: &[u8]) {
    if let Ok(checkpoint) = serde_json::from_slice::<Checkpoint>(bytes) {
        serde_json::to_vec(&checkpoint).unwrap();
    }
}

/// Reads a list of tools.
pub fn tools(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        drop(ToolList::parse(text, "tools.json"));
    }
}

/// Judges a line of MCP. An error is JSON-RPC.
pub fn mcp(bytes: &[u8]) {
    use agenticiqa_server::mcp::check::{Verdict, judge};
    if let Verdict::Refuse(error) = judge(bytes) {
        assert_eq!(error["jsonrpc"], "2.0");
        assert!(error["error"]["code"].is_i64() && error.get("id").is_some());
    }
}

/// Opens a model file. Its checksum is made to fit, because it would hide everything behind it.
pub fn model(bytes: &[u8]) {
    let content = &bytes[..bytes.len().min(LARGEST).saturating_sub(32)];
    let sealed = [content, Sha256::digest(content).as_slice()].concat();
    let _ = detector::Model::open(&sealed);
    let _ = perception::Model::read(&sealed);
    let _ = fused_nr::Model::open(&sealed);
    let _ = fused_fr::Model::read(&sealed);
    let _ = detector::Model::open(bytes);
}
