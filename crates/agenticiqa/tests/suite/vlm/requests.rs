use std::sync::Arc;
use std::time::Duration;

use agenticiqa::vlm::{Answer, Attachment, ErrorKind, JsonSchema, Options, Prompt, ProviderSettings, Usage, connect};
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, Request};

use crate::vlm::support::{KEY, completion, model, ok, prompt, server};

fn pictures() -> Vec<Attachment> {
    let picture =
        |label: &str, mime, bytes: &[u8]| Attachment { label: label.to_owned(), mime, bytes: Arc::from(bytes) };
    vec![picture("Image:", "image/png", b"png"), picture("Reference image:", "image/jpeg", b"jpg!")]
}

/// A schema with a keyword that not every provider supports.
fn schema() -> JsonSchema {
    let schema = json!({
        "type": "object",
        "properties": {"severity": {"type": "string", "enum": ["none", "severe"]}, "note": {"type": "string", "maxLength": 80}},
        "required": ["severity", "note"],
        "additionalProperties": false
    });
    JsonSchema { name: "verdict".to_owned(), schema }
}

fn schema_without_bounds() -> Value {
    let mut schema = schema().schema;
    schema["properties"]["note"] = json!({"type": "string"});
    schema
}

fn everything() -> Options {
    Options {
        temperature: 0.25,
        top_p: Some(0.1),
        max_tokens: 512,
        schema: Some(schema()),
        logprobs: true,
        seed: Some(7),
        ..Options::default()
    }
}

async fn only_request(server: &MockServer) -> Request {
    let mut requests = server.received_requests().await.unwrap();
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

/// Returns the request of `backend` and its interpretation of `answer`.
async fn exchange(backend: &str, path: &str, options: &Options, answer: Value) -> (Request, Value, Answer) {
    let server = server(ok(answer)).await;
    let model = model(backend, &format!("{}{path}", server.uri()));
    let answer = model.generate(&prompt(), &pictures(), options).await.unwrap();
    let request = only_request(&server).await;
    let body = request.body_json().unwrap();
    (request, body, answer)
}

#[tokio::test]
async fn openai_chat_completions() {
    let mut answer = completion("{\"severity\": \"none\"}");
    answer["choices"][0]["logprobs"] = json!({"content": [
        {"token": "{\"", "logprob": -0.01, "bytes": [123, 34], "top_logprobs": []},
        {"token": "good", "logprob": -0.2, "bytes": null, "top_logprobs": [
            {"token": "good", "logprob": -0.2, "bytes": null}, {"token": "fair", "logprob": -1.8, "bytes": null}]}
    ]});
    let (request, body, answer) = exchange("openai.gpt-4o", "/proxy/v1", &everything(), answer).await;
    assert_eq!(request.url.path(), "/proxy/v1/chat/completions");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}").as_str());
    assert_eq!(request.headers["content-type"], "application/json");
    let expected = json!({
        "model": "gpt-4o",
        "stream": false,
        "messages": [
            {"role": "system", "content": "You judge images."},
            {"role": "user", "content": [
                {"type": "text", "text": "Image:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
                {"type": "text", "text": "Reference image:"},
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,anBnIQ=="}},
                {"type": "text", "text": "Is it sharp?"}
            ]}
        ],
        // Not OpenAI's own server, so the limits stay.
        "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "strict": true, "schema": schema().schema}},
        "temperature": 0.25,
        "top_p": 0.1,
        "max_tokens": 512,
        "seed": 7,
        "logprobs": true,
        "top_logprobs": 20
    });
    assert_eq!(body, expected);
    assert_eq!(answer.text, "{\"severity\": \"none\"}");
    assert_eq!(answer.model, "gpt-4o-2024-08-06");
    assert_eq!(answer.usage, Usage { prompt_tokens: 17, completion_tokens: 5 });
    assert!(!answer.truncated);
    let logprobs = answer.logprobs.unwrap();
    assert_eq!((logprobs.len(), logprobs[1].token.as_str(), logprobs[1].logprob), (2, "good", -0.2));
    assert_eq!(logprobs[1].top, [("good".to_owned(), -0.2), ("fair".to_owned(), -1.8)]);
}

#[tokio::test]
async fn what_is_not_asked_for_is_not_sent() {
    let server = server(ok(completion("yes"))).await;
    let model = model("openai.gpt-4o", &server.uri());
    let prompt = Prompt { system: String::new(), user: "Hello?".to_owned() };
    model.generate(&prompt, &[], &Options::default()).await.unwrap();
    let body: Value = only_request(&server).await.body_json().unwrap();
    let messages = json!([{"role": "user", "content": "Hello?"}]);
    let expected =
        json!({"model": "gpt-4o", "stream": false, "messages": messages, "temperature": 0.0, "max_tokens": 2048});
    assert_eq!(body, expected);
}

#[tokio::test]
async fn an_answer_that_was_cut_says_so() {
    let mut answer = completion("half a sen");
    answer["choices"][0]["finish_reason"] = json!("length");
    let (_, _, answer) = exchange("openai.gpt-4o", "", &Options::default(), answer).await;
    assert!(answer.truncated);
}

#[tokio::test]
async fn servers_without_keys_get_no_header() {
    let server = server(ok(completion("yes"))).await;
    let settings = ProviderSettings { base_url: Some(server.uri().parse().unwrap()), api_key: None };
    let model = connect(&"ollama.qwen2.5vl:7b".parse().unwrap(), &settings).unwrap();
    model.generate(&prompt(), &[], &Options::default()).await.unwrap();
    let request = only_request(&server).await;
    assert_eq!(request.url.path(), "/v1/chat/completions");
    assert!(!request.headers.contains_key("authorization"));
    assert_eq!(request.body_json::<Value>().unwrap()["model"], "qwen2.5vl:7b");
}

#[tokio::test]
async fn names_that_look_like_wishes_to_think_are_left_alone() {
    let (_, body, _) = exchange("openai.qwen-vl-max", "", &Options::default(), completion("yes")).await;
    assert_eq!(body["model"], "qwen-vl-max");
    assert_eq!(body.get("reasoning_effort"), None);
}

fn message(text: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-3-5-sonnet-20241022",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1500, "output_tokens": 12}
    })
}

