//! The graph: the conditional edge, replanning, checkpoints and resuming, events, timeouts.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::agent::{Agent, Input, Request};
use agenticiqa::checkpoint::Checkpoints;
use agenticiqa::events::{Event, EventLog};
use agenticiqa::graph;
use agenticiqa::reasoner::Reasoner;
use agenticiqa::reasoner::builtin::Builtin;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::Node;
use agenticiqa::state::{
    AgenticIqaState, AssessmentRecord, ByNode, ExecutorOutput, FinalStatus, Mode, Severity, SummarizerOutput,
};
use agenticiqa::vlm::AnswerCache;
use serde_json::json;

use crate::seeds::support::{self, Scripted, picture, plan, plan_json, registry_with, request, text, with_reference};

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

/// A reasoner whose claims are not compared with measurements: the image of these tests is blurred, and the
/// model says otherwise, which would lead to new plans.
fn reasoner(model: &Arc<Scripted>, node: Node) -> VlmReasoner {
    VlmReasoner { mode: Mode::Paper, ..support::reasoner(model, node) }
}

fn agent(model: &Arc<Scripted>) -> Agent {
    let of = |node| -> Arc<dyn Reasoner> { Arc::new(reasoner(model, node)) };
    let reasoners =
        ByNode { planner: of(Node::Planner), executor: of(Node::Executor), summarizer: of(Node::Summarizer) };
    Agent { reasoners, ..support::agent(model) }
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
    let region = serde_json::from_value(json!({"name": "car", "x": 2, "y": 1, "width": 200, "height": 190})).unwrap();
    let same = || request("Rate the quality.");
    let image = Input::Bytes("photo.png".to_owned(), picture(3));
    let reference = Some(Input::Bytes("original.png".to_owned(), picture(2)));
    for (first, changed, what) in [
        (same(), request("Is it sharp? Rate it."), "question"),
        (same(), Request { image, ..same() }, "image of the same name"),
        (same(), with_reference(same()), "reference, after none"),
        (with_reference(same()), Request { reference, ..same() }, "reference of the same name"),
        (same(), Request { regions: vec![region], ..same() }, "region"),
        (same(), Request { tools: vec!["NIQE".to_owned()], ..same() }, "tool"),
    ] {
        std::fs::remove_dir_all(folder.path()).unwrap();
        run(&agent, first.clone()).await;
        let (_, events) = run(&agent, first).await;
        assert!(nodes(&events).is_empty(), "nothing is left to do");
        let (record, events) = run(&agent, changed).await;
        assert_eq!(nodes(&events)[0], Node::Planner, "another {what} starts over");
        assert!(record.metadata.notes.iter().any(|note| note.contains("starting over")));
    }
}

/// The built-in analyst finds the same evidence again, so it does not try. The record says what is
/// missing.
#[tokio::test]
async fn a_replan_that_would_change_nothing_leaves_its_reason() {
    let mut agent = agent(&Arc::new(model()));
    let builtin = || Arc::new(Builtin) as Arc<dyn agenticiqa::reasoner::Reasoner>;
    agent.reasoners = ByNode { planner: builtin(), executor: builtin(), summarizer: builtin() };
    // A blurred image that the only tool finds excellent.
    agent.registry = registry_with(&[("Kind", "NR", "4.9")]);
    let image = Input::Path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/osprey-blurred.jpg"));
    let request = Request { image, tools: vec!["Kind".to_owned()], ..request("Rate the quality.") };
    let (record, events) = run(&agent, request).await;
    let planned_again = [Node::Planner, Node::Executor, Node::Summarizer, Node::Planner];
    assert_eq!(nodes(&events), planned_again, "the new plan is not executed");
    let result = record.summarizer_result.unwrap();
    assert!(!result.need_replan());
    let reason = result.replan_reason().unwrap();
    assert!(reason.starts_with("Contradictory evidence"), "{reason}");
    assert_eq!(record.metadata.final_status, FinalStatus::Partial);
    let problems = record.metadata.error_details.unwrap();
    assert!(
        problems.iter().any(|problem| *problem == format!("{reason}; a new plan would be the same as the last")),
        "{problems:?}"
    );
}

/// An agent whose three nodes keep the answers of the model in `cache`.
fn caching(model: &Arc<Scripted>, cache: &AnswerCache) -> Agent {
    let of = |node| {
        let reasoner = VlmReasoner { answers: Some(cache.clone()), ..reasoner(model, node) };
        Arc::new(reasoner) as Arc<dyn agenticiqa::reasoner::Reasoner>
    };
    let reasoners =
        ByNode { planner: of(Node::Planner), executor: of(Node::Executor), summarizer: of(Node::Summarizer) };
    Agent { reasoners, ..agent(model) }
}

