//! Counts over all records of a run: status, time, tokens, cost, errors, tools, distortions.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::eval::rows::Line;
use agenticiqa_agent::state::{ByNode, Distortion, ExecutorOutput, Severity};
use agenticiqa_batch::ErrorGroup;

/// The names of the nodes in records.
pub(super) const NODES: [&str; 3] = ["planner", "executor", "summarizer"];

/// Quantiles of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// The mean.
    pub mean: f64,
    /// The 50th percentile.
    pub median: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub most: f64,
}

impl Quantiles {
    /// Returns the quantiles of unsorted values, or `None` if there are none.
    pub fn of(values: &mut [f64]) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let most = *values.last()?;
        let at = |share: f64| quantile(values, share);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(Self { mean, median: at(0.5), p90: at(0.9), p99: at(0.99), most })
    }
}

/// Returns a quantile of sorted values with linear interpolation; NaN if there are none.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    match (sorted.get(low), sorted.get(high)) {
        (Some(low), Some(high)) => low + (high - low) * place.fract(),
        _ => f64::NAN,
    }
}

/// The runs of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolUse {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs without a score.
    pub failed: u64,
    /// The number of results from the cache.
    pub cached: u64,
    /// The sum and the number of its scores from 1 to 5.
    pub scores: (f64, u64),
    /// The total time of uncached runs, in seconds.
    pub seconds: f64,
}

/// Counts over all records of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of records.
    pub records: u64,
    /// The number of records that succeeded.
    pub succeeded: u64,
    /// The number of records with an answer although a step failed or evidence is missing.
    pub partial: u64,
    /// The number of records without an answer.
    pub failed: u64,
    /// The number of records with more than one plan.
    pub replanned: u64,
    /// The backends of each node, and how often they were used.
    pub backends: ByNode<BTreeMap<String, u64>>,
    /// The versions of the program that wrote the records.
    pub versions: BTreeMap<String, u64>,
    /// The tokens used by each node.
    pub tokens: ByNode<u64>,
    /// The known cost in US dollars.
    pub cost_usd: f64,
    /// The number of records with unknown cost.
    pub cost_unknown: u64,
    /// The time of the first and the last record.
    pub written: Option<(Timestamp, Timestamp)>,
    /// Errors and problems by type.
    pub errors: BTreeMap<String, ErrorGroup>,
    /// The runs of each tool.
    pub tools: BTreeMap<String, ToolUse>,
    /// The detected distortions, by severity from none to extreme.
    pub distortions: BTreeMap<Distortion, [u64; 5]>,
    /// What each fault costs: the sum of its contributions to the scores, and the number of records.
    pub faults: BTreeMap<String, (f64, u64)>,
    /// What the best edits gain, by fault: the sum of the gains, and the number of records.
    pub repairs: BTreeMap<String, (f64, u64)>,
    /// The milliseconds of each record: planner, executor, summarizer, total.
    pub(super) times: [Vec<f64>; 4],
}

impl Tally {
    /// Adds a record.
    pub(super) fn add(&mut self, record: &Line, evidence: Option<&ExecutorOutput>) {
        self.records += 1;
        let text = |path: &str| record.own(path).and_then(Value::as_str);
        let status = text("metadata.final_status").unwrap_or_default();
        match status {
            "error" => self.failed += 1,
            "partial" => self.partial += 1,
            _ => self.succeeded += 1,
        }
        self.error(record, status);
        self.replanned +=
            u64::from(record.own("metadata.iteration_count").and_then(Value::as_u64).is_some_and(|count| count > 0));
        if let Some(version) = text("metadata.version") {
            *self.versions.entry(version.to_owned()).or_default() += 1;
        }
        let roles = [&mut self.backends.planner, &mut self.backends.executor, &mut self.backends.summarizer];
        for (role, node) in roles.into_iter().zip(NODES) {
            if let Some(backend) = text(&format!("metadata.backends.{node}")) {
                *role.entry(backend.to_owned()).or_default() += 1;
            }
        }
        self.spent(record);
        if let Some(time) = text("metadata.timestamp").and_then(|time| time.parse::<Timestamp>().ok()) {
            let (first, last) = self.written.unwrap_or((time, time));
            self.written = Some((first.min(time), last.max(time)));
        }
        if let Some(evidence) = evidence {
            self.evidence(evidence);
        }
        self.faults(record);
    }

