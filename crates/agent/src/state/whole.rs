//! The complete state of one assessment, passed from node to node and saved in checkpoints.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checked::checked_on_read;
use super::{AnswerOption, ExecutorOutput, Invalid, PlannerOutput, RegionBox, SummarizerOutput, Text};

/// The question that is used if none is given.
pub const DEFAULT_QUERY: &str = "Assess the overall quality of this image.";

/// The highest number of new plans that a request may allow.
pub const MAX_REPLAN_ITERATIONS: u32 = 5;

/// The default of `max_replan_iterations`.
pub const DEFAULT_REPLAN_ITERATIONS: u32 = 2;

/// The maximum number of replans, and of entries in the replan history.
pub const MAX_REPLAN_HISTORY: usize = 10;

/// A request for a new plan, with the plan that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replan {
    /// The round without enough evidence, counted from 0.
    pub iteration: u32,
    /// The missing evidence.
    pub reason: Text,
    /// The plan that was tried.
    pub tried: PlannerOutput,
    /// The time of the request.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: Timestamp,
}

/// The state of one assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct AgenticIqaState {
    /// The ID of the sample.
    pub sample_id: Text,
    /// The question.
    pub query: Text,
    /// The options of a multiple-choice question.
    #[serde(default)]
    pub options: Vec<AnswerOption>,
    /// The path or the name of the image.
    pub image_path: Text,
    /// The path or the name of the reference image.
    pub reference_path: Option<Text>,
    /// The regions of the image that were given or located.
    #[serde(default)]
    pub regions: Vec<RegionBox>,
    /// The tools that the user requested in addition to the question.
    #[serde(default)]
    pub requested_tools: Vec<Text>,
    /// The plan; `null` before the planner ran.
    pub plan: Option<PlannerOutput>,
    /// The evidence; `null` before the executor ran.
    pub executor_evidence: Option<ExecutorOutput>,
    /// The conclusion; `null` before the summarizer ran.
    pub summarizer_result: Option<SummarizerOutput>,
    /// The number of replans so far.
    #[serde(default)]
    pub iteration_count: u32,
    /// The maximum number of replans; 0 disables replanning.
    pub max_replan_iterations: u32,
    /// The requests for a new plan, newest last; 10 at most.
    #[serde(default)]
    pub replan_history: Vec<Replan>,
}

impl AgenticIqaState {
    /// Creates the state before the first node.
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
            max_replan_iterations: DEFAULT_REPLAN_ITERATIONS,
            replan_history: Vec::new(),
        }
    }

    /// Stores the result of the summarizer. A request for a new plan is counted and added to the
    /// history.
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
