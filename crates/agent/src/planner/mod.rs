//! The planner: turns the question into a plan and adapts the plan to the input.

mod check;

use crate::reasoner::builtin::Builtin;
use crate::reasoner::{Context, Error, Reasoner};
use crate::state::{Node, OneOrMany, PlannerOutput, QueryScope, ReferenceMode, Text};

/// Makes a plan and corrects everything in it that is a fact and not a judgment.
///
/// The plan of a model is compared with how the built-in analyst reads the question. A model that returns no
/// usable plan is replaced by that reading; a model that cannot be reached is an error.
pub async fn plan(reasoner: &dyn Reasoner, context: Context<'_>) -> Result<PlannerOutput, Error> {
    let state = context.state;
    tracing::info!(
        query = state.query.as_str(),
        image = state.image_path.as_str(),
        backend = reasoner.name(),
        "planning"
    );
    let planned = match reasoner.plan(context).await {
        Err(error @ Error::BadAnswers { .. }) => {
            context.events.fallback(Node::Planner, reasoner.name(), Builtin.name(), &error);
            Builtin.plan(context).await?
        }
        planned => planned?,
    };
    let checked = if reasoner.is_checked() { check::checked(planned, context).await? } else { planned };
    let plan = settle(checked, context);
    tracing::info!(?plan, "planned");
    Ok(plan)
}

/// Sets the reference mode from the input, adds the tools that the user requested, and drops
/// unknown tool names with a note.
fn settle(mut plan: PlannerOutput, context: Context<'_>) -> PlannerOutput {
    plan.reference_mode = match context.inputs.reference() {
        Some(_) => ReferenceMode::FullReference,
        None => ReferenceMode::NoReference,
    };
    let mut tools: Vec<Text> = context.state.requested_tools.clone();
    if tools.is_empty() {
        for name in plan.required_tools() {
            match context.registry.get(name) {
                Ok(tool) => tools.extend(Text::new(tool.name())),
                Err(error) => context.events.note(format!("the plan asks for a tool that does not exist: {error}")),
            }
        }
    } else {
        // The user requested these tools, so they run for any type of question.
        plan.plan.tool_execution = true;
        plan.plan.distortion_analysis = true;
    }
    plan.required_tool = OneOrMany::from_vec(tools);
    if plan.required_tool.is_some() {
        plan.plan.tool_selection = false;
    }
    if let (QueryScope::Objects(objects), Some(distortions)) = (&plan.query_scope, &mut plan.distortions) {
        let known = |object: &Text| objects.contains(object) || object.as_str() == crate::state::GLOBAL;
        distortions.retain(|object, list| known(object) && !list.is_empty());
    }
    if plan.distortions.as_ref().is_some_and(std::collections::BTreeMap::is_empty) {
        plan.distortions = None;
    }
    plan
}
