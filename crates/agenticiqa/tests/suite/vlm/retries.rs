use std::time::Duration;

use agenticiqa::vlm::{Client, ErrorKind, Event, Options};
use serde_json::json;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::vlm::support::{ask_with_retries, calls, completion, impatient, model, ok, prompt, server};

/// A server that fails `times` times and then answers.
async fn recovers_after(times: u64, fault: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(fault).up_to_n_times(times).with_priority(1).mount(&server).await;
    Mock::given(method("POST")).respond_with(ok(completion("sharp"))).with_priority(2).mount(&server).await;
    server
}

#[tokio::test]
async fn a_server_that_recovers_is_asked_again() {
    let server = recovers_after(2, ResponseTemplate::new(500)).await;
    let client = Client::new(model("openai.gpt-4o", &server.uri())).with_policy(impatient());
    let (answer, events) = ask_with_retries(&client).await;
    assert_eq!(answer.unwrap().text, "sharp");
    assert_eq!(calls(&server).await, 3);
    let attempts = events.iter().map(|event| match event {
        Event::Retry { backend, attempt, error, .. } => (backend.as_str(), *attempt, error.kind()),
        other => panic!("{other:?}"),
    });
    let expected = [("openai.gpt-4o", 2, ErrorKind::Server), ("openai.gpt-4o", 3, ErrorKind::Server)];
    assert_eq!(attempts.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_rate_limit_waits_as_long_as_the_server_asks() {
    let server = recovers_after(1, ResponseTemplate::new(429).insert_header("retry-after-ms", "20")).await;
    let client = Client::new(model("openai.gpt-4o", &server.uri())).with_policy(impatient());
    let (answer, events) = ask_with_retries(&client).await;
    answer.unwrap();
    let [Event::Retry { delay, .. }] = events.as_slice() else { panic!("{events:?}") };
    assert!((Duration::from_millis(20)..=Duration::from_millis(21)).contains(delay), "{delay:?}");
}

#[tokio::test]
async fn a_wrong_key_and_a_wrong_request_are_not_tried_again() {
    for status in [400, 401, 403, 404] {
        let server = server(ResponseTemplate::new(status)).await;
        let client = Client::new(model("openai.gpt-4o", &server.uri())).with_policy(impatient());
        let (answer, events) = ask_with_retries(&client).await;
        assert!(!answer.unwrap_err().is_transient());
        assert_eq!((calls(&server).await, events), (1, vec![]));
    }
}

#[tokio::test]
async fn a_server_without_log_probabilities_is_asked_without() {
    let server = MockServer::start().await;
    let complaint = json!({"error": {"message": "This model does not support logprobs"}});
    let refused = ResponseTemplate::new(400).set_body_json(complaint);
    Mock::given(wiremock::matchers::body_partial_json(json!({"logprobs": true})))
        .respond_with(refused)
        .mount(&server)
        .await;
    Mock::given(method("POST")).respond_with(ok(completion("sharp"))).with_priority(9).mount(&server).await;
    let model = model("openai.some-model", &server.uri());
    assert!(model.capabilities().logprobs);
    let options = Options { logprobs: true, ..Options::default() };
    for calls_so_far in [2, 3] {
        let answer = model.generate(&prompt(), &[], &options).await.unwrap();
        assert_eq!((answer.logprobs, calls(&server).await), (None, calls_so_far));
    }
    assert!(!model.capabilities().logprobs);
}
