//! Detection, analysis and selection in one call.

use serde_json::{Value, json};

use super::ask::Question;
use super::texts::{contradicted, describe, scope_text};
use super::{VlmReasoner, prompts, shapes};
use crate::reasoner::{Context, Error, Joined};
use crate::state::PlannerOutput;
use agenticiqa_tools::Tool;
use prompts::fill;

/// What stands for the distortions in the templates: they are found in the same answer.
const FOUND: &str = "the distortion_set of your answer";

impl VlmReasoner {
    /// Asks for the steps of a plan at once.
    pub(super) async fn ask_at_once(
        &self,
        context: Context<'_>,
        plan: &PlannerOutput,
        tools: &[&Tool],
    ) -> Result<Joined, Error> {
        let selects = !tools.is_empty();
        let mut tasks = vec![prompts::DETECTION_SYSTEM.to_owned()];
        if plan.plan.distortion_analysis {
            tasks.push(fill(prompts::ANALYSIS_SYSTEM, &[("distortion_set", FOUND)]));
        }
        if selects {
            let described = describe(tools);
            let values = [("distortion_set", FOUND), ("tool_description", described.as_str())];
            tasks.push(fill(prompts::SELECTION_SYSTEM, &values));
        }
        let numbered: Vec<String> =
            tasks.iter().zip(1..).map(|(task, number)| format!("Task {number}:\n{task}")).collect();
        let system = format!("{}\n\n{}", prompts::JOINED_SYSTEM, numbered.join("\n\n"));
        let user = format!(
            "{}{}{}",
            self.user(context, prompts::EXECUTOR_USER),
            scope_text(plan),
            contradicted(context, self.client.name())
        );
        let schema = shapes::joined_schema(&plan.query_scope, plan.plan.distortion_analysis, tools);
        let question = Question::new("joined", system, user, schema).seeing(self, context, plan);
        Ok(self.ask(context, question, |answer: &Value| read(answer, plan, tools)).await?.0)
    }
}

fn read(answer: &Value, plan: &PlannerOutput, tools: &[&Tool]) -> Result<Joined, String> {
    let scope = &plan.query_scope;
    let detected = shapes::read_detection(answer, scope)?;
    if detected.values().all(Vec::is_empty) {
        // Then all distortions are examined, and the answer says nothing about them.
        return Ok(Joined { detected, analyses: None, selection: None });
    }
    let asked = plan.candidates(Some(detected.clone()));
    let analyses = plan.plan.distortion_analysis.then(|| shapes::read_analysis(answer, scope, &asked)).transpose()?;
    let without_nothing = |answer: &Value| -> Value {
        let chosen = answer.get("selected_tools").and_then(Value::as_object).cloned().unwrap_or_default();
        let parts = chosen.into_iter().map(|(part, tools)| {
            let named = tools.as_object().cloned().unwrap_or_default().into_iter().filter(|(_, tool)| !tool.is_null());
            (part, Value::Object(named.collect()))
        });
        json!({"selected_tools": Value::Object(parts.collect())})
    };
    let selected = (!tools.is_empty())
        .then(|| shapes::read_selection(&without_nothing(answer), scope, &asked, tools))
        .transpose()?;
    Ok(Joined { detected, analyses, selection: selected.map(Into::into) })
}
