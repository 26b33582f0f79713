//! One question to a model: the first round, a second one with the view that the model asks for, and
//! retries of unusable answers.

use std::time::Instant;

use serde_json::{Value, json};

use super::json::{inner_objects, objects};
use super::{VlmReasoner, profile, prompts};
use crate::events::Event;
use crate::inputs::Source;
use crate::inputs::views::{self, Album, Order};
use crate::reasoner::{Context, Error};
use crate::state::{Mode, ModelCall, PlannerOutput};
use agenticiqa_vlm::{Answer, AnswerCache, AnswerKey, Attachment, ErrorKind, JsonSchema, Options, Prompt};
use profile::Profile;
use prompts::fill;

/// The maximum length of a prompt or an answer in the log, in characters.
const LOGGED: usize = 4000;
/// The field in which a model asks for a view.
const WISH: &str = "view_request";

/// The content of one question.
pub(super) struct Question {
    pub prompt: Prompt,
    pub images: bool,
    pub schema: JsonSchema,
    pub logprobs: bool,
    /// Whether the answer rates the image.
    pub rates: bool,
    /// Which views are sent, if any.
    pub order: Option<Order>,
}

impl Question {
    pub fn new(name: &str, system: String, user: String, schema: Value) -> Self {
        let schema = JsonSchema { name: name.to_owned(), schema };
        Self { prompt: Prompt { system, user }, images: true, schema, logprobs: false, rates: false, order: None }
    }

    /// Adds the views for a plan.
    pub fn seeing(mut self, reasoner: &VlmReasoner, context: Context<'_>, plan: &PlannerOutput) -> Self {
        let limits = reasoner.views;
        if reasoner.mode == Mode::Grounded && limits.sending == views::Sending::Auto {
            let client = &reasoner.client;
            let sizes = (reasoner.max_side, client.image_limits(reasoner.max_side).max_bytes);
            self.order = Some(Order::new((limits, client.kept_size()), sizes, plan, &context.state.regions));
        }
        self
    }
}

/// What is sent in one round.
struct Round {
    user: String,
    images: Vec<Attachment>,
    schema: JsonSchema,
}

impl VlmReasoner {
    /// Asks for JSON until it is usable, up to the attempt limit. Each retry states what was wrong.
    pub(super) async fn ask<T: Send>(
        &self,
        context: Context<'_>,
        question: Question,
        read: impl Fn(&Value) -> Result<T, String> + Send + Sync,
    ) -> Result<(T, Answer), Error> {
        self.ask_for(context, question, |answer: &Answer| read_any(answer, &read)).await
    }

    /// Asks until an answer is usable. The model may ask for one view before it answers.
    pub(super) async fn ask_for<T: Send>(
        &self,
        context: Context<'_>,
        question: Question,
        read: impl Fn(&Answer) -> Result<T, String> + Send + Sync,
    ) -> Result<(T, Answer), Error> {
        let (backend, attempts) = (self.client.name().to_owned(), self.attempts.max(1));
        let album = match &question.order {
            Some(order) => context.inputs.views(order).await,
            None => Album::default(),
        };
        let own = if question.images { self.pictures(context).await? } else { Vec::new() };
        let mut round = self.first_round(&question, &own, &album);
        let cached = self.cache_entry(context, &question, &round);
        if let Some(answer) = cached.as_ref().and_then(|(cache, key)| cache.get(key))
            && let Ok(value) = read(&answer)
        {
            tracing::debug!(node = self.node.name(), backend, "the answer comes from the cache");
            context.events.call(self.bill(&question, 0, None, 0.0));
            return Ok((value, answer));
        }
        let mut may_wish = !album.made.is_empty();
        let (mut attempt, mut refused) = (1, None);
        loop {
            let answer = match self.call(context, &question, &round, refused.as_deref()).await {
                Err(Error::Model(error)) if round.images.len() > own.len() && is_about_images(error.kind()) => {
                    let problem = format!("the views of the image were refused ({error}): asked again without them");
                    context.events.problem(problem);
                    round = self.first_round(&question, &own, &Album::default());
                    may_wish = false;
                    continue;
                }
                other => other?,
            };
            if let Some(order) = &question.order
                && round.images.len() > own.len()
            {
                self.note_views(context, order, &album);
            }
            if let (Some(wish), Some(order)) = (wish_of(&answer), &question.order) {
                if may_wish {
                    may_wish = false;
                    let said = self.second_view(context, &question, order, wish, &mut round).await;
                    round.user = format!("{}\n{said} There are no further views: answer now.", round.user);
                    round.schema.clone_from(&question.schema);
                    continue;
                }
                let task = &question.schema.name;
                context.events.note(format!("{backend} asked for a view in the last round ({task}): it was not made"));
            }
            match read(&answer) {
                Ok(value) => {
                    if let Some((cache, key)) = &cached {
                        cache.insert(key, &answer);
                    }
                    return Ok((value, answer));
                }
                Err(reason) => {
                    tracing::warn!(backend, attempt, "answer refused, {reason}: {}", excerpt(&answer.text));
                    let told = (backend.clone(), reason.clone());
                    context.events.emit(Event::Retry { node: self.node, backend: told.0, attempt, reason: told.1 });
                    if attempt == attempts {
                        tracing::error!(backend, attempts, "no usable answer; the last one in full: {}", answer.text);
                        return Err(Error::BadAnswers { backend, attempts, reason });
                    }
                    refused = Some(reason);
                    attempt += 1;
                }
            }
        }
    }

