//! Scenarios of the planner's design.

use std::sync::Arc;

use agenticiqa::planner;
use agenticiqa::reasoner::Error;
use agenticiqa::reasoner::fallback::WithFallback;
use agenticiqa::state::Node;
use agenticiqa::state::{
    AnswerForm, Distortion, DistortionSource, FinalStatus, OneOrMany, PlanControlFlags, QueryScope, QueryType,
    ReferenceMode,
};
use agenticiqa::vlm::{Error as VlmError, ErrorKind};
use serde_json::json;

use crate::seeds::support::{Scene, Scripted, assess, plan_json, reasoner, request, text};

async fn plan_with(model: Scripted, scene: &Scene) -> (Result<agenticiqa::state::PlannerOutput, Error>, Arc<Scripted>) {
    let model = Arc::new(model);
    (planner::plan(&reasoner(&model, Node::Planner), scene.context()).await, model)
}

fn scene() -> Scene {
    Scene::new("Is the car blurry?", AnswerForm::Text)
}

#[tokio::test]
async fn the_planner_prompt_is_the_papers_and_marks_the_reference() {
    let answer = plan_json(json!(["car"]), [false, true, false, false]).to_string();
    let (plan, model) = plan_with(Scripted::new().says("plan", &[&answer]), &scene().with_reference()).await;
    let call = &model.calls("plan")[0];
    assert!(call.prompt.system.starts_with("You are a planner in an image quality assessment (IQA) system"));
    for field in
        ["query_type", "query_scope", "distortion_source", "distortions", "reference_mode", "required_tool", "plan"]
    {
        assert!(call.prompt.system.contains(&format!("\"{field}\"")), "{field}");
    }
    assert_eq!(call.images, ["<image>", "<reference image>"]);
    assert!(
        call.prompt.user.contains("User's query: Is the car blurry?")
            && call.prompt.user.contains("The reference image")
    );
    assert_eq!(plan.unwrap().reference_mode, ReferenceMode::FullReference, "a fact, independent of the model");
}

