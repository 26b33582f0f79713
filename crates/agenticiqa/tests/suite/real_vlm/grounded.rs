//! Views, one more view and a disagreement with the real server.
//!
//! Random weights ask for nothing by themselves. The answer schemas of these tests leave no choice: the
//! server constrains its answers to them, as it does for every schema. Everything else is as always: the
//! images, the rounds, the tokens and the reading of the answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::agent::{Agent, Input, Options as AgentOptions, Request};
use agenticiqa::events::{Event, EventLog};
use agenticiqa::executor::Calls;
use agenticiqa::imaging::encode_png;
use agenticiqa::metrics::Image;
use agenticiqa::reasoner::Reasoner;
use agenticiqa::reasoner::builtin::Builtin;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::{AssessmentRecord, ByNode, Mode, ModelCall, Node};
use agenticiqa::tools::{Registry, ToolCache};
use agenticiqa::vlm::{Answer, Attachment, Capabilities, Client, Error, KeptSize, Options, Prompt, Vlm};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::real_vlm::server;

/// The model of the server with schemas that leave no choice.
#[derive(Debug)]
struct Led {
    model: Arc<dyn Vlm>,
    /// The images of each call, by task.
    seen: Mutex<Vec<(String, Vec<String>)>>,
}

impl Vlm for Led {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn generate<'a>(
        &'a self,
        prompt: &'a Prompt,
        images: &'a [Attachment],
        options: &'a Options,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move {
            let mut options = options.clone();
            let schema = options.schema.as_mut().unwrap();
            let labels = images.iter().map(|image| image.label.clone()).collect();
            self.seen.lock().unwrap().push((schema.name.clone(), labels));
            lead(&mut schema.schema);
            self.model.generate(prompt, images, &options).await
        }
        .boxed()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn accepts(&self, mime: &str) -> bool {
        self.model.accepts(mime)
    }

    /// The tests need no image of several megapixels to have views.
    fn kept_size(&self) -> KeptSize {
        KeptSize { longer: 160, shorter: None, pixels: None }
    }
}

/// Lets a schema allow only noise, only severe judgments, and always another view.
fn lead(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(wish) = fields.get_mut("view_request") {
                *wish = json!({"type": "object", "properties": {
                    "kind": {"type": "string", "enum": ["crop"]}, "box": {"const": [100, 100, 700, 700]},
                }, "required": ["kind", "box"], "additionalProperties": false});
                return fields.values_mut().for_each(lead);
            }
            if let Some(Value::Array(names)) = fields.get_mut("enum") {
                for only in ["Noise", "extreme"] {
                    if names.contains(&json!(only)) {
                        *names = vec![json!(only)];
                    }
                }
            }
            if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
                choices.retain(|choice| choice["type"] != "null");
            }
            if fields.get("maxItems") == Some(&json!(7)) {
                fields.insert("minItems".to_owned(), json!(1));
            }
            fields.values_mut().for_each(lead);
        }
        Value::Array(values) => values.iter_mut().for_each(lead),
        _ => {}
    }
}

/// A smooth image without any noise.
fn smooth() -> Request {
    let (width, height) = (320, 240);
    let value =
        |x: usize, y: usize| (70 + x / 3 + y / 4 + if (x / 40 + y / 40).is_multiple_of(2) { 30 } else { 0 }) as u8;
    let samples = (0..width * height).flat_map(|i| [value(i % width, i / width); 3]).collect();
    let png = encode_png(&Image::from_rgb8(width, height, samples).unwrap()).unwrap();
    let query = "Rate the quality of this image.".to_owned();
    Request { query, ..Request::new(Input::Bytes("smooth.png".into(), png)) }
}

async fn assess(
    mode: Mode,
    calls: Calls,
    concludes: bool,
) -> (AssessmentRecord, Vec<(String, Vec<String>)>, Vec<Event>) {
    let model = Arc::new(Led { model: server::model(), seen: Mutex::default() });
    let timeout = Duration::from_secs(240);
    let of = |node: Node, max_tokens: u32| -> Arc<dyn Reasoner> {
        let client = Client::new(Arc::clone(&model) as Arc<dyn Vlm>);
        let options = Options { max_tokens, timeout, seed: Some(7), ..Options::default() };
        Arc::new(VlmReasoner { options, mode, ..VlmReasoner::new(node, client) })
    };
    // A random plan may ask for nothing.
    let reasoners = ByNode {
        planner: Arc::new(Builtin) as Arc<dyn Reasoner>,
        executor: of(Node::Executor, 3000),
        summarizer: if concludes { of(Node::Summarizer, 1600) } else { Arc::new(Builtin) },
    };
    let timeouts = ByNode { planner: timeout, executor: 9 * timeout, summarizer: 9 * timeout };
    let agent = Agent {
        registry: Arc::new(Registry::builtin().unwrap()),
        cache: Arc::new(ToolCache::new(100, None)),
        reasoners,
        options: AgentOptions { timeouts, max_replan_iterations: 0, mode, calls, ..AgentOptions::default() },
    };
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let events = EventLog::heard_by(move |event| ears.lock().unwrap().push(event.clone()));
    let record = agent.assess(smooth(), events).await.unwrap();
    let seen = model.seen.lock().unwrap().clone();
    let events = heard.lock().unwrap().clone();
    (record, seen, events)
}

