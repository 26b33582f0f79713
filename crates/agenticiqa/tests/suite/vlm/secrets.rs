use std::sync::Arc;

use agenticiqa::vlm::{
    BaseUrl, Client, ErrorKind, Options, ProviderSettings, Recording, Secret, Traffic, Vlm, connect,
};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::vlm::support::{KEY, Log, ask_with_retries, completion, impatient, model, ok, prompt, server};

/// Responses that repeat the key in every place that an error message may use.
fn indiscreet() -> Vec<ResponseTemplate> {
    let said = format!("Incorrect API key provided: {KEY}. {}", "x".repeat(600));
    let padded = format!("{}{KEY}", "x".repeat(290));
    let mut refusal = completion("");
    refusal["choices"][0]["message"]["refusal"] = json!(said);
    vec![
        ResponseTemplate::new(401).set_body_json(json!({"error": {"message": said}})),
        ResponseTemplate::new(400).set_body_json(json!({"error": {"message": said}})),
        ResponseTemplate::new(422).set_body_json(json!({"detail": padded})),
        ResponseTemplate::new(500).set_body_string(said.clone()),
        ResponseTemplate::new(429).insert_header("x-key", KEY).set_body_json(json!({"message": said})),
        ResponseTemplate::new(200).set_body_raw(said.clone(), "text/plain"),
        ResponseTemplate::new(200).set_body_raw("x", &format!("text/{KEY}")),
        ok(refusal),
    ]
}

#[tokio::test]
async fn keys_are_in_no_error_and_in_no_log_but_traces_of_what_the_server_sent() {
    for backend in ["openai.gpt-4o", "anthropic.claude-3.5-sonnet", "google.gemini-2.0-flash", "ollama.llava"] {
        for answer in indiscreet() {
            let (log, guard) = Log::start();
            let server = server(answer).await;
            let client = Client::new(model(backend, &server.uri())).with_policy(impatient());
            let (answer, events) = ask_with_retries(&client).await;
            let error = answer.unwrap_err();
            drop(guard);
            // Even half a key must not appear.
            for text in [error.to_string(), format!("{error:?}"), format!("{events:?}"), format!("{client:?}")] {
                assert!(!text.contains(&KEY[..12]), "{text}");
            }
            let ours = log.text();
            let ours = ours.lines().filter(|line| line.contains(" agenticiqa"));
            assert!(ours.clone().count() > 0);
            for line in ours {
                assert!(!line.contains(&KEY[..12]), "{line}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_succeeds_logs_no_header_at_any_level() {
    let (log, _guard) = Log::start();
    let server = server(ok(completion("sharp"))).await;
    let model = model("openai.gpt-4o", &server.uri());
    let (answer, _) = ask_with_retries(&Client::new(Arc::clone(&model))).await;
    answer.unwrap();
    let sent = &server.received_requests().await.unwrap()[0];
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}").as_str());
    assert!(log.text().contains("Is it sharp?"), "prompts are logged");
    assert!(!log.text().contains(KEY), "{}", log.text());
}

/// Returns the texts of all files below a folder.
fn texts_below(folder: &std::path::Path) -> Vec<String> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = |path: std::path::PathBuf| match path.is_dir() {
        true => texts_below(&path),
        false => vec![std::fs::read_to_string(path).unwrap()],
    };
    paths.flat_map(texts).collect()
}

#[tokio::test]
async fn a_key_that_the_model_repeats_is_written_nowhere() {
    let (log, _guard) = Log::start();
    let mut body = completion(&format!("Your key is {KEY}."));
    let (half, rest) = KEY.split_at(9);
    let token = |text: &str| json!({"token": text, "logprob": -0.1, "bytes": null, "top_logprobs": []});
    body["choices"][0]["logprobs"] = json!({"content": [token(half), token(rest)]});
    let server = server(ok(body)).await;
    let folder = tempfile::tempdir().unwrap();
    let recording = Some(Recording::Record(folder.path().to_owned()));
    let settings = ProviderSettings { base_url: Some(server.uri().parse().unwrap()), api_key: Some(Secret::new(KEY)) };
    let traffic = Traffic { recording, ..Traffic::default() };
    let model = traffic.connect(&"openai.gpt-4o".parse().unwrap(), &settings).unwrap();
    let options = Options { logprobs: true, ..Options::default() };
    let answer = model.generate(&prompt(), &[], &options).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.logprobs), ("Your key is [redacted].", None));
    let recorded = texts_below(folder.path());
    assert!(
        !recorded.is_empty() && recorded.iter().all(|text| !text.contains(half) && !text.contains(rest)),
        "{recorded:?}"
    );
    assert!(!log.text().contains(KEY));
}

#[test]
fn settings_and_models_print_no_key() {
    let settings = ProviderSettings { base_url: None, api_key: Some(Secret::new(KEY)) };
    for backend in ["openai.gpt-4o", "anthropic.claude-3.5-sonnet", "google.gemini-2.0-flash", "ollama.llava"] {
        let model: Arc<dyn Vlm> = connect(&backend.parse().unwrap(), &settings).unwrap();
        let text = format!("{settings:?} {model:?}");
        assert!(!text.contains(KEY) && text.contains("***"), "{text}");
    }
}

#[test]
fn without_a_key_the_variable_is_named_before_anything_is_sent() {
    let none = ProviderSettings::default();
    for (backend, variable) in [
        ("openai.gpt-4o", "OPENAI_API_KEY"),
        ("anthropic.claude-3.5-sonnet", "ANTHROPIC_API_KEY"),
        ("google.gemini-2.0-flash", "GOOGLE_API_KEY"),
    ] {
        let error = connect(&backend.parse().unwrap(), &none).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Authentication);
        assert_eq!(error.to_string(), format!("{backend}: there is no key: set {variable}"));
    }
    connect(&"ollama.llava".parse().unwrap(), &none).unwrap();
}

#[test]
fn a_key_that_cannot_be_one_is_found_at_once() {
    let settings = ProviderSettings { base_url: None, api_key: Some(Secret::new("two\nlines")) };
    let error = connect(&"openai.gpt-4o".parse().unwrap(), &settings).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(!error.to_string().contains("lines"), "{error}");
}

#[test]
fn an_address_with_a_password_or_without_a_scheme_is_refused() {
    let base_url = Some("https://user:hunter2@host/v1".parse().unwrap());
    let settings = ProviderSettings { base_url, api_key: Some(Secret::new(KEY)) };
    let error = connect(&"openai.gpt-4o".parse().unwrap(), &settings).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(!error.to_string().contains("hunter2") && !format!("{settings:?}").contains("hunter2"), "{error}");
    for wrong in ["host/v1", "file:///etc/passwd"] {
        wrong.parse::<BaseUrl>().unwrap_err();
    }
}
