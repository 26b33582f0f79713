//! The whole agent with the real server: plan, evidence and conclusion come from its answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::agent::{Agent, Input, Options as AgentOptions, Request};
use agenticiqa::events::{Event, EventLog};
use agenticiqa::imaging::encode_png;
use agenticiqa::metrics::Image;
use agenticiqa::reasoner::Reasoner;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::Node;
use agenticiqa::state::{AnswerForm, AssessmentRecord, ByNode, FinalStatus, schemas};
use agenticiqa::tools::{Registry, ToolCache};
use agenticiqa::vlm::{Answer, Attachment, Capabilities, Client, Error, Options, Prompt, Vlm};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

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

fn agent(model: &Arc<Overheard>, max_tokens: ByNode<u32>) -> Agent {
    let timeout = Duration::from_secs(240);
    let of = |node: Node| -> Arc<dyn Reasoner> {
        let client = Client::new(Arc::clone(model) as Arc<dyn Vlm>);
        let options = Options { max_tokens: *max_tokens.get(node), timeout, seed: Some(7), ..Options::default() };
        Arc::new(VlmReasoner { node, client, options, attempts: 3, max_side: 2048 })
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
    let record = agent(&model, max_tokens).assess(request, events).await.unwrap();
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
