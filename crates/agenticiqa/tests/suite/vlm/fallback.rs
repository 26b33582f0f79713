use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::events::{Event, EventLog};
use agenticiqa::imaging::{Decoder, encode_png};
use agenticiqa::inputs::{Inputs, Source};
use agenticiqa::metrics::Image;
use agenticiqa::reasoner::builtin::Builtin;
use agenticiqa::reasoner::fallback::WithFallback;
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::reasoner::{Context, Error, Reasoner};
use agenticiqa::state::Node;
use agenticiqa::state::{AgenticIqaState, AnswerForm, PlannerOutput, Text};
use agenticiqa::tools::Registry;
use agenticiqa::vlm::{Client, ErrorKind, Options};
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

use crate::vlm::support::{KEY, Log, calls, completion, impatient, model, ok, server};

const FIRST: &str = "openai.gpt-4o";
const SECOND: &str = "openai.qwen2.5-vl";

/// A planner that calls a server, three times at most.
fn planner(backend: &str, server: &MockServer) -> Arc<dyn Reasoner> {
    let client = Client::new(model(backend, &server.uri())).with_policy(impatient());
    let options = Options { timeout: Duration::from_millis(500), ..Options::default() };
    Arc::new(VlmReasoner { options, attempts: 2, max_side: 64, ..VlmReasoner::new(Node::Planner, client) })
}

/// A server that returns plans.
async fn healthy() -> MockServer {
    let plan = json!({
        "query_type": "IQA", "query_scope": "Global", "distortion_source": "Inferred", "distortions": null,
        "reference_mode": "No-Reference", "required_tool": null,
        "plan": {"distortion_detection": true, "distortion_analysis": true, "tool_selection": true, "tool_execution": true},
    });
    server(ok(completion(&plan.to_string()))).await
}

/// The result of planning with a fallback.
struct Outcome {
    plan: Result<PlannerOutput, Error>,
    /// Retries and fallbacks, in order.
    events: Vec<Event>,
    problems: Vec<String>,
    log: String,
}

async fn plan(first: Arc<dyn Reasoner>, second: Arc<dyn Reasoner>) -> Outcome {
    let (log, _guard) = Log::start();
    let pixels = (0..64 * 64 * 3).map(|sample| (sample * 7 % 251) as u8).collect();
    let file = encode_png(&Image::from_rgb8(64, 64, pixels).unwrap()).unwrap();
    let image = Source::decode(&Decoder::default(), file).unwrap();
    let text = |text| Text::new(text).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let events = EventLog::heard_by(move |event| heard.lock().unwrap().push(event.clone()));
    let context = Context {
        state: &AgenticIqaState::new(text("sample"), text("Is the photo sharp?"), text("photo.png")),
        form: AnswerForm::Text,
        inputs: &Arc::new(Inputs::new(image, None).unwrap()),
        registry: &Arc::new(Registry::builtin().unwrap()),
        events: &events,
    };
    let plan = WithFallback { node: Node::Planner, first, second }.plan(context).await;
    let problems = events.problems();
    let mut events = told.lock().unwrap().clone();
    events.retain(|event| !matches!(event, Event::ModelCall { .. }));
    Outcome { plan, events, problems, log: log.text() }
}

fn takeover(from: &str, to: &str) -> Event {
    Event::Fallback { node: Node::Planner, from: from.to_owned(), to: to.to_owned() }
}

