//! Response types of the HTTP API.

use agenticiqa::repair::Edit;
use agenticiqa::scoring::Row;
use agenticiqa::state::{AssessmentRecord, ByNode, QualityLevel, RegionBox, Replan, Severity, WhatIfs};
use schemars::JsonSchema;
use serde::Serialize;

/// Response of `POST /assess`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Answer {
    /// Assessment ID, for `GET /assessments/{id}`.
    pub id: String,
    /// ID of the stored image.
    pub image_id: Option<String>,
    /// ID of the stored reference image.
    pub reference_id: Option<String>,
    /// The answer to the question.
    pub final_answer: Option<String>,
    /// Quality score from 1 (bad) to 5 (excellent).
    pub quality_score: Option<f64>,
    /// Quality level of the score.
    pub quality_level: Option<QualityLevel>,
    /// The reasoning behind the answer.
    pub quality_reasoning: Option<String>,
    /// Whether evidence is still missing after the last round.
    pub need_replan: bool,
    /// Rounds and execution time.
    pub execution_metadata: ExecutionMetadata,
    /// Detected distortions.
    pub detected_distortions: Vec<Detected>,
    /// The full assessment record.
    pub record: AssessmentRecord,
}

/// Response of `POST /what-if`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WhatIfAnswer {
    /// ID of the stored image.
    pub image_id: Option<String>,
    /// What was tried, and what no edit can mend.
    #[serde(flatten)]
    pub what_ifs: WhatIfs,
    /// The edits that raise the score together, or those of the request; null if there are none.
    pub mended: Option<Mended>,
}

/// What edits make of an image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Mended {
    /// The edits, in the order in which they are applied.
    pub edits: Vec<Edit>,
    /// The score of the edited image, from 1 to 5.
    pub score: f64,
}

/// Rounds and execution time of an assessment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExecutionMetadata {
    /// Number of replans.
    pub iteration_count: u32,
    /// The reason for each replan.
    pub replan_history: Vec<Replan>,
    /// Total execution time in seconds.
    pub execution_time_seconds: f64,
}

/// A distortion of an object or of the whole image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Detected {
    /// Name of the object, or "Global" for the whole image.
    pub object: String,
    /// Distortion category.
    #[serde(rename = "type")]
    pub distortion: String,
    /// Severity, if it was analyzed.
    pub severity: Option<String>,
    /// Description of the visible effect.
    pub explanation: Option<String>,
}

impl Answer {
    /// Builds the response from an assessment record.
    pub fn new(id: String, image_id: Option<String>, reference_id: Option<String>, record: AssessmentRecord) -> Self {
        let result = record.summarizer_result.as_ref();
        let metadata = &record.metadata;
        Self {
            id,
            image_id,
            reference_id,
            final_answer: result.map(|result| result.final_answer.to_string()),
            quality_score: result.and_then(|result| Some(result.quality_score?.value())),
            quality_level: result.and_then(|result| result.quality_level),
            quality_reasoning: result.map(|result| result.quality_reasoning.to_string()),
            need_replan: result.is_some_and(|result| result.need_replan()),
            execution_metadata: ExecutionMetadata {
                iteration_count: metadata.iteration_count,
                replan_history: metadata.replan_history.clone(),
                execution_time_seconds: metadata.execution_time_ms / 1000.0,
            },
            detected_distortions: detected(&record),
            record,
        }
    }
}

/// Returns the distortions of a record, with their severity if it was analyzed.
pub fn detected(record: &AssessmentRecord) -> Vec<Detected> {
    let Some(evidence) = &record.executor_evidence else { return Vec::new() };
    let mut found: Vec<Detected> = Vec::new();
    for (object, analyses) in evidence.distortion_analysis.iter().flatten() {
        found.extend(analyses.iter().map(|analysis| Detected {
            object: object.to_string(),
            distortion: analysis.distortion.name().to_owned(),
            severity: Some(analysis.severity.name().to_owned()),
            explanation: Some(analysis.explanation.to_string()),
        }));
    }
    for (object, distortions) in evidence.distortion_set.iter().flatten() {
        for distortion in distortions {
            let (object, distortion) = (object.to_string(), distortion.name().to_owned());
            if !found.iter().any(|known| (&known.object, &known.distortion) == (&object, &distortion)) {
                found.push(Detected { object, distortion, severity: None, explanation: None });
            }
        }
    }
    // Severity "none": the distortion was analyzed and is not present.
    found.retain(|found| found.severity.as_deref() != Some(Severity::None.name()));
    found
}