    /// Prepares the first round: images before text, so that providers can reuse what they have read.
    fn first_round(&self, question: &Question, own: &[Attachment], album: &Album) -> Round {
        let mut round =
            Round { user: question.prompt.user.clone(), images: own.to_vec(), schema: question.schema.clone() };
        if self.mode == Mode::Grounded {
            round.images.extend(album.made.iter().map(|made| made.attachment.clone()));
            round.user += &album.introduction();
            if !album.made.is_empty() {
                round.user += prompts::WISH;
                allow_wish(&mut round.schema.schema);
            }
            round.user += &self.profile().suffix(question.rates).unwrap_or_default();
        }
        round
    }

    pub(super) fn profile(&self) -> &'static Profile {
        Profile::of(self.client.name())
    }

    /// Adds the view that the model asked for, and returns what it is told.
    async fn second_view(
        &self,
        context: Context<'_>,
        question: &Question,
        order: &Order,
        wish: Result<views::Wish, String>,
        round: &mut Round,
    ) -> String {
        let task = &question.schema.name;
        let label = views::label(round.images.iter().filter(|image| image.label.starts_with("<view ")).count() + 1);
        let made = match wish {
            Ok(wish) => context.inputs.grant(order, wish, task, label).await,
            Err(reason) => Err(reason),
        };
        match made {
            Ok(made) => {
                if context.inputs.note_sent(order, &made.view) {
                    context.events.emit(Event::View { view: made.view.clone() });
                }
                let line = views::line(&made.attachment.label, &made.view);
                round.images.push(made.attachment);
                line + "."
            }
            Err(reason) => {
                let backend = self.client.name();
                context.events.note(format!("{backend} asked for a view that was not made ({task}): {reason}"));
                format!("The view that you asked for cannot be made: {reason}.")
            }
        }
    }

    fn note_views(&self, context: Context<'_>, order: &Order, album: &Album) {
        for made in &album.made {
            if context.inputs.note_sent(order, &made.view) {
                context.events.emit(Event::View { view: made.view.clone() });
            }
        }
    }

    /// Returns the cache and the key of a question. A new plan needs new answers, so the key contains
    /// the round. Tool selection gets no images, so the key contains the digests of the files.
    fn cache_entry(
        &self,
        context: Context<'_>,
        question: &Question,
        round: &Round,
    ) -> Option<(&AnswerCache, AnswerKey)> {
        let cache = self.answers.as_ref()?;
        let digest = |source: &Source| source.digest.to_string();
        let reference = context.inputs.reference().map(digest).unwrap_or_default();
        let (image, iteration) = (digest(context.inputs.image()), context.state.iteration_count);
        let subject = format!("image {image} reference {reference} round {iteration}");
        let (prompt, options) = (prompt_of(question, round, None), self.options_of(question, round));
        let key = cache.key(&subject, self.client.name(), &prompt, &round.images, &options)?;
        Some((cache, key))
    }

    /// Makes one call. `refused` is the problem of the last answer.
    async fn call(
        &self,
        context: Context<'_>,
        question: &Question,
        round: &Round,
        refused: Option<&str>,
    ) -> Result<Answer, Error> {
        let prompt = prompt_of(question, round, refused);
        let (node, backend) = (self.node.name(), self.client.name());
        let (system, user) = (excerpt(&prompt.system), excerpt(&prompt.user));
        tracing::debug!(node, backend, system, user, "prompt");
        if (system.as_str(), user.as_str()) != (prompt.system.as_str(), prompt.user.as_str()) {
            tracing::trace!(node, backend, system = prompt.system, user = prompt.user, "whole prompt");
        }
        let options = self.options_of(question, round);
        let hear = |event| {
            let agenticiqa_vlm::Event::Retry { backend, attempt, error, .. } = event else { return };
            let (node, reason) = (self.node, error.to_string());
            context.events.emit(Event::Retry { node, backend, attempt: attempt.saturating_sub(1), reason });
        };
        let start = Instant::now();
        let answer = self.client.generate(&prompt, &round.images, &options, &hear).await?;
        tracing::debug!(node = self.node.name(), model = answer.model, answer = excerpt(&answer.text), "answer");
        tracing::trace!(node = self.node.name(), answer = answer.text, logprobs = ?answer.logprobs, "whole answer");
        let seconds = start.elapsed().as_secs_f64();
        context.events.call(self.bill(question, round.images.len(), Some(&answer), seconds));
        Ok(answer)
    }

    /// Returns the entry of a call; without an answer it is one of the cache.
    fn bill(&self, question: &Question, images: usize, answer: Option<&Answer>, seconds: f64) -> ModelCall {
        let usage = answer.map(|answer| answer.usage).unwrap_or_default();
        ModelCall {
            node: self.node,
            backend: self.client.name().to_owned(),
            task: question.schema.name.clone(),
            images,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cost_usd: None,
            seconds,
            cached: answer.is_none(),
        }
    }

    fn options_of(&self, question: &Question, round: &Round) -> Options {
        let takes_schema = self.mode == Mode::Paper || self.profile().takes_schema(question.rates);
        let schema = takes_schema.then(|| round.schema.clone());
        Options { schema, logprobs: question.logprobs, ..self.options.clone() }
    }

    /// Returns the image and the marked reference as attachments.
    async fn pictures(&self, context: Context<'_>) -> Result<Vec<Attachment>, Error> {
        let limits = self.client.image_limits(self.max_side);
        context.inputs.attachments(limits).await.map_err(|error| Error::Picture(error.to_string()))
    }
}

