//! The overhead of the graph: an assessment with a model that answers at once and no tools to run.

use std::sync::Arc;

use agenticiqa::agent::{Agent, Input, Options as AgentOptions, Request};
use agenticiqa::events::EventLog;
use agenticiqa::imaging::encode_png;
use agenticiqa::metrics::Image;
use agenticiqa::reasoner::Reasoner;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::ByNode;
use agenticiqa::state::Node;
use agenticiqa::tools::{Registry, ToolCache};
use agenticiqa::vlm::{Answer, Attachment, Capabilities, Client, Error, Options, Prompt, Usage, Vlm};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

fn main() {
    divan::main();
}

const PLAN: &str = r#"{"query_type": "IQA", "query_scope": "Global", "distortion_source": "Inferred", "distortions": null,
    "reference_mode": "No-Reference", "required_tool": null, "plan": {"distortion_detection": true,
    "distortion_analysis": true, "tool_selection": true, "tool_execution": false}}"#;
const ANSWERS: [(&str, &str); 5] = [
    ("You are a planner", PLAN),
    ("You are an expert", r#"{"distortion_set": {"Global": ["Blurs"]}}"#),
    (
        "You are a distortion",
        r#"{"distortion_analysis": {"Global": [{"type": "Blurs", "severity": "none", "explanation": "x"}]}}"#,
    ),
    ("You are a tool", r#"{"selected_tools": {"Global": {"Blurs": "PIQE"}}}"#),
    ("You are a visual", r#"{"final_answer": "B", "quality_reasoning": "Sharp."}"#),
];

/// A model that answers at once.
#[derive(Debug)]
struct Instant;

impl Vlm for Instant {
    fn name(&self) -> &str {
        "openai.instant"
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        _: &'a [Attachment],
        _: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        let text = ANSWERS.iter().find(|(begin, _)| prompt.system.starts_with(begin)).map_or("", |(_, text)| text);
        let (text, usage, model) = (text.to_owned(), Usage::default(), String::new());
        ready(Ok(Answer { text, logprobs: None, usage, model, truncated: false })).boxed()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { json_schema: true, logprobs: true }
    }

    fn accepts(&self, _: &str) -> bool {
        true
    }
}

#[divan::bench]
#[allow(clippy::unwrap_used)]
fn one_assessment(bencher: divan::Bencher<'_, '_>) {
    let of = |node: Node| -> Arc<dyn Reasoner> {
        let client = Client::new(Arc::new(Instant));
        Arc::new(VlmReasoner::new(node, client))
    };
    let agent = Agent {
        registry: Arc::new(Registry::builtin().unwrap()),
        cache: Arc::new(ToolCache::new(100, None)),
        reasoners: ByNode {
            planner: of(Node::Planner),
            executor: of(Node::Executor),
            summarizer: of(Node::Summarizer),
        },
        options: AgentOptions::default(),
    };
    let picture = encode_png(&Image::from_gray8(8, 8, (0..64).collect()).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.bench_local(|| {
        let request = Request::new(Input::Bytes("dot.png".to_owned(), picture.clone()));
        let request = Request { max_replan_iterations: Some(0), ..request };
        runtime.block_on(agent.assess(request, EventLog::default())).unwrap()
    });
}
