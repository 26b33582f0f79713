//! Models that were tuned to rate images, with answers in the form that their authors publish. None of
//! these models was run here.

use std::sync::Arc;

use agenticiqa::events::EventLog;
use agenticiqa::reasoner::builtin::Builtin;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::{AssessmentRecord, ByNode, FinalStatus, Mode, Node};
use agenticiqa::vlm::TokenLogprob;

use super::support::{QUERY, agent_in, first};
use crate::seeds::support::{Call, Scripted, reasoner, request};

/// Lets a model conclude from the evidence of the built-in analyst.
async fn rate(model: Scripted, mode: Mode) -> (AssessmentRecord, Call) {
    let model = Arc::new(model);
    let mut agent = agent_in(mode, &model);
    let summarizer = Arc::new(VlmReasoner { mode, ..reasoner(&model, Node::Summarizer) });
    agent.reasoners = ByNode { planner: Arc::new(Builtin), executor: Arc::new(Builtin), summarizer };
    let record = agent.assess(request(QUERY), EventLog::default()).await.unwrap();
    (record, first(&model, "score"))
}

#[tokio::test]
async fn a_rating_after_thoughts_is_the_answer() {
    for (name, text) in [
        ("openai.Q-Insight", r#"<think>Edges are soft, no noise.</think><answer>{"rating": 2.31}</answer>"#),
        ("openai.VisualQuality-R1-7B", "<think>Edges are soft, no noise.</think>\n<answer>2.31</answer>"),
    ] {
        let (record, call) = rate(Scripted::named(name).says("score", &[text]), Mode::Grounded).await;
        let result = record.summarizer_result.unwrap();
        assert_eq!(result.final_answer.as_str(), "D", "{name}");
        assert!(result.quality_reasoning.as_str().starts_with("Edges are soft, no noise."), "{name}");
        let probabilities = result.fusion.unwrap().probabilities.unwrap();
        assert!((probabilities[1] - 0.69).abs() < 1e-9 && (probabilities[2] - 0.31).abs() < 1e-9, "{probabilities:?}");
        assert_eq!(call.options.schema, None, "a schema would forbid the thoughts");
        assert!(call.prompt.user.contains("<think> </think>") && call.prompt.user.contains("from 1.00 (bad) to 5.00"));
        assert!(call.prompt.system.contains("You must select one single answer"), "the instructions stay");
    }
}

#[tokio::test]
async fn the_word_of_a_level_is_the_answer_and_its_log_probabilities_count() {
    let levels = [(" poor", 0.6), (" bad", 0.25), (" fair", 0.15)];
    let top = levels.iter().map(|(word, share): &(&str, f64)| ((*word).to_owned(), share.ln())).collect();
    let plain = |token: &str| TokenLogprob { token: token.into(), logprob: -0.01, top: vec![(token.into(), -0.01)] };
    let word = TokenLogprob { token: " poor".into(), logprob: 0.6_f64.ln(), top };
    let tokens = vec![
        plain("The"),
        plain(" quality"),
        plain(" of"),
        plain(" the"),
        plain(" image"),
        plain(" is"),
        word,
        plain("."),
    ];
    let model = Scripted::named("openai.DeQA-Score")
        .with_logprobs(tokens)
        .says("score", &["The quality of the image is poor."]);
    let (record, call) = rate(model, Mode::Grounded).await;
    let result = record.summarizer_result.unwrap();
    assert_eq!(result.final_answer.as_str(), "D");
    let probabilities = result.fusion.unwrap().probabilities.unwrap();
    assert!((probabilities[1] - 0.6).abs() < 1e-9 && (probabilities[0] - 0.25).abs() < 1e-9, "{probabilities:?}");
    assert!(call.options.schema.is_none() && call.options.logprobs);
    assert!(call.prompt.user.ends_with("<excellent, good, fair, poor or bad>."));
}

#[tokio::test]
async fn qwen_and_internvl_answer_in_json_also_after_thoughts() {
    for name in ["openai.Qwen2.5-VL-7B-Instruct", "openai.InternVL3_5-8B"] {
        let text = r#"<think>soft</think>{"final_answer": "D", "quality_reasoning": "Soft edges."}"#;
        let (record, call) = rate(Scripted::named(name).says("score", &[text]), Mode::Grounded).await;
        assert_eq!(record.summarizer_result.unwrap().final_answer.as_str(), "D");
        assert!(call.options.schema.is_some() && !call.prompt.user.contains("<think>"), "{name}");
    }
}

#[tokio::test]
async fn paper_mode_knows_no_profiles_and_other_models_may_not_answer_so() {
    let rating = "<think>x</think><answer>2.31</answer>";
    for (name, mode) in [("openai.Q-Insight", Mode::Paper), ("openai.gpt-4o", Mode::Grounded)] {
        let (record, call) = rate(Scripted::named(name).says("score", &[rating]), mode).await;
        assert_eq!(record.summarizer_result.unwrap().final_answer.as_str(), "Unable to determine");
        assert!(call.options.schema.is_some() && !call.prompt.user.contains("<think>"), "{name}");
        assert_ne!(record.metadata.final_status, FinalStatus::Success);
    }
}
