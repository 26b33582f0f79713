//! The prompts, compared whole with the templates of the specification (`templates/*.txt`).

use std::sync::Arc;

use serde_json::json;

use crate::seeds::support::{Call, Scripted, assess, plan_json, request};

const QUERY: &str = "Rate the quality.";
const DETECTED: &str = r#"{"distortion_set": {"Global": ["Blurs"]}}"#;
const SET: &str = r#"{"Global":["Blurs"]}"#;

/// Returns the system part and the user part of a template. Only some templates have a user part.
pub(crate) fn template(text: &str) -> (String, Option<String>) {
    let system = text.strip_prefix("System:\n").unwrap().trim_end();
    match system.split_once("\n\nUser:\n") {
        Some((system, user)) => (system.to_owned(), Some(user.to_owned())),
        None => (system.to_owned(), None),
    }
}

/// Runs the whole agent and returns the first call of each role.
async fn calls(query: &str, roles: &[&str]) -> Vec<Call> {
    let plan = plan_json(json!("Global"), [true; 4]).to_string();
    let conclusion = r#"{"final_answer": "C", "quality_reasoning": "Soft."}"#;
    let model = Scripted::new()
        .says("plan", &[&plan])
        .says("detect", &[DETECTED])
        .says(
            "analyze",
            &[r#"{"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "slight", "explanation": "soft"}]}}"#],
        )
        .says("select", &[r#"{"selected_tools": {"Global": {"Blurs": "PIQE"}}}"#])
        .says("score", &[conclusion])
        .says("answer", &[conclusion]);
    let model = Arc::new(model);
    assess(&model, request(query)).await;
    roles.iter().map(|role| model.calls(role)[0].clone()).collect()
}

#[tokio::test]
async fn the_prompts_of_the_executor_are_those_of_the_specification() {
    let calls = calls(QUERY, &["detect", "analyze", "select"]).await;
    // The detector also gets the query scope, which its instructions refer to.
    for (call, (text, scope)) in calls.iter().zip([
        (include_str!("templates/detection.txt"), "\nThe query scope: [\"Global\"]"),
        (include_str!("templates/analysis.txt"), ""),
        (include_str!("templates/selection.txt"), ""),
    ]) {
        let (system, user) = template(text);
        let system = system.replace("{distortion_set}", SET);
        match system.split_once("{tool_description}") {
            None => assert_eq!(call.prompt.system, system),
            Some((before, after)) => {
                let described = call.prompt.system.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                let described: serde_json::Value = serde_json::from_str(described.unwrap()).unwrap();
                assert_eq!(described["BRISQUE"]["type"], "NR");
            }
        }
        // The template of the selector has no user part: it gets the query alone.
        let user = user.unwrap_or_else(|| "User's query: {query}".to_owned());
        assert_eq!(call.prompt.user, format!("{}{scope}", user.replace("{query}", QUERY)));
    }
}

#[tokio::test]
async fn the_prompts_of_the_summarizer_are_those_of_the_specification() {
    let scoring = &calls(QUERY, &["score"]).await[0];
    assert_eq!(scoring.prompt.system, template(include_str!("templates/scoring.txt")).0);
    let answering = &calls("Is it sharp?\nA. Sharp\nB. Soft\nC. Neither", &["answer"]).await[0];
    assert_eq!(answering.prompt.system, template(include_str!("templates/answer.txt")).0);
}
