//! The answer formats: the JSON Schema for the model, and the conversion into typed values.
//!
//! Reading accepts variants in spelling (case, synonyms, a string instead of a list with one item)
//! but checks the meaning. An answer is rejected with a sentence that is sent back to the model.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::reasoner::{Analyses, DistortionSet};
use crate::state::align;
use crate::state::{
    ByDistortion, Distortion, DistortionAnalysis, DistortionSource, GLOBAL, OneOrMany, Origin, PlanControlFlags,
    PlannerOutput, QueryScope, QueryType, ReferenceMode, RegionBox, Severity, Text,
};
use agenticiqa_metrics::{Region, fold_name};
use agenticiqa_tools::Tool;

/// The maximum length of names and explanations in an answer.
const NAME: u32 = 60;
const EXPLANATION: u32 = 400;

/// Severities of the same distortion that lie so many levels apart contradict each other.
const CONTRADICTION: u8 = 2;

/// Returns the value of `field`, or why it is missing.
fn field<'a>(answer: &'a Value, field: &str) -> Result<&'a Value, String> {
    answer.get(field).ok_or_else(|| format!("the field {field:?} is missing"))
}

fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("{field} must be a string, not {value}"))
}

fn object<'a>(value: &'a Value, field: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{field} must be an object, not {value}"))
}

/// Returns the items of a list, or a single value as a list.
fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

fn closed(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Builds an object schema with the same kind of value for each name.
fn each<'a>(names: impl IntoIterator<Item = &'a str>, value: impl Fn(&str) -> Value) -> Value {
    closed(Value::Object(names.into_iter().map(|name| (name.to_owned(), value(name))).collect()))
}

fn categories() -> Value {
    json!({"type": "array", "items": {"type": "string", "enum": Distortion::names()}, "maxItems": 7})
}

/// The schema of the plan.
pub fn plan_schema() -> Value {
    let name = json!({"type": "string", "minLength": 1, "maxLength": NAME});
    let flag = json!({"type": "boolean"});
    closed(json!({
        "query_type": {"type": "string", "enum": ["IQA", "Other"]},
        "query_scope": {"type": "array", "items": name, "minItems": 1, "maxItems": 6},
        "distortion_source": {"type": "string", "enum": ["Explicit", "Inferred"]},
        "distortions": {"anyOf": [
            {"type": "object", "additionalProperties": categories(), "maxProperties": 6},
            {"type": "null"},
        ]},
        "reference_mode": {"type": "string", "enum": ["Full-Reference", "No-Reference"]},
        "required_tool": {"anyOf": [{"type": "string", "maxLength": NAME}, {"type": "null"}]},
        "plan": closed(json!({
            "distortion_detection": flag, "distortion_analysis": flag, "tool_selection": flag, "tool_execution": flag,
        })),
    }))
}

/// Reads a plan.
pub fn read_plan(answer: &Value) -> Result<PlannerOutput, String> {
    let query_scope = read_scope(field(answer, "query_scope")?)?;
    let distortions = match answer.get("distortions") {
        None | Some(Value::Null) => None,
        Some(named) => Some(read_distortions(named, &query_scope)?).filter(|named| !named.is_empty()),
    };
    let required = list(answer.get("required_tool").unwrap_or(&Value::Null));
    let named =
        |tool: &&Value| tool.as_str().is_some_and(|tool| !["", "null", "none"].contains(&tool.to_lowercase().trim()));
    let required: Vec<Text> =
        required.iter().filter(|tool| named(tool)).filter_map(|tool| Text::new(tool.as_str()?).ok()).collect();
    let flags = field(answer, "plan")?;
    Ok(PlannerOutput {
        query_type: word(
            answer,
            "query_type",
            &[
                ("iqa", QueryType::Iqa),
                ("other", QueryType::Other),
                ("explanation", QueryType::Other),
                ("mcq", QueryType::Other),
            ],
        )?,
        query_scope,
        distortion_source: word(
            answer,
            "distortion_source",
            &[
                ("explicit", DistortionSource::Explicit),
                ("explict", DistortionSource::Explicit),
                ("inferred", DistortionSource::Inferred),
            ],
        )?,
        distortions,
        reference_mode: word(
            answer,
            "reference_mode",
            &[("fullreference", ReferenceMode::FullReference), ("noreference", ReferenceMode::NoReference)],
        )?,
        required_tool: OneOrMany::from_vec(required),
        plan: PlanControlFlags {
            distortion_detection: flag(flags, &["distortion_detection"])?,
            distortion_analysis: flag(flags, &["distortion_analysis"])?,
            tool_selection: flag(flags, &["tool_selection"])?,
            tool_execution: flag(flags, &["tool_execution", "tool_execute"])?,
        },
    })
}

