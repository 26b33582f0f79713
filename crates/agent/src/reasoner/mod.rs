//! Reasoners: a vision-language model, or the built-in analyst, which measures instead.
//!
//! Both implement the trait [`Reasoner`]. Each method takes the results of earlier steps and
//! returns typed values or an error.

pub mod builtin;
pub mod fallback;
pub mod selection;
pub mod vlm;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::events::EventLog;
use crate::fusion::Estimate;
use crate::inputs::Inputs;
use crate::state::{
    AgenticIqaState, AnswerForm, Attributes, ByDistortion, Distortion, DistortionAnalysis, ExecutorOutput, OneOrMany,
    PlannerOutput, RegionBox, ScoreParts, Text, UsedEvidence, WhatIfs,
};
use agenticiqa_tools::{Registry, Tool};

/// The distortions of each object.
pub type DistortionSet = BTreeMap<Text, Vec<Distortion>>;

/// The severities of the distortions of each object.
pub type Analyses = BTreeMap<Text, Vec<DistortionAnalysis>>;

/// What was measured of an object apart from its distortions.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// What it looks like.
    pub attributes: Attributes,
    /// The parts of its score.
    pub parts: Option<ScoreParts>,
    /// What edits would change, if that was asked for.
    pub what_if: Option<WhatIfs>,
}

/// The description of each object.
pub type Descriptions = BTreeMap<Text, Description>;

/// The tools to run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The tools selected for each distortion of each object.
    pub selected: ByDistortion<OneOrMany<Text>>,
    /// Tools that run in addition. Only the built-in analyst has them: the tool that determines its
    /// score, or a second tool as evidence.
    pub additional: ByDistortion<OneOrMany<Text>>,
}

impl From<ByDistortion<Text>> for Selection {
    /// Selects one tool for each distortion and none in addition.
    fn from(chosen: ByDistortion<Text>) -> Self {
        Self { selected: one_each(chosen), additional: ByDistortion::new() }
    }
}

fn one_each(chosen: ByDistortion<Text>) -> ByDistortion<OneOrMany<Text>> {
    let one = |(distortion, tool)| (distortion, OneOrMany::One(tool));
    chosen.into_iter().map(|(object, of)| (object, of.into_iter().map(one).collect())).collect()
}

/// The results of detection, analysis and selection in one step. What is missing is asked for separately.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The distortions of each object.
    pub detected: DistortionSet,
    /// Their severities.
    pub analyses: Option<Analyses>,
    /// The tools.
    pub selection: Option<Selection>,
}

/// The future result of a method of [`Reasoner`].
pub type Thought<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// The information that is available to every method of a reasoner.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The question, its options and regions, and the results of earlier nodes and rounds.
    pub state: &'a AgenticIqaState,
    /// The form of the answer.
    pub form: AnswerForm,
    /// The decoded images.
    pub inputs: &'a Arc<Inputs>,
    /// The available tools.
    pub registry: &'a Arc<Registry>,
    /// Receives events, token use and problems.
    pub events: &'a EventLog,
}

/// An answer before fusion with the tool scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The letter or the sentence; absent if the answer is the level nearest to the fused score.
    pub final_answer: Option<String>,
    /// The reasons for the answer.
    pub reasoning: String,
    /// The probability of each quality level, worst first; absent if no level was judged.
    pub levels: Option<[f64; 5]>,
    /// The evidence for each sentence of the reasoning.
    pub used_evidence: Vec<UsedEvidence>,
    /// Whether the reasons say how sure the level is.
    pub tells_certainty: bool,
}

/// Plans, detects, analyzes, selects tools and concludes.
pub trait Reasoner: Send + Sync + fmt::Debug {
    /// The name of the backend: `builtin`, or provider and model.
    fn name(&self) -> &str;

    /// Whether the same question always has the same answer, so that asking again is useless.
    fn is_deterministic(&self) -> bool {
        false
    }

    /// Turns the question into a plan.
    fn plan<'a>(&'a self, context: Context<'a>) -> Thought<'a, PlannerOutput>;

    /// Detects the distortions of each object.
    fn detect<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, DistortionSet>;

    /// Describes each object on the axes that people use; nothing if the reasoner cannot.
    fn describe<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, Option<Descriptions>> {
        let _ = (context, plan);
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Measures the severity of each distortion, to check the judgment of [`analyze`](Self::analyze) and the
    /// level of [`conclude`](Self::conclude); nothing if they need no check.
    fn measure<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, Option<Analyses>> {
        let _ = (context, plan);
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Whether plans are compared with the question, and claims with measurements.
    fn is_checked(&self) -> bool {
        false
    }

    /// Detects, analyzes and selects in one step; nothing if the reasoner takes the steps separately.
    fn join<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, Option<Joined>> {
        let _ = (context, plan, tools);
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Judges the severity of each distortion.
    fn analyze<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
    ) -> Thought<'a, Analyses>;

    /// Selects one of `tools` for each distortion of each object. All of `tools` can run here.
    fn select<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, Selection>;

    /// Selects the best of `tools` for each distortion by their known strengths, without a model.
    fn best_tools(&self, distortions: &DistortionSet, tools: &[&Tool], full_reference: bool) -> Selection {
        selection::choose(distortions, tools, full_reference).into()
    }

    /// Whether [`detect`](Self::detect) looks at the located regions, so that it has to wait for them.
    fn detects_in_regions(&self) -> bool {
        false
    }

    /// Locates the named objects. Objects that cannot be found are omitted.
    fn ground<'a>(&'a self, context: Context<'a>, objects: &'a [&'a str]) -> Thought<'a, Vec<RegionBox>>;

    /// Answers the question from the evidence. `fused` is the combined score of the tools alone.
    fn conclude<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        evidence: &'a ExecutorOutput,
        fused: Option<Estimate>,
    ) -> Thought<'a, Verdict>;
}

/// The reason why a reasoner failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The images cannot be examined.
    #[error("the image cannot be examined: {0}")]
    Picture(String),
    /// A call to a model failed.
    #[error(transparent)]
    Model(#[from] agenticiqa_vlm::Error),
    /// A model returned unusable answers in all attempts.
    #[error("{backend} gave {attempts} answers that cannot be used, the last one because {reason}")]
    BadAnswers {
        /// The name of the backend.
        backend: String,
        /// The number of attempts.
        attempts: u32,
        /// The problem of the last answer.
        reason: String,
    },
    /// The previous node left no result.
    #[error("the state has no {0}: run the {1} first")]
    Prerequisite(&'static str, &'static str),
    /// The node exceeded its time limit.
    #[error("no result within {0} seconds")]
    Timeout(u64),
}

impl Error {
    /// Returns the name of the error type, for grouping.
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
