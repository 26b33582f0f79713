//! The output of the executor: distortions, their severity, and the scores of the tools.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Attributes, Disagreement, Distortion, Interval, Invalid, OneOrMany, RawScore, Score, ScoreParts, Seconds, Severity,
    Text, WhatIfs,
};
use agenticiqa_tools::Registry;

/// The severity of one distortion, with an explanation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DistortionAnalysis {
    /// The category of the distortion.
    #[serde(rename = "type")]
    pub distortion: Distortion,
    /// The severity.
    pub severity: Severity,
    /// A short visual explanation.
    pub explanation: Text,
}

impl DistortionAnalysis {
    /// Creates an analysis. The explanation must not be empty.
    pub fn new(distortion: Distortion, severity: Severity, explanation: &str) -> Result<Self, Invalid> {
        let explanation =
            Text::new(explanation).map_err(|error| Invalid { field: "explanation".to_owned(), ..error })?;
        Ok(Self { distortion, severity, explanation })
    }
}

/// One run of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = [
    "tool_name", "object_name", "distortion", "raw_score", "normalized_score", "execution_time", "timestamp",
]))]
pub struct ToolExecutionLog {
    /// The name of the tool.
    pub tool_name: Text,
    /// The object that was measured, or `Global` for the whole image.
    pub object_name: Text,
    /// The distortion that the tool was selected for.
    pub distortion: Distortion,
    /// The raw score of the tool; `null` if the tool failed.
    #[serde(deserialize_with = "Option::deserialize")]
    pub raw_score: Option<RawScore>,
    /// The score from 1 (bad) to 5 (excellent); `null` if the tool failed or has no 1 to 5 scale.
    #[serde(deserialize_with = "Option::deserialize")]
    pub normalized_score: Option<Score>,
    /// The 90% prediction interval of the mean opinion score, `[low, high]`. Only for tools that
    /// report one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The run time in seconds.
    pub execution_time: Seconds,
    /// Whether this tool replaces a tool that failed or is not available.
    #[serde(default)]
    pub fallback: bool,
    /// The reason why there is no score.
    #[serde(default)]
    pub error: Option<String>,
    /// The time of the run.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
    /// The measured region, `[x, y, width, height]` in pixels; `null` for the whole image.
    #[serde(default)]
    pub region: Option<[usize; 4]>,
    /// Whether the result came from the cache.
    #[serde(default)]
    pub cached: bool,
}

/// The name of a tool and its score from 1 to 5.
pub type ToolScore = (Text, Score);

/// A value for each distortion of each object.
pub type ByDistortion<T> = BTreeMap<Text, BTreeMap<Distortion, T>>;

/// The output of the executor. Fields of steps that were not planned or failed are `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutorOutput {
    /// The detected distortions of each object.
    #[serde(default)]
    pub distortion_set: Option<BTreeMap<Text, Vec<Distortion>>>,
    /// What each object, or the whole image, looks like on each axis, as measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<BTreeMap<Text, Attributes>>,
    /// The parts of the score of each object: what a clean image would get, and what each distortion
    /// costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_parts: Option<BTreeMap<Text, ScoreParts>>,
    /// What edits would change, by object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<BTreeMap<Text, WhatIfs>>,
    /// The severity of each distortion of each object.
    #[serde(default)]
    pub distortion_analysis: Option<BTreeMap<Text, Vec<DistortionAnalysis>>>,
    /// The severity of each distortion as it was measured, if a model judged `distortion_analysis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_analysis: Option<BTreeMap<Text, Vec<DistortionAnalysis>>>,
    /// Severities of a model that contradict the measured ones by two levels or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<Disagreement>,
    /// The selected tools for each distortion of each object.
    #[serde(default)]
    pub selected_tools: Option<ByDistortion<OneOrMany<Text>>>,
    /// The tool scores for each distortion of each object.
    #[serde(default)]
    pub quality_scores: Option<ByDistortion<OneOrMany<ToolScore>>>,
    /// Every run of every tool.
    #[serde(default)]
    pub tool_logs: Vec<ToolExecutionLog>,
}

impl ExecutorOutput {
    /// Checks that the registry contains every tool that the evidence names.
    pub fn check_tools(&self, registry: &Registry) -> Result<(), Invalid> {
        let selected = self.selected_tools.iter().flat_map(BTreeMap::values).flat_map(BTreeMap::values);
        let scored = self.quality_scores.iter().flat_map(BTreeMap::values).flat_map(BTreeMap::values);
        let names = selected
            .flat_map(OneOrMany::as_slice)
            .chain(scored.flat_map(OneOrMany::as_slice).map(|(tool, _)| tool))
            .chain(self.tool_logs.iter().map(|log| &log.tool_name));
        for name in names {
            registry
                .get(name.as_str())
                .map_err(|_| Invalid::new("tool name", "a tool of the registry", format!("{:?}", name.as_str())))?;
        }
        Ok(())
    }

    /// Returns whether there is no evidence at all.
    pub fn is_empty(&self) -> bool {
        self.distortion_set.as_ref().is_none_or(BTreeMap::is_empty)
            && self.distortion_analysis.as_ref().is_none_or(BTreeMap::is_empty)
            && self.quality_scores.as_ref().is_none_or(BTreeMap::is_empty)
    }

    /// Returns whether no measurement and no judgment supports a conclusion. Detected distortions
    /// alone are names without either.
    pub fn is_unsupported(&self) -> bool {
        let analyzed = self.distortion_analysis.iter().flat_map(BTreeMap::values).any(|of| !of.is_empty());
        let scored = self.quality_scores.iter().flat_map(BTreeMap::values).any(|of| !of.is_empty());
        !analyzed && !scored && self.distinct_runs().is_empty()
    }

    /// Returns whether the tool of a run was selected for its distortion, or replaces a tool that
    /// was. Only selected tools are in `quality_scores`.
    pub fn is_selected(&self, log: &ToolExecutionLog) -> bool {
        let of_object = self.quality_scores.as_ref().and_then(|scores| scores.get(&log.object_name));
        let tools = of_object.and_then(|of| of.get(&log.distortion));
        tools.is_some_and(|tools| tools.as_slice().iter().any(|(tool, _)| *tool == log.tool_name))
    }

    /// Returns the runs with a score, each measurement once. A tool that was selected for several
    /// distortions of the same pixels counts once.
    pub fn distinct_runs(&self) -> Vec<&ToolExecutionLog> {
        let mut distinct: Vec<&ToolExecutionLog> = Vec::new();
        for log in self.tool_logs.iter().filter(|log| log.normalized_score.is_some()) {
            let same =
                |earlier: &&ToolExecutionLog| (&earlier.tool_name, earlier.region) == (&log.tool_name, log.region);
            if !distinct.iter().any(same) {
                distinct.push(log);
            }
        }
        distinct
    }

    /// Returns the scores of the tools, each measurement once.
    pub fn distinct_scores(&self) -> Vec<(&str, f64)> {
        let runs = self.distinct_runs().into_iter();
        runs.filter_map(|log| Some((log.tool_name.as_str(), log.normalized_score?.value()))).collect()
    }
}