fn read_scope(scope: &Value) -> Result<QueryScope, String> {
    let names: Vec<&str> = list(scope).into_iter().map(|name| text(name, "query_scope")).collect::<Result<_, _>>()?;
    Ok(QueryScope::from_names(names))
}

/// Reads one of the words of a field, ignoring case, blanks and hyphens.
fn word<T: Copy>(answer: &Value, name: &str, words: &[(&str, T)]) -> Result<T, String> {
    let written = text(field(answer, name)?, name)?;
    let folded = fold_name(written);
    let found = words.iter().find(|(word, _)| *word == folded);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("{name} must be one of {}, not {written:?}", known.join(", "))
    })
}

fn flag(flags: &Value, names: &[&str]) -> Result<bool, String> {
    let value = names.iter().find_map(|name| flags.get(name));
    match value {
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("true") => Ok(true),
        Some(Value::String(word)) if word.eq_ignore_ascii_case("false") => Ok(false),
        other => Err(format!("plan.{} must be true or false, not {}", names[0], other.unwrap_or(&Value::Null))),
    }
}

/// The schema of the detection.
pub fn detection_schema(scope: &QueryScope) -> Value {
    closed(json!({"distortion_set": each(scope.names(), |_| categories())}))
}

/// Reads the distortions of each object.
pub fn read_detection(answer: &Value, scope: &QueryScope) -> Result<DistortionSet, String> {
    read_distortions(field(answer, "distortion_set")?, scope)
}

fn read_distortions(written: &Value, scope: &QueryScope) -> Result<DistortionSet, String> {
    let mut set = DistortionSet::new();
    for (name, distortions) in object(written, "the distortions")? {
        let Some(part) = align(name, scope) else { continue };
        let of_part = set.entry(part).or_default();
        for distortion in list(distortions) {
            let distortion =
                text(distortion, "a distortion")?.parse::<Distortion>().map_err(|error| error.to_string())?;
            if !of_part.contains(&distortion) {
                of_part.push(distortion);
            }
        }
    }
    Ok(set)
}

/// The schema of the analysis.
pub fn analysis_schema(distortions: &DistortionSet) -> Value {
    let parts = each(distortions.keys().map(Text::as_str), |part| {
        let types: Vec<&str> =
            distortions.get(part).into_iter().flatten().map(|distortion| distortion.name()).collect();
        let analysis = closed(json!({
            "type": {"type": "string", "enum": types},
            "severity": {"type": "string", "enum": Severity::names()},
            "explanation": {"type": "string", "minLength": 1, "maxLength": EXPLANATION},
        }));
        json!({"type": "array", "items": analysis, "minItems": 1, "maxItems": types.len()})
    });
    closed(json!({"distortion_analysis": parts}))
}

