use std::sync::Arc;

use agenticiqa::agent::{Agent, Input, Request};
use agenticiqa::events::EventLog;
use agenticiqa::imaging::encode_png;
use agenticiqa::metrics::Image;
use agenticiqa::reasoner::Reasoner;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::{AssessmentRecord, ByNode, Mode, Node};
use agenticiqa::vlm::KeptSize;
use serde_json::json;

use crate::seeds::support::{Call, Scripted, agent, plan_json, reasoner, request};

pub const QUERY: &str = "Rate the quality of this image.";
pub const DETECTED: &str = r#"{"distortion_set": {"Global": ["Blurs"]}}"#;
pub const ANALYZED: &str =
    r#"{"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "slight", "explanation": "soft"}]}}"#;
pub const SELECTED: &str = r#"{"selected_tools": {"Global": {"Blurs": "PIQE"}}}"#;
pub const CONCLUDED: &str = r#"{"final_answer": "C", "quality_reasoning": "Soft."}"#;

/// A server that keeps only 120 pixels a side: the images of the tests are large for it.
pub const SMALL: KeptSize = KeptSize { longer: 120, shorter: None, pixels: None };

/// A model that answers every step.
pub fn model() -> Scripted {
    Scripted::new()
        .says("plan", &[&plan_json(json!("Global"), [true; 4]).to_string()])
        .says("detect", &[DETECTED])
        .says("analyze", &[ANALYZED])
        .says("select", &[SELECTED])
        .says("score", &[CONCLUDED])
        .says("answer", &[CONCLUDED])
}

/// An agent in a mode, without replanning.
pub fn agent_in(mode: Mode, model: &Arc<Scripted>) -> Agent {
    let of = |node: Node| -> Arc<dyn Reasoner> { Arc::new(VlmReasoner { mode, ..reasoner(model, node) }) };
    let mut agent = agent(model);
    agent.reasoners =
        ByNode { planner: of(Node::Planner), executor: of(Node::Executor), summarizer: of(Node::Summarizer) };
    agent.options.mode = mode;
    agent.options.max_replan_iterations = 0;
    agent
}

pub async fn assess(model: Scripted, request: Request) -> (AssessmentRecord, Arc<Scripted>) {
    let model = Arc::new(model);
    let record = agent_in(Mode::Grounded, &model).assess(request, EventLog::default()).await.unwrap();
    (record, model)
}

/// A dark image.
pub fn dark(query: &str) -> Request {
    let pixels = (0..200 * 160).map(|i: usize| (8 + (i * i / 97 + i / 200) % 24) as u8).collect();
    let png = encode_png(&Image::from_gray8(200, 160, pixels).unwrap()).unwrap();
    Request { image: Input::Bytes("night.png".into(), png), ..request(query) }
}

/// The first call of a role.
pub fn first(model: &Scripted, role: &str) -> Call {
    model.calls(role)[0].clone()
}
