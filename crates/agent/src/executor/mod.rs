//! The executor: gathers the evidence that the plan asks for.
//!
//! There are four optional steps: distortion detection, distortion analysis, tool selection and
//! tool execution. A step that fails leaves its field empty; the other steps continue. Analysis
//! needs only the distortions, so it runs in parallel with selection and execution.

mod execution;
mod grounding;
mod selection;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::disagreements;
use crate::events::{Event, Subtask};
use crate::reasoner::{
    Analyses, Context, Description, Descriptions, DistortionSet, Error, Joined, Reasoner, Selection,
};
use crate::state::{AgenticIqaState, ExecutorOutput, PlannerOutput, RegionBox, Text, WhatIfs};
use agenticiqa_tools::ToolCache;

/// Whether the objects of the question are located.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grounding {
    /// Locate objects without a known region: by a model if there is one, then by measuring.
    #[default]
    Auto,
    /// Never: they stand for the whole image.
    Off,
}

/// Whether detection, analysis and selection are one call to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Calls {
    /// A call for each step, as in the specification.
    #[default]
    Separate,
    /// One call for all steps that the plan asks for.
    Joined,
}

/// Gathers evidence for a plan.
#[derive(Debug)]
pub struct Executor<'a> {
    /// The reasoner that detects, analyzes and selects.
    pub reasoner: &'a dyn Reasoner,
    /// The cache of earlier tool results.
    pub cache: &'a Arc<ToolCache>,
    /// Whether objects are located.
    pub grounding: Grounding,
    /// Whether detection, analysis and selection are one call.
    pub calls: Calls,
}

/// Adds what the reasoner described to the evidence.
fn describe(output: &mut ExecutorOutput, described: Option<&Descriptions>) {
    let Some(described) = described else { return };
    let of = |(name, one): (&Text, &Description)| (name.clone(), one.attributes.clone());
    output.attributes = Some(described.iter().map(of).collect());
    let parts = described.iter().filter_map(|(name, one)| Some((name.clone(), one.parts.clone()?)));
    output.score_parts = Some(parts.collect());
    let tried: BTreeMap<Text, WhatIfs> =
        described.iter().filter_map(|(name, one)| Some((name.clone(), one.what_if.clone()?))).collect();
    output.what_if = Some(tried).filter(|tried| !tried.is_empty());
}

