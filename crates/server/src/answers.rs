//! What the service answers.

use agenticiqa::scoring::Row;
use agenticiqa::state::{AssessmentRecord, ByNode, QualityLevel, Replan, Severity};
use agenticiqa::tools::raw_number;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `POST /assess`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Answer {
    /// The name of the assessment; `GET /assessments/{id}` gives it again.
    pub id: String,
    /// The image in the store.
    pub image_id: Option<String>,
    /// The reference in the store.
    pub reference_id: Option<String>,
    /// The answer.
    pub final_answer: Option<String>,
    /// The score from 1 to 5.
    pub quality_score: Option<f64>,
    /// The level next to the score.
    pub quality_level: Option<QualityLevel>,
    /// The reasons.
    pub quality_reasoning: Option<String>,
    /// Whether evidence is still missing.
    pub need_replan: bool,
    /// How it went.
    pub execution_metadata: ExecutionMetadata,
    /// The distortions that were found.
    pub detected_distortions: Vec<Detected>,
    /// Everything.
    pub record: AssessmentRecord,
}

/// How an assessment went.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExecutionMetadata {
    /// How often a new plan was asked for.
    pub iteration_count: u32,
    /// Why.
    pub replan_history: Vec<Replan>,
    /// The whole time.
    pub execution_time_seconds: f64,
}

/// A distortion of a part of the image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Detected {
    /// The part, or "Global".
    pub object: String,
    /// The category.
    #[serde(rename = "type")]
    pub distortion: String,
    /// How bad it is, where that was judged.
    pub severity: Option<String>,
    /// What one sees.
    pub explanation: Option<String>,
}

impl Answer {
    /// The answer that a record holds.
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

/// The distortions of a record, with their severity where it was judged.
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
    // What was looked at and is not there was not detected.
    found.retain(|found| found.severity.as_deref() != Some(Severity::None.name()));
    found
}

/// A row of `GET /assessments`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AssessmentRow {
    /// The name of the assessment.
    pub id: String,
    /// When it ended.
    pub timestamp: String,
    /// The question.
    pub query: String,
    /// The answer.
    pub final_answer: Option<String>,
    /// The score from 1 to 5.
    pub quality_score: Option<f64>,
    /// The level next to the score.
    pub quality_level: Option<QualityLevel>,
    /// The image in the store.
    pub image_id: Option<String>,
    /// The reference in the store.
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

/// The first event of `POST /assess/stream`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Started {
    /// The name of the assessment.
    pub id: String,
    /// The image in the store.
    pub image_id: Option<String>,
    /// The reference in the store.
    pub reference_id: Option<String>,
    /// Who thinks.
    pub backends: ByNode<String>,
}

/// One score of one tool on the image or a region.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScoreRow {
    /// The image.
    pub image_path: String,
    /// What it was compared with.
    pub reference_path: Option<String>,
    /// The name of the region; the whole image without.
    pub region: Option<String>,
    /// The tool.
    pub tool: String,
    /// `FR` compares with a reference, `NR` does not.
    #[serde(rename = "type")]
    pub tool_type: String,
    /// The direction of the raw score; null for plain measurements.
    pub lower_is_better: Option<bool>,
    /// The score on the tool's own scale; infinity is written as 1e999.
    #[serde(serialize_with = "raw_number")]
    pub raw_score: Option<f64>,
    /// The score from 1 to 5.
    pub normalized_score: Option<f64>,
    /// Seconds of the metric alone.
    pub execution_time: f64,
    /// Why there is no score.
    pub error: Option<String>,
    /// The interval that nine of ten mean opinions are in, from 1 to 5; for tools that know theirs.
    pub interval: Option<[f64; 2]>,
    /// What was done to the image before it was measured.
    pub notes: Vec<String>,
}

impl From<Row> for ScoreRow {
    fn from(row: Row) -> Self {
        Self {
            image_path: row.image_path,
            reference_path: row.reference_path,
            region: row.region,
            tool: row.tool,
            tool_type: row.tool_type.to_string(),
            lower_is_better: row.lower_is_better,
            raw_score: row.raw_score,
            normalized_score: row.normalized_score,
            execution_time: row.execution_time,
            error: row.error,
            interval: row.interval,
            notes: row.notes,
        }
    }
}

/// The answer of `POST /score`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Scores {
    /// One row for each region and tool.
    pub rows: Vec<ScoreRow>,
    /// Tools that do not apply to this image.
    pub skipped: Vec<Skipped>,
    /// The image in the store.
    pub image_id: Option<String>,
    /// The reference in the store.
    pub reference_id: Option<String>,
}

/// A tool that was left out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Skipped {
    /// The tool.
    pub tool: String,
    /// Why.
    pub reason: String,
}

/// The answer of `POST /map?format=json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapValues {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// The value that black stands for.
    pub low: f32,
    /// The value that white stands for.
    pub high: f32,
    /// What the values are.
    pub meaning: String,
    /// Whether low values are good ones.
    pub lower_is_better: bool,
    /// A gray PNG file of 8 bits in base64: the values scaled to low..high.
    pub values_png: String,
}

/// A tool, as `GET /tools` lists it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ToolEntry {
    /// The name.
    pub name: String,
    /// `FR` compares with a reference, `NR` does not.
    #[serde(rename = "type")]
    pub tool_type: String,
    /// The direction of the raw score; null for plain measurements.
    pub lower_is_better: Option<bool>,
    /// The range of the raw score; null where there is no bound.
    pub range: [Option<f64>; 2],
    /// What it is.
    pub description: String,
    /// The distortions that it judges best.
    pub strengths: Vec<String>,
    /// Whether it can run here.
    pub available: bool,
    /// Why not, and what it would take.
    pub reason: Option<String>,
    /// Whether it gives a map.
    pub has_map: bool,
}

/// The answer of `GET /tools`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ToolEntries {
    /// The tools.
    pub tools: Vec<ToolEntry>,
}

/// Who plays a role.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BackendEntry {
    /// `builtin`, or `provider.model`.
    pub name: String,
    /// `builtin` or `model`.
    pub kind: String,
    /// Whether it can be asked, as far as can be told without asking.
    pub ready: bool,
    /// Why not.
    pub problem: Option<String>,
}

/// The answer of `GET /`, for programs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct About {
    /// The name of the service.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is.
    pub description: String,
    /// Where the interface is described.
    pub docs_url: String,
    /// Where its health is told.
    pub health_check: String,
}

/// The answer of `GET /health`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Health {
    /// `healthy`.
    pub status: String,
    /// The version.
    pub version: String,
    /// Now.
    pub timestamp: String,
}