/// The same question about the same image is answered from the cache, on disk across agents.
#[tokio::test]
async fn answers_of_models_are_cached_and_the_record_counts_the_hits() {
    let folder = tempfile::tempdir().unwrap();
    let model = Arc::new(model());
    let caching = || caching(&model, &AnswerCache::new(Some(folder.path().to_owned())));
    let (first, _) = run(&caching(), request("Rate the quality.")).await;
    assert_eq!(first.metadata.cached_answers, ByNode::default());
    let (second, _) = run(&caching(), request("Rate the quality.")).await;
    assert_eq!(second.metadata.cached_answers, ByNode { planner: 1, executor: 3, summarizer: 1 });
    assert_eq!(second.metadata.tokens_used, ByNode::default(), "nothing was asked");
    assert_eq!(second.metadata.cost_usd, Some(0.0));
    assert_eq!(model.calls("plan").len(), 1);
    assert_eq!(first.summarizer_result, second.summarizer_result);
    let (other, _) = run(&caching(), request("Rate the sharpness.")).await;
    assert_eq!(other.metadata.cached_answers.planner, 0, "another question");
    let (uncached, _) = run(&agent(&model), request("Rate the quality.")).await;
    assert_eq!(uncached.metadata.cached_answers, ByNode::default(), "switched off");
}

/// The prompts of the executor are the same in every round, but a new plan needs new answers.
#[tokio::test]
async fn a_new_round_asks_again_although_its_prompts_are_the_same() {
    let severe = ANALYZED.replace("slight", "severe");
    let model = model().replaces("analyze", &[&severe, ANALYZED]);
    let model = Arc::new(model.replaces("select", &[r#"{"selected_tools": {"Global": {"Blurs": "Kind"}}}"#]));
    let cache = AnswerCache::new(None);
    let agent = Agent { registry: registry_with(&[("Kind", "NR", "4.9")]), ..caching(&model, &cache) };
    let (first, _) = run(&agent, request("Rate the quality.")).await;
    let analyzed = model.calls("analyze");
    assert!(analyzed.len() == 2 && analyzed[0].prompt == analyzed[1].prompt, "{analyzed:?}");
    assert_eq!(first.metadata.iteration_count, 1, "a severe blur contradicts the tool, a slight one does not");
    let analysis = &first.executor_evidence.as_ref().unwrap().distortion_analysis.as_ref().unwrap()["Global"];
    assert_eq!(analysis[0].severity, Severity::Slight);
    assert_eq!(first.metadata.cached_answers, ByNode::default());
    let (second, _) = run(&agent, request("Rate the quality.")).await;
    assert_eq!(second.metadata.cached_answers, ByNode { planner: 2, executor: 6, summarizer: 2 }, "both rounds");
    assert_eq!(second.summarizer_result, first.summarizer_result);
}

/// Tool selection is asked without images, but its answer is that of one image.
#[tokio::test]
async fn another_image_is_asked_about_again() {
    let (model, cache) = (Arc::new(model()), AnswerCache::new(None));
    let agent = caching(&model, &cache);
    let image = Input::Bytes("photo.png".to_owned(), picture(2));
    let other = Request { image, ..request("Rate the quality.") };
    for (asked, request) in [request("Rate the quality."), other].into_iter().enumerate() {
        let (record, _) = run(&agent, request).await;
        assert_eq!(record.metadata.cached_answers, ByNode::default());
        assert_eq!(model.calls("select").len(), asked + 1);
    }
}

/// Answers that cannot be used are not kept.
#[tokio::test]
async fn unusable_answers_are_not_cached() {
    let model = Arc::new(model().replaces("score", &["nonsense", "nonsense", "nonsense", SCORED]));
    let cache = AnswerCache::new(None);
    let summarizer = VlmReasoner { answers: Some(cache), ..reasoner(&model, Node::Summarizer) };
    let mut agent = agent(&model);
    agent.reasoners.summarizer = Arc::new(summarizer);
    let (first, _) = run(&agent, request("Rate the quality.")).await;
    assert_eq!(first.summarizer_result.unwrap().final_answer.as_str(), "Unable to determine");
    let (second, _) = run(&agent, request("Rate the quality.")).await;
    assert_eq!(second.summarizer_result.unwrap().final_answer.as_str(), "B");
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
