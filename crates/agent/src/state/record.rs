//! The assessment record: the complete result of one assessment as one JSON object.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    AnswerOption, ExecutorOutput, Mode, ModelCall, PlannerOutput, RegionBox, Replan, SecondOpinion, SummarizerOutput,
    Text, Views,
};

/// The final status of an assessment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FinalStatus {
    /// All steps succeeded.
    Success,
    /// There is an answer, but a step failed or evidence is missing.
    Partial,
    /// There is no answer.
    Error,
}

/// A value for each of the three nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByNode<T> {
    /// The value for the planner.
    pub planner: T,
    /// The value for the executor.
    pub executor: T,
    /// The value for the summarizer.
    pub summarizer: T,
}

/// Status, timing, cost and version of an assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The total time in milliseconds.
    pub execution_time_ms: f64,
    /// The number of replans.
    pub iteration_count: u32,
    /// The reason for each replan.
    pub replan_history: Vec<Replan>,
    /// The final status.
    pub final_status: FinalStatus,
    /// The type of the error if there is no answer, such as `RateLimitError`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The problems that occurred, one sentence each.
    pub error_details: Option<Vec<String>>,
    /// The time at which the assessment ended.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
    /// The version of AgenticIQA.
    pub version: String,
    /// The backend of each node.
    pub backends: ByNode<String>,
    /// What models were sent; missing in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The number of tokens that each node used.
    pub tokens_used: ByNode<u64>,
    /// The number of model answers that came from the cache, which used no tokens.
    #[serde(default)]
    pub cached_answers: ByNode<u64>,
    /// The cost in US dollars; `null` if the price of a used model is unknown.
    pub cost_usd: Option<f64>,
    /// The calls to models, in the order in which they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// The views of the image that models were sent, and their limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub views: Option<Views>,
    /// The time spent in each node over all rounds, in milliseconds.
    pub node_times_ms: ByNode<f64>,
    /// Conversions that were applied to the images, and other notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The complete record of one assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssessmentRecord {
    /// The ID of the sample.
    pub sample_id: Text,
    /// The question.
    pub query: Text,
    /// The options of a multiple-choice question.
    pub options: Vec<AnswerOption>,
    /// The path or the name of the image.
    pub image_path: Text,
    /// The path or the name of the reference image.
    pub reference_path: Option<Text>,
    /// The regions of the image that were given or located.
    pub regions: Vec<RegionBox>,
    /// The last plan.
    pub plan: Option<PlannerOutput>,
    /// The evidence from the executor.
    pub executor_evidence: Option<ExecutorOutput>,
    /// The answer, with its score and reasons.
    pub summarizer_result: Option<SummarizerOutput>,
    /// The conclusion of a second backend, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_opinion: Option<SecondOpinion>,
    /// Status, timing, cost and version.
    pub metadata: Metadata,
    /// Additional fields of the input, such as `mos`, copied unchanged.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
}
