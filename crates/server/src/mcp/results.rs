//! Results of the MCP tools: compact, with the context that a model needs to interpret the numbers.

use agenticiqa::scoring::Row;
use agenticiqa::state::{
    Advice, AnswerForm, Contribution, QualityLevel, RegionBox, Replan, Score, SummarizerOutput, ToolExecutionLog,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::words::{short, short_raw};
use crate::answers::{Answer, Detected, Skipped, ToolEntry};

/// Result of `assess_image`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AssessResult {
    /// The answer: a sentence, the letter of an option, or the letter of a quality level (A
    /// excellent to E bad).
    pub final_answer: String,
    /// The form of the answer.
    pub answer_form: Option<AnswerForm>,
    /// Predicted mean opinion from 1 (bad) to 5 (excellent); null if nothing was measured.
    pub quality_score: Option<f64>,
    /// 90% prediction interval of the score: lower and upper bound.
    pub score_interval: Option<[f64; 2]>,
    /// Quality level of the score.
    pub quality_level: Option<QualityLevel>,
    /// The reasoning, with the numbers behind it.
    pub reasoning: String,
    /// Detected distortions.
    pub distortions: Vec<Detected>,
    /// Scores of the metrics.
    pub measurements: Vec<Measured>,
    /// The parts of the score, which sum to it: the clean start, what each fault costs, and the rest.
    pub contributions: Vec<Contribution>,
    /// Edits that raise the score, largest gain first.
    pub advice: Vec<Advice>,
    /// What to do, in words.
    pub recommendations: Vec<String>,
    /// Whether evidence is still missing after the last round.
    pub evidence_missing: bool,
    /// The reason for each replan.
    pub replans: Vec<Replan>,
    /// Backends that were used: `builtin`, or model names.
    pub backends: Vec<String>,
    /// Conversions applied to the images before measuring, and steps that failed.
    pub notes: Vec<String>,
    /// The heat map that is returned as an image.
    pub map: Option<MapResult>,
    /// Assessment ID, for `GET /assessments/{id}` of an HTTP server.
    pub id: String,
    /// Execution time in seconds.
    pub seconds: f64,
}

/// The score of one metric.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Measured {
    /// Metric name.
    pub tool: String,
    /// Name of the region; omitted for the whole image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Score on the metric's own scale; omitted if it is infinite (PSNR of identical images) or if
    /// the metric failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_score: Option<f64>,
    /// Whether lower raw scores are better; omitted for plain measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_is_better: Option<bool>,
    /// Score from 1 (bad) to 5 (excellent); omitted for plain measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// 90% prediction interval on the scale from 1 to 5, for metrics that provide one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Error message, if the metric failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl From<&Row> for Measured {
    fn from(row: &Row) -> Self {
        Self {
            tool: row.tool.clone(),
            region: row.region.clone(),
            raw_score: row.raw_score.filter(|score| score.is_finite()).map(short_raw),
            lower_is_better: row.lower_is_better,
            score: row.normalized_score.map(short),
            interval: row.interval.map(|interval| interval.map(short)),
            error: row.error.clone(),
        }
    }
}

impl Measured {
    /// Builds the score of a tool from an assessment record.
    pub fn of_log(log: &ToolExecutionLog, lower_is_better: Option<bool>) -> Self {
        let region = Some(log.object_name.to_string()).filter(|name| name != agenticiqa::state::GLOBAL);
        Self {
            tool: log.tool_name.to_string(),
            region,
            raw_score: log.raw_score.map(|score| score.0).filter(|score| score.is_finite()).map(short_raw),
            lower_is_better,
            score: log.normalized_score.map(|score| short(score.value())),
            interval: log.interval.map(|interval| [interval.low(), interval.high()].map(short)),
            error: log.error.clone(),
        }
    }
}

/// A heat map that is returned as an image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapResult {
    /// Metric name.
    pub tool: String,
    /// Name of the image.
    pub image: String,
    /// Name of the image it was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Name of the region; omitted for the whole image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// How to read the colors.
    pub meaning: String,
}

/// Result of `score_image`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScoreResult {
    /// Name of the image.
    pub image: String,
    /// Name of the reference image.
    pub reference: Option<String>,
    /// The score that best predicts the opinion of viewers, if its metric ran on the whole image.
    pub overall: Option<Overall>,
    /// One row for each region and metric.
    pub scores: Vec<Measured>,
    /// Metrics that do not apply to this image.
    pub skipped: Vec<Skipped>,
    /// Conversions applied to the image before measuring.
    pub notes: Vec<String>,
    /// The heat map that is returned as an image.
    pub map: Option<MapResult>,
}

/// The overall score of an image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Overall {
    /// Metric name.
    pub tool: String,
    /// Score from 1 (bad) to 5 (excellent).
    pub score: f64,
    /// Quality level of the score.
    pub level: Option<QualityLevel>,
    /// 90% prediction interval of the score.
    pub interval: Option<[f64; 2]>,
}

