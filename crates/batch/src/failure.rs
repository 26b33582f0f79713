//! The record of a sample that failed.

use std::time::Duration;

use agenticiqa_imaging::files::path_text;
use jiff::Timestamp;
use serde_json::Map;

use super::{Flaw, Sample};
use agenticiqa_agent::Agent;
use agenticiqa_agent::state::{AssessmentRecord, ByNode, FinalStatus, Metadata, RegionBox, Text};

/// Names of error types that are not errors of a model.
pub mod kind {
    /// The line is not a valid sample.
    pub const INPUT: &str = "InputError";
    /// The sample exceeded its time limit.
    pub const TIMEOUT: &str = "TimeoutError";
    /// A bug in the program.
    pub const INTERNAL: &str = "InternalError";
}

/// The fields of a sample that its record needs if it fails.
#[derive(Debug, Clone)]
pub struct Known {
    /// The line number in the input; 0 if the input has no lines.
    pub line: u64,
    sample_id: String,
    query: String,
    image_path: String,
    reference_path: Option<String>,
    regions: Vec<RegionBox>,
    input: Map<String, serde_json::Value>,
}

impl Known {
    /// Copies the fields of a sample.
    pub fn of(sample: &Sample) -> Self {
        Self {
            line: sample.line,
            sample_id: sample.sample_id.clone(),
            query: sample.query.clone(),
            image_path: path_text(&sample.image_path),
            reference_path: sample.reference_path.as_deref().map(path_text),
            regions: sample.regions.clone(),
            input: sample.input.clone(),
        }
    }

    /// Uses the readable fields of an invalid line; `name` is the sample ID of its record.
    pub fn of_flaw(flaw: &Flaw, name: String) -> Self {
        Self {
            line: flaw.line,
            sample_id: name,
            query: flaw.query.clone().unwrap_or_default(),
            image_path: flaw.image_path.clone().unwrap_or_default(),
            reference_path: None,
            regions: Vec::new(),
            input: Map::new(),
        }
    }

    /// Builds the record of the failure.
    pub fn record(self, agent: &Agent, error_type: &str, message: &str, elapsed: Duration) -> AssessmentRecord {
        let message = if self.line == 0 { message.to_owned() } else { format!("line {}: {message}", self.line) };
        AssessmentRecord {
            sample_id: Text::or_missing(&self.sample_id),
            query: Text::or_missing(&self.query),
            options: Vec::new(),
            image_path: Text::or_missing(&self.image_path),
            reference_path: self.reference_path.and_then(|path| Text::new(path).ok()),
            regions: self.regions,
            plan: None,
            executor_evidence: None,
            summarizer_result: None,
            metadata: Metadata {
                execution_time_ms: elapsed.as_secs_f64() * 1000.0,
                iteration_count: 0,
                replan_history: Vec::new(),
                final_status: FinalStatus::Error,
                error_type: Some(error_type.to_owned()),
                error_details: Some(vec![message]),
                timestamp: Timestamp::now(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                backends: agent.backends(),
                tokens_used: ByNode::default(),
                cached_answers: ByNode::default(),
                cost_usd: Some(0.0),
                node_times_ms: ByNode::default(),
                notes: Vec::new(),
            },
            input: self.input,
        }
    }
}
