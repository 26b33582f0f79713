//! What the tools give, as models and programs read it: short, and with the words that a number needs to be understood.

use agenticiqa::state::{AnswerForm, QualityLevel, Replan, Score, ToolExecutionLog};
use schemars::JsonSchema;
use serde::Serialize;

use super::words::{short, short_raw};
use crate::answers::{Answer, Detected, ScoreRow, Skipped, ToolEntry};

/// What `assess_image` gives.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AssessResult {
    /// The answer: a sentence, the letter of an option, or the letter of a level of quality (A excellent to E bad).
    pub final_answer: String,
    /// Which of these it is.
    pub answer_form: Option<AnswerForm>,
    /// The quality from 1 (bad) to 5 (excellent), as people would score it on average; null where nothing was measured.
    pub quality_score: Option<f64>,
    /// The scores that nine of ten mean opinions are expected among, the lower end first.
    pub score_interval: Option<[f64; 2]>,
    /// The level next to the score.
    pub quality_level: Option<QualityLevel>,
    /// The reasons, with the numbers behind them.
    pub reasoning: String,
    /// The distortions that were found.
    pub distortions: Vec<Detected>,
    /// What was measured.
    pub measurements: Vec<Measured>,
    /// Whether evidence is still missing after all rounds.
    pub evidence_missing: bool,
    /// Why new plans were made.
    pub replans: Vec<Replan>,
    /// Who thought: `builtin`, or the models that were asked.
    pub backends: Vec<String>,
    /// What was done to the images before they were measured, and what could not be done.
    pub notes: Vec<String>,
    /// The heat map that comes with the answer.
    pub map: Option<MapResult>,
    /// The name of the assessment; a server keeps it under `/assessments/{id}`.
    pub id: String,
    /// How long it took.
    pub seconds: f64,
}

/// One number of one tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Measured {
    /// The tool.
    pub tool: String,
    /// The part of the image; left out for the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The tool's own number, on its own scale; left out where it is infinite (PSNR of identical images) or where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_score: Option<f64>,
    /// Whether lower raw scores are better; left out for plain measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_is_better: Option<bool>,
    /// The same from 1 (bad) to 5 (excellent); left out for plain measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The scores from 1 to 5 that nine of ten mean opinions are expected among, for tools that know theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Why there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl From<&ScoreRow> for Measured {
    fn from(row: &ScoreRow) -> Self {
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
    /// The number of a tool in an assessment.
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

/// A heat map that comes with an answer as an image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapResult {
    /// The tool.
    pub tool: String,
    /// The image that it shows.
    pub image: String,
    /// What that was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The part that it shows; left out for the whole image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// How to read it.
    pub meaning: String,
}

/// What `score_image` gives.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScoreResult {
    /// The image.
    pub image: String,
    /// What it was compared with.
    pub reference: Option<String>,
    /// The tool whose score comes closest to people's, if it ran on the whole image.
    pub overall: Option<Overall>,
    /// One row for each region and tool.
    pub scores: Vec<Measured>,
    /// Tools that do not apply to this image.
    pub skipped: Vec<Skipped>,
    /// What was done to the image before it was measured.
    pub notes: Vec<String>,
    /// The heat map that comes with the scores.
    pub map: Option<MapResult>,
}

/// The score that stands for the image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Overall {
    /// The tool.
    pub tool: String,
    /// From 1 (bad) to 5 (excellent).
    pub score: f64,
    /// The level next to it.
    pub level: Option<QualityLevel>,
    /// The scores that nine of ten mean opinions are expected among.
    pub interval: Option<[f64; 2]>,
}

impl Overall {
    /// The score of a row, if it has one.
    pub fn of(row: &Measured) -> Option<Self> {
        let score = row.score?;
        let level = Score::new(score).ok().map(QualityLevel::of);
        Some(Self { tool: row.tool.clone(), score, level, interval: row.interval })
    }
}

/// What `compare_images` gives.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CompareResult {
    /// In a sentence, which is better and how sure that is.
    pub verdict: String,
    /// The tool that ranks the images.
    pub ranked_by: String,
    /// The images, the best first.
    pub pictures: Vec<Ranked>,
    /// The reference, measured without looking at anything else.
    pub reference: Option<Ranked>,
    /// The best image beside each other one; for a single image, the reference beside it.
    pub comparisons: Vec<Beside>,
    /// The heat maps that come with the answer, in order.
    pub maps: Vec<MapResult>,
    /// What could not be done, and what was done to the images.
    pub notes: Vec<String>,
}

/// An image in its place.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Ranked {
    /// The name of the image.
    pub image: String,
    /// Its place in `images`, counted from 0; null for the reference.
    pub index: Option<usize>,
    /// Its rank: 1 is the best, equal scores have equal ranks; null for the reference.
    pub rank: Option<usize>,
    /// Its score by the tool that ranks, from 1 to 5; for the reference by Fused-NR.
    pub overall: Option<Overall>,
    /// Everything that was measured of it.
    pub scores: Vec<Measured>,
}

/// Two images beside each other.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Beside {
    /// The better one; null where they score the same.
    pub better: Option<String>,
    /// The two images, the better one first.
    pub images: [String; 2],
    /// The tool that says so.
    pub tool: String,
    /// By how much, on the scale from 1 to 5.
    pub difference: f64,
    /// Whether the intervals that nine of ten mean opinions are expected in overlap: then the order is not certain. Null where the
    /// tool knows no interval.
    pub intervals_overlap: Option<bool>,
}

/// What `list_tools` gives.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListResult {
    /// The tools.
    pub tools: Vec<ToolEntry>,
    /// How many more there are that cannot run here.
    pub unavailable: usize,
}

impl AssessResult {
    /// What is told of an answer; `direction` says which way a tool's numbers go.
    pub fn new(answer: Answer, direction: impl Fn(&str) -> Option<bool>) -> Self {
        let Answer { record, detected_distortions: distortions, .. } = answer;
        let conclusion = record.summarizer_result.as_ref();
        let metadata = record.metadata;
        let logs = record.executor_evidence.iter().flat_map(|evidence| &evidence.tool_logs);
        let mut backends = vec![metadata.backends.planner, metadata.backends.executor, metadata.backends.summarizer];
        backends.dedup();
        let interval = conclusion.and_then(|conclusion| conclusion.score_interval);
        Self {
            final_answer: answer.final_answer.unwrap_or_default(),
            answer_form: conclusion.map(|conclusion| conclusion.answer_form),
            quality_score: answer.quality_score.map(short),
            score_interval: interval.map(|interval| [interval.low(), interval.high()].map(short)),
            quality_level: answer.quality_level,
            reasoning: answer.quality_reasoning.unwrap_or_default(),
            distortions,
            measurements: logs.map(|log| Measured::of_log(log, direction(log.tool_name.as_str()))).collect(),
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
