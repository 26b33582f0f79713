//! Tool selection: decides which tool measures which distortion.

use super::{Executor, step};
use crate::events::Subtask;
use crate::reasoner::{Context, DistortionSet, Selection};
use crate::state::{ByDistortion, OneOrMany, PlannerOutput, ReferenceMode, Text};
use agenticiqa_tools::{Tool, ToolType};

/// The generic tools of the specification, used when no better tool can be chosen.
const GENERIC: [(ToolType, &str); 2] = [(ToolType::FullReference, "TOPIQ_FR"), (ToolType::NoReference, "QAlign")];

impl Executor<'_> {
    /// Selects the tools for each distortion, unless they are known already. Returns nothing if the plan
    /// neither selects nor runs tools.
    pub(super) async fn select(
        &self,
        context: Context<'_>,
        plan: &PlannerOutput,
        distortions: &DistortionSet,
        known: Option<Selection>,
    ) -> Option<Selection> {
        if !plan.plan.tool_selection && !plan.plan.tool_execution {
            return None;
        }
        if let Some(required) = &plan.required_tool {
            let selected = for_all(distortions, &canonical(context, required));
            return Some(Selection { selected, ..Selection::default() });
        }
        if known.is_some() {
            return known;
        }
        let full_reference = plan.reference_mode == ReferenceMode::FullReference;
        let tools = offered(context, full_reference);
        if plan.plan.tool_selection {
            let chosen = self.reasoner.select(context, plan, distortions, &tools);
            let chosen = step(context, Subtask::ToolSelection, chosen).await;
            if chosen.is_some() {
                return chosen;
            }
        }
        Some(self.generic(context, distortions, &tools, full_reference))
    }

    /// Selects the generic tool for all distortions, or the best available tool if it cannot run here.
    fn generic(
        &self,
        context: Context<'_>,
        distortions: &DistortionSet,
        tools: &[&Tool],
        full_reference: bool,
    ) -> Selection {
        let wanted = if full_reference { ToolType::FullReference } else { ToolType::NoReference };
        let name = GENERIC.iter().find(|(kind, _)| *kind == wanted).map_or("", |(_, name)| name);
        let available = tools.iter().find(|tool| tool.name() == name);
        match available.and_then(|tool| Text::new(tool.name()).ok()) {
            Some(tool) => Selection { selected: for_all(distortions, &OneOrMany::One(tool)), ..Selection::default() },
            None => {
                context
                    .events
                    .problem(format!("{name} cannot run here: the best available tool was used for each distortion"));
                self.reasoner.best_tools(distortions, tools, full_reference)
            }
        }
    }
}

/// Returns the tools that are offered for a plan.
pub(super) fn offered_for<'a>(context: Context<'a>, plan: &PlannerOutput) -> Vec<&'a Tool> {
    offered(context, plan.reference_mode == ReferenceMode::FullReference)
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
