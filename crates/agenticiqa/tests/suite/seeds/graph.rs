//! The graph: the conditional edge, replanning, checkpoints and resuming, events, timeouts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::agent::{Agent, Request};
use agenticiqa::checkpoint::Checkpoints;
use agenticiqa::events::{Event, EventLog};
use agenticiqa::graph;
use agenticiqa::reasoner::builtin::Builtin;
use agenticiqa::state::Node;
use agenticiqa::state::{AgenticIqaState, AssessmentRecord, ByNode, ExecutorOutput, FinalStatus, SummarizerOutput};
use serde_json::json;

use crate::seeds::support::{Scripted, agent, plan, plan_json, request, text, with_reference};

const DETECTED: &str = r#"{"distortion_set": {"Global": ["Blurs"]}}"#;
const ANALYZED: &str =
    r#"{"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "slight", "explanation": "soft"}]}}"#;
const SELECTED: &str = r#"{"selected_tools": {"Global": {"Blurs": "PIQE"}}}"#;
const SCORED: &str = r#"{"final_answer": "B", "quality_reasoning": "PIQE is high."}"#;

fn model() -> Scripted {
    let plan = plan_json(json!("Global"), [true; 4]).to_string();
    let model = Scripted::new().says("plan", &[&plan]).says("detect", &[DETECTED]).says("analyze", &[ANALYZED]);
    model.says("select", &[SELECTED]).says("score", &[SCORED])
}

async fn run(agent: &Agent, request: Request) -> (AssessmentRecord, Vec<Event>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let events = EventLog::heard_by(move |event| ears.lock().unwrap().push(event.clone()));
    let record = agent.assess(request, events).await.unwrap();
    let heard = heard.lock().unwrap().clone();
    (record, heard)
}

fn nodes(events: &[Event]) -> Vec<Node> {
    let started = |event: &Event| if let Event::NodeStarted { node, .. } = event { Some(*node) } else { None };
    events.iter().filter_map(started).collect()
}

#[test]
fn the_next_node_follows_from_the_state() {
    let mut state = AgenticIqaState::new(text("a"), text("q"), text("a.png"));
    assert_eq!(graph::next(&state), Some(Node::Planner));
    state.plan = Some(plan(json!("Global"), [true; 4]));
    assert_eq!(graph::next(&state), Some(Node::Executor));
    state.executor_evidence = Some(ExecutorOutput::default());
    assert_eq!(graph::next(&state), Some(Node::Summarizer));
    let result: SummarizerOutput =
        serde_json::from_value(json!({"final_answer": "A", "answer_form": "score", "quality_reasoning": "x"})).unwrap();
    state.summarizer_result = Some(result.clone());
    assert_eq!(graph::next(&state), None);
    state.summarizer_result = Some(result.with_replan(Some(text("more"))));
    assert_eq!(graph::next(&state), Some(Node::Planner), "the conditional edge");
}

#[tokio::test]
async fn events_tell_of_every_node_subtask_and_tool() {
    let (record, events) = run(&agent(&Arc::new(model())), request("Rate the quality.")).await;
    assert_eq!(record.metadata.final_status, FinalStatus::Success, "{:?}", record.metadata.error_details);
    assert_eq!(nodes(&events), [Node::Planner, Node::Executor, Node::Summarizer]);
    let subtasks = events.iter().filter(|event| matches!(event, Event::SubtaskEnded { .. })).count();
    assert_eq!(subtasks, 4);
    let told = |event: &Event| matches!(event, Event::Plan { plan, .. } if Some(plan.as_ref()) == record.plan.as_ref());
    assert!(events.iter().any(told), "the plan is reported as soon as it is made");
    let fusion = record.summarizer_result.as_ref().unwrap().fusion.as_ref().unwrap();
    assert!((1.0..=5.0).contains(&fusion.tools) && fusion.probabilities.is_some());
    assert!(events.iter().any(|event| matches!(event, Event::ToolEnded { log } if log.tool_name.as_str() == "PIQE")));
    assert_eq!(events.last(), Some(&Event::Done { status: FinalStatus::Success }));
    let json = serde_json::to_value(&events[0]).unwrap();
    assert_eq!(json, json!({"event": "node_started", "node": "planner", "iteration": 0}));
    assert_eq!(record.metadata.tokens_used, ByNode { planner: 110, executor: 330, summarizer: 110 });
}

#[tokio::test]
async fn missing_evidence_leads_to_a_new_plan_at_most_so_often() {
    for max in [0, 1, 2] {
        let model = Arc::new(model().replaces("analyze", &["nonsense"]));
        let request = Request { max_replan_iterations: Some(max), ..request("Rate the quality.") };
        let (record, events) = run(&agent(&model), request).await;
        assert_eq!(record.metadata.iteration_count, max);
        assert_eq!(model.calls("plan").len() as u32, max + 1, "0 disables replanning");
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Replan { .. })).count() as u32, max);
        assert_eq!(record.metadata.final_status, FinalStatus::Partial);
        assert!(!record.summarizer_result.unwrap().need_replan());
    }
}

