//! Implements [`Reasoner`] for the built-in analyst with the lexicon and measurements.

use std::sync::Arc;

use agenticiqa_metrics::Region;
use futures_util::FutureExt;
use futures_util::future::ready;

use super::conclusion::{self, Case, Conclusion, Frame};
use super::intent::{self, Things};
use super::{planner, verdict};
use crate::fusion::Estimate;
use crate::language::Language;
use crate::question::meaning::{self, Form};
use crate::question::question_without_options;
use crate::reasoner::selection;
use crate::reasoner::{
    Analyses, Context, Description, Descriptions, DistortionSet, Error, Reasoner, Selection, Thought, Verdict,
};
use crate::state::region_of;
use crate::state::{
    AnswerForm, Axis, DEFAULT_QUERY, Distortion, DistortionAnalysis, ExecutorOutput, Origin, PlannerOutput, QueryScope,
    ReferenceMode, RegionBox, Severity, Text, WhatIfs,
};
use agenticiqa_tools::Tool;
use agenticiqa_vision::perception::{Examination, Finding};
use agenticiqa_vision::repair::{self, Effort};

/// The number of most likely distortions to examine in an image without visible distortions.
const LIKELIEST: usize = 2;

/// The built-in analyst. It needs no model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Builtin;

impl Reasoner for Builtin {
    fn name(&self) -> &str {
        "builtin"
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn plan<'a>(&'a self, context: Context<'a>) -> Thought<'a, PlannerOutput> {
        let state = context.state;
        let regions: Vec<&str> = state.regions.iter().map(|region| region.name.as_str()).collect();
        let tools: Vec<String> = state.requested_tools.iter().map(ToString::to_string).collect();
        let tried: Vec<(String, PlannerOutput)> =
            state.replan_history.iter().map(|replan| (replan.reason.to_string(), replan.tried.clone())).collect();
        let has_reference = context.inputs.reference().is_some();
        let query = state.query.as_str();
        let plan = planner::plan(query, &state.options, has_reference, &regions, context.registry, &tools, &tried);
        let plan = of_given_regions(plan, context);
        if !regions.is_empty() || !state.options.is_empty() {
            return ready(Ok(plan)).boxed();
        }
        let Some(things) = intent::things_asked_for(&meaning::read_all(&question_without_options(query))) else {
            return ready(Ok(plan)).boxed();
        };
        let class = match things {
            Things::Any => None,
            Things::Of(class) => Some(class),
        };
        async move {
            let found = context.inputs.things(class).await.map_err(Error::Picture)?;
            let names: Vec<&str> = found.iter().map(String::as_str).collect();
            Ok(if names.len() < 2 { plan } else { planner::about(plan, &names) })
        }
        .boxed()
    }

    fn detect<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, DistortionSet> {
        async move {
            let mut set = DistortionSet::new();
            for part in plan.query_scope.names() {
                let examination = examine(context, part).await?;
                let name = Text::new(part).map_err(|error| Error::Picture(error.to_string()))?;
                set.insert(name, seen(&examination));
            }
            Ok(set)
        }
        .boxed()
    }

    fn describe<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, Option<Descriptions>> {
        describe(context, plan).map(|described| described.map(Some)).boxed()
    }

    fn analyze<'a>(
        &'a self,
        context: Context<'a>,
        _: &'a PlannerOutput,
        distortions: &'a DistortionSet,
    ) -> Thought<'a, Analyses> {
        async move {
            let mut analyses = Analyses::new();
            for (part, distortions) in distortions {
                let examination = examine(context, part.as_str()).await?;
                let analyzed = distortions.iter().map(|distortion| {
                    let finding = examination.finding(*distortion);
                    DistortionAnalysis::new(*distortion, finding.severity, &explain(finding))
                });
                let analyzed: Result<Vec<_>, _> = analyzed.collect();
                analyses.insert(part.clone(), analyzed.map_err(|error| Error::Picture(error.to_string()))?);
            }
            Ok(analyses)
        }
        .boxed()
    }

    fn select<'a>(
        &'a self,
        _: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, Selection> {
        let full_reference = plan.reference_mode == ReferenceMode::FullReference;
        ready(Ok(self.best_tools(distortions, tools, full_reference))).boxed()
    }

    fn best_tools(&self, distortions: &DistortionSet, tools: &[&Tool], full_reference: bool) -> Selection {
        let chosen = selection::choose(distortions, tools, full_reference);
        Selection { additional: selection::companions(&chosen, tools, full_reference), ..chosen.into() }
    }

    fn detects_in_regions(&self) -> bool {
        true
    }

    fn ground<'a>(&'a self, context: Context<'a>, objects: &'a [&'a str]) -> Thought<'a, Vec<RegionBox>> {
        async move { context.inputs.locate(objects).await.map_err(Error::Picture) }.boxed()
    }

    fn conclude<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        evidence: &'a ExecutorOutput,
        fused: Option<Estimate>,
    ) -> Thought<'a, Verdict> {
        let question = question_without_options(context.state.query.as_str());
        let places = context.state.regions.iter().filter(|region| region.is_place());
        let placed: Vec<&str> = places.map(|region| region.name.as_str()).collect();
        let frame = Frame::of(&context.inputs.image().picture.image, &context.state.regions);
        let case = Case {
            question: &question,
            options: &context.state.options,
            form: context.form,
            plan,
            evidence,
            fused,
            placed: &placed,
            frame,
            registry: context.registry,
            language: Language::of(&question),
        };
        let concluded = conclusion::conclude(&case);
        let told = verdict::told(&case, &concluded);
        let tells_certainty = told.is_some();
        let concluded = told.unwrap_or(concluded);
        let Conclusion { final_answer, reasoning, levels, used_evidence } = concluded;
        // The level is not known before tools and severities are fused.
        let final_answer = Some(final_answer).filter(|_| context.form != AnswerForm::Score || levels.is_none());
        ready(Ok(Verdict { final_answer, reasoning, levels, used_evidence, tells_certainty })).boxed()
    }
}

