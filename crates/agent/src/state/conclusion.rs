//! What the summarizer concludes: an answer, a score, the reasons, or what is missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checked::checked_on_read;
use super::{Interval, Invalid, QualityLevel, Score, Text};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerForm {
    /// A level of quality, A to E, with the number behind it.
    Score,
    /// The letter of one of the options.
    Choice,
    /// A short sentence.
    Text,
}

/// A sentence of the reasoning and the evidence that it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsedEvidence {
    /// The sentence, word for word.
    pub sentence: String,
    /// JSON pointers into `executor_evidence`, such as `/tool_logs/0` or `/distortion_analysis/Global/1`.
    pub evidence: Vec<String>,
}

/// How the tools' score and the judgment came together: the weight of each level of quality by its distance from what the tools say, and
/// its probability in the reasoner's eyes. Worst level first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FusedLevels {
    /// What the tools say together, from 1 to 5.
    pub tools: f64,
    /// The weights of the levels; they add up to 1.
    pub weights: [f64; 5],
    /// The probabilities of the levels, where any was judged.
    pub probabilities: Option<[f64; 5]>,
}

/// The conclusion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct SummarizerOutput {
    /// The answer.
    pub final_answer: Text,
    /// Its form.
    pub answer_form: AnswerForm,
    /// The fused score, where tools gave scores.
    pub quality_score: Option<Score>,
    /// The scores that nine of ten mean opinions are expected among, the lower end first; where tools that know theirs carry the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_interval: Option<Interval>,
    /// How it was fused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fusion: Option<FusedLevels>,
    /// The level next to the score.
    pub quality_level: Option<QualityLevel>,
    /// The reasons, with their numbers.
    pub quality_reasoning: Text,
    /// Whether evidence is missing and a new plan is asked for.
    #[serde(default)]
    need_replan: bool,
    /// What is missing.
    replan_reason: Option<Text>,
    /// What each sentence of the reasoning rests on.
    #[serde(default)]
    pub used_evidence: Vec<UsedEvidence>,
}

impl SummarizerOutput {
    /// An answer that needs no new plan; the level follows from the score.
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
            quality_level: quality_score.map(QualityLevel::of),
            quality_reasoning: Text::new(quality_reasoning).map_err(|error| named("quality_reasoning", error))?,
            need_replan: false,
            replan_reason: None,
            used_evidence: Vec::new(),
        })
    }

    /// The same answer with what is known of the certainty of its score.
    pub fn with_interval(self, interval: Option<Interval>) -> Self {
        Self { score_interval: interval.filter(|_| self.quality_score.is_some()), ..self }
    }

    /// The lowest and the highest level that the score leaves open; nothing where it determines its level, or where its certainty
    /// is not known.
    pub fn open_levels(&self) -> Option<(QualityLevel, QualityLevel)> {
        let (first, last) = self.score_interval?.open_levels(self.quality_score?);
        (first != last).then_some((first, last))
    }

    /// The same answer, asking for a new plan because of `reason`, or no longer asking.
    pub fn with_replan(self, reason: Option<Text>) -> Self {
        Self { need_replan: reason.is_some(), replan_reason: reason, ..self }
    }

    /// Whether evidence is missing and a new plan is asked for.
    pub fn need_replan(&self) -> bool {
        self.need_replan
    }

    /// What is missing.
    pub fn replan_reason(&self) -> Option<&str> {
        self.replan_reason.as_ref().map(Text::as_str)
    }
}

checked_on_read!(SummarizerOutput);

impl SummarizerOutput {
    /// Whoever asks for a new plan says why, and an interval holds its score.
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
        Ok(())
    }
}
