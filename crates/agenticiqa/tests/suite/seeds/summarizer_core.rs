//! Scenarios of summarizer-core.

use std::sync::Arc;

use agenticiqa::agent::{Input, Request};
use agenticiqa::events::EventLog;
use agenticiqa::fusion::Fusion;
use agenticiqa::reasoner::Error;
use agenticiqa::state::Node;
use agenticiqa::state::{AnswerForm, AnswerOption, ExecutorOutput, QualityLevel, QueryType};
use agenticiqa::summarizer::{Conclusion, Summarizer, sufficiency};
use agenticiqa::vlm::TokenLogprob;
use serde_json::{Value, json};

use crate::seeds::support::{
    Scene, Scripted, agent, block_on, evidence, log, logged, picture, plan, reasoner, request,
};

pub(crate) const SCORED: &str = r#"{"final_answer": " C ", "quality_reasoning": "  Moderate blur, PIQE gives 3.0. "}"#;

pub(crate) fn some_evidence() -> ExecutorOutput {
    evidence(json!({
        "distortion_analysis": {"Global": [{"type": "Blurs", "severity": "moderate", "explanation": "edges are soft"}]},
        "quality_scores": {"Global": {"Blurs": ["PIQE", 3.0]}},
        "tool_logs": [log("PIQE", "Global", "Blurs", 3.0)],
    }))
}

pub(crate) fn scene(form: AnswerForm) -> Scene {
    let mut scene = Scene::new("How good is it?", form);
    scene.state.plan = Some(plan(json!("Global"), [true; 4]));
    scene.state.executor_evidence = Some(some_evidence());
    scene
}

fn choice() -> Scene {
    let mut scene = scene(AnswerForm::Choice);
    let option = |letter, text: &str| AnswerOption { letter, text: text.to_owned() };
    scene.state.options = vec![option('A', "Sharp"), option('B', "Blurry")];
    scene.state.plan.as_mut().unwrap().query_type = QueryType::Other;
    scene
}

pub(crate) async fn summarize(model: Scripted, scene: &Scene) -> (Result<Conclusion, Error>, Arc<Scripted>) {
    let model = Arc::new(model);
    let reasoner = reasoner(&model, Node::Summarizer);
    let summarizer = Summarizer { reasoner: &reasoner, fusion: Fusion::default() };
    (summarizer.summarize(scene.context()).await, model)
}

pub(crate) const CHOSEN: &str = r#"{"final_answer": "B", "quality_reasoning": "Edges are soft."}"#;

#[tokio::test]
async fn use_explanation_qa_prompt_template() {
    let (result, model) = summarize(Scripted::new().says("answer", &[CHOSEN]), &choice()).await;
    assert_eq!(result.unwrap().result.final_answer.as_str(), "B");
    let system = &model.calls("answer")[0].prompt.system;
    assert!(system.starts_with("You are a visual quality assessment assistant. Your task is to select the most appropriate answer to the user's\nquestion. You are given:\n- Distortion analysis (severity and visual impact of listed distortions)"));
    assert!(system.contains(
        "4. If the information is unclear or insufficient, analyze the image directly to determine the best answer."
    ));
    assert!(system.contains("\"final_answer\": \"<one of the above letters>\""));
}

