//! How a run went: counts, tokens, cost, and errors in groups.

use std::collections::BTreeMap;

use serde::Serialize;

use super::run::Ending;
use agenticiqa_agent::state::{AssessmentRecord, FinalStatus};

/// So many samples of a group of errors are named.
const NAMED: usize = 5;

/// Samples that failed for one kind of reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ErrorGroup {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub sample_ids: Vec<String>,
    /// What the first of them said.
    pub example: String,
}

impl ErrorGroup {
    /// Counts a sample.
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

/// How a run went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The samples of the input.
    pub total: u64,
    /// Those that had a good record before the run.
    pub done_before: u64,
    /// Samples with an answer to all that was asked.
    pub succeeded: u64,
    /// Samples with an answer, but some step failed or evidence is missing.
    pub partial: u64,
    /// Samples without an answer.
    pub failed: u64,
    /// Tokens that models read and wrote.
    pub tokens: u64,
    /// What they cost in US dollars; absent where a rate is not known.
    pub cost_usd: Option<f64>,
    /// Seconds from the first sample to the last.
    pub seconds: f64,
    /// Why it ended.
    pub ending: Ending,
    /// The errors by kind.
    pub errors: BTreeMap<String, ErrorGroup>,
    /// Records of the output whose samples the input does not have.
    pub foreign: u64,
}

impl Summary {
    /// Before the first sample.
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

    /// Counts a record.
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

    /// The samples that this run has written a record of.
    pub fn written(&self) -> u64 {
        self.succeeded + self.partial + self.failed
    }

    /// The errors, most frequent first: `5x RateLimitError: a, b, c (and 2 more): what the first one said`.
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
