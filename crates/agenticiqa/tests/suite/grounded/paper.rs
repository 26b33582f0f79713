//! Paper mode sends the prompts of the specification and nothing else.

use std::sync::Arc;

use agenticiqa::events::EventLog;
use agenticiqa::state::{AssessmentRecord, Mode};
use serde_json::{Value, json};

use super::support::{QUERY, SMALL, agent_in, dark, first, model};
use crate::seeds::support::{Call, Scripted, plan_json, request};
use crate::seeds::templates::template;

async fn run(mode: Mode, scripted: Scripted, query: &str) -> (AssessmentRecord, Arc<Scripted>) {
    let model = Arc::new(scripted);
    let record = agent_in(mode, &model).assess(dark(query), EventLog::default()).await.unwrap();
    (record, model)
}

#[tokio::test]
async fn the_prompts_are_those_of_the_specification_byte_for_byte() {
    let (record, model) = run(Mode::Paper, model().keeping(SMALL), QUERY).await;
    assert_eq!(record.metadata.mode, Some(Mode::Paper));
    let plan = first(&model, "plan");
    assert_eq!(plan.prompt.user, format!("User's query: {QUERY}\nThe image: <image>"));
    for (role, text) in [
        ("detect", include_str!("../seeds/templates/detection.txt")),
        ("analyze", include_str!("../seeds/templates/analysis.txt")),
    ] {
        let (system, user) = template(text);
        let call = first(&model, role);
        assert_eq!(call.prompt.system, system.replace("{distortion_set}", r#"{"Global":["Blurs"]}"#), "{role}");
        assert_eq!(call.prompt.user, user.unwrap().replace("{query}", QUERY), "{role}");
    }
    // The template of the selector has no user part, but every provider needs one: the query alone.
    let select = first(&model, "select");
    let (before, after) = template(include_str!("../seeds/templates/selection.txt"))
        .0
        .split_once("{tool_description}")
        .map(|(before, after)| (before.replace("{distortion_set}", r#"{"Global":["Blurs"]}"#), after.to_owned()))
        .unwrap();
    let described =
        select.prompt.system.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str()));
    assert!(serde_json::from_str::<Value>(described.unwrap()).unwrap()["PIQE"].is_object());
    assert_eq!(select.prompt.user, format!("User's query: {QUERY}"));
    // The evidence that the specification embeds: analysis, scores, and the fused score as a guide.
    let score = first(&model, "score");
    assert_eq!(score.prompt.system, template(include_str!("../seeds/templates/scoring.txt")).0);
    let evidence = record.executor_evidence.as_ref().unwrap();
    let log = &evidence.tool_logs[0];
    let measured = log.normalized_score.unwrap().value();
    let fused = agenticiqa::fusion::Fusion::default().score(Some(measured), None);
    let expected = format!(
        "User's query: {QUERY}\nThe image: <image>\nDistortion analysis: {}\nTool response (scores from 1, bad, to 5, excellent): {}\nTogether, the tools that determine the score (PIQE) point to a quality of {fused:.2} on the scale from 1 (E, Bad) to 5 (A, Excellent).",
        json!(evidence.distortion_analysis),
        json!(evidence.quality_scores),
    );
    assert_eq!(score.prompt.user, expected);
    for role in ["plan", "detect", "analyze", "score"] {
        let Call { images, options, .. } = first(&model, role);
        assert_eq!(images, ["<image>"], "{role}");
        assert!(!options.schema.unwrap().schema.to_string().contains("view_request"), "{role}");
    }
    assert_eq!((&evidence.attributes, &evidence.measured_analysis, record.metadata.views), (&None, &None, None));
    assert!(evidence.disagreements.is_empty());
}

#[tokio::test]
async fn a_question_in_words_gets_no_hint_in_paper_mode() {
    let plan = json!({"query_type": "Other"});
    let mut whole = plan_json(json!("Global"), [false; 4]);
    whole["query_type"] = plan["query_type"].clone();
    let model = || {
        Scripted::new()
            .says("plan", &[&whole.to_string()])
            .says("answer", &[r#"{"final_answer": "Yes.", "quality_reasoning": "Sharp."}"#])
    };
    let (_, paper) = run(Mode::Paper, model(), "Is it pretty?").await;
    assert_eq!(first(&paper, "answer").prompt.user, "User's query: Is it pretty?\nThe image: <image>");
    let (_, grounded) = run(Mode::Grounded, model(), "Is it pretty?").await;
    assert!(first(&grounded, "answer").prompt.user.contains("one short sentence"));
}

#[tokio::test]
async fn grounded_mode_keeps_the_system_prompts_and_adds_measurements() {
    let (paper_record, paper) = run(Mode::Paper, model(), QUERY).await;
    let (record, grounded) = run(Mode::Grounded, model(), QUERY).await;
    assert_eq!(record.metadata.mode, Some(Mode::Grounded));
    for role in ["plan", "detect", "analyze", "select", "score"] {
        assert_eq!(first(&paper, role).prompt.system, first(&grounded, role).prompt.system, "{role}");
        let (paper, grounded) = (first(&paper, role).prompt.user, first(&grounded, role).prompt.user);
        assert!(grounded.starts_with("User's query: "), "{role}");
        assert!(grounded.len() >= paper.len(), "{role}");
    }
    let user = first(&grounded, "score").prompt.user;
    let start = user.find("Measurements of the pixels").unwrap();
    let json = &user[start..][user[start..].find('{').unwrap()..];
    let json = json.lines().next().unwrap();
    let measured: Value = serde_json::from_str(json).unwrap();
    let evidence = record.executor_evidence.as_ref().unwrap();
    let lighting = &evidence.attributes.as_ref().unwrap()["Global"][&agenticiqa::state::Axis::Lighting];
    assert!(
        measured["Global"]["attributes"]["lighting"]["level"].as_str().unwrap().starts_with(lighting.level.as_str())
    );
    assert!(measured["Global"]["attributes"]["lighting"].as_object().unwrap().len() > 2, "numbers: {measured}");
    assert!(measured["Global"]["contributions to the score"]["clean image"].as_f64().is_some(), "{measured}");
    // In an image that is unlike photos only noise is measured.
    let severities = measured["Global"]["distortions"].as_object().unwrap();
    for one in &evidence.measured_analysis.as_ref().unwrap()["Global"] {
        let told = severities.get(one.distortion.name()).and_then(Value::as_str);
        assert!(told.is_none_or(|told| told.starts_with(one.severity.name())), "{one:?} {told:?}");
    }
    assert!(!record.summarizer_result.unwrap().contributions.is_empty());
    assert!(paper_record.summarizer_result.unwrap().contributions.is_empty());
}

#[tokio::test]
async fn both_modes_are_in_the_record_of_the_builtin_analyst_too() {
    let mut agent = agent_in(Mode::Grounded, &Arc::new(Scripted::new()));
    let builtin = || Arc::new(agenticiqa::reasoner::builtin::Builtin);
    agent.reasoners = agenticiqa::state::ByNode { planner: builtin(), executor: builtin(), summarizer: builtin() };
    let record = agent.assess(request("Is it sharp?"), EventLog::default()).await.unwrap();
    assert_eq!((record.metadata.mode, record.metadata.calls.len()), (Some(Mode::Grounded), 0));
}