#[tokio::test]
async fn json_is_taken_out_of_prose_fences_and_trailing_commas_and_synonyms_are_mapped() {
    let answer = r#"Here is the plan {as asked}: ```json
    {"query_type": "iqa", "query_scope": "Global", "distortion_source": "Explict",
     "distortions": {"Global": ["motion blur", "overexposure",]}, "reference_mode": "No-reference",
     "required_tool": ["none"], "plan": {"distortion_detection": "False", "distortion_analysis": true,
     "tool_selection": true, "tool_execute": true,},}
    ``` I hope {this} helps."#;
    let (plan, _) = plan_with(Scripted::new().says("plan", &[answer]), &scene()).await;
    let plan = plan.unwrap();
    assert_eq!((plan.query_type, plan.query_scope), (QueryType::Iqa, QueryScope::Global));
    assert_eq!((plan.distortion_source, plan.reference_mode), (DistortionSource::Explicit, ReferenceMode::NoReference));
    assert_eq!(plan.distortions.unwrap()["Global"], [Distortion::Blurs, Distortion::Brightness]);
    assert_eq!(plan.required_tool, None);
    let flags = PlanControlFlags {
        distortion_detection: false,
        ..PlanControlFlags::by_rule(QueryType::Iqa, false, false, false)
    };
    assert_eq!(plan.plan, flags);
}

#[tokio::test]
async fn a_bad_plan_is_asked_for_again_with_the_validation_error() {
    let mut bad = plan_json(json!("Global"), [true; 4]);
    bad["distortion_source"] = json!("Guessed");
    let good = plan_json(json!("Global"), [true; 4]).to_string();
    let (plan, model) = plan_with(Scripted::new().says("plan", &["{}", &bad.to_string(), &good]), &scene()).await;
    assert!(plan.is_ok());
    let calls = model.calls("plan");
    assert_eq!(calls.len(), 3);
    assert!(
        calls[1].prompt.user.contains("Return ONLY valid JSON")
            && calls[1].prompt.user.contains("\"query_scope\" is missing")
    );
    assert!(calls[2].prompt.user.contains("distortion_source must be one of"), "{}", calls[2].prompt.user);
}

#[tokio::test]
async fn after_three_bad_plans_the_fallback_plans_and_without_one_the_built_in_analyst() {
    let bad = Arc::new(Scripted::new().says("plan", &["I cannot plan."]));
    let good = plan_json(json!("Global"), [true; 4]).to_string();
    let other = Arc::new(Scripted::named("anthropic.scripted").says("plan", &[&good]));
    let (first, second) = (Arc::new(reasoner(&bad, Node::Planner)), Arc::new(reasoner(&other, Node::Planner)));
    let with_fallback = WithFallback { node: Node::Planner, first, second };
    let scene = scene();
    assert!(planner::plan(&with_fallback, scene.context()).await.is_ok());
    assert_eq!((bad.calls("plan").len(), other.calls("plan").len()), (3, 1));
    assert!(scene.events.problems()[0].starts_with("Model fallback: openai.scripted -> anthropic.scripted"));
    let scene = self::scene();
    let plan = planner::plan(&reasoner(&bad, Node::Planner), scene.context()).await.unwrap();
    assert_eq!(plan.query_scope, QueryScope::from_names(["car"]));
    assert_eq!(plan.distortions.unwrap()["car"], [Distortion::Blurs]);
    let problem = &scene.events.problems()[0];
    assert!(problem.starts_with("Model fallback: openai.scripted -> builtin"), "{problem}");
    assert!(problem.contains("gave 3 answers that cannot be used"), "{problem}");
}

#[tokio::test]
async fn a_model_that_is_down_ends_the_assessment_with_an_error() {
    let down = Err(VlmError::new("openai.scripted", ErrorKind::Connection, "it is down"));
    let model = Arc::new(Scripted::new().gives("plan", [down].into()));
    let record = assess(&model, request("Is the car blurry?")).await;
    assert_eq!(record.metadata.final_status, FinalStatus::Error);
    assert!(record.metadata.error_details.unwrap()[0].contains("it is down"));
    assert_eq!(record.summarizer_result, None, "no invented answer");
}

#[tokio::test]
async fn a_new_plan_knows_why_the_last_one_was_not_enough() {
    let blind = plan_json(json!(["car"]), [false, true, false, true]).to_string();
    let model = Scripted::new().says("plan", &[&blind]);
    let model = model
        .says("analyze", &["nonsense"])
        .says("answer", &[r#"{"final_answer": "Yes", "quality_reasoning": "It is."}"#]);
    let model = Arc::new(model.says("ground", &[r#"{"boxes": {"car": null}}"#]));
    let mut request = request("Is the car blurry?");
    request.max_replan_iterations = Some(1);
    let record = assess(&model, request).await;
    let calls = model.calls("plan");
    assert_eq!(calls.len(), 2);
    assert!(!calls[0].prompt.user.contains("earlier plan"));
    let reason = "Distortion analysis does not cover all query_scope objects: missing car";
    assert!(calls[1].prompt.user.contains(reason) && calls[1].prompt.user.contains("\"tool_execution\":true"));
    assert_eq!(record.metadata.iteration_count, 1);
    assert_eq!(record.metadata.replan_history[0].reason, text(reason));
}

#[test]
fn control_flags_follow_the_papers_rules() {
    let flags = |kind, distortion, region, tool| {
        let PlanControlFlags { distortion_detection, distortion_analysis, tool_selection, tool_execution } =
            PlanControlFlags::by_rule(kind, distortion, region, tool);
        [distortion_detection, distortion_analysis, tool_selection, tool_execution]
    };
    assert_eq!(flags(QueryType::Other, true, true, true), [false; 4]);
    assert_eq!(flags(QueryType::Iqa, false, false, false), [true, true, true, true]);
    assert_eq!(flags(QueryType::Iqa, true, false, false), [false, true, true, true]);
    assert_eq!(flags(QueryType::Iqa, true, true, false), [false, true, false, false]);
    assert_eq!(flags(QueryType::Iqa, true, true, true), [false, true, false, true]);
    assert_eq!(flags(QueryType::Iqa, true, false, true), [false, true, false, true]);
}

#[tokio::test]
async fn a_tool_that_the_user_asks_for_is_run() {
    let answer = plan_json(json!("Global"), [false, true, true, false]).to_string();
    let mut scene = scene();
    scene.state.requested_tools = vec![text("NIQE"), text("PIQE")];
    let (plan, _) = plan_with(Scripted::new().says("plan", &[&answer]), &scene).await;
    let plan = plan.unwrap();
    assert_eq!(plan.required_tool, Some(OneOrMany::Many(vec![text("NIQE"), text("PIQE")])));
    assert_eq!((plan.plan.tool_selection, plan.plan.tool_execution), (false, true));
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_left_out_with_a_note() {
    let mut answer = plan_json(json!("Global"), [false, true, false, true]);
    answer["required_tool"] = json!("SuperIQA");
    let scene = scene();
    let (plan, _) = plan_with(Scripted::new().says("plan", &[&answer.to_string()]), &scene).await;
    assert_eq!(plan.unwrap().required_tool, None);
    assert!(scene.events.notes().iter().any(|note| note.contains("SuperIQA")));
}

#[tokio::test]
async fn a_plan_is_compared_with_the_question() {
    let mut answer = plan_json(json!(["dragon"]), [true, true, false, false]);
    answer["distortions"] = json!(null);
    let scene = Scene::new("Is it blurry?", AnswerForm::Text);
    let (plan, _) = plan_with(Scripted::new().says("plan", &[&answer.to_string()]), &scene).await;
    let plan = plan.unwrap();
    assert_eq!((plan.query_scope, plan.distortion_source), (QueryScope::Global, DistortionSource::Explicit));
    assert_eq!(plan.distortions.unwrap()["Global"], [Distortion::Blurs]);
    let notes = scene.events.notes();
    assert!(
        notes.iter().any(|note| note.contains("dragon")) && notes.iter().any(|note| note.contains("Blurs")),
        "{notes:?}"
    );
}