#[tokio::test]
async fn the_built_in_analyst_does_not_plan_the_same_again() {
    let mut agent = agent(&Arc::new(model()));
    let builtin = || Arc::new(Builtin) as Arc<dyn agenticiqa::reasoner::Reasoner>;
    agent.reasoners = ByNode { planner: builtin(), executor: builtin(), summarizer: builtin() };
    // Too small for any tool: no plan leads to a score.
    let (record, events) = run(&agent, with_reference(request("Rate the quality."))).await;
    assert_eq!(record.metadata.final_status, FinalStatus::Success, "{:?}", record.metadata.error_details);
    assert_eq!(nodes(&events), [Node::Planner, Node::Executor, Node::Summarizer]);
    assert_eq!(record.metadata.backends.planner, "builtin");
}

#[tokio::test]
async fn a_killed_assessment_goes_on_from_its_last_good_node() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = agent(&Arc::new(model()));
    agent.options.checkpoints = Some(Checkpoints::new(folder.path()));
    let (first, _) = run(&agent, request("Rate the quality.")).await;
    let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 3, "one for each node");
    assert!(files[0].file_name().unwrap().to_str().unwrap().ends_with("_photo.json"), "{files:?}");
    std::fs::write(&files[2], "{").unwrap(); // killed while the last one was written
    agent.options.resume = true;
    let (second, events) = run(&agent, request("Rate the quality.")).await;
    assert_eq!(nodes(&events), [Node::Summarizer], "plan and evidence are known");
    assert_eq!(second.executor_evidence, first.executor_evidence);
    assert!(second.metadata.notes.iter().any(|note| note == "resumed after the executor"));
    let (_, events) = run(&agent, request("Is it sharp? Rate it.")).await;
    assert_eq!(nodes(&events)[0], Node::Planner, "another question starts over");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_a_problem_and_not_the_end() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut agent = agent(&Arc::new(model()));
    agent.options.checkpoints = Some(Checkpoints::new(file.path().join("below-a-file")));
    let (record, _) = run(&agent, request("Rate the quality.")).await;
    assert_eq!(record.metadata.final_status, FinalStatus::Partial);
    assert!(record.metadata.error_details.unwrap()[0].contains("checkpoint cannot be written"));
    assert!(record.summarizer_result.unwrap().quality_score.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_takes_too_long_ends_as_the_record_says() {
    let model = Arc::new(model().slow(Duration::from_secs(100)));
    let mut agent = agent(&model);
    agent.options.timeouts = ByNode {
        planner: Duration::from_secs(60),
        executor: Duration::from_secs(300),
        summarizer: Duration::from_secs(60),
    };
    let (record, _) = run(&agent, request("Rate the quality.")).await;
    assert_eq!(record.metadata.final_status, FinalStatus::Error);
    assert_eq!(record.metadata.error_details.unwrap(), ["planner: no result within 60 seconds"]);
    agent.options.timeouts.planner = Duration::from_secs(200);
    agent.options.timeouts.executor = Duration::from_secs(150);
    let (record, _) = run(&agent, Request { max_replan_iterations: Some(0), ..request("Rate the quality.") }).await;
    let evidence = record.executor_evidence.unwrap();
    assert!(evidence.distortion_set.is_some() && evidence.distortion_analysis.is_none(), "what was found is kept");
    assert_eq!(record.summarizer_result.unwrap().final_answer.as_str(), "Unable to determine");
}

#[test]
fn the_mermaid_picture_shows_nodes_and_the_conditional_edge() {
    let picture = graph::mermaid();
    for part in ["flowchart TD", "planner", "executor", "summarizer{", "replan_reason| planner"] {
        assert!(picture.contains(part), "{part}");
    }
}

/// With a model that takes 200 ms per call, an assessment takes as long as its dependent calls:
/// plan, detection, analysis in parallel with selection, conclusion. Time is simulated; tool time
/// does not count.
#[tokio::test(start_paused = true)]
async fn an_assessment_takes_as_long_as_its_dependent_calls() {
    let model = Arc::new(model().slow(Duration::from_millis(200)));
    let start = tokio::time::Instant::now();
    let (record, _) = run(&agent(&model), request("Rate the quality.")).await;
    assert_eq!(record.metadata.final_status, FinalStatus::Success, "{:?}", record.metadata.error_details);
    let elapsed = start.elapsed().as_millis();
    assert!((800..=810).contains(&elapsed), "{elapsed} ms for 4 dependent calls of 5");
}
