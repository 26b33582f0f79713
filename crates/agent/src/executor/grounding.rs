//! Locates the objects of the question: given regions first, then what the reasoner finds, then what
//! can be found without a model. A name that nobody finds stands for the whole image.

use super::{Grounding, step};
use crate::events::Subtask;
use crate::reasoner::{Context, Reasoner};
use crate::state::{GLOBAL, Origin, PlanControlFlags, PlannerOutput, RegionBox, Text, entry_of};

/// Returns an entry for each object of the plan that the state has no region of.
pub(super) async fn ground(
    reasoner: &dyn Reasoner,
    grounding: Grounding,
    context: Context<'_>,
    plan: &PlannerOutput,
) -> Vec<RegionBox> {
    let unknown = |name: &&str| *name != GLOBAL && entry_of(name, &context.state.regions).is_none();
    let unknown: Vec<&str> = plan.query_scope.names().into_iter().filter(unknown).collect();
    if unknown.is_empty() || plan.plan == PlanControlFlags::NONE {
        return Vec::new();
    }
    let mut regions = Vec::new();
    if grounding == Grounding::Auto {
        regions = step(context, Subtask::Grounding, reasoner.ground(context, &unknown)).await.unwrap_or_default();
        let missing: Vec<&str> = unknown.iter().copied().filter(|name| entry_of(name, &regions).is_none()).collect();
        if !missing.is_empty() {
            match context.inputs.locate(&missing).await {
                Ok(located) => regions.extend(located),
                Err(reason) => context.events.problem(format!("objects cannot be located: {reason}")),
            }
        }
    }
    let image = &context.inputs.image().picture.image;
    for object in unknown {
        if entry_of(object, &regions).is_none() {
            regions
                .extend(Text::new(object).ok().map(|name| RegionBox::not_found(name, image.width(), image.height())));
        }
        if entry_of(object, &regions).is_some_and(|entry| entry.origin == Origin::WholeImage) {
            let note = format!("the region of {object:?} is not known: the whole image was measured instead");
            context.events.note(note);
        }
    }
    regions
}