impl Executor<'_> {
    /// Runs the steps that `plan` asks for. Results are added to `found` as they arrive, so that
    /// nothing is lost on a timeout. Returns an entry for each object that the state has no region
    /// of: where it is, or that it was not found.
    pub async fn execute(
        &self,
        context: Context<'_>,
        plan: &PlannerOutput,
        found: &Mutex<ExecutorOutput>,
    ) -> Vec<RegionBox> {
        let record = |change: &dyn Fn(&mut ExecutorOutput)| {
            change(&mut found.lock().unwrap_or_else(PoisonError::into_inner));
        };
        let ground = grounding::ground(self.reasoner, self.grounding, context, plan);
        let detect = async |context: Context<'_>| -> Detected {
            if !plan.plan.distortion_detection {
                return Detected::default();
            }
            if let Some(joined) = self.join(context, plan).await {
                record(&|output| output.distortion_set = Some(joined.detected.clone()));
                return Detected { set: Some(joined.detected), analyses: joined.analyses, selection: joined.selection };
            }
            let detected = step(context, Subtask::DistortionDetection, self.reasoner.detect(context, plan)).await;
            if detected.is_some() {
                record(&|output| output.distortion_set.clone_from(&detected));
            }
            Detected { set: detected, ..Detected::default() }
        };
        // A model looks at the whole image and need not wait; measurements need to know where.
        let (grounded, early) = if self.reasoner.detects_in_regions() {
            (ground.await, None)
        } else {
            let (grounded, detected) = futures_util::future::join(ground, detect(context)).await;
            (grounded, Some(detected))
        };
        let regions: Vec<RegionBox> = context.state.regions.iter().chain(&grounded).cloned().collect();
        let state = AgenticIqaState { regions, ..context.state.clone() };
        let context = Context { state: &state, ..context };
        let Detected { set, analyses, selection } = match early {
            Some(detected) => detected,
            None => detect(context).await,
        };
        let distortions = plan.candidates(set);
        let analysis = async {
            if plan.plan.distortion_analysis {
                let described = async {
                    // An image that cannot be described cannot be analyzed either, which says why.
                    let described = self.reasoner.describe(context, plan).await.unwrap_or_default();
                    record(&|output| describe(output, described.as_ref()));
                };
                let measured = async { self.reasoner.measure(context, plan).await.unwrap_or_default() };
                let analysis = async {
                    let analysis = match analyses {
                        Some(analyses) => Some(analyses),
                        None => {
                            let analysis = self.reasoner.analyze(context, plan, &distortions);
                            step(context, Subtask::DistortionAnalysis, analysis).await
                        }
                    };
                    record(&|output| output.distortion_analysis.clone_from(&analysis));
                    analysis
                };
                let ((), measured, analysis) = futures_util::future::join3(described, measured, analysis).await;
                record(&|output| {
                    output.measured_analysis.clone_from(&measured);
                    let (analysis, measured) = (analysis.as_ref(), measured.as_ref());
                    output.disagreements = disagreements::severities(self.reasoner.name(), analysis, measured);
                });
            }
        };
        let measurement = async {
            let Some(selection) = self.select(context, plan, &distortions, selection).await else { return };
            if plan.plan.tool_selection {
                record(&|output| output.selected_tools = Some(selection.selected.clone()));
            }
            if plan.plan.tool_execution {
                let start = Instant::now();
                let tell = |executed: execution::Executed| {
                    record(&|output| {
                        output.quality_scores.clone_from(&executed.quality_scores);
                        output.tool_logs.clone_from(&executed.tool_logs);
                    });
                };
                execution::execute(context, self.cache, &selection, &state.regions, &tell).await;
                let seconds = start.elapsed().as_secs_f64();
                context.events.emit(Event::SubtaskEnded { subtask: Subtask::ToolExecution, seconds, problem: None });
            }
        };
        futures_util::future::join(analysis, measurement).await;
        grounded
    }
}

impl Executor<'_> {
    /// Takes the steps of the plan in one call, if that is wanted and the reasoner can. A failure leads to
    /// separate calls.
    async fn join(&self, context: Context<'_>, plan: &PlannerOutput) -> Option<Joined> {
        let selects = plan.plan.tool_selection && plan.required_tool.is_none();
        if self.calls == Calls::Separate || !(plan.plan.distortion_analysis || selects) {
            return None;
        }
        let tools = if selects { selection::offered_for(context, plan) } else { Vec::new() };
        let start = Instant::now();
        match self.reasoner.join(context, plan, &tools).await {
            Ok(joined) => {
                let joined = joined?;
                let seconds = start.elapsed().as_secs_f64();
                let ended = |subtask| context.events.emit(Event::SubtaskEnded { subtask, seconds, problem: None });
                ended(Subtask::DistortionDetection);
                if joined.analyses.is_some() {
                    ended(Subtask::DistortionAnalysis);
                }
                if joined.selection.is_some() {
                    ended(Subtask::ToolSelection);
                }
                Some(joined)
            }
            Err(error) => {
                context.events.problem(format!("the joined call failed: {error}; the steps were taken one by one"));
                None
            }
        }
    }
}

/// What detection found, and what came with it.
#[derive(Default)]
struct Detected {
    set: Option<DistortionSet>,
    analyses: Option<Analyses>,
    selection: Option<Selection>,
}

/// Runs one step and emits its event. A failure is recorded as a problem and does not end the run.
async fn step<T>(context: Context<'_>, subtask: Subtask, work: impl Future<Output = Result<T, Error>>) -> Option<T> {
    let start = Instant::now();
    let outcome = work.await;
    let problem = outcome.as_ref().err().map(|error| format!("{} failed: {error}", subtask.name()));
    if let Some(problem) = &problem {
        tracing::error!(subtask = subtask.name(), "{problem}");
        context.events.problem(problem.clone());
    }
    let seconds = start.elapsed().as_secs_f64();
    context.events.emit(Event::SubtaskEnded { subtask, seconds, problem });
    outcome.ok()
}
