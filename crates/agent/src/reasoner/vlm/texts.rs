//! The texts that are added to a user prompt: options, plans that were tried, tools, evidence and
//! measurements.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::fusion::{Estimate, counted};
use crate::question;
use crate::reasoner::Context;
use crate::state::{
    AnswerForm, Attribute, DistortionAnalysis, ExecutorOutput, Measured, Mode, OneOrMany, PlannerOutput, QueryType,
    Score, ScoreParts, Severity, ToolExecutionLog,
};
use agenticiqa_tools::Tool;

/// Returns the options of a multiple-choice question if the question text does not contain them.
pub(super) fn options_text(context: Context<'_>) -> Option<String> {
    let options = &context.state.options;
    let inside = !question::options_in(context.state.query.as_str()).is_empty();
    let lines: Vec<String> = options.iter().map(|option| format!("{}. {}", option.letter, option.text)).collect();
    (!options.is_empty() && !inside).then(|| format!("The answer choices:\n{}", lines.join("\n")))
}

/// Returns the objects of the plan, for the detector.
pub(super) fn scope_text(plan: &PlannerOutput) -> String {
    format!("\nThe query scope: {}", json!(plan.query_scope.names()))
}

/// Returns the reasons for replanning and the plans that were tried.
pub(super) fn history(context: Context<'_>) -> String {
    let line = |replan: &crate::state::Replan| {
        let tried = serde_json::to_string(&replan.tried).unwrap_or_default();
        format!("- Round {}: {}. Tried: {tried}", replan.iteration + 1, replan.reason)
    };
    context.state.replan_history.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Describes the tools for the selector: type, direction, strengths.
pub(super) fn describe(tools: &[&Tool]) -> String {
    let line = |tool: &&Tool| {
        let metadata = tool.metadata();
        (
            tool.name().to_owned(),
            json!({
                "type": metadata.tool_type,
                "description": tool.description(),
                "strengths": metadata.strengths,
            }),
        )
    };
    Value::Object(tools.iter().map(line).collect()).to_string()
}

/// Returns the available evidence as JSON.
pub(super) fn evidence_text(
    context: Context<'_>,
    evidence: &ExecutorOutput,
    fused: Option<Estimate>,
    mode: Mode,
) -> String {
    let mut sections = String::new();
    if let Some(options) = options_text(context) {
        sections += &format!("\n{options}");
    }
    if context.form == AnswerForm::Score
        && context.state.plan.as_ref().is_some_and(|plan| plan.query_type == QueryType::Other)
    {
        sections += "\nThe answer choices:\nA. Excellent\nB. Good\nC. Fair\nD. Poor\nE. Bad";
    }
    if context.form == AnswerForm::Text && mode == Mode::Grounded {
        sections += "\nThere are no answer choices: let final_answer be one short sentence that answers the question.";
    }
    if let Some(analysis) = evidence.distortion_analysis.as_ref().filter(|analysis| !analysis.is_empty()) {
        sections += &format!("\nDistortion analysis: {}", json!(analysis));
    }
    if let Some(scores) = evidence.quality_scores.as_ref().filter(|scores| !scores.is_empty()) {
        let plain: Value = json!(scores);
        sections += &format!("\nTool response (scores from 1, bad, to 5, excellent): {plain}");
        let several = scores.values().any(|of| of.values().any(|tools| matches!(tools, OneOrMany::Many(_))));
        if several {
            sections += "\nSeveral tools measured the same distortion; each is listed.";
        }
    }
    let mut unlisted: Vec<String> = Vec::new();
    let additional = |log: &&ToolExecutionLog| mode == Mode::Grounded && !evidence.is_selected(log);
    for log in evidence.distinct_runs().into_iter().filter(additional) {
        let score = log.normalized_score.map_or(f64::NAN, Score::value);
        unlisted.push(format!("{} gives {score:.2} for {}", log.tool_name, log.object_name));
    }
    if !unlisted.is_empty() {
        sections += &format!("\nTools that were run in addition: {}.", unlisted.join(", "));
    }
    if let Some(Estimate { score, interval }) = fused {
        let mut names: Vec<&str> =
            counted(evidence, context.registry).iter().map(|log| log.tool_name.as_str()).collect();
        // Runs are in the order of the objects, so the same name may not be next to itself.
        names.sort_unstable();
        names.dedup();
        sections += &format!(
            "\nTogether, the tools that determine the score ({}) point to a quality of {score:.2} on the scale from 1 (E, Bad) to 5 (A, Excellent).",
            names.join(", ")
        );
        if let Some(interval) = interval.filter(|_| mode == Mode::Grounded) {
            let (low, high) = (interval.low(), interval.high());
            sections += &format!(" Nine of ten mean opinions are expected between {low:.2} and {high:.2}.");
        }
    }
    if mode == Mode::Grounded {
        sections += &measurements(evidence);
    }
    sections
}

/// Returns what was measured of each object, with its numbers, so that an answer can cite them.
fn measurements(evidence: &ExecutorOutput) -> String {
    let mut measured: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for (object, attributes) in evidence.attributes.iter().flatten() {
        let known = attributes.iter().filter(|(_, attribute)| attribute.reason.is_none());
        let attributes: Map<String, Value> =
            known.map(|(axis, attribute)| (axis.name().to_owned(), attribute_json(attribute))).collect();
        measured.entry(object.as_str()).or_default().insert("attributes".to_owned(), Value::Object(attributes));
    }
    for (object, analyses) in evidence.measured_analysis.iter().flatten() {
        let judged = evidence.distortion_analysis.as_ref().and_then(|judged| judged.get(object));
        let is_judged =
            |one: &DistortionAnalysis| judged.iter().copied().flatten().any(|of| of.distortion == one.distortion);
        let named = analyses.iter().filter(|one| one.severity > Severity::None || is_judged(one));
        let severities: Map<String, Value> = named
            .map(|one| (one.distortion.name().to_owned(), json!(format!("{}: {}", one.severity, one.explanation))))
            .collect();
        measured.entry(object.as_str()).or_default().insert("distortions".to_owned(), Value::Object(severities));
    }
    for (object, parts) in evidence.score_parts.iter().flatten() {
        measured.entry(object.as_str()).or_default().insert("contributions to the score".to_owned(), parts_json(parts));
    }
    if measured.is_empty() {
        return String::new();
    }
    format!(
        "\nMeasurements of the pixels (computed, not judged; cite the numbers that your answer uses): {}",
        json!(measured)
    )
}

fn attribute_json(attribute: &Attribute) -> Value {
    let mut fields = Map::new();
    let kind = attribute.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    fields.insert("level".to_owned(), json!(format!("{}{kind}", attribute.level)));
    fields.insert("probability".to_owned(), short(attribute.probability));
    for Measured { name, value, unit } in &attribute.measurements {
        let name = if unit.is_empty() { name.clone() } else { format!("{name} [{unit}]") };
        fields.insert(name, short(*value));
    }
    Value::Object(fields)
}

fn parts_json(parts: &ScoreParts) -> Value {
    let mut fields = Map::new();
    fields.insert("clean image".to_owned(), short(parts.clean));
    for cost in &parts.costs {
        let name = cost.problem.map_or_else(|| cost.distortion.name(), |problem| problem.name());
        fields.insert(name.to_owned(), short(-cost.cost));
    }
    Value::Object(fields)
}

/// Rounds to three digits: more would only cost tokens.
fn short(value: f64) -> Value {
    let digits = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 6) };
    json!(format!("{value:.*}", digits as usize).parse::<f64>().unwrap_or(value))
}

/// Returns why the last round was not enough, if the judgment of this backend contradicted a measurement.
pub(super) fn contradicted(context: Context<'_>, backend: &str) -> String {
    let reason = context.state.replan_history.last().map(|replan| replan.reason.as_str());
    let own = format!("Contradictory evidence: {backend} says ");
    let contradicted = reason.filter(|reason| reason.starts_with(&own));
    contradicted.map(|reason| format!("\nAn earlier round ended so: {reason}. Look again.")).unwrap_or_default()
}
