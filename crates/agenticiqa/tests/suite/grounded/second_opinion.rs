//! Two backends conclude from the same evidence.

use std::sync::Arc;

use agenticiqa::agent::Request;
use agenticiqa::events::EventLog;
use agenticiqa::reasoner::Reasoner;
use agenticiqa::state::{AssessmentRecord, FinalStatus, Mode, Node, schemas};

use super::support::{CONCLUDED, QUERY, agent_in, model};
use crate::seeds::support::{Scripted, reasoner, request};

async fn ask_both(second: Scripted) -> (AssessmentRecord, Arc<Scripted>) {
    let second = Arc::new(second);
    let other: Arc<dyn Reasoner> = Arc::new(reasoner(&second, Node::Summarizer));
    let agent = agent_in(Mode::Grounded, &Arc::new(model()));
    let request = Request { second_opinion: Some(other), ..request(QUERY) };
    let record = agent.assess(request, EventLog::default()).await.unwrap();
    let schema = schemas().into_iter().find(|(name, _)| *name == "AssessmentRecord").unwrap().1;
    let json = serde_json::to_value(&record).unwrap();
    jsonschema::validator_for(schema.as_value()).unwrap().validate(&json).unwrap();
    assert_eq!(serde_json::from_value::<AssessmentRecord>(json).unwrap(), record);
    (record, second)
}

#[tokio::test]
async fn both_conclusions_are_kept_and_nobody_decides() {
    let other = r#"{"final_answer": "B", "quality_reasoning": "It looks fine to me."}"#;
    let (record, second) = ask_both(Scripted::named("google.other").says("score", &[other])).await;
    let (first, opinion) = (record.summarizer_result.unwrap(), record.second_opinion.unwrap());
    let result = opinion.result.unwrap();
    assert_eq!((opinion.backend.as_str(), opinion.agrees), ("google.other", Some(false)));
    assert_eq!((first.final_answer.as_str(), result.final_answer.as_str()), ("C", "B"));
    assert!(result.quality_reasoning.as_str().starts_with("It looks fine to me."));
    assert_ne!(first.quality_score, result.quality_score, "each is fused with its own judgment");
    // The same evidence: the second one sees what the tools measured.
    assert!(second.calls("score")[0].prompt.user.contains("PIQE"));
    let calls = record.metadata.calls;
    assert_eq!(calls.iter().filter(|call| call.backend == "google.other").count(), 1);
    assert_eq!(record.metadata.iteration_count, 0, "a second opinion asks for no new plan");
}

#[tokio::test]
async fn the_same_answer_is_said_to_agree() {
    let (record, _) = ask_both(Scripted::named("google.other").says("score", &[CONCLUDED])).await;
    assert_eq!(record.second_opinion.unwrap().agrees, Some(true));
}

#[tokio::test]
async fn a_second_opinion_that_fails_leaves_the_first_and_says_why() {
    let (record, _) = ask_both(Scripted::named("google.other").says("score", &["no idea"])).await;
    assert_eq!(record.summarizer_result.unwrap().final_answer.as_str(), "C");
    let opinion = record.second_opinion.unwrap();
    assert!(opinion.result.is_none() && opinion.agrees.is_none());
    assert!(opinion.error.unwrap().as_str().contains("no JSON object"));
    assert_eq!(record.metadata.final_status, FinalStatus::Partial);
    let details = record.metadata.error_details.unwrap();
    assert!(details.iter().any(|detail| detail.starts_with("no second opinion from google.other")), "{details:?}");
}