impl Overall {
    /// Builds the overall score from a row, if it has a score.
    pub fn of(row: &Measured) -> Option<Self> {
        let score = row.score?;
        let level = Score::new(score).ok().map(QualityLevel::of);
        Some(Self { tool: row.tool.clone(), score, level, interval: row.interval })
    }
}

/// Result of `compare_images`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CompareResult {
    /// The result in words, with its certainty.
    pub verdict: String,
    /// The metric that ranks the images.
    pub ranked_by: String,
    /// The images, best first.
    pub pictures: Vec<Ranked>,
    /// The reference, scored alone.
    pub reference: Option<Ranked>,
    /// The best image compared with each other image. For a single image: the reference compared
    /// with it.
    pub comparisons: Vec<Comparison>,
    /// The heat maps that are returned as images, in order.
    pub maps: Vec<MapResult>,
    /// Steps that failed, and conversions applied to the images.
    pub notes: Vec<String>,
}

/// An image with its rank.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Ranked {
    /// Name of the image.
    pub image: String,
    /// Index in the argument `images`, from 0; null for the reference.
    pub index: Option<usize>,
    /// Rank: 1 is best, equal scores have equal ranks; null for the reference.
    pub rank: Option<usize>,
    /// Score from 1 to 5 by the ranking metric; for the reference by Fused-NR.
    pub overall: Option<Overall>,
    /// All scores of the image.
    pub scores: Vec<Measured>,
}

/// A comparison of two images.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Comparison {
    /// The better image; null if the scores are equal.
    pub better: Option<String>,
    /// The two images, better first.
    pub images: [String; 2],
    /// The metric used for the comparison.
    pub tool: String,
    /// Difference of the scores on the scale from 1 to 5.
    pub difference: f64,
    /// Whether the 90% prediction intervals overlap. If they do, the order is uncertain. Null if
    /// the metric provides no interval.
    pub intervals_overlap: Option<bool>,
}

/// Result of `find_regions`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RegionsResult {
    /// Image name.
    pub image: String,
    /// Width of the image in pixels, after applying the orientation.
    pub width: usize,
    /// Height of the image in pixels.
    pub height: usize,
    /// What was found. A name that was not found has the origin "whole image".
    pub regions: Vec<RegionBox>,
}

/// Result of `list_tools`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListResult {
    /// The metrics.
    pub tools: Vec<ToolEntry>,
    /// Number of metrics that are not available on this machine.
    pub unavailable: usize,
}

impl AssessResult {
    /// Builds the result from an answer. `direction` returns whether lower scores of a tool are
    /// better.
    pub fn new(answer: Answer, direction: impl Fn(&str) -> Option<bool>) -> Self {
        let Answer { record, detected_distortions: distortions, .. } = answer;
        let conclusion = record.summarizer_result.as_ref();
        let metadata = record.metadata;
        let logs = record.executor_evidence.iter().flat_map(|evidence| &evidence.tool_logs);
        let mut backends = vec![metadata.backends.planner, metadata.backends.executor, metadata.backends.summarizer];
        backends.dedup();
        let interval = conclusion.and_then(|conclusion| conclusion.score_interval);
        let recommendations = conclusion.into_iter().flat_map(|conclusion| &conclusion.recommendations);
        Self {
            final_answer: answer.final_answer.unwrap_or_default(),
            answer_form: conclusion.map(|conclusion| conclusion.answer_form),
            quality_score: answer.quality_score.map(short),
            score_interval: interval.map(|interval| [interval.low(), interval.high()].map(short)),
            quality_level: answer.quality_level,
            reasoning: answer.quality_reasoning.unwrap_or_default(),
            distortions,
            measurements: logs.map(|log| Measured::of_log(log, direction(log.tool_name.as_str()))).collect(),
            contributions: conclusion.map(contributions).unwrap_or_default(),
            advice: conclusion.map(|conclusion| conclusion.advice.clone()).unwrap_or_default(),
            recommendations: recommendations.map(ToString::to_string).collect(),
            evidence_missing: answer.need_replan,
            replans: metadata.replan_history,
            backends,
            notes: metadata.notes.into_iter().chain(metadata.error_details.into_iter().flatten()).collect(),
            map: None,
            id: answer.id,
            seconds: short(metadata.execution_time_ms / 1000.0),
        }
    }
}

/// Returns the parts of a score with as many digits as a model needs. They still sum to the score, up to
/// rounding.
fn contributions(conclusion: &SummarizerOutput) -> Vec<Contribution> {
    let rounded = |part: &Contribution| Contribution {
        name: part.name.clone(),
        value: short(part.value),
        interval: part.interval.map(|ends| ends.map(short)),
    };
    conclusion.contributions.iter().map(rounded).collect()
}
