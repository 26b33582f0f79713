//! Worker tools in the tool list, in `tools check` and in an assessment.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::events::{Event, EventLog};
use agenticiqa::executor::{Calls, Executor, Grounding};
use agenticiqa::metrics::{Image, Pair};
use agenticiqa::state::Node;
use agenticiqa::state::{AnswerForm, ExecutorOutput, FinalStatus, OneOrMany};
use agenticiqa::tools::{CheckOutcome, Registry, SamplePair, ToolCache, ToolInput, ToolList, ToolResources};
use serde_json::json;

use crate::seeds::support::{Scene, Scripted, agent, plan, reasoner, request, text};
use crate::worker::support::{Stage, picture};

const BLUR: &str = r#"{"distortion_set": {"Global": ["Blurs"]}}"#;

/// A tool list in which each metric is a tool with its name in capitals.
fn list(metrics: &[&str]) -> String {
    let entry = |metric: &&str| {
        let tool_type = if metric.ends_with("error") { "FR" } else { "NR" };
        let entry = json!({"type": tool_type, "backend": "worker", "worker": {"metric": metric}, "strengths": ["Blurs"],
                           "lower_is_better": false, "range": [0, 1]});
        (metric.to_uppercase(), entry)
    };
    serde_json::Value::Object(metrics.iter().map(entry).collect()).to_string()
}

/// Runs these tools on an image with the executor.
async fn execute(scene: &Scene, tools: &[&str]) -> ExecutorOutput {
    let model = Arc::new(Scripted::new().says("detect", &[BLUR]));
    let (reasoner, cache) = (reasoner(&model, Node::Executor), Arc::new(ToolCache::new(100, None)));
    let (grounding, calls) = (Grounding::Off, Calls::Separate);
    let executor = Executor { reasoner: &reasoner, cache: &cache, grounding, calls };
    let mut plan = plan(json!("Global"), [true, false, false, true]);
    plan.required_tool = Some(OneOrMany::Many(tools.iter().map(|tool| text(tool)).collect()));
    let found = Mutex::new(ExecutorOutput::default());
    executor.execute(scene.context(), &plan, &found).await;
    found.into_inner().unwrap()
}

fn scene(stage: &Stage, metrics: &[&str]) -> Scene {
    let mut scene = Scene::new("How good is this photo?", AnswerForm::Score);
    scene.registry = Arc::new(stage.registry(&list(metrics)));
    scene
}

#[test]
fn a_metric_that_a_list_names_is_a_tool() {
    let stage = Stage::new();
    let registry = stage.registry(&list(&["mean", "largest_error"]));
    let (reference, image) = (picture(8, 8, 0), picture(8, 8, 51));
    let pair = Pair::new(&reference, &image).unwrap();
    let run = registry.get("Largest-Error").unwrap().run(&ToolInput::new(pair));
    assert!((run.raw_score.unwrap() - 0.2).abs() < 1e-6);
    assert!((run.normalized_score.unwrap() - 1.8).abs() < 1e-6);
    let alone = registry.get("LARGEST_ERROR").unwrap().run(&ToolInput::new(Pair::single(&image)));
    assert!(alone.error.unwrap().message().contains("no reference"));
    let mean = registry.get("mean").unwrap();
    assert!(mean.waits() && mean.availability().is_available());
    assert_eq!(mean.fingerprint(), "pyiqa unknown mean");
    let both = mean.run(&ToolInput::new(pair)).raw_score;
    assert_eq!(both, mean.run(&ToolInput::new(Pair::single(&image))).raw_score, "a reference is no matter to it");
}

#[test]
fn a_list_without_a_metric_is_refused() {
    for worker in [json!(null), json!({"metric": ""}), json!({"metric": "a", "color": 1})] {
        let list = json!({"X": {"type": "NR", "backend": "worker", "strengths": [], "worker": worker}}).to_string();
        assert!(Registry::new(&list, &ToolResources::default()).is_err(), "{list}");
    }
}

#[test]
fn every_learned_tool_of_the_paper_has_its_metric_and_nothing_is_started_for_the_list() {
    let stage = Stage::new();
    let resources = ToolResources { worker: stage.worker.clone(), ..ToolResources::default() };
    let registry = Registry::from_list(ToolList::builtin().unwrap(), &resources).unwrap();
    let named = registry.iter().filter(|tool| tool.metadata().worker.is_some());
    let named: Vec<_> = named.map(|tool| (tool.name(), tool.metadata().worker.clone().unwrap().metric)).collect();
    assert_eq!(named.len(), 19, "{named:?}");
    for (tool, metric) in &named {
        assert_eq!(tool.to_lowercase(), *metric, "pyiqa spells it so");
    }
    assert_eq!(stage.worker.process_id(), None);
    let off = Registry::builtin().unwrap();
    assert!(off.get("MUSIQ").unwrap().availability().reason().unwrap().contains("AGENTICIQA_PYTHON"));
}

