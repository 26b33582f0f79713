//! Who does the thinking: a vision-language model, or the built-in analyst that measures instead.
//!
//! Both play the same roles. A role takes what earlier steps found and gives typed values, or says why it cannot.

pub mod builtin;
pub mod fallback;
pub mod vlm;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::events::EventLog;
use crate::inputs::Inputs;
use crate::state::{
    AgenticIqaState, AnswerForm, ByDistortion, Distortion, DistortionAnalysis, ExecutorOutput, PlannerOutput,
    RegionBox, Text, UsedEvidence,
};
use crate::summarizer::estimate::Estimate;
use agenticiqa_tools::{Registry, Tool};

/// The distortions of each part of the image.
pub type DistortionSet = BTreeMap<Text, Vec<Distortion>>;

/// The severities of the distortions of each part of the image.
pub type Analyses = BTreeMap<Text, Vec<DistortionAnalysis>>;

/// What a role comes to, in time.
pub type Thought<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// What every role may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Question, options, regions, and what earlier nodes and rounds found.
    pub state: &'a AgenticIqaState,
    /// The form that the answer takes.
    pub form: AnswerForm,
    /// The pixels.
    pub inputs: &'a Arc<Inputs>,
    /// The tools.
    pub registry: &'a Arc<Registry>,
    /// Where events, tokens and problems go.
    pub events: &'a EventLog,
}

/// An answer before it is fused with the scores of the tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The letter or the sentence; absent where it is the level next to the fused score.
    pub final_answer: Option<String>,
    /// The reasons.
    pub reasoning: String,
    /// How likely each level of quality is, worst first; absent where no level was judged.
    pub levels: Option<[f64; 5]>,
    /// What each sentence of the reasoning rests on.
    pub used_evidence: Vec<UsedEvidence>,
}

/// Plays the roles of planner, executor and summarizer.
pub trait Reasoner: Send + Sync + fmt::Debug {
    /// The name of the backend: `builtin`, or provider and model.
    fn name(&self) -> &str;

    /// Whether the same question always gets the same answer, so that asking again is of no use.
    fn is_deterministic(&self) -> bool {
        false
    }

    /// Turns the question into a plan.
    fn plan<'a>(&'a self, context: Context<'a>) -> Thought<'a, PlannerOutput>;

    /// Finds the distortions of each part.
    fn detect<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, DistortionSet>;

    /// Judges how bad each distortion is.
    fn analyze<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
    ) -> Thought<'a, Analyses>;

    /// Chooses one of `tools`, which can all run here, for each distortion of each part.
    fn select<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, ByDistortion<Text>>;

    /// Says where the named objects are; those that it cannot find are left out.
    fn ground<'a>(&'a self, context: Context<'a>, objects: &'a [&'a str]) -> Thought<'a, Vec<RegionBox>>;

    /// Answers the question from the evidence. `fused` is what the tools alone say.
    fn conclude<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        evidence: &'a ExecutorOutput,
        fused: Option<Estimate>,
    ) -> Thought<'a, Verdict>;
}

/// Why a role could not be played.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The images cannot be examined.
    #[error("the image cannot be examined: {0}")]
    Picture(String),
    /// A model cannot be asked.
    #[error(transparent)]
    Model(#[from] agenticiqa_vlm::Error),
    /// A model was asked several times, and its answers could not be used.
    #[error("{backend} gave {attempts} answers that cannot be used, the last one because {reason}")]
    BadAnswers {
        /// The model.
        backend: String,
        /// How often it was asked.
        attempts: u32,
        /// What was wrong with the last answer.
        reason: String,
    },
    /// The node that comes before has left nothing.
    #[error("the state has no {0}: run the {1} first")]
    Prerequisite(&'static str, &'static str),
    /// The node took too long.
    #[error("no result within {0} seconds")]
    Timeout(u64),
}

impl Error {
    /// What errors are grouped by.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Picture(_) => "PictureError",
            Self::Model(error) => error.kind().name(),
            Self::BadAnswers { .. } => "BadAnswerError",
            Self::Prerequisite(..) => "PrerequisiteError",
            Self::Timeout(_) => "TimeoutError",
        }
    }
}