/// One entry of `GET /assessments`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AssessmentRow {
    /// Assessment ID.
    pub id: String,
    /// Time of completion.
    pub timestamp: String,
    /// The question.
    pub query: String,
    /// The answer to the question.
    pub final_answer: Option<String>,
    /// Quality score from 1 (bad) to 5 (excellent).
    pub quality_score: Option<f64>,
    /// Quality level of the score.
    pub quality_level: Option<QualityLevel>,
    /// ID of the stored image.
    pub image_id: Option<String>,
    /// ID of the stored reference image.
    pub reference_id: Option<String>,
}

impl From<&Answer> for AssessmentRow {
    fn from(answer: &Answer) -> Self {
        Self {
            id: answer.id.clone(),
            timestamp: answer.record.metadata.timestamp.to_string(),
            query: answer.record.query.to_string(),
            final_answer: answer.final_answer.clone(),
            quality_score: answer.quality_score,
            quality_level: answer.quality_level,
            image_id: answer.image_id.clone(),
            reference_id: answer.reference_id.clone(),
        }
    }
}

/// Data of the first event of `POST /assess/stream`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Started {
    /// Assessment ID.
    pub id: String,
    /// ID of the stored image.
    pub image_id: Option<String>,
    /// ID of the stored reference image.
    pub reference_id: Option<String>,
    /// Backend of each role.
    pub backends: ByNode<String>,
}

/// Response of `POST /score`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Scores {
    /// One row for each region and tool.
    pub rows: Vec<Row>,
    /// Tools that do not apply to this image.
    pub skipped: Vec<Skipped>,
    /// ID of the stored image.
    pub image_id: Option<String>,
    /// ID of the stored reference image.
    pub reference_id: Option<String>,
}

/// Response of `POST /regions`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FoundRegions {
    /// Width of the image in pixels, after applying the orientation.
    pub width: usize,
    /// Height of the image in pixels.
    pub height: usize,
    /// What was found; an entry for each name of the request.
    pub regions: Vec<RegionBox>,
    /// ID of the stored image.
    pub image_id: Option<String>,
}

/// Response of `GET /pictures/{id}/questions`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SuggestedQuestions {
    /// The questions, the most interesting first.
    pub questions: Vec<SuggestedQuestion>,
}

/// A question that an image makes interesting.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SuggestedQuestion {
    /// The question in English.
    pub en: String,
    /// The question in Chinese.
    pub zh: String,
}

/// A skipped tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Skipped {
    /// Tool name.
    pub tool: String,
    /// Why the tool was skipped.
    pub reason: String,
}

/// Response of `POST /map?format=json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapValues {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// The value of black pixels.
    pub low: f32,
    /// The value of white pixels.
    pub high: f32,
    /// Description of the values.
    pub meaning: String,
    /// Whether lower values are better.
    pub lower_is_better: bool,
    /// The values as an 8-bit grayscale PNG in base64, scaled to `low`..`high`.
    pub values_png: String,
}

/// One entry of `GET /tools`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ToolEntry {
    /// Tool name.
    pub name: String,
    /// `FR` (full-reference) or `NR` (no-reference).
    #[serde(rename = "type")]
    pub tool_type: String,
    /// Whether lower raw scores are better; null for plain measurements.
    pub lower_is_better: Option<bool>,
    /// Minimum and maximum of the raw score; null where unbounded.
    pub range: [Option<f64>; 2],
    /// Short description.
    pub description: String,
    /// Distortions that the tool measures well.
    pub strengths: Vec<String>,
    /// Whether the tool can run on this server.
    pub available: bool,
    /// Why the tool cannot run, and how to install it.
    pub reason: Option<String>,
    /// Whether the tool can produce a heat map.
    pub has_map: bool,
}

/// Response of `GET /tools`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ToolEntries {
    /// The tools.
    pub tools: Vec<ToolEntry>,
}

/// The backend of one role.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BackendEntry {
    /// `builtin`, or `provider.model`.
    pub name: String,
    /// `builtin` or `model`.
    pub kind: String,
    /// Whether the backend is configured; the model itself is not contacted.
    pub ready: bool,
    /// Why the backend is not ready.
    pub problem: Option<String>,
}

/// Response of `GET /` for clients that do not accept HTML.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct About {
    /// Service name.
    pub name: String,
    /// Service version.
    pub version: String,
    /// Short description.
    pub description: String,
    /// Path of the API documentation.
    pub docs_url: String,
    /// Path of the health check.
    pub health_check: String,
}

/// Response of `GET /health`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Health {
    /// Always `healthy`.
    pub status: String,
    /// Service version.
    pub version: String,
    /// Current time.
    pub timestamp: String,
}
