//! Detection, analysis and selection in one call.

use std::sync::{Arc, Mutex};

use agenticiqa::events::{Event, EventLog, Subtask};
use agenticiqa::executor::Calls;
use agenticiqa::state::{AssessmentRecord, Mode};
use serde_json::json;

use super::support::{QUERY, agent_in, first, model};
use crate::seeds::support::{Scripted, plan_json, request};

const JOINED: &str = r#"{
    "distortion_set": {"Global": ["Blurs"]},
    "distortion_analysis": {"Global": [{"type": "Blurs", "severity": "slight", "explanation": "soft"}]},
    "selected_tools": {"Global": {"Blurs": "PIQE", "Noise": null}}}"#;

async fn run(calls: Calls, model: Scripted) -> (AssessmentRecord, Arc<Scripted>, Vec<Event>) {
    let model = Arc::new(model);
    let mut agent = agent_in(Mode::Grounded, &model);
    agent.options.calls = calls;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let events = EventLog::heard_by(move |event| ears.lock().unwrap().push(event.clone()));
    let record = agent.assess(request(QUERY), events).await.unwrap();
    let heard = heard.lock().unwrap().clone();
    (record, model, heard)
}

#[tokio::test]
async fn one_call_gives_the_same_outputs_as_three() {
    let (separate, model_of_three, _) = run(Calls::Separate, model()).await;
    let (joined, model_of_one, events) = run(Calls::Joined, model().says("joined", &[JOINED])).await;
    assert_eq!((model_of_three.calls("joined").len(), model_of_one.calls("joined").len()), (0, 1));
    for role in ["detect", "analyze", "select"] {
        assert_eq!((model_of_three.calls(role).len(), model_of_one.calls(role).len()), (1, 0), "{role}");
    }
    let (one, three) = (joined.executor_evidence.unwrap(), separate.executor_evidence.unwrap());
    assert_eq!(one.distortion_set, three.distortion_set);
    assert_eq!(one.distortion_analysis, three.distortion_analysis);
    assert_eq!(one.selected_tools, three.selected_tools);
    assert_eq!(one.quality_scores, three.quality_scores);
    assert_eq!(joined.metadata.tokens_used.executor * 3, separate.metadata.tokens_used.executor);
    for subtask in [Subtask::DistortionDetection, Subtask::DistortionAnalysis, Subtask::ToolSelection] {
        let is_ended = |event: &Event| matches!(event, Event::SubtaskEnded { subtask: of, .. } if *of == subtask);
        assert_eq!(events.iter().filter(|event| is_ended(event)).count(), 1, "{subtask:?}");
    }
    // The instructions of all three steps are in it, word for word but for what is found in the same answer.
    let system = first(&model_of_one, "joined").prompt.system;
    let detection = first(&model_of_three, "detect").prompt.system;
    let analysis = first(&model_of_three, "analyze").prompt.system;
    assert!(system.contains(&detection));
    assert!(system.contains(&analysis.replace(r#"{"Global":["Blurs"]}"#, "the distortion_set of your answer")));
}

#[tokio::test]
async fn a_joined_call_that_fails_is_followed_by_separate_ones() {
    let (record, model, _) = run(Calls::Joined, model().says("joined", &["I cannot do three things."])).await;
    assert_eq!(model.calls("joined").len(), 3);
    for role in ["detect", "analyze", "select"] {
        assert_eq!(model.calls(role).len(), 1, "{role}");
    }
    assert!(record.executor_evidence.unwrap().distortion_analysis.is_some());
    assert!(record.metadata.error_details.unwrap()[0].starts_with("the joined call failed"));
}

#[tokio::test]
async fn what_a_joined_answer_leaves_out_is_asked_for_separately() {
    let nothing = r#"{"distortion_set": {"Global": []}, "distortion_analysis": {"Global": []}, "selected_tools": {"Global": {}}}"#;
    let all = agenticiqa::state::Distortion::names();
    let analysis = json!({"distortion_analysis": {"Global": all.map(|name| json!({"type": name, "severity": "none", "explanation": "x"}))}});
    let tools: serde_json::Map<String, serde_json::Value> =
        all.iter().map(|name| ((*name).to_owned(), json!("PIQE"))).collect();
    let selection = json!({"selected_tools": {"Global": tools}});
    let scripted = model()
        .says("joined", &[nothing])
        .replaces("analyze", &[&analysis.to_string()])
        .replaces("select", &[&selection.to_string()]);
    let (record, model, _) = run(Calls::Joined, scripted).await;
    assert_eq!(["joined", "detect", "analyze", "select"].map(|role| model.calls(role).len()), [1, 0, 1, 1]);
    assert_eq!(record.executor_evidence.unwrap().distortion_analysis.unwrap()["Global"].len(), 7);
}

#[tokio::test]
async fn a_plan_with_one_step_needs_no_joined_call() {
    let plan = plan_json(json!("Global"), [true, false, false, false]).to_string();
    let (_, model, _) = run(Calls::Joined, model().replaces("plan", &[&plan])).await;
    assert_eq!((model.calls("joined").len(), model.calls("detect").len()), (0, 1));
}
