//! Who does the thinking: a vision-language model, or the built-in analyst that measures instead.
//!
//! Both play the same roles. A role takes what earlier steps found and gives typed values, or says why it cannot.

use std::collections::BTreeMap;
use std::fmt;

use futures_util::future::BoxFuture;

use crate::state::{
    AgenticIqaState, AnswerForm, ByDistortion, Distortion, DistortionAnalysis, ExecutorOutput, PlannerOutput, RegionBox,
    Text, UsedEvidence,
};
use crate::subject::Subject;
use crate::tools::{Registry, Tool};

/// The distortions of each part of the picture.
pub type DistortionSet = BTreeMap<Text, Vec<Distortion>>;

/// The severities of the distortions of each part of the picture.
pub type Analyses = BTreeMap<Text, Vec<DistortionAnalysis>>;

/// What every role may look at.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Question, options, regions, and what earlier nodes and rounds found.
    pub state: &'a AgenticIqaState,
    /// The form that the answer takes.
    pub form: AnswerForm,
    /// The pixels.
    pub subject: &'a Subject,
    /// The tools.
    pub registry: &'a Registry,
}

/// An answer before it is fused with the scores of the tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The letter or the sentence.
    pub final_answer: String,
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

    /// Turns the question into a plan.
    fn plan<'a>(&'a self, context: Context<'a>) -> BoxFuture<'a, Result<PlannerOutput, Error>>;

    /// Finds the distortions of each part.
    fn detect<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
    ) -> BoxFuture<'a, Result<DistortionSet, Error>>;

    /// Judges how bad each distortion is.
    fn analyse<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
    ) -> BoxFuture<'a, Result<Analyses, Error>>;

    /// Chooses one of `tools`, which can all run here, for each distortion of each part.
    fn select<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
        tools: &'a [&'a Tool],
    ) -> BoxFuture<'a, Result<ByDistortion<Text>, Error>>;

    /// Says where the named objects are; those that it cannot find are left out.
    fn ground<'a>(
        &'a self,
        context: Context<'a>,
        objects: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<RegionBox>, Error>>;

    /// Answers the question from the evidence. `fused` is what the tools alone say, from 1 to 5.
    fn conclude<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        evidence: &'a ExecutorOutput,
        fused: Option<f64>,
    ) -> BoxFuture<'a, Result<Verdict, Error>>;
}

/// Why a role could not be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pictures cannot be examined.
    #[error("the picture cannot be examined: {0}")]
    Picture(String),
}