/// Reads the severities. Only requested distortions are accepted.
pub fn read_analysis(answer: &Value, scope: &QueryScope, asked: &DistortionSet) -> Result<Analyses, String> {
    let mut analyses = Analyses::new();
    for (name, written) in object(field(answer, "distortion_analysis")?, "distortion_analysis")? {
        let Some(part) = align(name, scope) else { continue };
        for written in list(written) {
            let distortion: Distortion = parsed(written, "type")?;
            let severity: Severity = parsed(written, "severity")?;
            let explanation = text(field(written, "explanation")?, "explanation")?;
            if !asked.get(&part).is_some_and(|of_part| of_part.contains(&distortion)) {
                return Err(format!("{distortion} is not among the distortions of {part}"));
            }
            let analysis =
                DistortionAnalysis::new(distortion, severity, explanation).map_err(|error| error.to_string())?;
            let of_part = analyses.entry(part.clone()).or_default();
            match of_part.iter().find(|earlier| earlier.distortion == distortion) {
                Some(earlier) if (earlier.severity as u8).abs_diff(severity as u8) >= CONTRADICTION => {
                    let (one, other) = (earlier.severity, severity);
                    return Err(format!("it contradicts itself: {distortion} of {part} is both {one} and {other}"));
                }
                Some(_) => {}
                None => of_part.push(analysis),
            }
        }
    }
    if analyses.is_empty() {
        return Err("distortion_analysis is empty".to_owned());
    }
    Ok(analyses)
}

fn parsed<T: std::str::FromStr<Err = crate::state::Invalid>>(value: &Value, name: &str) -> Result<T, String> {
    text(field(value, name)?, name)?.parse().map_err(|error: crate::state::Invalid| error.to_string())
}

/// The schema of the tool selection.
pub fn selection_schema(distortions: &DistortionSet, tools: &[&Tool]) -> Value {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    let parts = each(distortions.keys().map(Text::as_str), |part| {
        let of_part = distortions.get(part).into_iter().flatten().map(|distortion| distortion.name());
        each(of_part, |_| json!({"type": "string", "enum": names}))
    });
    closed(json!({"selected_tools": parts}))
}

/// Reads the tool for each distortion. A no-reference tool is not accepted if a full-reference tool
/// is strong at the distortion.
pub fn read_selection(
    answer: &Value,
    scope: &QueryScope,
    distortions: &DistortionSet,
    tools: &[&Tool],
) -> Result<ByDistortion<Text>, String> {
    let mut selected = ByDistortion::<Text>::new();
    for (name, written) in object(field(answer, "selected_tools")?, "selected_tools")? {
        let Some(part) = align(name, scope) else { continue };
        for (distortion, tool) in object(written, "selected_tools")? {
            let distortion: Distortion =
                distortion.parse().map_err(|error: crate::state::Invalid| error.to_string())?;
            let wanted = fold_name(text(tool, "a tool")?);
            let tool = tools.iter().find(|tool| fold_name(tool.name()) == wanted);
            let tool = tool.ok_or_else(|| format!("{wanted:?} is not among the available tools"))?;
            let better = tools.iter().find(|other| other.needs_reference() && other.is_strong_at(distortion));
            if let Some(better) = better.filter(|_| !tool.needs_reference()) {
                let (tool, better) = (tool.name(), better.name());
                return Err(format!("there is a reference: choose a full-reference tool such as {better}, not {tool}"));
            }
            if distortions.get(&part).is_some_and(|of_part| of_part.contains(&distortion)) {
                selected
                    .entry(part.clone())
                    .or_default()
                    .insert(distortion, Text::new(tool.name()).map_err(|e| e.to_string())?);
            }
        }
    }
    for (part, of_part) in distortions {
        for distortion in of_part {
            if !selected.get(part).is_some_and(|tools| tools.contains_key(distortion)) {
                return Err(format!("no tool is chosen for {distortion} of {part}"));
            }
        }
    }
    Ok(selected)
}