#[tokio::test]
async fn format_evidence_for_explanation_qa_mode() {
    let (_, model) = summarize(Scripted::new().says("answer", &[CHOSEN]), &choice()).await;
    let call = &model.calls("answer")[0];
    let user = &call.prompt.user;
    assert!(
        user.contains(r#"{"Global":[{"type":"Blurs","severity":"moderate","explanation":"edges are soft"}]}"#),
        "{user}"
    );
    assert!(user.contains(r#"{"Global":{"Blurs":["PIQE",3.0]}}"#), "{user}");
    assert!(user.contains("User's query: How good is it?") && user.contains("A. Sharp\nB. Blurry"));
    assert_eq!(call.images, ["<image>"]);
}

#[tokio::test]
async fn use_scoring_prompt_template() {
    let (result, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene(AnswerForm::Score)).await;
    let result = result.unwrap().result;
    assert_eq!((result.final_answer.as_str(), result.answer_form), ("C", AnswerForm::Score));
    let system = &model.calls("score")[0].prompt.system;
    assert!(system.contains("You must select one single answer from the following:\nA. Excellent\nB. Good\nC. Fair\nD. Poor\nE. Bad\nReturn the JSON:"));
    assert!(
        system.contains("\"quality_reasoning\": \"<concise justification referencing distortions or tool scores>\"")
    );
}

#[tokio::test]
async fn apply_score_fusion_in_scoring_mode() {
    let (result, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene(AnswerForm::Score)).await;
    let result = result.unwrap().result;
    let expected = Fusion::default().score(Some(3.0), Some(&Fusion::named(2)));
    assert_eq!(result.quality_score.unwrap().value(), expected);
    assert_eq!(result.quality_level, Some(QualityLevel::Fair));
    assert!(model.calls("score")[0].prompt.user.contains("point to a quality of 3.00"), "fusion guides the model");
    assert!(model.calls("score")[0].options.logprobs);
}

#[tokio::test]
async fn log_probabilities_of_the_answer_go_into_the_fusion() {
    let token = |text: &str, top: &[(&str, f64)]| TokenLogprob {
        token: text.into(),
        logprob: -0.1,
        top: top.iter().map(|(text, p): &(&str, f64)| ((*text).to_owned(), p.ln())).collect(),
    };
    let tokens = vec![token("{\"final_answer\": \"", &[]), token("C", &[("C", 0.5), ("B", 0.5)]), token("\"}", &[])];
    let model = Scripted::new().says("score", &[SCORED]).with_logprobs(tokens);
    let (result, _) = summarize(model, &scene(AnswerForm::Score)).await;
    let mut logarithms = [None; 5];
    (logarithms[2], logarithms[3]) = (Some(-0.1), Some(0.5_f64.ln()));
    let expected = Fusion::default().score(Some(3.0), Fusion::softmax(logarithms).as_ref());
    assert!((result.unwrap().result.quality_score.unwrap().value() - expected).abs() < 1e-12);
}

#[tokio::test]
async fn format_distortion_analysis_for_vlm() {
    let (_, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene(AnswerForm::Score)).await;
    let user = &model.calls("score")[0].prompt.user;
    let json = user.lines().find_map(|line| line.strip_prefix("Distortion analysis: ")).unwrap();
    let expected = json!({"Global": [{"type": "Blurs", "severity": "moderate", "explanation": "edges are soft"}]});
    assert_eq!(serde_json::from_str::<Value>(json).unwrap(), expected);
}

#[tokio::test]
async fn format_quality_scores_for_vlm() {
    let (_, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene(AnswerForm::Score)).await;
    let user = &model.calls("score")[0].prompt.user;
    let line = user.lines().find(|line| line.starts_with("Tool response")).unwrap();
    let json = &line[line.find('{').unwrap()..];
    assert_eq!(serde_json::from_str::<Value>(json).unwrap(), json!({"Global": {"Blurs": ["PIQE", 3.0]}}));
}

#[tokio::test]
async fn handle_missing_executor_evidence() {
    let mut scene = scene(AnswerForm::Score);
    scene.state.executor_evidence = Some(ExecutorOutput::default());
    scene.state.max_replan_iterations = 0;
    let (result, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene).await;
    let user = &model.calls("score")[0].prompt.user;
    assert!(!user.contains("Distortion analysis:") && !user.contains("Tool response") && !user.contains("point to"));
    let reasoning = result.unwrap().result.quality_reasoning;
    assert!(reasoning.as_str().contains("There is no tool score and no distortion analysis"), "{reasoning}");
}

#[tokio::test]
async fn the_lack_of_evidence_is_mentioned_in_every_mode() {
    for (mut scene, role, answer) in [
        (scene(AnswerForm::Score), "score", SCORED),
        (choice(), "answer", CHOSEN),
        (scene(AnswerForm::Text), "answer", CHOSEN),
    ] {
        scene.state.max_replan_iterations = 0;
        for found in [
            json!({}),
            json!({"distortion_set": {"Global": ["Blurs"]}}),
            json!({"distortion_set": {"Global": ["Blurs"]}, "distortion_analysis": {"Global": []}}),
        ] {
            scene.state.executor_evidence = Some(evidence(found));
            let (result, _) = summarize(Scripted::new().says(role, &[answer]), &scene).await;
            let reasoning = result.unwrap().result.quality_reasoning;
            assert!(reasoning.as_str().contains("There is no tool score and no distortion analysis"), "{reasoning}");
        }
        scene.state.executor_evidence = Some(some_evidence());
        let (result, _) = summarize(Scripted::new().says(role, &[answer]), &scene).await;
        assert!(!result.unwrap().result.quality_reasoning.as_str().contains("There is no tool score"));
    }
}

#[test]
fn detect_insufficient_evidence() {
    let whole = plan(json!("Global"), [true; 4]);
    assert_eq!(sufficiency::gap(&whole, &some_evidence()), None);
    assert!(sufficiency::gap(&whole, &ExecutorOutput::default()).is_some());
    let unscored = ExecutorOutput { quality_scores: None, ..some_evidence() };
    assert_eq!(sufficiency::gap(&whole, &unscored).unwrap(), "Missing tool scores for the whole image");
    let other = evidence(json!({
        "distortion_analysis": {"Global": [{"type": "Noise", "severity": "severe", "explanation": "grain"}]},
        "quality_scores": {"Global": {"Blurs": ["PIQE", 3.0]}},
    }));
    assert!(sufficiency::gap(&whole, &other).is_some(), "the key distortion has no score");
    let region_only = plan(json!(["car"]), [false, true, false, false]);
    let car =
        evidence(json!({"distortion_analysis": {"car": [{"type": "Blurs", "severity": "none", "explanation": "x"}]}}));
    assert_eq!(sufficiency::gap(&region_only, &car), None, "tools were switched off on purpose");
    let mut other = plan(json!("Global"), [false; 4]);
    other.query_type = QueryType::Other;
    assert_eq!(sufficiency::gap(&other, &ExecutorOutput::default()), None);
}

#[test]
fn provide_replan_reason() {
    let vehicle = plan(json!(["vehicle"]), [true; 4]);
    let analyzed = json!({"vehicle": [{"type": "Blurs", "severity": "severe", "explanation": "smeared"}]});
    let unscored = evidence(json!({"distortion_analysis": analyzed}));
    assert_eq!(sufficiency::gap(&vehicle, &unscored).unwrap(), "Missing tool scores for vehicle region");
    let contradicted =
        evidence(json!({"distortion_analysis": analyzed, "quality_scores": {"vehicle": {"Blurs": ["PIQE", 4.5]}}}));
    let reason = sufficiency::gap(&vehicle, &contradicted).unwrap();
    assert_eq!(reason, "Contradictory evidence: severe blurs on vehicle but high scores");
}

#[test]
fn respect_max_iterations() {
    let mut scene = scene(AnswerForm::Score);
    scene.state.executor_evidence = Some(ExecutorOutput { quality_scores: None, ..some_evidence() });
    let run = |scene: &Scene| block_on(summarize(Scripted::new().says("score", &[SCORED]), scene)).0.unwrap();
    assert!(run(&scene).result.need_replan());
    scene.state.iteration_count = scene.state.max_replan_iterations;
    let (last, log) = logged(tracing::Level::WARN, || run(&scene));
    assert!(!last.result.need_replan() && last.gap.is_some());
    assert!(log.contains("max iterations reached"), "{log}");
    assert!(last.result.quality_reasoning.as_str().contains("The evidence is incomplete"));
    (scene.state.iteration_count, scene.state.max_replan_iterations) = (0, 0);
    assert!(!run(&scene).result.need_replan(), "0 disables replanning");
}

#[tokio::test]
async fn retry_on_invalid_json() {
    let model = Scripted::new().says("score", &["It is fine.", "{\"final_answer\": \"B\", ", SCORED]);
    let (result, model) = summarize(model, &scene(AnswerForm::Score)).await;
    assert_eq!(result.unwrap().result.final_answer.as_str(), "C");
    let calls = model.calls("score");
    assert_eq!(calls.len(), 3);
    assert!(
        calls[1].prompt.user.contains("Return ONLY valid JSON")
            && calls[2].prompt.user.contains("Return ONLY valid JSON")
    );
}

#[tokio::test]
async fn fallback_on_all_retries_failed() {
    let (result, model) =
        summarize(Scripted::new().says("score", &["I would rather not say."]), &scene(AnswerForm::Score)).await;
    let result = result.unwrap().result;
    assert_eq!(model.calls("score").len(), 3);
    assert_eq!(result.final_answer.as_str(), "Unable to determine");
    assert_eq!(result.quality_reasoning.as_str(), "VLM output parsing failed");
    assert!(!result.need_replan());
}

#[tokio::test]
async fn parse_and_validate_vlm_json_response() {
    let answers = [r#"{"final_answer": "B"}"#, r#"{"quality_reasoning": "x"}"#, SCORED];
    let (result, model) = summarize(Scripted::new().says("score", &answers), &scene(AnswerForm::Score)).await;
    assert!(result.is_ok());
    let calls = model.calls("score");
    assert!(calls[1].prompt.user.contains("\"quality_reasoning\" is missing"));
    assert!(calls[2].prompt.user.contains("\"final_answer\" is missing"));
}

#[tokio::test]
async fn extract_final_answer() {
    let empty = r#"{"final_answer": "  ", "quality_reasoning": "x"}"#;
    let none = r#"{"final_answer": "Blurry", "quality_reasoning": "x"}"#;
    let model = Scripted::new().says("score", &[empty, none, SCORED]);
    let (result, model) = summarize(model, &scene(AnswerForm::Score)).await;
    assert_eq!(model.calls("score").len(), 3);
    assert_eq!(result.unwrap().result.final_answer.as_str(), "C", "stripped");
}

#[tokio::test]
async fn extract_quality_reasoning() {
    let blank = r#"{"final_answer": "C", "quality_reasoning": " \n "}"#;
    let (result, model) = summarize(Scripted::new().says("score", &[blank, SCORED]), &scene(AnswerForm::Score)).await;
    assert_eq!(model.calls("score").len(), 2);
    assert_eq!(result.unwrap().result.quality_reasoning.as_str(), "Moderate blur, PIQE gives 3.0.");
}

#[tokio::test]
async fn used_evidence_names_what_each_sentence_rests_on() {
    let (result, _) = summarize(Scripted::new().says("score", &[SCORED]), &scene(AnswerForm::Score)).await;
    let used = result.unwrap().result.used_evidence;
    assert_eq!(used[0].evidence, ["/tool_logs/0", "/distortion_analysis/Global/0"]);
    let value = serde_json::to_value(some_evidence()).unwrap();
    assert!(used.iter().flat_map(|used| &used.evidence).all(|pointer| value.pointer(pointer).is_some()));
}

#[tokio::test]
async fn check_prerequisites() {
    let mut without_plan = scene(AnswerForm::Score);
    without_plan.state.plan = None;
    let (result, _) = summarize(Scripted::new(), &without_plan).await;
    assert_eq!(result.unwrap_err().to_string(), "the state has no plan: run the planner first");
    let mut without_evidence = scene(AnswerForm::Score);
    without_evidence.state.executor_evidence = None;
    let (result, _) = summarize(Scripted::new(), &without_evidence).await;
    assert_eq!(result.unwrap_err().to_string(), "the state has no executor_evidence: run the executor first");
}

/// IQA questions ask for a level, other questions for an answer. An IQA question that does not ask
/// for a rating is answered in words or with one of its options, as the specification requires.
#[tokio::test]
async fn select_prompt_mode() {
    let model = || Scripted::new().says("score", &[SCORED]).says("answer", &[CHOSEN]);
    let (_, iqa) = summarize(model(), &scene(AnswerForm::Score)).await;
    assert_eq!((iqa.calls("score").len(), iqa.calls("answer").len()), (1, 0));
    let (_, other) = summarize(model(), &choice()).await;
    assert_eq!((other.calls("score").len(), other.calls("answer").len()), (0, 1));
    let (result, text) = summarize(model(), &scene(AnswerForm::Text)).await;
    assert_eq!(text.calls("answer").len(), 1);
    assert!(text.calls("answer")[0].prompt.user.contains("one short sentence"));
    let result = result.unwrap().result;
    assert!(result.quality_score.is_some(), "a score is given where tool scores exist");
}

#[tokio::test]
async fn load_images() {
    let mut scene = scene(AnswerForm::Score).with_reference();
    scene.state.plan = Some(plan(json!("Global"), [true; 4]));
    let (_, model) = summarize(Scripted::new().says("score", &[SCORED]), &scene).await;
    assert_eq!(model.calls("score")[0].images, ["<image>", "<reference image>"]);
}

#[tokio::test]
async fn image_loading_errors_say_which_file_and_why() {
    let agent = agent(&Arc::new(Scripted::new()));
    let bytes = |name: &str, bytes: &[u8]| Input::Bytes(name.to_owned(), bytes.to_vec());
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.png");
    std::fs::write(&empty, b"").unwrap();
    let missing = Request::new(Input::Path("no/such/photo.jpg".into()));
    let broken = Request::new(bytes("broken.png", &picture(1)[..300]));
    let text = Request::new(bytes("notes.jpg", b"not an image"));
    let reference = Request { reference: Some(bytes("original.png", &picture(1)[..300])), ..request("Rate it.") };
    let truncated = "the PNG data is truncated: the file ends before the image does";
    for (request, told) in [
        (missing, "no/such/photo.jpg: no such file".to_owned()),
        (Request::new(Input::Path(empty.clone())), format!("{}: the file is empty", empty.display())),
        (broken, format!("broken.png: {truncated}")),
        (text, "notes.jpg: not an image: it looks like text".to_owned()),
        (reference, format!("original.png: {truncated}")),
    ] {
        let error = agent.assess(request, EventLog::default()).await.unwrap_err();
        assert_eq!((error.kind_name(), error.to_string()), ("PictureError", told));
    }
}

#[tokio::test]
async fn return_state_update() {
    let mut scene = scene(AnswerForm::Score);
    scene.state.executor_evidence = Some(ExecutorOutput { quality_scores: None, ..some_evidence() });
    let (conclusion, _) = summarize(Scripted::new().says("score", &[SCORED]), &scene).await;
    let mut state = scene.state.clone();
    state.conclude(conclusion.unwrap().result);
    assert_eq!((state.iteration_count, state.replan_history.len()), (1, 1));
    let enough = summarize(Scripted::new().says("score", &[SCORED]), &self::scene(AnswerForm::Score)).await.0;
    state.conclude(enough.unwrap().result);
    assert_eq!(state.iteration_count, 1, "counted only when a new plan is asked for");
}

#[test]
fn log_summarizer_invocation() {
    let (_, log) = logged(tracing::Level::INFO, || {
        block_on(summarize(Scripted::new().says("score", &[SCORED]), &scene(AnswerForm::Score)))
    });
    for told in ["query_type=Iqa", "mode=\"scoring\"", "distortions=1", "tool_scores=1", "image=\"photo.png\""] {
        assert!(log.contains(told), "{told} is not in {log}");
    }
    assert!(!log.contains("You must select one single answer"), "prompts are for DEBUG");
}

#[test]
fn log_prompt_and_response() {
    let long = format!(r#"{{"final_answer": "C", "quality_reasoning": "{}"}}"#, "long ".repeat(2000));
    let run = |level| {
        let model = Scripted::new().says("score", &["no", &long]);
        logged(level, || block_on(summarize(model, &scene(AnswerForm::Score)))).1
    };
    let log = run(tracing::Level::DEBUG);
    assert!(log.contains("You must select one single answer") && log.contains("final_answer"));
    assert!(
        log.contains("answer refused") && log.contains("bytes; in full at TRACE)"),
        "retries, and long answers cut"
    );
    assert!(!log.contains(&long) && run(tracing::Level::TRACE).contains(&"long ".repeat(2000)));
}

#[test]
fn long_prompts_are_whole_at_trace_and_noted_at_debug() {
    let mut scene = scene(AnswerForm::Score);
    let end = "the end of a long question";
    scene.state.query = crate::seeds::support::text(&format!("{} {end}", "How good is it? ".repeat(400)));
    let run = |level| logged(level, || block_on(summarize(Scripted::new().says("score", &[SCORED]), &scene))).1;
    let debug = run(tracing::Level::DEBUG);
    assert!(!debug.contains(end) && debug.contains("in full at TRACE"));
    assert!(run(tracing::Level::TRACE).contains(end));
}

#[test]
fn the_last_answer_is_logged_in_full_when_all_attempts_fail() {
    let refused = format!("{} and so on", "I cannot say. ".repeat(600));
    let model = Scripted::new().says("score", &[&refused]);
    let (_, log) = logged(tracing::Level::ERROR, || block_on(summarize(model, &scene(AnswerForm::Score))));
    assert!(log.contains("ERROR") && log.contains(&refused), "the full output, at ERROR");
}

#[test]
fn log_replanning_decision() {
    let mut scene = scene(AnswerForm::Score);
    scene.state.executor_evidence = Some(ExecutorOutput { quality_scores: None, ..some_evidence() });
    let (_, log) =
        logged(tracing::Level::INFO, || block_on(summarize(Scripted::new().says("score", &[SCORED]), &scene)));
    for told in ["need_replan=true", "Missing tool scores for the whole image", "iteration=0"] {
        assert!(log.contains(told), "{told} is not in {log}");
    }
}

#[tokio::test]
async fn empty_executor_evidence() {
    handle_empty(ExecutorOutput::default()).await;
    handle_empty(evidence(json!({"distortion_set": {}, "quality_scores": {}, "distortion_analysis": {}}))).await;
}

async fn handle_empty(evidence: ExecutorOutput) {
    let mut scene = scene(AnswerForm::Score);
    scene.state.executor_evidence = Some(evidence);
    let (result, _) = summarize(Scripted::new().says("score", &[SCORED]), &scene).await;
    assert!(result.unwrap().result.quality_reasoning.as_str().contains("no tool score"));
}

#[tokio::test]
async fn contradictory_evidence() {
    let mut scene = scene(AnswerForm::Score);
    scene.state.executor_evidence = Some(evidence(json!({
        "distortion_analysis": {"Global": [{"type": "Blurs", "severity": "severe", "explanation": "smeared"}]},
        "quality_scores": {"Global": {"Blurs": ["PIQE", 4.4]}},
        "tool_logs": [log("PIQE", "Global", "Blurs", 4.4)],
    })));
    let (result, _) = summarize(Scripted::new().says("score", &[SCORED]), &scene).await;
    let result = result.unwrap().result;
    assert!(result.need_replan());
    assert!(result.quality_reasoning.as_str().contains("Contradictory evidence: severe blurs but high scores"));
}

#[tokio::test]
async fn missing_query_scope_coverage() {
    let mut scene = scene(AnswerForm::Text);
    scene.state.plan = Some(plan(json!(["vehicle", "background"]), [true, true, false, false]));
    scene.state.executor_evidence = Some(evidence(json!({
        "distortion_analysis": {"vehicle": [{"type": "Blurs", "severity": "slight", "explanation": "soft"}]},
    })));
    let (result, _) = summarize(Scripted::new().says("answer", &[CHOSEN]), &scene).await;
    let result = result.unwrap().result;
    assert_eq!(
        result.replan_reason().unwrap(),
        "Distortion analysis does not cover all query_scope objects: missing background"
    );
}
