//! Tool selection: decides which tool measures which distortion.

use super::{Executor, step};
use crate::events::Subtask;
use crate::reasoner::{Context, DistortionSet};
use crate::state::{ByDistortion, Distortion, OneOrMany, PlannerOutput, ReferenceMode, Text};
use agenticiqa_tools::{Tool, ToolType};

/// The generic tools of the specification, used when no better tool can be chosen.
const GENERIC: [(ToolType, &str); 2] = [(ToolType::FullReference, "TOPIQ_FR"), (ToolType::NoReference, "QAlign")];

/// The tools to run.
#[derive(Debug, Default)]
pub(super) struct Selected {
    /// The tools selected for each distortion.
    pub tools: ByDistortion<OneOrMany<Text>>,
    /// Tools that run in addition: the tool that determines the score, or a tool that adds
    /// evidence. Empty if the user named the tools.
    pub additional: ByDistortion<OneOrMany<Text>>,
}

impl Executor<'_> {
    /// Selects the tools for each distortion. Returns nothing if the plan neither selects nor runs
    /// tools.
    pub(super) async fn select(
        &self,
        context: Context<'_>,
        plan: &PlannerOutput,
        distortions: &DistortionSet,
    ) -> Option<Selected> {
        if !plan.plan.tool_selection && !plan.plan.tool_execution {
            return None;
        }
        if let Some(required) = &plan.required_tool {
            let tools = for_all(distortions, &canonical(context, required));
            return Some(Selected { tools, ..Selected::default() });
        }
        let full_reference = plan.reference_mode == ReferenceMode::FullReference;
        let tools = offered(context, full_reference);
        if plan.plan.tool_selection {
            let chosen = self.reasoner.select(context, plan, distortions, &tools);
            if let Some(chosen) = step(context, Subtask::ToolSelection, chosen).await {
                let additional = self.additional(&chosen, &tools, full_reference);
                return Some(Selected { tools: one_each(chosen), additional });
            }
        }
        let chosen = self.generic(context, distortions, &tools, full_reference);
        let additional = self.additional(&chosen, &tools, full_reference);
        Some(Selected { tools: one_each(chosen), additional })
    }

    /// Returns the tools to run in addition to the selected ones.
    fn additional(
        &self,
        chosen: &ByDistortion<Text>,
        tools: &[&Tool],
        full_reference: bool,
    ) -> ByDistortion<OneOrMany<Text>> {
        let companion = |(distortion, selected): (&Distortion, &Text)| {
            let tool = self.reasoner.companion(*distortion, &[selected.as_str()], tools, full_reference)?;
            Some((*distortion, OneOrMany::One(Text::new(tool.name()).ok()?)))
        };
        chosen.iter().map(|(object, of)| (object.clone(), of.iter().filter_map(companion).collect())).collect()
    }

    /// Selects the generic tool for all distortions, or the best available tool if it cannot run here.
    fn generic(
        &self,
        context: Context<'_>,
        distortions: &DistortionSet,
        tools: &[&Tool],
        full_reference: bool,
    ) -> ByDistortion<Text> {
        let wanted = if full_reference { ToolType::FullReference } else { ToolType::NoReference };
        let name = GENERIC.iter().find(|(kind, _)| *kind == wanted).map_or("", |(_, name)| name);
        let available = tools.iter().find(|tool| tool.name() == name);
        match available.and_then(|tool| Text::new(tool.name()).ok()) {
            Some(tool) => {
                let of = |list: &Vec<Distortion>| list.iter().map(|distortion| (*distortion, tool.clone())).collect();
                distortions.iter().map(|(object, list)| (object.clone(), of(list))).collect()
            }
            None => {
                context
                    .events
                    .problem(format!("{name} cannot run here: the best available tool was used for each distortion"));
                self.reasoner.best_tools(distortions, tools, full_reference)
            }
        }
    }
}

/// Returns the tools that can run here and have a 1 to 5 scale. With a reference, full-reference
/// tools come first.
fn offered<'a>(context: Context<'a>, full_reference: bool) -> Vec<&'a Tool> {
    let runs = |tool: &&Tool| {
        let scored = tool.scale() != agenticiqa_tools::Scale::None;
        tool.availability().is_available() && scored && (full_reference || !tool.needs_reference())
    };
    let mut tools: Vec<&Tool> = context.registry.iter().filter(runs).collect();
    tools.sort_by_key(|tool| !tool.needs_reference());
    tools
}

/// Replaces the required tools by their registry names. An unknown name stays and fails when it
/// runs.
fn canonical(context: Context<'_>, required: &OneOrMany<Text>) -> OneOrMany<Text> {
    let name = |tool: &Text| {
        let known = context.registry.get(tool.as_str()).ok().and_then(|known| Text::new(known.name()).ok());
        known.unwrap_or_else(|| tool.clone())
    };
    match required {
        OneOrMany::One(tool) => OneOrMany::One(name(tool)),
        OneOrMany::Many(tools) => OneOrMany::Many(tools.iter().map(name).collect()),
    }
}

fn for_all(distortions: &DistortionSet, tools: &OneOrMany<Text>) -> ByDistortion<OneOrMany<Text>> {
    let of = |list: &Vec<_>| list.iter().map(|distortion| (*distortion, tools.clone())).collect();
    distortions.iter().map(|(object, list)| (object.clone(), of(list))).collect()
}

fn one_each(chosen: ByDistortion<Text>) -> ByDistortion<OneOrMany<Text>> {
    let wrap = |of: std::collections::BTreeMap<_, Text>| {
        of.into_iter().map(|(distortion, tool)| (distortion, OneOrMany::One(tool))).collect()
    };
    chosen.into_iter().map(|(object, of)| (object, wrap(of))).collect()
}
