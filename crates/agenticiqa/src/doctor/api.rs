//! Checks whether the configured models answer. Lists the models of a server first, which is free.

use std::time::Duration;

use serde::Serialize;

use crate::config::{Backend, Environment, Settings};
use crate::setup::Models;
use agenticiqa_vlm::{BackendName, ErrorKind, Options, Prompt, Vlm};

/// The result of calling a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiFact {
    /// The name of the backend.
    pub backend: String,
    /// Whether the server answers and accepts the key.
    pub answers: bool,
    /// Whether the server lists the model; `None` if it has no list and the model was called
    /// instead.
    pub listed: Option<bool>,
    /// The reason why the model does not answer.
    pub reason: Option<String>,
}

/// Calls every model of a role or a fallback.
pub async fn check_api(settings: &Settings, environment: &Environment, timeout: Duration) -> Vec<ApiFact> {
    let mut models = Models::new(settings, environment);
    let (mut facts, mut called) = (Vec::new(), Vec::new());
    for (_, role) in settings.models.roles() {
        let first = (Some(&role.backend), settings.models.base_url(role));
        let second = (role.fallback_backend.as_ref(), settings.models.fallback_base_url(role));
        for (backend, url) in [first, second] {
            let Some(backend) = backend.and_then(Backend::model) else { continue };
            if called.contains(&(backend, url)) {
                continue;
            }
            called.push((backend, url));
            let answer = match models.connect(backend, url) {
                Ok(model) => call(&*model, backend, timeout).await,
                Err(error) => Err(error),
            };
            facts.push(ApiFact {
                backend: backend.to_string(),
                answers: answer.is_ok(),
                listed: answer.as_ref().ok().copied().flatten(),
                reason: answer.err().map(|error| error.to_string()),
            });
        }
    }
    facts
}

/// Returns whether the server lists the model; `None` if it has no list but the model answered.
async fn call(
    model: &dyn Vlm,
    backend: &BackendName,
    timeout: Duration,
) -> Result<Option<bool>, agenticiqa_vlm::Error> {
    match model.models(timeout).await {
        Ok(offered) if !offered.is_empty() => {
            return Ok(Some(offered.iter().any(|offered| is_same(backend.model(), offered))));
        }
        // The server has no list.
        Ok(_) => (),
        Err(error) if matches!(error.kind(), ErrorKind::BadRequest | ErrorKind::BadAnswer) => (),
        Err(error) => return Err(error),
    }
    let prompt = Prompt { system: String::new(), user: "Say yes.".to_owned() };
    let options = Options { max_tokens: 16, timeout, ..Options::default() };
    model.generate(&prompt, &[], &options).await.map(|_| None)
}

/// Returns whether a user's name and a server's name mean the same model. Server names may contain
/// dates, tags and other separators (`claude-3.5-sonnet` is `claude-3-5-sonnet-20241022`, `llava`
/// is `llava:latest`).
fn is_same(wanted: &str, offered: &str) -> bool {
    let plain = |name: &str| name.to_lowercase().replace('.', "-");
    let (wanted, offered) = (plain(wanted), plain(offered));
    let wanted = wanted.strip_suffix("-latest").unwrap_or(&wanted);
    let Some(rest) = offered.strip_prefix(wanted) else { return false };
    let is_date = |rest: &str| rest.len() >= 8 && rest.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
    matches!(rest, "" | ":latest" | "-latest") || rest.strip_prefix('-').is_some_and(is_date)
}

#[cfg(test)]
mod tests {
    use wiremock::matchers::{method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;
    use crate::config::Overrides;

    async fn check(server: &MockServer, backend: &str) -> (Vec<ApiFact>, Vec<String>) {
        let variables = [("OPENAI_BASE_URL", server.uri()), ("OPENAI_API_KEY", "sk-secret".to_owned())];
        let environment = Environment::with_variables("/nowhere", variables).unwrap();
        let overrides = Overrides { backend: Some(backend.to_owned()), ..Overrides::default() };
        let settings = Settings::load(None, &environment, &overrides).unwrap();
        let facts = check_api(&settings, &environment, Duration::from_secs(20)).await;
        let requests = server.received_requests().await.unwrap();
        (facts, requests.iter().map(|request| format!("{} {}", request.method, request.url.path())).collect())
    }

    fn fact(backend: &str, listed: Option<bool>) -> ApiFact {
        ApiFact { backend: backend.to_owned(), answers: true, listed, reason: None }
    }

    #[tokio::test]
    async fn the_list_of_models_is_asked_for_once_and_no_token_is_spent() {
        for (backend, listed) in [("openai.gpt-4o", true), ("openai.gpt-4", false)] {
            let server = MockServer::start().await;
            let list = serde_json::json!({"object": "list", "data": [{"id": "gpt-4o"}, {"id": "o3"}]});
            let answer = ResponseTemplate::new(200).set_body_json(list);
            Mock::given(method("GET")).and(path("/v1/models")).respond_with(answer).mount(&server).await;
            let (facts, requests) = check(&server, backend).await;
            assert_eq!(facts, [fact(backend, Some(listed))]);
            assert_eq!(requests, ["GET /v1/models"]);
        }
    }

    #[tokio::test]
    async fn where_there_is_no_list_the_model_says_a_word() {
        let server = MockServer::start().await;
        let word = serde_json::json!({"model": "x", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "yes"}}]});
        let answer = ResponseTemplate::new(200).set_body_json(word);
        Mock::given(method("POST")).respond_with(answer).mount(&server).await;
        let (facts, requests) = check(&server, "openai.gpt-4o").await;
        assert_eq!(facts, [fact("openai.gpt-4o", None)]);
        assert_eq!(requests, ["GET /v1/models", "POST /v1/chat/completions"]);
    }

    #[tokio::test]
    async fn a_key_that_is_refused_is_told_without_it() {
        let server = MockServer::start().await;
        Mock::given(method("GET")).respond_with(ResponseTemplate::new(401)).mount(&server).await;
        let (facts, requests) = check(&server, "openai.gpt-4o").await;
        let [ApiFact { answers: false, listed: None, reason: Some(reason), .. }] = facts.as_slice() else {
            panic!("{facts:?}")
        };
        assert!(reason.contains("OPENAI_API_KEY") && !reason.contains("sk-secret"), "{reason}");
        assert_eq!(requests.len(), 1);
    }

    #[test]
    fn names_of_lists_have_dates_and_tags() {
        for (wanted, offered) in [
            ("gpt-4o", "gpt-4o"),
            ("claude-3.5-sonnet", "claude-3-5-sonnet-20241022"),
            ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("llava", "llava:latest"),
            ("qwen2.5vl:7b", "qwen2.5vl:7b"),
        ] {
            assert!(is_same(wanted, offered), "{wanted} {offered}");
        }
        for (wanted, offered) in [("gpt-4", "gpt-4o"), ("gpt-4o", "gpt-4o-mini"), ("llava", "llava:7b"), ("o1", "o3")] {
            assert!(!is_same(wanted, offered), "{wanted} {offered}");
        }
    }
}
