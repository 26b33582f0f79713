//! The output of the summarizer: the answer, its score and reasons, or what is missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checked::checked_on_read;
use super::{AnswerForm, Disagreement, Interval, Invalid, Operation, QualityLevel, Score, Text};

/// The parts of a score sum to it up to this difference.
const SAME: f64 = 1e-6;

/// A sentence of the reasoning with the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsedEvidence {
    /// The sentence, as it appears in the reasoning.
    pub sentence: String,
    /// JSON pointers into `executor_evidence`, such as `/tool_logs/0` or
    /// `/distortion_analysis/Global/1`.
    pub evidence: Vec<String>,
}

/// How the score was fused: each quality level has a weight from the tool scores and a probability
/// from the reasoner. Worst level first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FusedLevels {
    /// The combined score of the tools, from 1 to 5.
    pub tools: f64,
    /// The weights of the levels. They add up to 1.
    pub weights: [f64; 5],
    /// The probabilities of the levels; `null` if no level was judged.
    pub probabilities: Option<[f64; 5]>,
}

/// A part of the score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contribution {
    /// What it comes from: the clean start, a fault, or the rest.
    pub name: String,
    /// The part of the score, in levels. Faults are never positive.
    pub value: f64,
    /// The 90% prediction interval of the part, `[low, high]`; only of faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// An edit that raises the score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// The object to edit, or the whole image.
    pub object: Text,
    /// The kind of correction.
    pub operation: Operation,
    /// Its amount, in the unit of the operation.
    pub amount: f64,
    /// By how much the score rises.
    pub expected_gain: f64,
}

/// The output of the summarizer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct SummarizerOutput {
    /// The answer.
    pub final_answer: Text,
    /// The form of the answer.
    pub answer_form: AnswerForm,
    /// The fused score from 1 to 5; `null` without tool scores or a judged level.
    pub quality_score: Option<Score>,
    /// The 90% prediction interval of the mean opinion score, `[low, high]`. Present if the tools
    /// that determine the score report one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_interval: Option<Interval>,
    /// How the score was fused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fusion: Option<FusedLevels>,
    /// The parts of the score, which sum to it: the clean start, what each fault costs, and the rest. Empty
    /// if the backend measures no parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contributions: Vec<Contribution>,
    /// Edits that raise the score, largest gain first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
    /// What to do, in words, in the language of the question: edits that help, what no edit mends, and what
    /// is doubtful.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recommendations: Vec<Text>,
    /// The quality level nearest to the score.
    pub quality_level: Option<QualityLevel>,
    /// The reasons for the answer, with numbers.
    pub quality_reasoning: Text,
    /// Whether evidence is missing and a new plan is needed.
    #[serde(default)]
    need_replan: bool,
    /// The missing evidence; `null` if nothing is missing or the last replan was used up.
    replan_reason: Option<Text>,
    /// The evidence for each sentence of the reasoning.
    #[serde(default)]
    pub used_evidence: Vec<UsedEvidence>,
    /// Claims of a model that contradict a measurement by two levels or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<Disagreement>,
}

impl SummarizerOutput {
    /// Creates an answer that needs no new plan. The level follows from the score.
    pub fn new(
        final_answer: &str,
        answer_form: AnswerForm,
        quality_score: Option<Score>,
        quality_reasoning: &str,
    ) -> Result<Self, Invalid> {
        let named = |field: &str, error: Invalid| Invalid { field: field.to_owned(), ..error };
        Ok(Self {
            final_answer: Text::new(final_answer).map_err(|error| named("final_answer", error))?,
            answer_form,
            quality_score,
            score_interval: None,
            fusion: None,
            contributions: Vec::new(),
            advice: Vec::new(),
            recommendations: Vec::new(),
            quality_level: quality_score.map(QualityLevel::of),
            quality_reasoning: Text::new(quality_reasoning).map_err(|error| named("quality_reasoning", error))?,
            need_replan: false,
            replan_reason: None,
            used_evidence: Vec::new(),
            disagreements: Vec::new(),
        })
    }

    /// Returns the answer with a prediction interval.
    pub fn with_interval(self, interval: Option<Interval>) -> Self {
        Self { score_interval: interval.filter(|_| self.quality_score.is_some()), ..self }
    }

    /// Returns the lowest and the highest level that the prediction interval allows, or nothing if
    /// the score determines its level or has no interval.
    pub fn open_levels(&self) -> Option<(QualityLevel, QualityLevel)> {
        let (first, last) = self.score_interval?.open_levels(self.quality_score?);
        (first != last).then_some((first, last))
    }

    /// Returns the answer with a request for a new plan because of `reason`, or without a request.
    pub fn with_replan(self, reason: Option<Text>) -> Self {
        Self { need_replan: reason.is_some(), replan_reason: reason, ..self }
    }

    /// Returns the answer without the request for a new plan. The reason stays.
    pub fn without_replan(self) -> Self {
        Self { need_replan: false, ..self }
    }

    /// Whether evidence is missing and a new plan is needed.
    pub fn need_replan(&self) -> bool {
        self.need_replan
    }

    /// The missing evidence.
    pub fn replan_reason(&self) -> Option<&str> {
        self.replan_reason.as_ref().map(Text::as_str)
    }
}

checked_on_read!(SummarizerOutput);

impl SummarizerOutput {
    /// A request for a new plan needs a reason, and the interval must contain the score.
    fn check(&self) -> Result<(), Invalid> {
        if self.need_replan && self.replan_reason.is_none() {
            return Err(Invalid::new("replan_reason", "a reason when need_replan is true", "null"));
        }
        if let Some(interval) = self.score_interval
            && !self.quality_score.is_some_and(|score| interval.holds(score.value()))
        {
            let found = format!("[{}, {}]", interval.low(), interval.high());
            return Err(Invalid::new("score_interval", "around quality_score", found));
        }
        let sum: f64 = self.contributions.iter().map(|part| part.value).sum();
        if let (Some(score), false) = (self.quality_score, self.contributions.is_empty())
            && (sum - score.value()).abs() > SAME
        {
            return Err(Invalid::new("contributions", "parts that sum to quality_score", format!("{sum}")));
        }
        Ok(())
    }
}