fn prompt_of(question: &Question, round: &Round, refused: Option<&str>) -> Prompt {
    let user = match refused {
        Some(reason) => format!("{}\n{}", round.user, fill(prompts::STRICTER, &[("reason", reason)])),
        None => round.user.clone(),
    };
    Prompt { system: question.prompt.system.clone(), user }
}

/// Returns whether a call without the views may succeed.
fn is_about_images(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::BadRequest | ErrorKind::Refusal)
}

/// Adds the field for a view to a schema. OpenAI needs every property to be required.
fn allow_wish(schema: &mut Value) {
    let side = json!({"type": "integer", "minimum": 0, "maximum": 1000});
    let wish = json!({"anyOf": [{"type": "null"}, {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["crop", "brightened"]},
            "box": {"type": "array", "items": side, "minItems": 4, "maxItems": 4},
        },
        "required": ["kind", "box"],
        "additionalProperties": false,
    }]});
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(WISH.to_owned(), wish);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push(json!(WISH));
    }
}

/// Returns the view that an answer asks for.
fn wish_of(answer: &Answer) -> Option<Result<views::Wish, String>> {
    objects(profile::spoken(&answer.text).answer).iter().find_map(views::wish)
}

/// Returns the first usable object of the answer, or the problem of the last one. Objects inside others
/// are tried last.
pub(super) fn read_any<T>(answer: &Answer, read: impl Fn(&Value) -> Result<T, String>) -> Result<T, String> {
    let cut = if answer.truncated { ": the answer was cut off at the token limit, be briefer" } else { "" };
    let said = profile::spoken(&answer.text);
    let mut refused = match said.endless {
        true => format!("the thoughts do not end{cut}: think briefly, then answer"),
        false => format!("there is no JSON object in it{cut}"),
    };
    let outer = objects(said.answer);
    for object in &outer {
        match read(object) {
            Ok(value) => return Ok(value),
            Err(reason) => refused = reason,
        }
    }
    let inner = outer.iter().flat_map(inner_objects).find_map(|object| read(&object).ok());
    inner.ok_or(refused)
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(LOGGED) {
        Some((end, _)) => format!("{}... ({} bytes; in full at TRACE)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
