//! Compares the plan of a model with the question: a distortion that the question names and the model
//! dropped is added, a part that the question does not name is left out. The record notes each change.

use std::collections::BTreeMap;

use crate::language::is_listed;
use crate::question::words::words;
use crate::reasoner::builtin::Builtin;
use crate::reasoner::{Context, Error, Reasoner};
use crate::state::{
    AgenticIqaState, Distortion, DistortionSource, GLOBAL, PlanControlFlags, PlannerOutput, QueryScope, QueryType, Text,
};

/// Words are the same if they begin with the same letters: "branch" and "branches".
const STEM: usize = 4;

/// Returns the plan of a model without what contradicts the question.
pub(super) async fn checked(plan: PlannerOutput, context: Context<'_>) -> Result<PlannerOutput, Error> {
    let read = Builtin.plan(context).await?;
    let mut note = |text: String| context.events.note(text);
    let plan = without_invented_parts(plan, &read, context.state, &mut note);
    Ok(with_named_distortions(plan, &read, &mut note))
}

/// Leaves out parts that the question does not name. If the analyst finds parts in it, the model may have
/// named the same parts in other words.
fn without_invented_parts(
    mut plan: PlannerOutput,
    read: &PlannerOutput,
    state: &AgenticIqaState,
    note: &mut impl FnMut(String),
) -> PlannerOutput {
    let QueryScope::Objects(parts) = &plan.query_scope else { return plan };
    if read.query_scope != QueryScope::Global {
        return plan;
    }
    let (named, invented): (Vec<Text>, Vec<Text>) =
        parts.iter().cloned().partition(|part| is_named(part.as_str(), state));
    if invented.is_empty() {
        return plan;
    }
    for part in &invented {
        note(format!("the plan names \"{part}\", which the question does not: it is left out"));
    }
    plan.query_scope = QueryScope::from_names(named.iter().map(Text::as_str));
    if let Some(distortions) = &mut plan.distortions {
        let left: Vec<Distortion> = invented.iter().filter_map(|part| distortions.remove(part)).flatten().collect();
        if named.is_empty() {
            let whole = Text::new(GLOBAL).into_iter().map(|whole| (whole, left.clone()));
            whole.for_each(|(whole, left)| add(distortions.entry(whole).or_default(), &left));
        }
    }
    let names_tool = plan.required_tool.is_some();
    if plan.query_scope == QueryScope::Global && plan.query_type == QueryType::Iqa {
        // Without a part, the whole image is measured with tools.
        let by_rule = PlanControlFlags::by_rule(plan.query_type, plan.distortions.is_some(), false, names_tool);
        plan.plan.tool_selection |= by_rule.tool_selection;
        plan.plan.tool_execution |= by_rule.tool_execution;
    }
    plan
}

/// Whether the question, its options or its regions name a part. A name in another script than the question
/// may be a translation.
fn is_named(part: &str, state: &AgenticIqaState) -> bool {
    let options = state.options.iter().map(|option| option.text.as_str());
    let regions = state.regions.iter().map(|region| region.name.as_str());
    let texts: Vec<&str> = std::iter::once(state.query.as_str()).chain(options).chain(regions).collect();
    let translated = part.is_ascii() != state.query.as_str().is_ascii();
    let same = |one: &str, other: &str| {
        let short = one.chars().count().min(other.chars().count()).min(STEM);
        one == other || short == STEM && one.chars().take(STEM).eq(other.chars().take(STEM))
    };
    let asked: Vec<String> = texts.iter().flat_map(|text| words(text)).map(|word| word.folded).collect();
    let says_nothing = |word: &str| {
        is_listed(word, |lexicon| lexicon.objects.articles)
            || is_listed(word, |lexicon| lexicon.objects.stop)
            || is_listed(word, |lexicon| lexicon.objects.image)
    };
    let named = words(part).into_iter().map(|word| word.folded).filter(|word| !says_nothing(word));
    translated || named.into_iter().any(|word| asked.iter().any(|other| same(&word, other)))
}

