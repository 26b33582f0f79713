//! Claims that contradict measurements.

use std::sync::Arc;

use agenticiqa::events::EventLog;
use agenticiqa::state::{FinalStatus, Mode, Severity};

use super::support::{QUERY, agent_in, assess, model};
use crate::seeds::support::request;

/// The test image has no noise, which a model may deny.
const NOISY: &str =
    r#"{"distortion_analysis": {"Global": [{"type": "Noise", "severity": "extreme", "explanation": "grain"}]}}"#;
const FOUND: &str = r#"{"distortion_set": {"Global": ["Noise"]}}"#;
const SELECTED: &str = r#"{"selected_tools": {"Global": {"Noise": "PIQE"}}}"#;

#[tokio::test]
async fn a_severity_that_contradicts_the_measurement_is_kept_with_both_values() {
    let scripted = model().replaces("detect", &[FOUND]).replaces("analyze", &[NOISY]).replaces("select", &[SELECTED]);
    let (record, _) = assess(scripted, request(QUERY)).await;
    let evidence = record.executor_evidence.unwrap();
    let measured = evidence.measured_analysis.as_ref().unwrap()["Global"].iter();
    let noise = measured.clone().find(|one| one.distortion.name() == "Noise").unwrap();
    assert!(noise.severity <= Severity::Moderate, "{noise:?}");
    let [found] = &evidence.disagreements[..] else { panic!("{:?}", evidence.disagreements) };
    assert_eq!((found.about.as_str(), found.claimed.value.as_str()), ("Noise", "extreme"));
    assert_eq!(found.claimed.by.as_str(), "openai.scripted");
    assert_eq!(found.measured.value.as_str(), noise.severity.name());
    assert_eq!(found.measured.reason.as_ref(), Some(&noise.explanation));
    // Nobody decides: the judgment of the model stays as it is.
    assert_eq!(evidence.distortion_analysis.unwrap()["Global"][0].severity, Severity::Extreme);
    let result = record.summarizer_result.unwrap();
    assert!(result.quality_reasoning.as_str().contains("Contradictory evidence"), "{}", result.quality_reasoning);
}

#[tokio::test]
async fn a_disagreement_leads_to_a_new_plan_and_the_model_is_told() {
    let scripted = model().replaces("detect", &[FOUND]).replaces("analyze", &[NOISY]).replaces("select", &[SELECTED]);
    let model = Arc::new(scripted);
    let mut agent = agent_in(Mode::Grounded, &model);
    agent.options.max_replan_iterations = 1;
    let record = agent.assess(request(QUERY), EventLog::default()).await.unwrap();
    assert_eq!(record.metadata.iteration_count, 1);
    let reason = record.metadata.replan_history[0].reason.as_str();
    assert!(reason.starts_with("Contradictory evidence: openai.scripted says extreme for Noise"), "{reason}");
    let calls = model.calls("analyze");
    assert_eq!(calls.len(), 2);
    assert!(calls[1].prompt.user.contains(&format!("An earlier round ended so: {reason}. Look again.")));
    assert_eq!(record.metadata.final_status, FinalStatus::Partial, "it stays open after the last round");
}

#[tokio::test]
async fn a_level_that_contradicts_the_tools_is_kept_with_both_values() {
    for (letter, claimed) in [("A", "Excellent"), ("E", "Bad")] {
        let said = format!(r#"{{"final_answer": "{letter}", "quality_reasoning": "So it is."}}"#);
        let (record, _) = assess(model().replaces("score", &[&said]), request(QUERY)).await;
        let result = record.summarizer_result.unwrap();
        let tools = result.fusion.as_ref().unwrap().tools;
        let level = if letter == "A" { 5.0 } else { 1.0 };
        let apart = (tools.round() - level).abs() as u8;
        match &result.disagreements[..] {
            [] => assert!(apart < 2, "{tools} {letter}"),
            [found] => {
                assert_eq!(
                    (found.about.as_str(), found.claimed.value.as_str(), found.levels),
                    ("quality level", claimed, apart)
                );
                assert!(found.measured.reason.as_ref().unwrap().as_str().starts_with(&format!("{tools:.2} of 5")));
            }
            more => panic!("{more:?}"),
        }
    }
}

#[tokio::test]
async fn a_model_in_paper_mode_is_not_checked() {
    let scripted = model().replaces("detect", &[FOUND]).replaces("analyze", &[NOISY]).replaces("select", &[SELECTED]);
    let model = Arc::new(scripted);
    let record = agent_in(Mode::Paper, &model).assess(request(QUERY), EventLog::default()).await.unwrap();
    let evidence = record.executor_evidence.unwrap();
    assert!(evidence.disagreements.is_empty() && evidence.measured_analysis.is_none());
}
