//! The whole state of one assessment, as it goes from node to node and into checkpoints.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checked::checked_on_read;
use super::{ExecutorOutput, Invalid, PlannerOutput, RegionBox, SummarizerOutput, Text};

/// How many rounds of replanning may be asked for, and how many are kept in the history.
pub const MAX_REPLAN_HISTORY: usize = 10;

/// An option of a multiple-choice question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerOption {
    /// The letter that stands for it.
    pub letter: char,
    /// What it says.
    pub text: String,
}

/// Why a new plan was asked for, and what had been tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replan {
    /// The round that was not enough, counted from 0.
    pub iteration: u32,
    /// What was missing.
    pub reason: Text,
    /// The plan that was not enough.
    pub tried: PlannerOutput,
    /// When.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
}

/// The state of one assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct AgenticIqaState {
    /// The name of the sample.
    pub sample_id: Text,
    /// The question.
    pub query: Text,
    /// The options of a multiple-choice question.
    #[serde(default)]
    pub options: Vec<AnswerOption>,
    /// The image.
    pub image_path: Text,
    /// What it is compared with.
    pub reference_path: Option<Text>,
    /// The parts of the image whose place is known.
    #[serde(default)]
    pub regions: Vec<RegionBox>,
    /// The tools that the user asked for beside the question.
    #[serde(default)]
    pub requested_tools: Vec<Text>,
    /// The plan, once made.
    pub plan: Option<PlannerOutput>,
    /// The evidence, once gathered.
    pub executor_evidence: Option<ExecutorOutput>,
    /// The conclusion, once drawn.
    pub summarizer_result: Option<SummarizerOutput>,
    /// How often a new plan was asked for.
    #[serde(default)]
    pub iteration_count: u32,
    /// How often a new plan may be asked for; 0 disables replanning.
    pub max_replan_iterations: u32,
    /// Why new plans were asked for, newest last; 10 at most.
    #[serde(default)]
    pub replan_history: Vec<Replan>,
}

impl AgenticIqaState {
    /// The state before the first node.
    pub fn new(sample_id: Text, query: Text, image_path: Text) -> Self {
        Self {
            sample_id,
            query,
            options: Vec::new(),
            image_path,
            reference_path: None,
            regions: Vec::new(),
            requested_tools: Vec::new(),
            plan: None,
            executor_evidence: None,
            summarizer_result: None,
            iteration_count: 0,
            max_replan_iterations: 2,
            replan_history: Vec::new(),
        }
    }

    /// Takes the summarizer's result; a wish for a new plan is counted and remembered.
    pub fn conclude(&mut self, result: SummarizerOutput) {
        if let (Some(reason), Some(tried)) = (result.replan_reason(), &self.plan)
            && let Ok(reason) = Text::new(reason)
        {
            let replan =
                Replan { iteration: self.iteration_count, reason, tried: tried.clone(), timestamp: Timestamp::now() };
            self.replan_history.push(replan);
            let excess = self.replan_history.len().saturating_sub(MAX_REPLAN_HISTORY);
            self.replan_history.drain(..excess);
            self.iteration_count += 1;
        }
        self.summarizer_result = Some(result);
    }
}

checked_on_read!(AgenticIqaState);

impl AgenticIqaState {
    fn check(&self) -> Result<(), Invalid> {
        let history = self.replan_history.len();
        if history > MAX_REPLAN_HISTORY {
            let expected = format!("at most {MAX_REPLAN_HISTORY} entries");
            return Err(Invalid::new("replan_history", expected, history.to_string()));
        }
        if self.iteration_count > self.max_replan_iterations {
            let expected = format!("at most max_replan_iterations ({})", self.max_replan_iterations);
            return Err(Invalid::new("iteration_count", expected, self.iteration_count.to_string()));
        }
        Ok(())
    }
}