/// Adds distortions that the question names and the model dropped.
fn with_named_distortions(
    mut plan: PlannerOutput,
    read: &PlannerOutput,
    note: &mut impl FnMut(String),
) -> PlannerOutput {
    let Some(named) = &read.distortions else { return plan };
    let planned: Vec<Distortion> = plan.distortions.iter().flat_map(BTreeMap::values).flatten().copied().collect();
    let all = Distortion::ALL.into_iter().filter(|one| named.values().any(|list| list.contains(one)));
    let dropped: Vec<Distortion> = all.filter(|distortion| !planned.contains(distortion)).collect();
    if dropped.is_empty() {
        return plan;
    }
    let names: Vec<&str> = dropped.iter().map(|distortion| distortion.name()).collect();
    note(format!("the question names {}, which the plan left out: added", names.join(", ")));
    let distortions = plan.distortions.get_or_insert_default();
    for part in plan.query_scope.names().into_iter().filter_map(|part| Text::new(part).ok()) {
        let of_part: Vec<Distortion> = match named.get(&part) {
            Some(list) => dropped.iter().filter(|one| list.contains(one)).copied().collect(),
            None => dropped.clone(),
        };
        add(distortions.entry(part).or_default(), &of_part);
    }
    if plan.query_type == QueryType::Other {
        plan.query_type = QueryType::Iqa;
        let names_part = plan.query_scope != QueryScope::Global;
        plan.plan = PlanControlFlags::by_rule(plan.query_type, true, names_part, plan.required_tool.is_some());
    }
    // What the question names need not be detected, and a detection could miss it.
    (plan.distortion_source, plan.plan.distortion_detection) = (DistortionSource::Explicit, false);
    plan.plan.distortion_analysis = true;
    plan
}

fn add(list: &mut Vec<Distortion>, more: &[Distortion]) {
    for distortion in more {
        if !list.contains(distortion) {
            list.push(*distortion);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::reasoner::builtin::planner::plan as read;
    use crate::state::AnswerOption;
    use agenticiqa_tools::Registry;

    /// Checks a plan of a model about a question; returns the plan and the notes.
    fn check(query: &str, scope: serde_json::Value, distortions: serde_json::Value) -> (PlannerOutput, Vec<String>) {
        let inferred = distortions.is_null();
        let plan: PlannerOutput = serde_json::from_value(json!({
            "query_type": "IQA", "query_scope": scope,
            "distortion_source": if inferred { "Inferred" } else { "Explicit" }, "distortions": distortions,
            "reference_mode": "No-Reference",
            "plan": {"distortion_detection": inferred, "distortion_analysis": true, "tool_selection": false,
                     "tool_execution": false},
        }))
        .unwrap();
        let text = |text| Text::new(text).unwrap();
        let mut state = AgenticIqaState::new(text("sample"), text(query), text("photo.png"));
        state.options = vec![AnswerOption { letter: 'A', text: "The lantern".to_owned() }];
        let mut notes = Vec::new();
        let mut note = |text: String| notes.push(text);
        let read = read(query, &[], false, &[], &Registry::builtin().unwrap(), &[], &[]);
        let plan = without_invented_parts(plan, &read, &state, &mut note);
        let plan = with_named_distortions(plan, &read, &mut note);
        (plan, notes)
    }

    #[test]
    fn a_distortion_that_the_model_dropped_is_added() {
        let (plan, notes) = check("Is the photo noisy and blurred?", json!("Global"), json!({"Global": ["Blurs"]}));
        let whole = &plan.distortions.unwrap()[&Text::new(GLOBAL).unwrap()];
        assert_eq!(whole, &[Distortion::Blurs, Distortion::Noise]);
        assert!(notes[0].contains("Noise"), "{notes:?}");

        let (plan, _) = check("Is the photo noisy?", json!("Global"), json!(null));
        assert_eq!((plan.distortion_source, plan.plan.distortion_detection), (DistortionSource::Explicit, false));
    }

    #[test]
    fn a_part_that_the_model_invented_is_left_out() {
        let (plan, notes) = check("Is it noisy?", json!(["dragon"]), json!({"dragon": ["Noise"]}));
        assert_eq!(plan.query_scope, QueryScope::Global);
        assert_eq!(plan.distortions.unwrap()[&Text::new(GLOBAL).unwrap()], [Distortion::Noise]);
        assert!(plan.plan.tool_execution, "without a part, tools measure the image");
        assert!(notes[0].contains("dragon"), "{notes:?}");
    }

    #[test]
    fn what_the_question_names_stays() {
        for (query, scope) in [
            ("Is the chandelier noisy?", json!(["chandelier"])),
            ("Which is the noisiest?", json!(["lantern"])),
            ("是否有噪点？", json!(["dragon"])),
            ("Is the man noisy?", json!(["person"])),
        ] {
            let (plan, notes) = check(query, scope.clone(), json!({scope[0].as_str().unwrap(): ["Noise"]}));
            assert_eq!(serde_json::to_value(&plan.query_scope).unwrap(), scope, "{query}: {notes:?}");
            assert!(notes.is_empty(), "{notes:?}");
        }
    }
}
