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

use crate::events::{Event, Subtask};
use crate::reasoner::{Context, Description, Descriptions, DistortionSet, Error, Reasoner};
use crate::state::{
    AgenticIqaState, Distortion, ExecutorOutput, GLOBAL, PlannerOutput, QueryScope, RegionBox, Text, WhatIfs,
};
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

/// Gathers evidence for a plan.
#[derive(Debug)]
pub struct Executor<'a> {
    /// The reasoner that detects, analyzes and selects.
    pub reasoner: &'a dyn Reasoner,
    /// The cache of earlier tool results.
    pub cache: &'a Arc<ToolCache>,
    /// Whether objects are located.
    pub grounding: Grounding,
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
        let detect = async |context: Context<'_>| {
            if !plan.plan.distortion_detection {
                return None;
            }
            let detected = step(context, Subtask::DistortionDetection, self.reasoner.detect(context, plan)).await?;
            record(&|output| output.distortion_set = Some(detected.clone()));
            Some(detected)
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
        let detected = match early {
            Some(detected) => detected,
            None => detect(context).await,
        };
        let distortions = candidates(plan, detected);
        let analysis = async {
            if plan.plan.distortion_analysis {
                // An image that cannot be described cannot be analyzed either, which says why.
                let described = self.reasoner.describe(context, plan).await.unwrap_or_default();
                record(&|output| describe(output, described.as_ref()));
                let analysis = self.reasoner.analyze(context, plan, &distortions);
                let analysis = step(context, Subtask::DistortionAnalysis, analysis).await;
                record(&|output| output.distortion_analysis.clone_from(&analysis));
            }
        };
        let measurement = async {
            let Some(selection) = self.select(context, plan, &distortions).await else { return };
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

/// Returns the distortions to examine: the detected ones, else those of the question, else all.
fn candidates(plan: &PlannerOutput, detected: Option<DistortionSet>) -> DistortionSet {
    let mut distortions = detected.or_else(|| plan.distortions.clone()).unwrap_or_default();
    distortions.retain(|_, list| !list.is_empty());
    let scope: Vec<Text> = match &plan.query_scope {
        QueryScope::Objects(objects) => objects.clone(),
        QueryScope::Global => Text::new(GLOBAL).into_iter().collect(),
    };
    if distortions.is_empty() {
        return scope.into_iter().map(|object| (object, Distortion::ALL.to_vec())).collect::<BTreeMap<_, _>>();
    }
    // Distortions of the whole image also apply to objects without distortions of their own.
    if let Some(everywhere) = distortions.get(GLOBAL).cloned() {
        for object in scope {
            distortions.entry(object).or_insert_with(|| everywhere.clone());
        }
        if matches!(plan.query_scope, QueryScope::Objects(_)) {
            distortions.remove(GLOBAL);
        }
    }
    distortions
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