/// The schema of detection, analysis and selection in one answer. Which distortions are found is not
/// known, so any of them may be analyzed, and tools may be `null`.
pub fn joined_schema(scope: &QueryScope, analyzes: bool, tools: &[&Tool]) -> Value {
    let mut properties = Map::new();
    properties.insert("distortion_set".to_owned(), each(scope.names(), |_| categories()));
    if analyzes {
        let analysis = closed(json!({
            "type": {"type": "string", "enum": Distortion::names()},
            "severity": {"type": "string", "enum": Severity::names()},
            "explanation": {"type": "string", "minLength": 1, "maxLength": EXPLANATION},
        }));
        let list = json!({"type": "array", "items": analysis, "maxItems": Distortion::ALL.len()});
        properties.insert("distortion_analysis".to_owned(), each(scope.names(), |_| list.clone()));
    }
    if !tools.is_empty() {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let tool = json!({"anyOf": [{"type": "string", "enum": names}, {"type": "null"}]});
        let of_part = each(Distortion::names(), |_| tool.clone());
        properties.insert("selected_tools".to_owned(), each(scope.names(), |_| of_part.clone()));
    }
    closed(Value::Object(properties))
}

/// The schema of the object boxes.
pub fn grounding_schema(objects: &[&str]) -> Value {
    let side = json!({"type": "integer", "minimum": 0, "maximum": 1000});
    let place = json!({"anyOf": [{"type": "array", "items": side, "minItems": 4, "maxItems": 4}, {"type": "null"}]});
    closed(json!({"boxes": each(objects.iter().copied(), |_| place.clone())}))
}

/// Reads boxes in thousandths and converts them to pixels. Objects without a box are omitted.
pub fn read_grounding(answer: &Value, objects: &[&str], width: usize, height: usize) -> Result<Vec<RegionBox>, String> {
    let mut boxes = Vec::new();
    for (name, written) in object(field(answer, "boxes")?, "boxes")? {
        let scope = QueryScope::from_names(objects);
        let Some(part) = align(name, &scope).filter(|part| part.as_str() != GLOBAL) else { continue };
        let sides: Vec<f64> = list(written).iter().filter_map(|side| side.as_f64()).collect();
        if written.is_null() {
            continue;
        }
        let [left, top, right, bottom] = sides[..] else {
            return Err(format!("the box of {name} must be four numbers or null, not {written}"));
        };
        let pixel =
            |thousandths: f64, size: usize| (thousandths.clamp(0.0, 1000.0) / 1000.0 * size as f64).round() as usize;
        let (x, y) = (pixel(left, width), pixel(top, height));
        let (right, bottom) = (pixel(right, width), pixel(bottom, height));
        if right <= x || bottom <= y {
            return Err(format!("the box of {name} has no area: {written}"));
        }
        let place = Region { x, y, width: right - x, height: bottom - y };
        boxes.push(RegionBox::found(part, place, Origin::Model, None));
    }
    Ok(boxes)
}

/// The schema of the conclusion; `letters` are the possible answers, empty for free text.
pub fn conclusion_schema(letters: &[String]) -> Value {
    let answer = match letters {
        [] => json!({"type": "string", "minLength": 1, "maxLength": EXPLANATION}),
        letters => json!({"type": "string", "enum": letters}),
    };
    let reasoning = json!({"type": "string", "minLength": 1, "maxLength": 2 * EXPLANATION});
    closed(json!({"final_answer": answer, "quality_reasoning": reasoning}))
}

/// Reads answer and reasoning, trimmed. Neither may be blank.
pub fn read_conclusion(answer: &Value) -> Result<(String, String), String> {
    let said = |name: &str| -> Result<String, String> {
        let said = text(field(answer, name)?, name)?.trim();
        if said.is_empty() { Err(format!("{name} is empty")) } else { Ok(said.to_owned()) }
    };
    Ok((said("final_answer")?, said("quality_reasoning")?))
}

/// The distortions of each object as JSON, in the format of the prompts.
pub fn distortions_json(distortions: &DistortionSet) -> String {
    let named: BTreeMap<&str, Vec<&str>> = distortions
        .iter()
        .map(|(part, list)| (part.as_str(), list.iter().map(|distortion| distortion.name()).collect()))
        .collect();
    json!(named).to_string()
}