#[tokio::test]
async fn anthropic_messages() {
    let (request, body, answer) = exchange("anthropic.claude-3.5-sonnet", "", &everything(), message("Yes.")).await;
    assert_eq!(request.url.path(), "/v1/messages");
    assert_eq!(request.headers["x-api-key"], KEY);
    assert_eq!(request.headers["anthropic-version"], "2023-06-01");
    assert!(!request.headers.contains_key("authorization"));
    let expected = json!({
        "model": "claude-3-5-sonnet-20241022",
        "stream": false,
        "system": "You judge images.",
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Image:"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
            {"type": "text", "text": "Reference image:"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "anBnIQ=="}},
            {"type": "text", "text": "Is it sharp?"}
        ]}],
        "temperature": 0.25,
        "top_p": 0.1,
        "max_tokens": 512
    });
    assert_eq!(body, expected);
    assert_eq!((answer.text.as_str(), answer.model.as_str()), ("Yes.", "claude-3-5-sonnet-20241022"));
    assert_eq!(answer.usage, Usage { prompt_tokens: 1500, completion_tokens: 12 });
    assert_eq!(answer.logprobs, None);
}

#[tokio::test]
async fn anthropic_schemas_and_sampling_by_version() {
    let (_, body, _) = exchange("anthropic.claude-sonnet-4.5", "", &everything(), message("{}")).await;
    assert_eq!(body["model"], "claude-sonnet-4-5");
    let format = json!({"type": "json_schema", "schema": schema_without_bounds()});
    assert_eq!(body["output_config"], json!({ "format": format }));
    assert_eq!((body.get("temperature"), body.get("top_p")), (Some(&json!(0.25)), None));

    let (_, body, _) = exchange("anthropic.claude-opus-4.7", "", &everything(), message("{}")).await;
    assert_eq!((body.get("temperature"), body.get("top_p")), (None, None));
    assert_eq!(body["max_tokens"], 512);
}

fn candidate(text: &str) -> Value {
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [{"text": text}]},
            "finishReason": "STOP",
            "index": 0,
            "logprobsResult": {
                "chosenCandidates": [{"token": "good", "tokenId": 5, "logProbability": -0.3}, {"token": "!"}],
                "topCandidates": [
                    {"candidates": [{"token": "good", "logProbability": -0.3}, {"token": "bad", "logProbability": -2.5}]},
                    {}
                ]
            }
        }],
        "usageMetadata": {"promptTokenCount": 270, "candidatesTokenCount": 4, "thoughtsTokenCount": 6, "totalTokenCount": 280},
        "modelVersion": "gemini-2.5-flash"
    })
}

