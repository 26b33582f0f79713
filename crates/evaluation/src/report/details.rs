//! The details of a case: question, plan, evidence, conclusion and opinion.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::cases::{Chosen, Kind};
use super::document::Table;
use super::pictures::Picture;
use super::run::Run;
use super::words;
use crate::eval::mcq::key_and_chosen;
use crate::eval::rows::{Line, Row};
use agenticiqa_agent::state::{Contribution, ExecutorOutput, PlannerOutput, RegionBox, UsedEvidence, drawn};
use agenticiqa_metrics::Region;

/// A case in the report.
#[derive(Debug)]
pub(super) struct Case {
    /// The anchor for links.
    pub id: String,
    pub sample_id: String,
    pub kinds: Vec<Kind>,
    /// Why it is shown, in words.
    pub reasons: Vec<String>,
    pub query: String,
    pub options: Vec<String>,
    pub answer: Option<String>,
    pub right_answer: Option<String>,
    pub score: Option<f64>,
    pub interval: Option<(f64, f64)>,
    pub level: Option<String>,
    pub status: String,
    /// The opinion on its own scale.
    pub mos: Option<f64>,
    /// The opinion on 1 to 5, if the ends of its scale are known.
    pub opinion: Option<f64>,
    pub groups: Vec<(String, String)>,
    pub image_path: Option<String>,
    pub reference_path: Option<String>,
    /// The boxes that are drawn, with their names.
    pub regions: Vec<(String, Region)>,
    pub plan: Vec<(&'static str, String)>,
    pub contributions: Table,
    pub distortions: Table,
    pub attributes: Table,
    pub tools: Table,
    /// The sentences of the reasoning, each with its evidence.
    pub reasoning: Vec<(String, Vec<String>)>,
    pub problems: Vec<String>,
    pub pictures: Vec<Picture>,
}

impl Case {
    /// Reads the details from a record.
    pub fn of(run: &Run, chosen: &Chosen, record: Map<String, Value>) -> Self {
        let row = &run.rows.rows[chosen.place];
        let line = Line::from(record);
        let own = |path: &str| line.own(path);
        let text = |path: &str| own(path).and_then(Value::as_str).map(str::to_owned);
        let evidence = own("executor_evidence").and_then(|evidence| ExecutorOutput::deserialize(evidence).ok());
        let evidence = evidence.unwrap_or_default();
        let plan = own("plan").and_then(|plan| PlannerOutput::deserialize(plan).ok());
        let ends = own("summarizer_result.score_interval").and_then(Value::as_array);
        let interval = ends.and_then(|ends| Some((ends.first()?.as_f64()?, ends.get(1)?.as_f64()?)));
        let details = own("metadata.error_details").and_then(Value::as_array);
        let problems = details.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let groups = run.group_by.iter().zip(&row.groups);
        let groups = groups.filter_map(|(field, value)| Some((field.clone(), value.clone()?))).collect();
        Self {
            id: format!("case-{}-{}", run.number, chosen.place + 1),
            sample_id: row.sample_id.clone(),
            kinds: chosen.kinds.clone(),
            reasons: chosen.kinds.iter().filter_map(|kind| reason(run, *kind, row, &evidence)).collect(),
            query: text("query").unwrap_or_default(),
            options: options(&line),
            answer: text("summarizer_result.final_answer"),
            right_answer: key_and_chosen(row).map(|(key, _)| key.to_string()),
            score: row.score.ok(),
            interval,
            level: text("summarizer_result.quality_level"),
            status: text("metadata.final_status").unwrap_or_default(),
            mos: line.field("mos").and_then(Value::as_f64),
            opinion: opinion(row),
            groups,
            image_path: text("image_path"),
            reference_path: text("reference_path"),
            regions: regions(&line),
            plan: plan.as_ref().map(plan_in_words).unwrap_or_default(),
            contributions: contributions(&line),
            distortions: distortions(&evidence),
            attributes: attributes(&evidence),
            tools: tools(&evidence),
            reasoning: reasoning(&line),
            problems,
            pictures: Vec::new(),
        }
    }
}

/// Returns the regions to draw.
fn regions(line: &Line) -> Vec<(String, Region)> {
    let read = |regions: &Value| Vec::<RegionBox>::deserialize(regions).ok();
    let regions = line.own("regions").and_then(read).unwrap_or_default();
    let answer = line.own("summarizer_result.final_answer").and_then(Value::as_str).unwrap_or_default();
    drawn(&regions, answer).into_iter().map(|region| (region.name.to_string(), region.region())).collect()
}

/// Returns the opinion on 1 to 5.
fn opinion(row: &Row) -> Option<f64> {
    let (low, high) = row.mos_range.filter(|(low, high)| low < high)?;
    Some(1.0 + 4.0 * (row.mos? - low) / (high - low))
}

/// Returns a specific reason for showing a case, in addition to its kind.
fn reason(run: &Run, kind: Kind, row: &Row, evidence: &ExecutorOutput) -> Option<String> {
    match kind {
        Kind::WrongAnswer => {
            let (key, letter) = key_and_chosen(row)?;
            let chosen = letter.map_or("no option was chosen".to_owned(), |letter| format!("{letter} was chosen"));
            Some(format!("{chosen}, {key} is correct"))
        }
        Kind::FarFromOpinion => {
            let surprise = run.expectation()?.surprise(row)?;
            let way = if surprise < 0.0 { "lower" } else { "higher" };
            Some(format!("the mean opinion is {:.2} {way} than the score suggests (MOS scale)", surprise.abs()))
        }
        Kind::ToolsDisagree => {
            let runs = evidence.distinct_runs().into_iter().filter(|log| log.region.is_none());
            let mut scores: Vec<(f64, &str)> =
                runs.filter_map(|log| Some((log.normalized_score?.value(), log.tool_name.as_str()))).collect();
            scores.sort_by(|one, other| one.0.total_cmp(&other.0));
            let ((low, least), (high, most)) = (scores.first()?, scores.last()?);
            Some(format!("{least} scores {low:.2}, {most} scores {high:.2}"))
        }
        Kind::Lowest | Kind::Highest => None,
    }
}

fn options(line: &Line) -> Vec<String> {
    let option = |option: &Value| match (option.get("letter").and_then(Value::as_str), option.get("text")) {
        (Some(letter), Some(text)) => Some(format!("{letter}. {}", text.as_str().unwrap_or_default())),
        _ => option.as_str().map(str::to_owned),
    };
    line.own("options").and_then(Value::as_array).into_iter().flatten().filter_map(option).collect()
}

fn plan_in_words(plan: &PlannerOutput) -> Vec<(&'static str, String)> {
    let word = |value: Result<Value, serde_json::Error>| {
        value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let flags = plan.plan;
    let steps = [
        (flags.distortion_detection, "detect distortions"),
        (flags.distortion_analysis, "analyze distortions"),
        (flags.tool_selection, "select tools"),
        (flags.tool_execution, "run tools"),
    ];
    let steps: Vec<&str> = steps.iter().filter(|(wanted, _)| *wanted).map(|(_, step)| *step).collect();
    let steps = if steps.is_empty() { "none".to_owned() } else { steps.join(" → ") };
    let mut words = vec![
        ("question", word(serde_json::to_value(plan.query_type))),
        ("scope", plan.query_scope.names().join(", ")),
        ("reference", word(serde_json::to_value(plan.reference_mode))),
        ("distortions", word(serde_json::to_value(plan.distortion_source)).to_lowercase()),
        ("steps", steps),
    ];
    if !plan.required_tools().is_empty() {
        words.push(("requested tools", plan.required_tools().join(", ")));
    }
    words
}

/// The parts of the score.
fn contributions(line: &Line) -> Table {
    let mut table = Table::new("", &["part of the score", "levels", "90% interval"]).numeric(1..);
    let parts =
        line.own("summarizer_result.contributions").and_then(|parts| Vec::<Contribution>::deserialize(parts).ok());
    for Contribution { name, value, interval } in parts.unwrap_or_default() {
        let interval = interval.map(|[low, high]| format!("{low:+.2} to {high:+.2}")).unwrap_or_default();
        table.row([name, format!("{value:+.2}"), interval]);
    }
    table
}

fn distortions(evidence: &ExecutorOutput) -> Table {
    let mut table = Table::new("", &["object", "distortion", "severity", "explanation"]);
    for (place, found) in evidence.distortion_analysis.iter().flatten() {
        for one in found {
            let words = [place.as_str(), one.distortion.name(), one.severity.name(), one.explanation.as_str()];
            table.row(words);
        }
    }
    table
}

fn attributes(evidence: &ExecutorOutput) -> Table {
    let headings = ["object", "axis", "level", "measurements", "value", "probability"];
    let mut table = Table::new("", &headings).numeric(4..);
    for (place, attributes) in evidence.attributes.iter().flatten() {
        for (axis, one) in attributes {
            let kind = one.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
            let measurements = one.measurements.iter().map(|measured| {
                let space = if measured.unit.is_empty() || measured.unit == "%" { "" } else { " " };
                format!("{} {:.1}{space}{}", measured.name, measured.value, measured.unit)
            });
            // Avoids "-0.00".
            let value = if one.value.abs() < 0.005 { 0.0 } else { one.value };
            table.row([
                place.to_string(),
                axis.name().to_owned(),
                format!("{}{kind}", one.level),
                measurements.collect::<Vec<_>>().join(", "),
                format!("{value:.2}"),
                words::percent(one.probability),
            ]);
        }
    }
    table
}

fn tools(evidence: &ExecutorOutput) -> Table {
    let mut table = Table::new("", &["tool", "object", "raw score", "1 to 5", "90% interval", "time"]).numeric(2..);
    let mut shown: BTreeMap<(&str, Option<[usize; 4]>), ()> = BTreeMap::new();
    for log in &evidence.tool_logs {
        if shown.insert((log.tool_name.as_str(), log.region), ()).is_some() {
            continue;
        }
        let time =
            if log.cached { "cached".to_owned() } else { words::milliseconds(1000.0 * log.execution_time.value()) };
        let raw =
            log.raw_score.map_or_else(|| log.error.clone().unwrap_or_else(words::nothing), |raw| words::raw(raw.0));
        let interval = log.interval.map(|ends| format!("{:.2} – {:.2}", ends.low(), ends.high()));
        table.row([
            log.tool_name.to_string(),
            log.object_name.to_string(),
            raw,
            words::score(log.normalized_score.map(|score| score.value())),
            interval.unwrap_or_else(words::nothing),
            time,
        ]);
    }
    table
}

/// Returns the sentences with their evidence, or the whole reasoning if it cites no evidence.
fn reasoning(line: &Line) -> Vec<(String, Vec<String>)> {
    let used = line.own("summarizer_result.used_evidence").and_then(|used| Vec::<UsedEvidence>::deserialize(used).ok());
    let used = used.unwrap_or_default();
    if !used.is_empty() {
        return used
            .into_iter()
            .map(|one| (one.sentence, one.evidence.iter().map(|place| in_words(line, place)).collect()))
            .collect();
    }
    let whole = line.own("summarizer_result.quality_reasoning").and_then(Value::as_str);
    whole.map(|text| vec![(text.to_owned(), Vec::new())]).unwrap_or_default()
}

/// Returns the readable name of a JSON pointer into the evidence: the tool, the distortion or the axis.
fn in_words(line: &Line, place: &str) -> String {
    let found = line.own("executor_evidence").and_then(|evidence| evidence.pointer(place));
    let name = |field: &str| found.and_then(|found| found.get(field)).and_then(Value::as_str);
    name("tool_name").or_else(|| name("type")).or_else(|| name("axis")).unwrap_or(place).to_owned()
}