    /// Adds what the faults of a record cost. The first contribution is the clean start, the last the rest.
    fn faults(&mut self, record: &Line) {
        let parts = record.own("summarizer_result.contributions").and_then(Value::as_array);
        let Some([_, faults @ .., _]) = parts.map(Vec::as_slice) else { return };
        for fault in faults {
            if let (Some(name), Some(value)) = (fault["name"].as_str(), fault["value"].as_f64()) {
                let (sum, count) = self.faults.entry(name.to_owned()).or_default();
                *sum += value;
                *count += 1;
            }
        }
    }

    fn spent(&mut self, record: &Line) {
        let tokens = |node: &str| record.own(&format!("metadata.tokens_used.{node}")).and_then(Value::as_u64);
        self.tokens.planner += tokens("planner").unwrap_or_default();
        self.tokens.executor += tokens("executor").unwrap_or_default();
        self.tokens.summarizer += tokens("summarizer").unwrap_or_default();
        match record.own("metadata.cost_usd").and_then(Value::as_f64) {
            Some(cost) => self.cost_usd += cost,
            None => self.cost_unknown += 1,
        }
        let number = |path: &str| record.own(path).and_then(Value::as_f64).filter(|time| time.is_finite());
        for (times, node) in self.times.iter_mut().zip(NODES) {
            times.extend(number(&format!("metadata.node_times_ms.{node}")));
        }
        self.times[3].extend(number("metadata.execution_time_ms"));
    }

    fn error(&mut self, record: &Line, status: &str) {
        let kind = match status {
            "error" => record.own("metadata.error_type").and_then(Value::as_str).unwrap_or("UnknownError"),
            "partial" => "answered, but with problems",
            _ => return,
        };
        let details = record.own("metadata.error_details").and_then(Value::as_array);
        let details = details.and_then(|details| details.last()).and_then(Value::as_str).unwrap_or_default();
        self.errors.entry(kind.to_owned()).or_default().add(&record.name(), details);
    }

    fn evidence(&mut self, evidence: &ExecutorOutput) {
        for log in &evidence.tool_logs {
            let tool = self.tools.entry(log.tool_name.to_string()).or_default();
            tool.runs += 1;
            tool.failed += u64::from(log.error.is_some() || log.raw_score.is_none());
            tool.cached += u64::from(log.cached);
            if !log.cached {
                tool.seconds += log.execution_time.value();
            }
            if let Some(score) = log.normalized_score {
                tool.scores = (tool.scores.0 + score.value(), tool.scores.1 + 1);
            }
        }
        let tried = evidence.what_if.iter().flat_map(BTreeMap::values).flat_map(|what_ifs| &what_ifs.tried);
        for tried in tried.filter(|tried| !tried.doubtful) {
            let (sum, count) = self.repairs.entry(tried.problem.name().to_owned()).or_default();
            *sum += tried.gain();
            *count += 1;
        }
        for found in evidence.distortion_analysis.iter().flat_map(BTreeMap::values).flatten() {
            let place = Severity::ALL.iter().position(|severity| *severity == found.severity).unwrap_or_default();
            self.distortions.entry(found.distortion).or_default()[place] += 1;
        }
    }

    /// The total number of tokens.
    pub fn all_tokens(&self) -> u64 {
        self.tokens.planner + self.tokens.executor + self.tokens.summarizer
    }

    /// Returns quantiles and sums of the milliseconds of each node and of whole assessments.
    pub fn time_quantiles(&self) -> [Option<(Quantiles, f64)>; 4] {
        std::array::from_fn(|node| {
            let mut times = self.times[node].clone();
            let sum = times.iter().sum();
            Some((Quantiles::of(&mut times)?, sum))
        })
    }

    /// Returns the errors by type, most frequent first.
    pub fn errors_by_frequency(&self) -> Vec<(&str, &ErrorGroup)> {
        let mut groups: Vec<(&str, &ErrorGroup)> =
            self.errors.iter().map(|(kind, group)| (kind.as_str(), group)).collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.count));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_linear_between_neighbors() {
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let found = Quantiles::of(&mut values).unwrap();
        assert_eq!((found.mean, found.median, found.p90, found.p99, found.most), (50.0, 50.0, 90.0, 99.0, 100.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(Quantiles::of(&mut [3.0]).unwrap().p99, 3.0);
        assert_eq!(Quantiles::of(&mut []), None);
    }
}
