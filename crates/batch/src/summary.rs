//! The summary of a run: counts, tokens, cost, and grouped errors.

use std::collections::BTreeMap;

use serde::Serialize;

use super::run::Ending;
use agenticiqa_agent::state::{AssessmentRecord, FinalStatus};

/// The maximum number of sample IDs per error group.
const NAMED: usize = 5;

/// Samples that failed with the same type of error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ErrorGroup {
    /// The number of samples.
    pub count: u64,
    /// The first sample IDs.
    pub sample_ids: Vec<String>,
    /// The message of the first error.
    pub example: String,
}

impl ErrorGroup {
    /// Adds a sample.
    pub fn add(&mut self, sample_id: &str, reason: &str) {
        self.count += 1;
        if self.sample_ids.len() < NAMED {
            self.sample_ids.push(sample_id.to_owned());
        }
        if self.example.is_empty() {
            reason.clone_into(&mut self.example);
        }
    }
}

/// The summary of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The number of samples in the input.
    pub total: u64,
    /// The number of samples with a good record before the run.
    pub done_before: u64,
    /// The number of samples that succeeded.
    pub succeeded: u64,
    /// The number of samples with an answer although a step failed or evidence is missing.
    pub partial: u64,
    /// The number of samples without an answer.
    pub failed: u64,
    /// The number of tokens used, input and output.
    pub tokens: u64,
    /// The cost in US dollars; absent if a price is unknown.
    pub cost_usd: Option<f64>,
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// The reason why the run ended.
    pub ending: Ending,
    /// The errors by type.
    pub errors: BTreeMap<String, ErrorGroup>,
    /// The number of records in the output whose samples are not in the input.
    pub foreign: u64,
}

impl Summary {
    /// Creates the summary before the first sample.
    pub(super) fn new(total: u64, done_before: u64, foreign: u64) -> Self {
        Self {
            total,
            done_before,
            succeeded: 0,
            partial: 0,
            failed: 0,
            tokens: 0,
            cost_usd: Some(0.0),
            seconds: 0.0,
            ending: Ending::Complete,
            errors: BTreeMap::new(),
            foreign,
        }
    }

    /// Adds a record.
    pub(super) fn add(&mut self, record: &AssessmentRecord) {
        let metadata = &record.metadata;
        match metadata.final_status {
            FinalStatus::Success => self.succeeded += 1,
            FinalStatus::Partial => self.partial += 1,
            FinalStatus::Error => self.failed += 1,
        }
        let tokens = &metadata.tokens_used;
        self.tokens += tokens.planner + tokens.executor + tokens.summarizer;
        self.cost_usd = self.cost_usd.zip(metadata.cost_usd).map(|(sum, cost)| sum + cost);
        if metadata.final_status == FinalStatus::Error {
            let kind = metadata.error_type.clone().unwrap_or_else(|| "UnknownError".to_owned());
            let reason = metadata.error_details.iter().flatten().last().map(String::as_str).unwrap_or_default();
            self.errors.entry(kind).or_default().add(record.sample_id.as_str(), reason);
        }
    }

    /// The number of records that this run has written.
    pub fn written(&self) -> u64 {
        self.succeeded + self.partial + self.failed
    }

    /// Describes the errors, most frequent first: `5x RateLimitError: a, b, c and 2 more (message
    /// of the first)`.
    pub fn error_lines(&self) -> Vec<String> {
        let mut groups: Vec<(&String, &ErrorGroup)> = self.errors.iter().collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.count));
        let line = |(kind, group): (&String, &ErrorGroup)| {
            let more = group.count - group.sample_ids.len() as u64;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}x {kind}: {}{more} ({})", group.count, group.sample_ids.join(", "), group.example)
        };
        groups.into_iter().map(line).collect()
    }
}
