//! The assessment record: everything that is known about one assessment, one JSON object.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AnswerOption, ExecutorOutput, PlannerOutput, RegionBox, Replan, SummarizerOutput, Text};

/// How an assessment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FinalStatus {
    /// All steps of the plan were done.
    Success,
    /// An answer was found, but some step failed or evidence is missing.
    Partial,
    /// There is no answer.
    Error,
}

/// Something for each of the three nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByNode<T> {
    /// The planner's.
    pub planner: T,
    /// The executor's.
    pub executor: T,
    /// The summarizer's.
    pub summarizer: T,
}

/// How the assessment went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The whole time, in milliseconds.
    pub execution_time_ms: f64,
    /// How often a new plan was asked for.
    pub iteration_count: u32,
    /// Why.
    pub replan_history: Vec<Replan>,
    /// How it ended.
    pub final_status: FinalStatus,
    /// Why there is no answer, in one word that errors can be grouped by, such as `RateLimitError`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// What went wrong, or could not be done, one sentence each.
    pub error_details: Option<Vec<String>>,
    /// When it ended.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
    /// The version of the program.
    pub version: String,
    /// Who did the thinking.
    pub backends: ByNode<String>,
    /// How many tokens that took.
    pub tokens_used: ByNode<u64>,
    /// What they cost; absent where no rate is known for a model that was used.
    pub cost_usd: Option<f64>,
    /// Milliseconds in each node, over all rounds.
    pub node_times_ms: ByNode<f64>,
    /// What was done to the images before they were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssessmentRecord {
    /// The name of the sample.
    pub sample_id: Text,
    /// The question.
    pub query: Text,
    /// The options of a multiple-choice question.
    pub options: Vec<AnswerOption>,
    /// The image.
    pub image_path: Text,
    /// What it was compared with.
    pub reference_path: Option<Text>,
    /// The parts of the image whose place was known.
    pub regions: Vec<RegionBox>,
    /// The last plan.
    pub plan: Option<PlannerOutput>,
    /// The evidence.
    pub executor_evidence: Option<ExecutorOutput>,
    /// The conclusion.
    pub summarizer_result: Option<SummarizerOutput>,
    /// How it went.
    pub metadata: Metadata,
    /// Fields of the input that are not ours, such as `mos`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
}
