//! The record of a sample that has no answer.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Map;

use super::{Flaw, Sample};
use agenticiqa_agent::Agent;
use agenticiqa_agent::state::{AssessmentRecord, ByNode, FinalStatus, Metadata, RegionBox, Text};

/// The names that errors are grouped by, where no model is to blame.
pub mod kind {
    /// A line that is no sample.
    pub const INPUT: &str = "InputError";
    /// A sample that took too long.
    pub const TIMEOUT: &str = "TimeoutError";
    /// A fault of this program.
    pub const INTERNAL: &str = "InternalError";
}

/// What is known of a sample when it fails: what its record says of it.
#[derive(Debug, Clone)]
pub struct Known {
    /// The line of the input; 0 where it has no lines.
    pub line: u64,
    sample_id: String,
    query: String,
    image_path: String,
    reference_path: Option<String>,
    regions: Vec<RegionBox>,
    input: Map<String, serde_json::Value>,
}

impl Known {
    /// What a sample says of itself.
    pub fn of(sample: &Sample) -> Self {
        Self {
            line: sample.line,
            sample_id: sample.sample_id.clone(),
            query: sample.query.clone(),
            image_path: sample.image_path.display().to_string(),
            reference_path: sample.reference_path.as_ref().map(|path| path.display().to_string()),
            regions: sample.regions.clone(),
            input: sample.input.clone(),
        }
    }

    /// What is left of a line that is no sample; `name` is what its record is called.
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

    /// The record of the failure.
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
                cost_usd: Some(0.0),
                node_times_ms: ByNode::default(),
                notes: Vec::new(),
            },
            input: self.input,
        }
    }
}