#[tokio::test]
async fn gemini_generate_content() {
    let (request, body, answer) = exchange("google.gemini-2.5-flash", "", &everything(), candidate("good!")).await;
    assert_eq!(request.url.path(), "/v1beta/models/gemini-2.5-flash:generateContent");
    assert_eq!(request.url.query(), None);
    assert_eq!(request.headers["x-goog-api-key"], KEY);
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "You judge images."}]},
        "contents": [{"role": "user", "parts": [
            {"text": "Image:"},
            {"inline_data": {"mime_type": "image/png", "data": "cG5n"}},
            {"text": "Reference image:"},
            {"inline_data": {"mime_type": "image/jpeg", "data": "anBnIQ=="}},
            {"text": "Is it sharp?"}
        ]}],
        "generationConfig": {
            "temperature": 0.25,
            "topP": 0.1,
            "maxOutputTokens": 512,
            "seed": 7,
            "responseMimeType": "application/json",
            "responseJsonSchema": schema_without_bounds(),
            "responseLogprobs": true,
            "logprobs": 20
        }
    });
    assert_eq!(body, expected);
    assert_eq!((answer.text.as_str(), answer.model.as_str()), ("good!", "gemini-2.5-flash"));
    assert_eq!(answer.usage, Usage { prompt_tokens: 270, completion_tokens: 10 });
    let logprobs = answer.logprobs.unwrap();
    assert_eq!(logprobs[0].top, [("good".to_owned(), -0.3), ("bad".to_owned(), -2.5)]);
    assert_eq!((logprobs[1].token.as_str(), logprobs[1].logprob), ("!", 0.0));
}

#[tokio::test]
async fn older_gemini_gets_json_without_a_schema() {
    let (_, body, _) = exchange("google.gemini-2.0-flash", "", &everything(), candidate("{}")).await;
    let config = &body["generationConfig"];
    assert_eq!(config["responseMimeType"], "application/json");
    assert_eq!((config.get("responseJsonSchema"), config.get("responseSchema")), (None, None));
    assert_eq!(config["logprobs"], 5);
}

#[tokio::test]
async fn thoughts_are_no_part_of_the_answer() {
    let thinking = completion("<think>It has {many} edges.</think>\nYes.");
    let (_, _, answer) = exchange("openai.qwen3-vl", "", &Options::default(), thinking).await;
    assert_eq!(answer.text, "Yes.");
}

#[tokio::test]
async fn the_models_of_a_server_are_listed_with_the_key() {
    let openai = json!({"object": "list", "data": [{"id": "gpt-4o", "object": "model"}, {"id": "gpt-4o-mini", "object": "model"}]});
    let anthropic = json!({"data": [{"id": "claude-sonnet-4-5", "type": "model"}], "has_more": false});
    let google = json!({"models": [{"name": "models/gemini-2.5-flash"}]});
    for (backend, path, header, body, models) in [
        ("openai.gpt-4o", "/v1/models", "authorization", openai, vec!["gpt-4o", "gpt-4o-mini"]),
        ("anthropic.claude-3.5-sonnet", "/v1/models", "x-api-key", anthropic, vec!["claude-sonnet-4-5"]),
        ("google.gemini-2.5-flash", "/v1beta/models", "x-goog-api-key", google, vec!["gemini-2.5-flash"]),
    ] {
        let server = MockServer::start().await;
        Mock::given(wiremock::matchers::method("GET")).respond_with(ok(body)).mount(&server).await;
        assert_eq!(model(backend, &server.uri()).models(Duration::from_secs(60)).await.unwrap(), models);
        let request = only_request(&server).await;
        assert_eq!(request.url.path(), path);
        assert!(request.headers[header].to_str().unwrap().ends_with(KEY));
    }
}

#[tokio::test]
async fn a_server_that_refuses_to_list_its_models_says_why() {
    for (status, kind) in [(401, ErrorKind::Authentication), (500, ErrorKind::Server)] {
        let server = MockServer::start().await;
        let answer = wiremock::ResponseTemplate::new(status);
        Mock::given(wiremock::matchers::method("GET")).respond_with(answer).mount(&server).await;
        let error = model("openai.gpt-4o", &server.uri()).models(Duration::from_secs(60)).await.unwrap_err();
        assert_eq!(error.kind(), kind);
    }
}
