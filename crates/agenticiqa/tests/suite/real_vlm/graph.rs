//! The whole agent with the real server: plan, evidence and conclusion come from its answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::agent::{Agent, Input, Options as AgentOptions, Request};
use agenticiqa::events::{Event, EventLog};
use agenticiqa::imaging::encode_png;
use agenticiqa::metrics::Image;
use agenticiqa::reasoner::Reasoner;
use agenticiqa::reasoner::builtin::Builtin;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::Node;
use agenticiqa::state::{AnswerForm, AssessmentRecord, ByNode, FinalStatus, Mode, OneOrMany, schemas};
use agenticiqa::tools::{Registry, ToolCache};
use agenticiqa::vlm::{Answer, Attachment, Capabilities, Client, Error, Options, Prompt, Vlm};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::real_vlm::server;

/// The model of the server, with its answers recorded for the test.
#[derive(Debug)]
struct Overheard {
    model: Arc<dyn Vlm>,
    answers: Mutex<Vec<(String, Answer)>>,
}

impl Vlm for Overheard {
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
            let answer = self.model.generate(prompt, images, options).await?;
            self.answers.lock().unwrap().push((prompt.system.clone(), answer.clone()));
            Ok(answer)
        }
        .boxed()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn accepts(&self, mime: &str) -> bool {
        self.model.accepts(mime)
    }
}

fn picture(step: usize) -> Vec<u8> {
    let value = |i: usize| ((i % 220) * (i / 220) / step + (i * 37) % 29 * 3) % 256;
    let samples = (0..220 * 200).flat_map(|i| [value(i) as u8, (value(i) / 2) as u8, 80]).collect();
    encode_png(&Image::from_rgb8(220, 200, samples).unwrap()).unwrap()
}

fn request(query: &str) -> Request {
    Request { query: query.into(), ..Request::new(Input::Bytes("photo.png".into(), picture(9))) }
}

fn agent(model: Arc<dyn Vlm>, max_tokens: ByNode<u32>, mode: Mode) -> Agent {
    let timeout = Duration::from_secs(240);
    let of = |node: Node| -> Arc<dyn Reasoner> {
        let client = Client::new(Arc::clone(&model));
        let options = Options { max_tokens: *max_tokens.get(node), timeout, seed: Some(7), ..Options::default() };
        Arc::new(VlmReasoner { options, mode, ..VlmReasoner::new(node, client) })
    };
    let reasoners =
        ByNode { planner: of(Node::Planner), executor: of(Node::Executor), summarizer: of(Node::Summarizer) };
    // Random weights on a busy machine are slow. Node timeouts are not tested here.
    let timeouts = ByNode { planner: 3 * timeout, executor: 9 * timeout, summarizer: 3 * timeout };
    Agent {
        registry: Arc::new(Registry::builtin().unwrap()),
        cache: Arc::new(ToolCache::new(100, None)),
        reasoners,
        options: AgentOptions { timeouts, max_replan_iterations: 1, ..AgentOptions::default() },
    }
}

const AMPLE: ByNode<u32> = ByNode { planner: 1500, executor: 2000, summarizer: 1200 };

async fn assess(request: Request, max_tokens: ByNode<u32>) -> (AssessmentRecord, Vec<(String, Answer)>, Vec<Event>) {
    let model = Arc::new(Overheard { model: server::model(), answers: Mutex::default() });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let events = EventLog::heard_by(move |event| ears.lock().unwrap().push(event.clone()));
    let agent = agent(Arc::clone(&model) as Arc<dyn Vlm>, max_tokens, Mode::Grounded);
    let record = agent.assess(request, events).await.unwrap();
    let schema = schemas().into_iter().find(|(name, _)| *name == "AssessmentRecord").unwrap().1;
    let json = serde_json::to_value(&record).unwrap();
    jsonschema::validator_for(schema.as_value()).unwrap().validate(&json).unwrap();
    assert_eq!(serde_json::from_value::<AssessmentRecord>(json).unwrap(), record);
    let answers = model.answers.lock().unwrap().clone();
    let events = heard.lock().unwrap().clone();
    (record, answers, events)
}

#[tokio::test]
async fn a_rating_goes_through_the_whole_graph() {
    let (record, answers, events) = assess(request("Rate the quality of this image."), AMPLE).await;
    assert_ne!(record.metadata.final_status, FinalStatus::Error, "{:?}", record.metadata.error_details);
    assert!(record.plan.is_some() && record.executor_evidence.is_some());
    let result = record.summarizer_result.as_ref().unwrap();
    assert_eq!(result.answer_form, AnswerForm::Score);
    assert!("ABCDE".contains(result.final_answer.as_str()));
    assert!(result.quality_score.is_some_and(|score| (1.0..=5.0).contains(&score.value())));
    let tokens = &record.metadata.tokens_used;
    assert!(tokens.planner > 50 && tokens.summarizer > 50, "{tokens:?}");
    let scored = answers.iter().rfind(|(system, _)| system.contains("visual quality assessment assistant")).unwrap();
    assert!(scored.1.logprobs.as_ref().is_some_and(|tokens| tokens.iter().any(|token| token.top.len() > 1)));
    assert!(matches!(events.last(), Some(Event::Done { .. })));
}

