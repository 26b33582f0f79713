//! Code shared by all providers: the request to `genai`, the timeout, and checks of the response.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine;
use genai::adapter::AdapterKind;
use genai::chat::{
    Binary, ChatMessage, ChatOptions, ChatRequest, ChatResponse, ContentPart, MessageContent, StopReason,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use reqwest::Url;
use serde_json::Value;

use super::error::excerpt;
use super::failure::Peer;
use super::{
    Answer, Attachment, BackendName, Error, ErrorKind, Options, Prompt, ProviderSettings, TokenLogprob, Usage, http,
};

/// The maximum size of an answer text in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The maximum length of a prompt or an answer in the log, in characters.
const LOGGED: usize = 4000;

/// How to reach a provider.
pub(super) struct Endpoints {
    pub adapter: AdapterKind,
    /// The default address.
    pub default: &'static str,
    /// The API path for a server address without a path.
    pub version: &'static str,
    /// The path of the chat endpoint, relative to the API path.
    pub chat: &'static str,
    /// Whether the key may be missing: for local servers and servers that the user named.
    pub key_optional: bool,
}

/// A connection to one model.
pub(super) struct Chat {
    peer: Peer,
    adapter: AdapterKind,
    base_url: Url,
    chat_path: &'static str,
    client: genai::Client,
    logprobs_refused: AtomicBool,
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// The response as parsed by `genai`, and its raw body.
pub(super) struct Reply {
    pub response: ChatResponse,
    pub body: Value,
}

impl Chat {
    /// Validates name, address and key. `model` is the provider's name for the model.
    pub fn connect(
        backend: &BackendName,
        model: &str,
        settings: &ProviderSettings,
        endpoints: &Endpoints,
    ) -> Result<Self, Error> {
        let name = backend.to_string();
        let wrong = |kind, message: String| Error::new(&name, kind, message);
        let wrong_url =
            |reason| wrong(ErrorKind::Configuration, format!("its base_url {reason}: write it as https://host/path"));
        let base_url = match &settings.base_url {
            Some(given) => given.api(endpoints.version).map_err(wrong_url)?,
            None => Url::parse(endpoints.default).map_err(|_| wrong_url("is not an address"))?,
        };
        let key_variable = backend.provider().key_variables()[0];
        match &settings.api_key {
            Some(key) if key.reveal().is_empty() || !key.reveal().bytes().all(|byte| byte.is_ascii_graphic()) => {
                let message = format!("the key has characters that no key has: set {key_variable} again");
                return Err(wrong(ErrorKind::Authentication, message));
            }
            Some(_) if base_url.scheme() == "http" && !http::is_loopback(&base_url) => {
                tracing::warn!(backend = name, "the key goes over the network without encryption: use https");
            }
            None if !endpoints.key_optional => {
                return Err(wrong(ErrorKind::Authentication, format!("there is no key: set {key_variable}")));
            }
            _ => (),
        }
        let client = http::client(&base_url).map_err(|reason| {
            wrong(ErrorKind::Configuration, format!("no secure connection can be set up ({reason})"))
        })?;
        let client = genai::Client::builder()
            .with_reqwest(client)
            .build()
            .map_err(|_| wrong(ErrorKind::Configuration, "no connection can be set up".to_owned()))?;
        Ok(Self {
            peer: Peer {
                model: model.to_owned(),
                // Only the origin is shown: other parts of the URL may contain secrets.
                server: base_url.origin().ascii_serialization(),
                key: settings.api_key.clone(),
                key_variable,
                name,
            },
            adapter: endpoints.adapter,
            base_url,
            chat_path: endpoints.chat,
            client,
            logprobs_refused: AtomicBool::new(false),
        })
    }

    pub fn name(&self) -> &str {
        &self.peer.name
    }

    pub fn model(&self) -> &str {
        &self.peer.model
    }

    /// Sends one request. `timeout` limits the whole call.
    pub async fn send(
        &self,
        prompt: &Prompt,
        images: &[Attachment],
        options: ChatOptions,
        timeout: Duration,
    ) -> Result<Reply, Error> {
        tracing::debug!(
            backend = self.peer.name,
            images = images.len(),
            system = excerpt(&prompt.system, LOGGED),
            user = excerpt(&prompt.user, LOGGED),
            "asking"
        );
        let options = options.with_capture_raw_body(true);
        let call = self.client.exec_chat(self.target()?, request(prompt, images), Some(&options));
        let mut response = self.within(timeout, call).await?;
        let body = response.captured_raw_body.take().unwrap_or(Value::Null);
        Ok(Reply { response, body })
    }

    /// Lists the models of the server.
    pub async fn models(&self, timeout: Duration) -> Result<Vec<String>, Error> {
        let auth = self.peer.key.as_ref().map_or(AuthData::None, |key| AuthData::from_single(key.reveal()));
        let endpoint = Endpoint::from_owned(self.base_url.as_str());
        self.within(timeout, self.client.all_model_names(self.adapter, (endpoint, auth))).await
    }

    async fn within<T>(
        &self,
        timeout: Duration,
        call: impl Future<Output = Result<T, genai::Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(timeout, call).await {
            Err(_) => Err(self.peer.error(ErrorKind::Timeout, format!("no answer within {} s", timeout.as_secs_f64()))),
            Ok(result) => result.map_err(|error| self.peer.explain(error)),
        }
    }

    /// Like [`send`](Self::send), with log-probabilities. Some servers reject them, which the name
    /// of the model does not reveal. In that case, this and all later requests are sent without.
    pub async fn send_with_logprobs(
        &self,
        prompt: &Prompt,
        images: &[Attachment],
        chat_options: impl Fn(bool) -> ChatOptions,
        options: &Options,
    ) -> Result<Reply, Error> {
        let wanted = options.logprobs && self.gives_logprobs();
        let reply = self.send(prompt, images, chat_options(wanted), options.timeout).await;
        match reply {
            Err(error) if wanted && error.rejects_logprobs() => {
                tracing::info!("{error}; asking without log-probabilities from now on");
                self.logprobs_refused.store(true, Ordering::Relaxed);
                self.send(prompt, images, chat_options(false), options.timeout).await
            }
            reply => reply,
        }
    }

    /// Returns whether the server has not rejected log-probabilities so far.
    pub fn gives_logprobs(&self) -> bool {
        !self.logprobs_refused.load(Ordering::Relaxed)
    }

    fn target(&self) -> Result<ServiceTarget, Error> {
        let auth = match &self.peer.key {
            Some(key) => AuthData::from_single(key.reveal()),
            // Without a key, no authorization header is sent.
            None => {
                let url = self.base_url.join(self.chat_path);
                let url =
                    url.map_err(|_| self.peer.error(ErrorKind::Configuration, "its base_url cannot be extended"))?;
                AuthData::RequestOverride { url: url.into(), headers: Headers::default() }
            }
        };
        let endpoint = Endpoint::from_owned(self.base_url.as_str());
        Ok(ServiceTarget { endpoint, auth, model: ModelIden::new(self.adapter, self.peer.model.as_str()) })
    }

    /// Converts a reply into an answer after checking for a refusal.
    pub fn answer(
        &self,
        reply: Reply,
        refusal: Option<String>,
        logprobs: Option<Vec<TokenLogprob>>,
        options: &Options,
    ) -> Result<Answer, Error> {
        let Reply { response, .. } = reply;
        let stop = response.stop_reason.as_ref();
        let filtered =
            stop.filter(|stop| matches!(stop, StopReason::ContentFilter(_))).map(|stop| stop.raw().to_owned());
        if let Some(reason) = refusal.or(filtered) {
            return Err(self.peer.refusal(&reason));
        }
        let truncated = matches!(stop, Some(StopReason::MaxTokens(_)));
        let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
        let usage = Usage {
            prompt_tokens: count(response.usage.prompt_tokens),
            completion_tokens: count(response.usage.completion_tokens),
        };
        let model = response.provider_model_iden.model_name.to_string();
        let text = response.content.into_joined_texts().unwrap_or_default();
        if text.len() > MAX_ANSWER_BYTES {
            let message = format!("the answer has {} bytes of text, more than any answer needs", text.len());
            return Err(self.peer.error(ErrorKind::BadAnswer, message));
        }
        if text.trim().is_empty() {
            let message = match truncated {
                true => format!("all {} tokens were used up before any text: raise max_tokens", options.max_tokens),
                false => "the answer is empty".to_owned(),
            };
            return Err(self.peer.error(ErrorKind::BadAnswer, message));
        }
        tracing::debug!(backend = self.peer.name, answer = excerpt(&text, LOGGED), ?usage, truncated, "answered");
        Ok(Answer { text, logprobs, usage, model, truncated })
    }
}

/// Builds the request: system text, each image after its label, then the question.
fn request(prompt: &Prompt, images: &[Attachment]) -> ChatRequest {
    let mut content = MessageContent::default();
    for image in images {
        if !image.label.is_empty() {
            content.push(ContentPart::from_text(image.label.as_str()));
        }
        let encoded = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        content.push(ContentPart::Binary(Binary::from_base64(image.mime, encoded, None)));
    }
    content.push(ContentPart::from_text(prompt.user.as_str()));
    let request = ChatRequest::new(vec![ChatMessage::user(content)]);
    if prompt.system.is_empty() { request } else { request.with_system(prompt.system.as_str()) }
}