#[test]
fn check_tells_scores_failures_and_what_is_missing() {
    let stage = Stage::new();
    let registry = stage.registry(&list(&["constant", "no_weights", "nan"]));
    let sample = SamplePair::load().unwrap();
    let check = |name: &str| sample.check(registry.get(name).unwrap());
    assert_eq!(check("CONSTANT"), CheckOutcome::Unrecorded { score: 0.5 });
    assert!(!check("CONSTANT").is_failure(), "there is nothing to compare with");
    assert!(
        matches!(check("NO_WEIGHTS"), CheckOutcome::Unavailable { reason } if reason.contains("cannot be downloaded"))
    );
    assert!(check("NAN").is_failure());
}

#[tokio::test]
async fn a_tool_of_the_worker_that_fails_is_stood_in_for() {
    let stage = Stage::new();
    let scene = scene(&stage, &["dies", "constant"]);
    let found = execute(&scene, &["DIES", "CONSTANT", "PIQE"]).await;
    let told: Vec<(&str, bool, bool)> =
        found.tool_logs.iter().map(|log| (log.tool_name.as_str(), log.fallback, log.error.is_some())).collect();
    let expected =
        [("DIES", false, true), ("BRISQUE", true, false), ("CONSTANT", false, false), ("PIQE", false, false)];
    assert_eq!(told, expected);
    assert_eq!(found.tool_logs[2].normalized_score.unwrap().value(), 3.0);
    assert!(scene.events.problems()[0].contains("the worker died"));
}

#[tokio::test]
async fn an_assessment_without_a_usable_python_goes_on() {
    let stage = Stage::with(|settings| settings.python = "/no/such/python".into());
    let model = Scripted::new()
        .says("plan", &[&crate::seeds::support::plan_json(json!("Global"), [true, false, true, true]).to_string()])
        .says("detect", &[BLUR])
        .says("select", &[r#"{"selected_tools": {"Global": {"Blurs": "QAlign"}}}"#])
        .says("score", &[r#"{"final_answer": "C", "quality_reasoning": "Blurred."}"#]);
    let mut agent = agent(&Arc::new(model));
    let resources = ToolResources { worker: stage.worker.clone(), ..ToolResources::default() };
    agent.registry = Arc::new(Registry::from_list(ToolList::builtin().unwrap(), &resources).unwrap());
    let record = agent.assess(request("How good is this photo?"), EventLog::default()).await.unwrap();
    assert_ne!(record.metadata.final_status, FinalStatus::Error);
    let logs = record.executor_evidence.unwrap().tool_logs;
    assert!(logs.iter().any(|log| log.error.is_none() && log.normalized_score.is_some()), "{logs:?}");
}

/// The worker tools wait for a file that is written when a native tool has ended. If they blocked
/// the native tools, even on the single compute thread, they would time out.
#[tokio::test]
async fn native_tools_go_on_while_the_worker_is_slow() {
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    let stage = Stage::with(|settings| settings.timeout = Duration::from_secs(30));
    let mut scene = scene(&stage, &["waits", "constant"]);
    let go = stage.file("go");
    scene.events = EventLog::heard_by(move |event: &Event| {
        if matches!(event, Event::ToolEnded { log } if log.tool_name.as_str() == "PIQE") {
            std::fs::write(&go, "").unwrap();
        }
    });
    let found = execute(&scene, &["WAITS", "CONSTANT", "PIQE"]).await;
    assert!(found.tool_logs.iter().all(|log| log.error.is_none()), "{:?}", found.tool_logs);
    assert_eq!(found.tool_logs.len(), 3);
}

#[tokio::test]
async fn what_native_tools_found_is_kept_when_time_runs_out() {
    let stage = Stage::with(|settings| settings.timeout = Duration::from_secs(30));
    let model = Scripted::new()
        .says(
            "plan",
            &[&{
                let mut plan = crate::seeds::support::plan_json(json!("Global"), [true, false, false, true]);
                plan["required_tool"] = json!(["WAITS", "PIQE"]);
                plan.to_string()
            }],
        )
        .says("detect", &[BLUR])
        .says("score", &[r#"{"final_answer": "C", "quality_reasoning": "Blurred."}"#]);
    let mut agent = agent(&Arc::new(model));
    agent.registry = Arc::new(stage.registry(&list(&["waits"])));
    agent.options.timeouts.executor = Duration::from_secs(2);
    agent.options.max_replan_iterations = 0;
    let record = agent.assess(request("How good is this photo by WAITS and PIQE?"), EventLog::default()).await.unwrap();
    std::fs::write(stage.file("go"), "").unwrap();
    stage.score("waits", &picture(8, 8, 1)).unwrap();
    let logs = record.executor_evidence.unwrap().tool_logs;
    assert_eq!(logs.iter().map(|log| log.tool_name.as_str()).collect::<Vec<_>>(), ["PIQE"]);
}

#[test]
fn a_large_picture_moves_through_memory_once_and_whole() {
    let (width, height) = (2000, 1500);
    let mut samples = vec![7; width * height * 3];
    *samples.last_mut().unwrap() = 255;
    let large = Image::from_rgb8(width, height, samples).unwrap();
    let stage = Stage::new();
    stage.score("last", &picture(8, 8, 1)).unwrap();
    assert_eq!(stage.score("last", &large), Ok(1.0), "the buffer grows");
    let small = stage.score("last", &picture(8, 8, 1)).unwrap();
    assert!(small < 1.0, "and what is left in it is not read");
}