/// The model of the server, which selects this tool: the answer schema of tool selection allows no
/// other. Random weights choose at random.
#[derive(Debug)]
struct Choosing {
    model: Arc<dyn Vlm>,
    tool: &'static str,
    asked: AtomicU32,
}

impl Vlm for Choosing {
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
            if prompt.system.starts_with("You are a tool executor") {
                self.asked.fetch_add(1, Ordering::Relaxed);
                allow_only(self.tool, &mut options.schema.as_mut().unwrap().schema);
            }
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
}

/// Replaces every list of possible values in a schema by `tool`, which must be one of them.
fn allow_only(tool: &str, schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(names) = fields.get_mut("enum") {
                assert!(names.as_array().unwrap().contains(&json!(tool)), "{tool} is not offered: {names}");
                *names = json!([tool]);
            }
            fields.values_mut().for_each(|value| allow_only(tool, value));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| allow_only(tool, value)),
        _ => {}
    }
}

#[tokio::test]
async fn another_choice_of_tools_gives_another_score() {
    let mut results = Vec::new();
    for tool in ["BRISQUE", "NIQE"] {
        let model = Arc::new(Choosing { model: server::model(), tool, asked: AtomicU32::default() });
        // Random severities contradict the measured ones, which would lead to new plans.
        let mut agent = agent(Arc::clone(&model) as Arc<dyn Vlm>, AMPLE, Mode::Paper);
        // A random plan may request no tools, and random weights may be so sure of a level that it hides the tools.
        agent.reasoners.planner = Arc::new(Builtin);
        agent.reasoners.summarizer = Arc::new(Builtin);
        let record = agent.assess(request("Rate the quality of this image."), EventLog::default()).await.unwrap();
        assert!(model.asked.load(Ordering::Relaxed) > 0, "the server was asked");
        let evidence = record.executor_evidence.unwrap();
        let selected = evidence.selected_tools.unwrap();
        let mut selected = selected.values().flat_map(BTreeMap::values).flat_map(OneOrMany::as_slice).peekable();
        assert!(selected.peek().is_some() && selected.all(|selected| selected.as_str() == tool));
        assert!(!evidence.tool_logs.is_empty());
        for log in &evidence.tool_logs {
            assert!(log.tool_name.as_str() == tool && !log.fallback && log.error.is_none(), "{log:?}");
        }
        let result = record.summarizer_result.unwrap();
        results.push((result.fusion.unwrap().tools, result.quality_score.unwrap().value()));
    }
    let [(tools, score), (other_tools, other_score)] = results[..] else { panic!("{results:?}") };
    assert!(tools != other_tools && score != other_score, "{results:?}");
}

#[tokio::test]
async fn a_choice_with_a_reference_gets_one_of_its_letters() {
    let reference = Some(Input::Bytes("original.png".into(), picture(7)));
    let options = vec!["Blur".to_owned(), "Noise".to_owned(), "Nothing".to_owned()];
    let request = Request { reference, options, ..request("What is wrong with the image?") };
    let (record, _, _) = assess(request, AMPLE).await;
    let result = record.summarizer_result.unwrap();
    assert_eq!(result.answer_form, AnswerForm::Choice);
    assert!("ABC".contains(result.final_answer.as_str()), "{}", result.final_answer);
}

#[tokio::test]
async fn answers_that_are_cut_off_are_asked_for_again_and_then_given_up_on() {
    let short = ByNode { executor: 8, summarizer: 8, ..AMPLE };
    let (record, answers, events) = assess(request("Rate the quality of this image."), short).await;
    let result = record.summarizer_result.as_ref().unwrap();
    assert_eq!(result.final_answer.as_str(), "Unable to determine");
    assert_eq!(result.quality_reasoning.as_str(), "VLM output parsing failed");
    assert!(!result.need_replan());
    let asked = answers.iter().filter(|(system, _)| system.contains("visual quality assessment assistant")).count();
    assert_eq!(asked, 3);
    let retries = events.iter().filter(|event| matches!(event, Event::Retry { node: Node::Summarizer, .. })).count();
    assert_eq!(retries, 3);
    let evidence = record.executor_evidence.unwrap();
    assert_eq!((evidence.distortion_set, evidence.distortion_analysis), (None, None));
    assert_ne!(record.metadata.final_status, FinalStatus::Success);
}