#[tokio::test]
async fn views_one_more_view_and_a_disagreement_go_through_the_real_server() {
    let (record, seen, events) = assess(Mode::Grounded, Calls::Separate, true).await;
    let problems = record.metadata.error_details.clone().unwrap_or_default().join("\n");
    let rounds = |task: &str| -> Vec<usize> {
        seen.iter().filter(|(of, _)| of == task).map(|(_, images)| images.len()).collect()
    };
    // Every question about the image has two rounds, the second with the view that was asked for.
    for task in ["distortion_set", "distortion_analysis", "conclusion"] {
        let [first, second] = rounds(task)[..] else { panic!("{task}: {:?} {problems}", rounds(task)) };
        assert!(first > 1 && second == first + 1, "{task}: {first} and {second} images");
    }
    let views = record.metadata.views.as_ref().unwrap();
    let asked = views.sent.iter().filter(|view| view.requested_by.is_some()).count();
    assert!(asked >= 1 && views.sent.len() > asked, "{views:?}");
    assert!(views.sent.iter().any(|view| (view.x, view.y) == (48, 24) && view.requested_by.is_some()), "{views:?}");
    // The server counts the tokens of every view.
    let calls = &record.metadata.calls;
    let tokens = |task: &str| -> Vec<u64> {
        calls.iter().filter(|call| call.task == task).map(|call| call.prompt_tokens).collect()
    };
    let [first, second] = tokens("conclusion")[..] else { panic!("{calls:?}") };
    assert!(second > first + 49, "49 patches of one more view: {first} and {second}");
    let told = events.iter().filter(|event| matches!(event, Event::ModelCall { .. })).count();
    assert_eq!(told, calls.len());
    // The model can only say that the smooth image is extremely noisy.
    let evidence = record.executor_evidence.as_ref().unwrap();
    let [found] = &evidence.disagreements[..] else { panic!("{:?} {problems}", evidence.distortion_analysis) };
    assert_eq!(
        (found.about.as_str(), found.claimed.value.as_str(), found.measured.value.as_str()),
        ("Noise", "extreme", "none")
    );
    assert!(record.summarizer_result.unwrap().quality_reasoning.as_str().contains("Contradictory evidence"));
}

#[tokio::test]
async fn joined_calls_and_paper_mode_send_less() {
    // Answers of random weights have any length, so what is sent counts.
    let executor = |record: &AssessmentRecord| -> Vec<ModelCall> {
        record.metadata.calls.iter().filter(|call| call.node == Node::Executor).cloned().collect()
    };
    let total = |record: &AssessmentRecord| executor(record).iter().map(|call| call.prompt_tokens).sum::<u64>();
    let images = |record: &AssessmentRecord| executor(record).iter().map(|call| call.images).sum::<usize>();
    let (separate, ..) = assess(Mode::Grounded, Calls::Separate, false).await;
    let (joined, ..) = assess(Mode::Grounded, Calls::Joined, false).await;
    let (paper, seen, _) = assess(Mode::Paper, Calls::Separate, false).await;
    // The table of docs/models-and-prompts.md.
    for (name, record) in [("grounded, separate", &separate), ("grounded, joined", &joined), ("paper", &paper)] {
        for call in &record.metadata.calls {
            let ModelCall { task, images, prompt_tokens, completion_tokens, .. } = call;
            println!("| {name} | {task} | {images} | {prompt_tokens} | {completion_tokens} |");
        }
        println!("| {name} | total | | {:?} | |", record.metadata.tokens_used);
        println!("{:?}", record.metadata.views);
    }
    assert!(
        joined.executor_evidence.as_ref().unwrap().distortion_analysis.is_some(),
        "{:?}",
        joined.metadata.error_details
    );
    assert!(executor(&joined).len() < executor(&separate).len() && images(&joined) < images(&separate));
    assert!(total(&joined) < total(&separate), "{} {}", total(&joined), total(&separate));
    assert!(total(&paper) < total(&joined), "{} {}", total(&paper), total(&joined));
    assert!(seen.iter().all(|(_, images)| images.len() <= 1), "no views: {seen:?}");
}
