//! What the executor finds: distortions, how bad they are, which tools measured them and what they said.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Distortion, Interval, Invalid, OneOrMany, RawScore, Score, Seconds, Severity, Text};
use agenticiqa_tools::Registry;

/// How bad one distortion is, and how one sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DistortionAnalysis {
    /// The category.
    #[serde(rename = "type")]
    pub distortion: Distortion,
    /// How bad it is.
    pub severity: Severity,
    /// A brief visual explanation.
    pub explanation: Text,
}

impl DistortionAnalysis {
    /// An analysis; the explanation must say something.
    pub fn new(distortion: Distortion, severity: Severity, explanation: &str) -> Result<Self, Invalid> {
        let explanation =
            Text::new(explanation).map_err(|error| Invalid { field: "explanation".to_owned(), ..error })?;
        Ok(Self { distortion, severity, explanation })
    }
}

/// One run of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolExecutionLog {
    /// The tool.
    pub tool_name: Text,
    /// The part of the image that the question is about, or "Global".
    pub object_name: Text,
    /// The distortion that it was chosen for.
    pub distortion: Distortion,
    /// The tool's own number; absent where it gave none.
    pub raw_score: Option<RawScore>,
    /// The score from 1 to 5; absent where the tool failed, and for plain measurements.
    pub normalized_score: Option<Score>,
    /// The scores from 1 to 5 that nine of ten mean opinions are expected among, the lower end first; for tools that know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The tool's run time.
    pub execution_time: Seconds,
    /// Whether it stands in for a tool that failed or cannot run here.
    #[serde(default)]
    pub fallback: bool,
    /// Why there is no score.
    #[serde(default)]
    pub error: Option<String>,
    /// When it ran.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
    /// The pixels that were measured, `[x, y, width, height]`; `null` is the whole image.
    #[serde(default)]
    pub region: Option<[usize; 4]>,
    /// Whether the result was known from an earlier run.
    #[serde(default)]
    pub cached: bool,
}

/// A tool and its score from 1 to 5.
pub type ToolScore = (Text, Score);

/// Something for each distortion of each part of the image.
pub type ByDistortion<T> = BTreeMap<Text, BTreeMap<Distortion, T>>;

/// All evidence; what was not asked for, or could not be had, is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutorOutput {
    /// The distortions that were found, by part.
    #[serde(default)]
    pub distortion_set: Option<BTreeMap<Text, Vec<Distortion>>>,
    /// How bad they are, by part.
    #[serde(default)]
    pub distortion_analysis: Option<BTreeMap<Text, Vec<DistortionAnalysis>>>,
    /// The tool for each distortion of each part.
    #[serde(default)]
    pub selected_tools: Option<ByDistortion<OneOrMany<Text>>>,
    /// What the tools said of each distortion of each part.
    #[serde(default)]
    pub quality_scores: Option<ByDistortion<OneOrMany<ToolScore>>>,
    /// Every run of every tool.
    #[serde(default)]
    pub tool_logs: Vec<ToolExecutionLog>,
}

impl ExecutorOutput {
    /// Every tool that is named must be one of the registry's.
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

    /// Whether nothing was found at all.
    pub fn is_empty(&self) -> bool {
        self.distortion_set.as_ref().is_none_or(BTreeMap::is_empty)
            && self.distortion_analysis.as_ref().is_none_or(BTreeMap::is_empty)
            && self.quality_scores.as_ref().is_none_or(BTreeMap::is_empty)
    }

    /// The runs that gave a score, each measurement once: a tool that stands for several distortions of one part, or of
    /// parts that were measured on the same pixels, counts once.
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

    /// The scores of the tools, each measurement once.
    pub fn distinct_scores(&self) -> Vec<(&str, f64)> {
        let runs = self.distinct_runs().into_iter();
        runs.filter_map(|log| Some((log.tool_name.as_str(), log.normalized_score?.value()))).collect()
    }
}
