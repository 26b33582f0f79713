//! Code shared by all providers: the request, the timeout, and checks of the response.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, Response, Url};
use serde_json::{Map, Value};

use super::error::excerpt;
use super::failure::{Fault, Peer};
use super::protocol::{Protocol, Said};
use super::{
    Answer, Attachment, BackendName, Error, ErrorKind, Options, Prompt, ProviderSettings, TokenLogprob, http, redacted,
};

/// The maximum size of a response in bytes. The largest answers, with the log-probabilities of all
/// tokens, stay below half of it.
const MAX_BODY_BYTES: usize = 8 << 20;

/// The maximum size of an answer text in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The maximum length of a prompt or an answer in the log, in characters.
const LOGGED: usize = 4000;

/// How to reach a provider.
pub(super) struct Endpoints {
    pub protocol: Protocol,
    /// The default address.
    pub default: &'static str,
    /// The API path for a server address without a path.
    pub version: &'static str,
    /// Whether the key may be missing: for local servers and servers that the user named.
    pub key_optional: bool,
}

/// A connection to one model.
pub(super) struct Chat {
    peer: Peer,
    protocol: Protocol,
    base_url: Url,
    client: reqwest::Client,
    logprobs_refused: AtomicBool,
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// A response: what it says, and its body.
pub(super) struct Reply {
    pub said: Said,
    pub body: Value,
}

/// The fields of a request that depend on the options of the call.
pub(super) type Fields = Map<String, Value>;

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
        Ok(Self {
            peer: Peer {
                model: model.to_owned(),
                // Only the origin is shown: other parts of the URL may contain secrets.
                server: base_url.origin().ascii_serialization(),
                key: settings.api_key.clone(),
                key_variable,
                name,
            },
            protocol: endpoints.protocol,
            base_url,
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
        fields: Fields,
        timeout: Duration,
    ) -> Result<Reply, Error> {
        tracing::debug!(
            backend = self.peer.name,
            images = images.len(),
            system = excerpt(&prompt.system, LOGGED),
            user = excerpt(&prompt.user, LOGGED),
            "asking"
        );
        let mut body = self.protocol.body(&self.peer.model, prompt, images);
        body.extend(fields);
        let json = serde_json::to_vec(&body)
            .map_err(|_| self.peer.error(ErrorKind::BadRequest, "the request cannot be written as JSON"))?;
        let url = self.url(&self.protocol.chat_path(&self.peer.model))?;
        let request = self.client.post(url).header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = self.within(timeout, request.body(json)).await?;
        if let Some(reason) = blocked(&body) {
            return Err(self.peer.refusal(reason));
        }
        Ok(Reply { said: self.protocol.read(&body), body })
    }

    /// Lists the models of the server.
    pub async fn models(&self, timeout: Duration) -> Result<Vec<String>, Error> {
        let body = self.within(timeout, self.client.get(self.url("models")?)).await?;
        Ok(self.protocol.model_names(&body))
    }

    /// Sends a request and reads the response, both within the time limit.
    async fn within(&self, timeout: Duration, request: RequestBuilder) -> Result<Value, Error> {
        let request = request.headers(self.protocol.headers(self.peer.key.as_ref()));
        let call = async { receive(request.send().await.map_err(Fault::Transport)?).await };
        match tokio::time::timeout(timeout, call).await {
            Err(_) => Err(self.peer.error(ErrorKind::Timeout, format!("no answer within {} s", timeout.as_secs_f64()))),
            Ok(result) => {
                let mut body = result.map_err(|fault| self.peer.explain(fault))?;
                if redact(&mut body) {
                    tracing::warn!(backend = self.peer.name, "the answer repeats a key, which was removed");
                    // They spell the answer in pieces, in which the key would not be found.
                    without_logprobs(&mut body);
                }
                Ok(body)
            }
        }
    }

    fn url(&self, path: &str) -> Result<Url, Error> {
        let url = self.base_url.join(path);
        url.map_err(|_| self.peer.error(ErrorKind::Configuration, "its base_url cannot be extended"))
    }

    /// Like [`send`](Self::send), with log-probabilities. Some servers reject them, which the name
    /// of the model does not reveal. In that case, this and all later requests are sent without.
    pub async fn send_with_logprobs(
        &self,
        prompt: &Prompt,
        images: &[Attachment],
        fields: impl Fn(bool) -> Fields,
        options: &Options,
    ) -> Result<Reply, Error> {
        let wanted = options.logprobs && self.gives_logprobs();
        let reply = self.send(prompt, images, fields(wanted), options.timeout).await;
        match reply {
            Err(error) if wanted && error.rejects_logprobs() => {
                tracing::info!("{error}; asking without log-probabilities from now on");
                self.logprobs_refused.store(true, Ordering::Relaxed);
                self.send(prompt, images, fields(false), options.timeout).await
            }
            reply => reply,
        }
    }

    /// Returns whether the server has not rejected log-probabilities so far.
    pub fn gives_logprobs(&self) -> bool {
        !self.logprobs_refused.load(Ordering::Relaxed)
    }

    /// Converts a reply into an answer after checking for a refusal.
    pub fn answer(
        &self,
        reply: Reply,
        refusal: Option<String>,
        logprobs: Option<Vec<TokenLogprob>>,
        options: &Options,
    ) -> Result<Answer, Error> {
        let said = reply.said;
        let filtered = said.stop.clone().filter(|_| said.is_filtered());
        if let Some(reason) = refusal.or(filtered) {
            return Err(self.peer.refusal(&reason));
        }
        let truncated = said.is_truncated();
        let Said { text, usage, model, .. } = said;
        let model = model.unwrap_or_else(|| self.peer.model.clone());
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

/// Reads a response of limited size. It must be JSON.
async fn receive(mut response: Response) -> Result<Value, Fault> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(Fault::Transport)? {
        if body.len() + part.len() > MAX_BODY_BYTES {
            return Err(Fault::TooLarge(MAX_BODY_BYTES));
        }
        body.extend_from_slice(&part);
    }
    if !status.is_success() {
        return Err(Fault::Status { status: status.as_u16(), body, headers });
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/json") {
        return Err(Fault::NotJson(kind.to_owned()));
    }
    serde_json::from_slice(&body).map_err(|_| Fault::InvalidJson)
}

/// Removes known keys from all texts of a response. Returns whether there were any.
fn redact(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match redacted(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(clean) => {
                *text = clean;
                true
            }
        },
        Value::Array(items) => items.iter_mut().fold(false, |any, item| redact(item) | any),
        Value::Object(fields) => fields.values_mut().fold(false, |any, field| redact(field) | any),
        _ => false,
    }
}

fn without_logprobs(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_logprobs),
        Value::Object(fields) => {
            fields.retain(|name, _| name != "logprobs" && name != "logprobsResult");
            fields.values_mut().for_each(without_logprobs);
        }
        _ => {}
    }
}

/// Returns Gemini's reason for blocking the prompt.
fn blocked(body: &Value) -> Option<&str> {
    body.pointer("/promptFeedback/blockReason").and_then(Value::as_str)
}
