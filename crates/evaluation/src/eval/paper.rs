//! The published results of the AgenticIQA paper (arXiv 2509.26006v2), for comparison.

use agenticiqa_metrics::fold_name;

use serde::{Deserialize, Serialize};

/// A published correlation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedCorrelation {
    /// The dataset.
    pub dataset: String,
    /// The method.
    pub method: String,
    /// Spearman's rank correlation.
    pub srcc: f64,
    /// Pearson's correlation.
    pub plcc: f64,
}

/// A published accuracy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedAccuracy {
    /// The benchmark.
    pub benchmark: String,
    /// The method.
    pub method: String,
    /// The part of the questions; `overall` for all.
    pub part: String,
    /// The accuracy.
    pub accuracy: f64,
}

/// Table 2: dataset, method, SRCC, PLCC.
const CORRELATIONS: [(&str, &str, f64, f64); 10] = [
    ("TID2013", "AgenticIQA (GPT-4o)", 0.9165, 0.9215),
    ("TID2013", "AgenticIQA (Qwen2.5-VL*)", 0.7780, 0.7982),
    ("TID2013", "TOPIQ (FR)", 0.9075, 0.9064),
    ("TID2013", "Q-Align (NR)", 0.8313, 0.8573),
    ("BID", "AgenticIQA (GPT-4o)", 0.8889, 0.9093),
    ("BID", "AgenticIQA (Qwen2.5-VL*)", 0.7771, 0.8174),
    ("BID", "Q-Align (NR)", 0.8967, 0.9151),
    ("AGIQA-3K", "AgenticIQA (GPT-4o)", 0.7937, 0.8340),
    ("AGIQA-3K", "AgenticIQA (Qwen2.5-VL*)", 0.7165, 0.7967),
    ("AGIQA-3K", "Q-Align (NR)", 0.8013, 0.8416),
];

/// Table 1: benchmark, method, part, accuracy.
const ACCURACIES: [(&str, &str, &str, f64); 7] = [
    ("AgenticIQA-Eval", "AgenticIQA (GPT-4o)", "overall", 0.763),
    ("AgenticIQA-Eval", "AgenticIQA (GPT-4o)", "planner", 0.804),
    ("AgenticIQA-Eval", "AgenticIQA (GPT-4o)", "executor_distortion", 0.644),
    ("AgenticIQA-Eval", "AgenticIQA (GPT-4o)", "executor_tool", 0.744),
    ("AgenticIQA-Eval", "AgenticIQA (GPT-4o)", "summarizer", 0.860),
    ("AgenticIQA-Eval", "human", "overall", 0.818),
    ("LLVisionQA", "AgenticIQA (GPT-4o)", "overall", 0.7795),
];

fn same(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}

/// Returns the published correlations on a dataset. Names ignore case and punctuation.
pub fn published_correlations(dataset: &str) -> Vec<PublishedCorrelation> {
    let row = |&(dataset, method, srcc, plcc): &(&str, &str, f64, f64)| PublishedCorrelation {
        dataset: dataset.to_owned(),
        method: method.to_owned(),
        srcc,
        plcc,
    };
    CORRELATIONS.iter().filter(|(own, ..)| same(own, dataset)).map(row).collect()
}

/// Returns the published accuracies on a benchmark.
pub fn published_accuracies(benchmark: &str) -> Vec<PublishedAccuracy> {
    let row = |&(benchmark, method, part, accuracy): &(&str, &str, &str, f64)| PublishedAccuracy {
        benchmark: benchmark.to_owned(),
        method: method.to_owned(),
        part: part.to_owned(),
        accuracy,
    };
    ACCURACIES.iter().filter(|(own, ..)| same(own, benchmark)).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datasets_are_found_in_any_spelling() {
        assert_eq!(published_correlations("tid-2013").len(), 4);
        assert_eq!(published_correlations("agiqa3k")[0].srcc, 0.7937);
        assert_eq!(published_correlations("KADID-10k"), []);
        assert_eq!(published_accuracies("agenticiqa_eval").len(), 6);
    }
}
