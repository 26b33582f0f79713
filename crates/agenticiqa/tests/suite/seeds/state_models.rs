//! Scenarios of executor-state-models.

use std::sync::Arc;

use agenticiqa::checkpoint::Checkpoints;
use agenticiqa::events::EventLog;
use agenticiqa::state::{
    AgenticIqaState, Distortion, DistortionAnalysis, ExecutorOutput, PlannerOutput, Score, Severity, SummarizerOutput,
    ToolExecutionLog, schemas,
};
use agenticiqa::tools::Registry;
use serde_json::{Value, json};

use crate::seeds::support::{Scripted, agent, log, plan_json, request};

fn analysis(value: Value) -> Result<DistortionAnalysis, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn tool_log(change: impl Fn(&mut Value)) -> Result<ToolExecutionLog, String> {
    let mut value = log("SSIM", "Global", "Blurs", 3.5);
    change(&mut value);
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn output(value: Value) -> Result<ExecutorOutput, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn full() -> Value {
    json!({
        "distortion_set": {"Global": ["Blurs", "Noise"]},
        "distortion_analysis": {"Global": [{"type": "Blurs", "severity": "severe", "explanation": "edges are soft"}]},
        "selected_tools": {"Global": {"Blurs": "SSIM", "Noise": ["PSNR", "MDSI"]}},
        "quality_scores": {"Global": {"Blurs": ["SSIM", 3.5], "Noise": [["PSNR", 2.5], ["MDSI", 2.0]]}},
        "tool_logs": [log("SSIM", "Global", "Blurs", 3.5)],
    })
}

#[test]
fn distortion_analysis_structure() {
    let good = json!({"type": "Blurs", "severity": "slight", "explanation": "soft"});
    assert_eq!(analysis(good.clone()).unwrap().severity, Severity::Slight);
    for field in ["type", "severity", "explanation"] {
        let mut missing = good.clone();
        missing.as_object_mut().unwrap().remove(field);
        assert!(analysis(missing).unwrap_err().contains(field), "{field} must be required");
    }
}

#[test]
fn validate_severity_levels() {
    for severity in ["none", "slight", "moderate", "severe", "extreme"] {
        assert!(analysis(json!({"type": "Noise", "severity": severity, "explanation": "x"})).is_ok());
    }
    let error = analysis(json!({"type": "Noise", "severity": "awful", "explanation": "x"})).unwrap_err();
    assert!(error.contains("severity must be one of none, slight, moderate, severe, extreme"), "{error}");
}

#[test]
fn validate_explanation_is_non_empty() {
    for blank in ["", "  \n"] {
        assert!(analysis(json!({"type": "Noise", "severity": "none", "explanation": blank})).is_err());
        assert!(DistortionAnalysis::new(Distortion::Noise, Severity::None, blank).unwrap_err().field == "explanation");
    }
}

#[test]
fn tool_execution_log_structure() {
    let log = tool_log(|_| ()).unwrap();
    assert_eq!(
        (log.tool_name.as_str(), log.object_name.as_str(), log.distortion),
        ("SSIM", "Global", Distortion::Blurs)
    );
    assert_eq!((log.fallback, log.error.clone()), (false, None));
    let defaults = tool_log(|value| {
        value.as_object_mut().unwrap().remove("fallback");
        value.as_object_mut().unwrap().remove("error");
    });
    assert_eq!(defaults.unwrap(), log);
    let schema = schemas().into_iter().find(|(name, _)| *name == "ToolExecutionLog").unwrap().1;
    let required = schema.as_value()["required"].as_array().unwrap().clone();
    for field in ["raw_score", "normalized_score"] {
        assert!(tool_log(|value| drop(value.as_object_mut().unwrap().remove(field))).unwrap_err().contains(field));
        assert!(tool_log(|value| value[field] = Value::Null).is_ok(), "null is allowed");
        assert!(required.contains(&json!(field)), "{field} in the schema");
    }
}

#[test]
fn validate_score_ranges() {
    for bad in [0.99, 5.01, -1.0] {
        assert!(tool_log(|value| value["normalized_score"] = json!(bad)).unwrap_err().contains("within [1, 5]"));
        assert!(Score::new(bad).is_err());
    }
    assert!(Score::new(f64::NAN).is_err());
    let error = tool_log(|value| value["execution_time"] = json!(-0.1)).unwrap_err();
    assert!(error.contains("execution_time must be a non-negative number"), "{error}");
}

#[test]
fn record_failed_executions() {
    let failed = tool_log(|value| {
        value["raw_score"] = json!("NaN");
        value["normalized_score"] = Value::Null;
        value["error"] = json!("out of memory");
        value["fallback"] = json!(true);
    });
    let failed = failed.unwrap();
    assert!(failed.raw_score.unwrap().0.is_nan() && failed.normalized_score.is_none() && failed.fallback);
    let again: ToolExecutionLog = serde_json::from_str(&serde_json::to_string(&failed).unwrap()).unwrap();
    assert_eq!(again, failed);
}

#[test]
fn executor_output_structure() {
    let empty = output(json!({})).unwrap();
    assert_eq!(empty, ExecutorOutput::default());
    assert!(empty.tool_logs.is_empty() && empty.distortion_set.is_none() && empty.quality_scores.is_none());
    assert!(output(full()).is_ok());
}

#[test]
fn validate_distortion_set_structure() {
    assert!(output(json!({"distortion_set": {"car": ["Blurs"]}})).is_ok());
    assert!(output(json!({"distortion_set": {"car": ["Tasty"]}})).unwrap_err().contains("distortion type"));
    assert!(output(json!({"distortion_set": {" ": ["Blurs"]}})).is_err(), "a part must have a name");
    assert!(output(json!({"distortion_set": {"car": "Blurs"}})).is_err(), "a list is expected");
}

#[test]
fn validate_distortion_analysis_structure() {
    let of = |item: Value| output(json!({"distortion_analysis": {"Global": [item]}}));
    assert!(of(json!({"type": "Blurs", "severity": "none", "explanation": "sharp"})).is_ok());
    assert!(of(json!({"type": "Blurs", "severity": "huge", "explanation": "sharp"})).is_err());
    assert!(of(json!({"severity": "none", "explanation": "sharp"})).unwrap_err().contains("type"));
}

#[test]
fn validate_selected_tools_structure() {
    let registry = Registry::builtin().unwrap();
    let known = output(json!({"selected_tools": {"Global": {"Blurs": "SSIM"}}})).unwrap();
    assert!(known.check_tools(&registry).is_ok());
    let unknown = output(json!({"selected_tools": {"Global": {"Blurs": "SuperIQA"}}})).unwrap();
    assert!(unknown.check_tools(&registry).unwrap_err().to_string().contains("SuperIQA"));
    assert!(output(json!({"selected_tools": {"Global": {"Ugly": "SSIM"}}})).is_err());
}

#[test]
fn validate_quality_scores_structure() {
    let good = output(json!({"quality_scores": {"Global": {"Blurs": ["SSIM", 4.5]}}})).unwrap();
    assert_eq!(good.quality_scores.unwrap()["Global"][&Distortion::Blurs].as_slice()[0].1.value(), 4.5);
    assert!(output(json!({"quality_scores": {"Global": {"Blurs": ["SSIM", 5.5]}}})).is_err());
    assert!(output(json!({"quality_scores": {"Global": {"Blurs": ["SSIM"]}}})).is_err());
}

fn state() -> Value {
    json!({"sample_id": "a", "query": "Is it sharp?", "image_path": "a.png", "max_replan_iterations": 2})
}

#[test]
fn add_executor_evidence_field() {
    let without: AgenticIqaState = serde_json::from_value(state()).unwrap();
    assert_eq!(without.executor_evidence, None);
    let mut with = state();
    with["executor_evidence"] = full();
    let with: AgenticIqaState = serde_json::from_value(with).unwrap();
    assert_eq!(with.executor_evidence, Some(output(full()).unwrap()));
}

#[tokio::test]
async fn state_merging_with_executor_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_json(json!("Global"), [true, false, false, false]).to_string();
    let model = Scripted::new()
        .says("plan", &[&plan])
        .says("detect", &[r#"{"distortion_set": {"Global": ["Noise"]}}"#])
        .says("score", &[r#"{"final_answer": "B", "quality_reasoning": "Little noise."}"#]);
    let mut agent = agent(&Arc::new(model));
    agent.options.checkpoints = Some(Checkpoints::new(folder.path()));
    agent.assess(request("Rate the quality."), EventLog::default()).await.unwrap();
    let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let states: Vec<Value> = files
        .iter()
        .map(|file| serde_json::from_slice::<Value>(&std::fs::read(file).unwrap()).unwrap()["state"].clone())
        .collect();
    let [planned, executed, summarized] = states.as_slice() else { panic!("{} states", states.len()) };
    assert_eq!(planned["executor_evidence"], Value::Null);
    assert_eq!(executed["executor_evidence"]["distortion_set"], json!({"Global": ["Noise"]}));
    for field in ["query", "image_path", "plan"] {
        assert!(!planned[field].is_null() && planned[field] == executed[field], "{field}");
    }
    assert_eq!(summarized["executor_evidence"], executed["executor_evidence"]);
    assert_eq!(summarized["summarizer_result"]["final_answer"], "B");
}

#[test]
fn serialize_executor_output_to_json() {
    let json = serde_json::to_value(output(full()).unwrap()).unwrap();
    assert_eq!(json["tool_logs"][0]["timestamp"], "2026-01-02T03:04:05Z");
    assert_eq!(json["distortion_analysis"]["Global"][0]["severity"], "severe");
    assert_eq!(json["quality_scores"]["Global"]["Blurs"], json!(["SSIM", 3.5]));
    let empty = serde_json::to_value(ExecutorOutput::default()).unwrap();
    assert_eq!(empty["distortion_set"], Value::Null);
    assert!(empty.as_object().unwrap().contains_key("distortion_set"), "absent is null, not left out");
}

#[test]
fn deserialize_executor_output_from_json() {
    let read = output(full()).unwrap();
    assert_eq!(read.tool_logs[0].timestamp.to_string(), "2026-01-02T03:04:05Z");
    let text = full().to_string();
    assert!(serde_json::from_str::<ExecutorOutput>(&text[..text.len() / 2]).is_err());
    assert!(output(json!({"distortions": {}})).unwrap_err().contains("unknown field `distortions`"));
    assert!(tool_log(|value| value["timestamp"] = json!("yesterday")).is_err());
}

#[test]
fn round_trip_serialization() {
    let mut value = full();
    value["tool_logs"][0]["raw_score"] = json!("Infinity");
    value["tool_logs"][0]["timestamp"] = json!("2026-01-02T03:04:05.123456789Z");
    value["tool_logs"][0]["region"] = json!([1, 2, 3, 4]);
    let original = output(value).unwrap();
    let text = serde_json::to_string(&original).unwrap();
    let again: ExecutorOutput = serde_json::from_str(&text).unwrap();
    assert_eq!(again, original);
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
}

#[test]
fn validate_field_types() {
    let error = tool_log(|value| value["fallback"] = json!("yes")).unwrap_err();
    assert!(error.contains("expected a boolean"), "{error}");
    let error = tool_log(|value| value["raw_score"] = json!([1])).unwrap_err();
    assert!(error.contains("raw_score must be a number"), "{error}");
    let mut plan = plan_json(json!("Global"), [true; 4]);
    plan["plan"]["tool_selection"] = json!(1);
    assert!(serde_json::from_value::<PlannerOutput>(plan).is_err());
}

#[test]
fn validate_nested_structures() {
    let mut nested = full();
    nested["tool_logs"][0]["normalized_score"] = json!(9);
    assert!(output(nested).unwrap_err().contains("within [1, 5]"));
    let mut whole = state();
    whole["executor_evidence"] =
        json!({"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "bad", "explanation": "x"}]}});
    assert!(serde_json::from_value::<AgenticIqaState>(whole).unwrap_err().to_string().contains("severity"));
}

#[test]
fn custom_validators_for_domain_constraints() {
    let mut long = state();
    let replan = json!({"iteration": 0, "reason": "x", "tried": plan_json(json!("Global"), [true; 4]), "timestamp": "2026-01-01T00:00:00Z"});
    long["replan_history"] = json!(vec![replan; 11]);
    let error = serde_json::from_value::<AgenticIqaState>(long).unwrap_err().to_string();
    assert!(error.contains("replan_history must be at most 10 entries, not 11"), "{error}");
    let mut over = state();
    over["iteration_count"] = json!(3);
    assert!(serde_json::from_value::<AgenticIqaState>(over).unwrap_err().to_string().contains("iteration_count"));
    let replan = json!({"final_answer": "A", "answer_form": "score", "quality_reasoning": "x", "need_replan": true});
    let error = serde_json::from_value::<SummarizerOutput>(replan).unwrap_err().to_string();
    assert!(error.contains("replan_reason must be a reason when need_replan is true"), "{error}");
}

/// The shipped schemas match the types. `UPDATE_SCHEMAS=1` regenerates them.
#[test]
fn schemas_are_generated_and_shipped() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    for (name, schema) in schemas() {
        let path = folder.join(format!("{name}.json"));
        let json = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &json).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(&path).unwrap_or_default(),
            json,
            "{} is out of date: run scripts/update-docs",
            path.display()
        );
    }
    let schema = schemas().into_iter().find(|(name, _)| *name == "ExecutorOutput").unwrap().1;
    let validator = jsonschema::validator_for(schema.as_value()).unwrap();
    assert!(validator.is_valid(&full()));
    assert!(!validator.is_valid(&json!({"distortion_set": {"Global": ["Tasty"]}})));
    assert!(!validator.is_valid(&json!({"tool_logs": [log("SSIM", "Global", "Blurs", 7.0)]})));
}
