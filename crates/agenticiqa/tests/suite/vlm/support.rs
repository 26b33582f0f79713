use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenticiqa::vlm::{
    Answer, Client, Error, Event, Options, Prompt, ProviderSettings, RetryPolicy, Secret, Vlm, connect,
};
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

/// A key that must appear only in a header.
pub const KEY: &str = "sk-a-very-secret-key-0123456789";

pub fn model(backend: &str, base_url: &str) -> Arc<dyn Vlm> {
    let settings = ProviderSettings { base_url: Some(base_url.parse().unwrap()), api_key: Some(Secret::new(KEY)) };
    connect(&backend.parse().unwrap(), &settings).unwrap()
}

/// A server with the same response to every request.
pub async fn server(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(answer).mount(&server).await;
    server
}

/// The number of calls to a server.
pub async fn calls(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

/// An OpenAI response with this text.
pub fn completion(text: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-4o-2024-08-06",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text, "refusal": null},
            "logprobs": null,
            "finish_reason": "stop"
        }],
        "usage": {"prompt_tokens": 17, "completion_tokens": 5, "total_tokens": 22}
    })
}

pub fn ok(body: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

pub fn prompt() -> Prompt {
    Prompt { system: "You judge images.".to_owned(), user: "Is it sharp?".to_owned() }
}

/// Makes one call without retries.
pub async fn ask(model: &Arc<dyn Vlm>) -> Result<Answer, Error> {
    model.generate(&prompt(), &[], &Options::default()).await
}

/// Three attempts with very short pauses.
pub fn impatient() -> RetryPolicy {
    let (base_delay, max_delay) = (Duration::from_millis(1), Duration::from_millis(50));
    RetryPolicy { attempts: 3, base_delay, max_delay, jitter: 0.5 }
}

/// Makes a call with retries and returns its events.
pub async fn ask_with_retries(client: &Client) -> (Result<Answer, Error>, Vec<Event>) {
    let events = Mutex::new(Vec::new());
    let answer =
        client.generate(&prompt(), &[], &Options::default(), &|event| events.lock().unwrap().push(event)).await;
    (answer, events.into_inner().unwrap())
}

/// Collects all log messages of this thread.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub fn start() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