/// Describes each object of a plan from measurements.
pub(crate) async fn describe(context: Context<'_>, plan: &PlannerOutput) -> Result<Descriptions, Error> {
    let mut descriptions = Descriptions::new();
    for part in plan.query_scope.names() {
        let examination = examine(context, part).await?;
        let name = Text::new(part).map_err(|error| Error::Picture(error.to_string()))?;
        let (attributes, parts) = (examination.attributes.clone(), examination.parts.clone());
        // Edits of each of many objects take long and nobody asked for them.
        let alone = plan.query_scope.names().len() == 1;
        let what_if = if alone { what_if(context, part, examination).await? } else { None };
        descriptions.insert(name, Description { attributes, parts, what_if });
    }
    Ok(descriptions)
}

/// Measures the severity of every distortion of each object. In images that are unlike photos, only noise
/// is measured; of the rest it is not known whether it is bad.
pub(crate) async fn measure(context: Context<'_>, plan: &PlannerOutput) -> Result<Analyses, Error> {
    let mut measured = Analyses::new();
    for part in plan.query_scope.names() {
        let examination = examine(context, part).await?;
        let strange =
            examination.attributes.get(&Axis::Compression).is_some_and(|attribute| attribute.reason.is_some());
        let counts = |finding: &&Finding| !strange || finding.category == Distortion::Noise;
        let analyzed =
            examination.findings.iter().filter(counts).filter_map(|finding| {
                DistortionAnalysis::new(finding.category, finding.severity, &explain(finding)).ok()
            });
        let name = Text::new(part).map_err(|error| Error::Picture(error.to_string()))?;
        measured.insert(name, analyzed.collect());
    }
    Ok(measured)
}

/// Regions that are given are always used: the default question is about each of them.
fn of_given_regions(plan: PlannerOutput, context: Context<'_>) -> PlannerOutput {
    let given = context.state.regions.iter().filter(|region| region.origin == Origin::Given);
    let names: Vec<&str> = given.map(|region| region.name.as_str()).collect();
    if names.is_empty() || plan.query_scope != QueryScope::Global || context.state.query.as_str() != DEFAULT_QUERY {
        return plan;
    }
    PlannerOutput { query_scope: QueryScope::from_names(names), ..plan }
}

/// Examines the region of an object, or the whole image if its region is not known.
async fn examine(context: Context<'_>, part: &str) -> Result<Arc<Examination>, Error> {
    let region: Option<Region> = region_of(part, &context.state.regions);
    let inputs = Arc::clone(context.inputs);
    let examined = tokio::task::spawn_blocking(move || inputs.examine(region)).await;
    examined.unwrap_or_else(|failure| Err(failure.to_string())).map_err(Error::Picture)
}

/// Tries to mend the faults of an object, if the caller or the question asks for it. A reference shows how the image should
/// look, so nothing is tried then.
async fn what_if(context: Context<'_>, part: &str, examination: Arc<Examination>) -> Result<Option<WhatIfs>, Error> {
    let asked = || meaning::read_all(context.state.query.as_str()).iter().any(|one| one.form == Form::Advice);
    let effort = if asked() { Some(Effort::Full) } else { context.inputs.what_if() };
    let Some(effort) = effort.filter(|_| context.inputs.reference().is_none()) else { return Ok(None) };
    let region: Option<Region> = region_of(part, &context.state.regions);
    let inputs = Arc::clone(context.inputs);
    let tried = tokio::task::spawn_blocking(move || {
        let part = inputs.part(region).map_err(|error| error.to_string())?;
        repair::what_if(&part.image, &examination, effort).map_err(|error| error.to_string())
    });
    tried.await.unwrap_or_else(|failure| Err(failure.to_string())).map(Some).map_err(Error::Picture)
}

/// The numbers of a finding, after the subtype of the distortion if it is known.
fn explain(finding: &Finding) -> String {
    match finding.kind.filter(|_| finding.severity > Severity::None) {
        Some(kind) => format!("{kind}: {}", finding.explanation),
        None => finding.explanation.clone(),
    }
}

/// Returns the visible distortions, worst first, or the most likely ones if none is visible.
fn seen(examination: &Examination) -> Vec<Distortion> {
    let detected: Vec<Distortion> = examination.detected().iter().map(|finding| finding.category).collect();
    if !detected.is_empty() {
        return detected;
    }
    let mut findings: Vec<&Finding> = examination.findings.iter().collect();
    findings.sort_by(|a, b| b.level.total_cmp(&a.level));
    findings.iter().take(LIKELIEST).map(|finding| finding.category).collect()
}