#[tokio::test]
async fn the_second_backend_answers_when_the_first_fails_for_good() {
    let (broken, healthy) = (server(ResponseTemplate::new(503)).await, healthy().await);
    let outcome = plan(planner(FIRST, &broken), planner(SECOND, &healthy)).await;
    outcome.plan.unwrap();
    assert_eq!((calls(&broken).await, calls(&healthy).await), (3, 1));
    let [Event::Retry { attempt: 1, .. }, Event::Retry { attempt: 2, .. }, last] = outcome.events.as_slice() else {
        panic!("{:?}", outcome.events)
    };
    assert_eq!(last, &takeover(FIRST, SECOND));
    let warnings: Vec<&str> = outcome.log.lines().filter(|line| line.contains(" WARN ")).collect();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    let line = format!("Model fallback: {FIRST} -> {SECOND} reason={FIRST}: ");
    assert!(warning.contains(&line), "{warning}");
    let [problem] = outcome.problems.as_slice() else { panic!("{:?}", outcome.problems) };
    assert!(problem.starts_with(&format!("Model fallback: {FIRST} -> {SECOND}: {FIRST}: ")), "{problem}");
}

#[tokio::test]
async fn every_kind_of_failure_leads_to_the_second_backend() {
    let mut refusal = completion("");
    refusal["choices"][0]["message"] = json!({"role": "assistant", "content": null, "refusal": "I will not."});
    let late = ok(completion("late")).set_delay(Duration::from_secs(600));
    for (fault, asked, because) in [
        (ResponseTemplate::new(401), 1, "the key was refused: set OPENAI_API_KEY"),
        (ResponseTemplate::new(429).insert_header("retry-after-ms", "1"), 3, "too many calls"),
        (ok(refusal), 1, "I will not."),
        (late, 3, "no answer within 0.5 s"),
        (ok(completion("I cannot plan.")), 2, "gave 2 answers that cannot be used"),
        (ok(completion("")), 3, "the answer is empty"),
        (ResponseTemplate::new(400), 1, "the request was not accepted"),
    ] {
        let (broken, healthy) = (server(fault).await, healthy().await);
        let outcome = plan(planner(FIRST, &broken), planner(SECOND, &healthy)).await;
        outcome.plan.unwrap();
        assert_eq!((calls(&broken).await, calls(&healthy).await), (asked, 1), "{because}");
        assert_eq!(outcome.events.last(), Some(&takeover(FIRST, SECOND)), "{because}");
        assert!(outcome.problems[0].contains(because), "{because}: {:?}", outcome.problems);
        assert!(outcome.log.contains(&format!("Model fallback: {FIRST} -> {SECOND} reason=")), "{because}");
        assert!(!outcome.log.contains(KEY) && !outcome.problems[0].contains(KEY));
    }
}

#[tokio::test]
async fn the_second_backend_is_left_alone_when_the_first_answers() {
    let (first, second) = (healthy().await, healthy().await);
    let outcome = plan(planner(FIRST, &first), planner(SECOND, &second)).await;
    outcome.plan.unwrap();
    assert_eq!((calls(&first).await, calls(&second).await), (1, 0));
    assert_eq!((outcome.events, outcome.problems), (vec![], vec![]));
    assert!(!outcome.log.contains("Model fallback"));
}

#[tokio::test]
async fn if_both_fail_the_error_is_the_second_ones() {
    let (first, second) = (server(ResponseTemplate::new(500)).await, server(ResponseTemplate::new(401)).await);
    let claude = "anthropic.claude-3.5-sonnet";
    let outcome = plan(planner(FIRST, &first), planner(claude, &second)).await;
    let Err(Error::Model(error)) = outcome.plan else { panic!("{:?}", outcome.plan) };
    assert_eq!((error.backend(), error.kind()), (claude, ErrorKind::Authentication));
    assert_eq!(outcome.events.last(), Some(&takeover(FIRST, claude)));
    assert!(outcome.problems[0].contains("status 500"), "{:?}", outcome.problems);
}

#[tokio::test]
async fn the_built_in_analyst_can_take_over() {
    let broken = server(ResponseTemplate::new(401)).await;
    let outcome = plan(planner(FIRST, &broken), Arc::new(Builtin)).await;
    outcome.plan.unwrap();
    assert_eq!(outcome.events, [takeover(FIRST, "builtin")]);
    assert!(outcome.log.contains(&format!("Model fallback: {FIRST} -> builtin reason=")), "{}", outcome.log);
}
