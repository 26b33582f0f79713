//! A reasoner that prompts a vision-language model, validates its answers and asks again if they
//! are unusable.

mod citation;
mod json;
mod levels;
mod prompts;
mod shapes;

use futures_util::FutureExt;
use serde_json::{Value, json};

use super::{Analyses, Context, DistortionSet, Error, Reasoner, Selection, Thought, Verdict};
use crate::events::{Event, Spending};
use crate::fusion::{Estimate, counted};
use crate::inputs::Source;
use crate::question;
use crate::state::Node;
use crate::state::{AnswerForm, ExecutorOutput, OneOrMany, PlannerOutput, QualityLevel, QueryType, RegionBox, Score};
use agenticiqa_tools::Tool;
use agenticiqa_vlm::{Answer, AnswerCache, AnswerKey, Attachment, Client, JsonSchema, Options, Prompt};
use prompts::fill;

/// The maximum length of a prompt or an answer in the log, in characters.
const LOGGED: usize = 4000;

/// A vision-language model as the reasoner of one node.
#[derive(Debug, Clone)]
pub struct VlmReasoner {
    /// The node that uses the reasoner.
    pub node: Node,
    /// The model, with retries for failed calls.
    pub client: Client,
    /// The sampling options.
    pub options: Options,
    /// The maximum number of attempts per answer.
    pub attempts: u32,
    /// The maximum length of the longer image side, in pixels.
    pub max_side: usize,
    /// The cache of answers; `None` asks every time.
    pub answers: Option<AnswerCache>,
}

/// The content of one call.
struct Question {
    prompt: Prompt,
    images: bool,
    schema: JsonSchema,
    logprobs: bool,
}

impl Question {
    fn new(name: &str, system: String, user: String, schema: Value) -> Self {
        let schema = JsonSchema { name: name.to_owned(), schema };
        Self { prompt: Prompt { system, user }, images: true, schema, logprobs: false }
    }
}

impl VlmReasoner {
    /// Asks until an answer is usable, up to the attempt limit. Each retry states what was wrong.
    async fn ask<T: Send>(
        &self,
        context: Context<'_>,
        question: Question,
        read: impl Fn(&Value) -> Result<T, String> + Send + Sync,
    ) -> Result<(T, Answer), Error> {
        let images = if question.images { self.pictures(context).await? } else { Vec::new() };
        let (backend, attempts) = (self.client.name().to_owned(), self.attempts.max(1));
        let cached = self.cache_entry(context, &question, &images);
        if let Some(answer) = cached.as_ref().and_then(|(cache, key)| cache.get(key))
            && let Ok(value) = read_any(&answer, &read)
        {
            tracing::debug!(node = self.node.name(), backend, "the answer comes from the cache");
            context.events.reuse(self.node);
            return Ok((value, answer));
        }
        let mut refused = None;
        for attempt in 1..=attempts {
            let answer = self.call(context, &question, &images, refused.as_deref()).await?;
            match read_any(&answer, &read) {
                Ok(value) => {
                    if let Some((cache, key)) = &cached {
                        cache.insert(key, &answer);
                    }
                    return Ok((value, answer));
                }
                Err(reason) => {
                    tracing::warn!(backend, attempt, "answer refused, {reason}: {}", excerpt(&answer.text));
                    if attempt == attempts {
                        tracing::error!(backend, attempts, "no usable answer; the last one in full: {}", answer.text);
                    }
                    let told = (backend.clone(), reason.clone());
                    context.events.emit(Event::Retry { node: self.node, backend: told.0, attempt, reason: told.1 });
                    refused = Some(reason);
                }
            }
        }
        Err(Error::BadAnswers { backend, attempts, reason: refused.unwrap_or_default() })
    }

    /// Returns the cache and the key of a question. A new plan needs new answers, so the key contains
    /// the round. Tool selection gets no images, so the key contains the digests of the files.
    fn cache_entry(
        &self,
        context: Context<'_>,
        question: &Question,
        images: &[Attachment],
    ) -> Option<(&AnswerCache, AnswerKey)> {
        let cache = self.answers.as_ref()?;
        let digest = |source: &Source| source.digest.to_string();
        let reference = context.inputs.reference().map(digest).unwrap_or_default();
        let (image, round) = (digest(context.inputs.image()), context.state.iteration_count);
        let subject = format!("image {image} reference {reference} round {round}");
        let options = self.options_of(question);
        let key = cache.key(&subject, self.client.name(), &question.prompt, images, &options)?;
        Some((cache, key))
    }

    /// Makes one call. `refused` is the problem of the last answer.
    async fn call(
        &self,
        context: Context<'_>,
        question: &Question,
        images: &[Attachment],
        refused: Option<&str>,
    ) -> Result<Answer, Error> {
        let mut prompt = question.prompt.clone();
        if let Some(reason) = refused {
            prompt.user = format!("{}\n{}", prompt.user, fill(prompts::STRICTER, &[("reason", reason)]));
        }
        let (node, backend) = (self.node.name(), self.client.name());
        let (system, user) = (excerpt(&prompt.system), excerpt(&prompt.user));
        tracing::debug!(node, backend, system, user, "prompt");
        if (system.as_str(), user.as_str()) != (prompt.system.as_str(), prompt.user.as_str()) {
            tracing::trace!(node, backend, system = prompt.system, user = prompt.user, "whole prompt");
        }
        let options = self.options_of(question);
        let hear = |event| {
            let agenticiqa_vlm::Event::Retry { backend, attempt, error, .. } = event else { return };
            let (node, reason) = (self.node, error.to_string());
            context.events.emit(Event::Retry { node, backend, attempt: attempt.saturating_sub(1), reason });
        };
        let answer = self.client.generate(&prompt, images, &options, &hear).await?;
        tracing::debug!(node = self.node.name(), model = answer.model, answer = excerpt(&answer.text), "answer");
        tracing::trace!(node = self.node.name(), answer = answer.text, logprobs = ?answer.logprobs, "whole answer");
        context.events.spend(Spending {
            node: self.node,
            backend: self.client.name().to_owned(),
            prompt_tokens: answer.usage.prompt_tokens,
            completion_tokens: answer.usage.completion_tokens,
        });
        Ok(answer)
    }

    fn options_of(&self, question: &Question) -> Options {
        Options { schema: Some(question.schema.clone()), logprobs: question.logprobs, ..self.options.clone() }
    }

    /// Returns the image and the marked reference as attachments.
    async fn pictures(&self, context: Context<'_>) -> Result<Vec<Attachment>, Error> {
        let limits = self.client.image_limits(self.max_side);
        context.inputs.attachments(limits).await.map_err(|error| Error::Picture(error.to_string()))
    }

    /// Returns the user prompt, which mentions the reference if there is one.
    fn user(&self, context: Context<'_>, template: &str) -> String {
        let user = fill(template, &[("query", context.state.query.as_str())]);
        let reference = context.inputs.reference().map(|_| "\nThe reference image: <reference image>");
        format!("{user}{}", reference.unwrap_or_default())
    }
}

/// Returns the first usable object of the answer, or the problem of the last one.
fn read_any<T>(answer: &Answer, read: impl Fn(&Value) -> Result<T, String>) -> Result<T, String> {
    let cut = if answer.truncated { ": the answer was cut off at the token limit, be briefer" } else { "" };
    let mut refused = format!("there is no JSON object in it{cut}");
    for object in json::objects(&answer.text) {
        match read(&object) {
            Ok(value) => return Ok(value),
            Err(reason) => refused = reason,
        }
    }
    Err(refused)
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(LOGGED) {
        Some((end, _)) => format!("{}... ({} bytes; in full at TRACE)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

impl Reasoner for VlmReasoner {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn plan<'a>(&'a self, context: Context<'a>) -> Thought<'a, PlannerOutput> {
        async move {
            let mut user = self.user(context, prompts::PLANNER_USER);
            if let Some(options) = options_text(context) {
                user = format!("{user}\n{options}");
            }
            if !context.state.replan_history.is_empty() {
                user = format!("{user}\n{}", fill(prompts::REPLAN, &[("history", &history(context))]));
            }
            let question = Question::new("plan", prompts::PLANNER_SYSTEM.to_owned(), user, shapes::plan_schema());
            Ok(self.ask(context, question, shapes::read_plan).await?.0)
        }
        .boxed()
    }

    fn detect<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, DistortionSet> {
        async move {
            let scope = &plan.query_scope;
            let user = format!("{}{}", self.user(context, prompts::EXECUTOR_USER), scope_text(plan));
            let schema = shapes::detection_schema(scope);
            let question = Question::new("distortion_set", prompts::DETECTION_SYSTEM.to_owned(), user, schema);
            Ok(self.ask(context, question, |answer| shapes::read_detection(answer, scope)).await?.0)
        }
        .boxed()
    }

    fn analyze<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
    ) -> Thought<'a, Analyses> {
        async move {
            let set = shapes::distortions_json(distortions);
            let system = fill(prompts::ANALYSIS_SYSTEM, &[("distortion_set", &set)]);
            let (user, schema) = (self.user(context, prompts::EXECUTOR_USER), shapes::analysis_schema(distortions));
            let question = Question::new("distortion_analysis", system, user, schema);
            let read = |answer: &Value| shapes::read_analysis(answer, &plan.query_scope, distortions);
            Ok(self.ask(context, question, read).await?.0)
        }
        .boxed()
    }

    fn select<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, Selection> {
        async move {
            let set = shapes::distortions_json(distortions);
            let described = describe(tools);
            let system = fill(prompts::SELECTION_SYSTEM, &[("distortion_set", &set), ("tool_description", &described)]);
            let user = fill(prompts::SELECTION_USER, &[("query", context.state.query.as_str())]);
            let schema = shapes::selection_schema(distortions, tools);
            let question = Question { images: false, ..Question::new("selected_tools", system, user, schema) };
            let read = |answer: &Value| shapes::read_selection(answer, &plan.query_scope, distortions, tools);
            Ok(self.ask(context, question, read).await?.0.into())
        }
        .boxed()
    }

    fn ground<'a>(&'a self, context: Context<'a>, objects: &'a [&'a str]) -> Thought<'a, Vec<RegionBox>> {
        async move {
            let user = fill(prompts::GROUNDING_USER, &[("objects", &json!(objects).to_string())]);
            let schema = shapes::grounding_schema(objects);
            let question = Question::new("boxes", prompts::GROUNDING_SYSTEM.to_owned(), user, schema);
            let image = &context.inputs.image().picture.image;
            let read = |answer: &Value| shapes::read_grounding(answer, objects, image.width(), image.height());
            Ok(self.ask(context, question, read).await?.0)
        }
        .boxed()
    }

    fn conclude<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        evidence: &'a ExecutorOutput,
        fused: Option<Estimate>,
    ) -> Thought<'a, Verdict> {
        async move {
            let scoring = context.form == AnswerForm::Score && plan.query_type == QueryType::Iqa;
            let system = if scoring { prompts::SCORING_SYSTEM } else { prompts::ANSWER_SYSTEM };
            tracing::info!(mode = if scoring { "scoring" } else { "explanation/QA" }, "summarizer prompt");
            let user =
                format!("{}{}", self.user(context, prompts::EXECUTOR_USER), evidence_text(context, evidence, fused));
            let letters: Vec<String> = match context.form {
                AnswerForm::Score => ["A", "B", "C", "D", "E"].map(str::to_owned).to_vec(),
                AnswerForm::Choice => context.state.options.iter().map(|option| option.letter.to_string()).collect(),
                AnswerForm::Text => Vec::new(),
            };
            let schema = shapes::conclusion_schema(&letters);
            let question = Question {
                logprobs: context.form == AnswerForm::Score,
                ..Question::new("conclusion", system.to_owned(), user, schema)
            };
            let read = |answer: &Value| read_verdict(answer, context);
            let ((final_answer, reasoning), answer) = self.ask(context, question, read).await?;
            let level = final_answer.chars().next().and_then(QualityLevel::from_letter);
            let levels = level.filter(|_| context.form == AnswerForm::Score);
            Ok(Verdict {
                levels: levels.map(|level| levels::probabilities(&answer, level)),
                used_evidence: citation::cite(&reasoning, evidence),
                final_answer: Some(final_answer),
                reasoning,
                tells_certainty: false,
            })
        }
        .boxed()
    }
}

/// Reads answer and reasoning. The answer must have the requested form.
fn read_verdict(answer: &Value, context: Context<'_>) -> Result<(String, String), String> {
    let (final_answer, reasoning) = shapes::read_conclusion(answer)?;
    let letter = match context.form {
        AnswerForm::Score => levels::named_level(&final_answer).map(QualityLevel::letter),
        AnswerForm::Choice => question::choice_letter(&final_answer, &context.state.options),
        AnswerForm::Text => return Ok((final_answer, reasoning)),
    };
    let letter = letter.ok_or_else(|| format!("final_answer must be one of the letters, not {final_answer:?}"))?;
    Ok((letter.to_string(), reasoning))
}

/// Returns the options of a multiple-choice question if the question text does not contain them.
fn options_text(context: Context<'_>) -> Option<String> {
    let options = &context.state.options;
    let inside = !question::options_in(context.state.query.as_str()).is_empty();
    let lines: Vec<String> = options.iter().map(|option| format!("{}. {}", option.letter, option.text)).collect();
    (!options.is_empty() && !inside).then(|| format!("The answer choices:\n{}", lines.join("\n")))
}

/// Returns the objects of the plan, for the detector.
fn scope_text(plan: &PlannerOutput) -> String {
    format!("\nThe query scope: {}", json!(plan.query_scope.names()))
}

/// Returns the reasons for replanning and the plans that were tried.
fn history(context: Context<'_>) -> String {
    let line = |replan: &crate::state::Replan| {
        let tried = serde_json::to_string(&replan.tried).unwrap_or_default();
        format!("- Round {}: {}. Tried: {tried}", replan.iteration + 1, replan.reason)
    };
    context.state.replan_history.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Describes the tools for the selector: type, direction, strengths.
fn describe(tools: &[&Tool]) -> String {
    let line = |tool: &&Tool| {
        let metadata = tool.metadata();
        (
            tool.name().to_owned(),
            json!({
                "type": metadata.tool_type,
                "description": tool.description(),
                "strengths": metadata.strengths,
            }),
        )
    };
    Value::Object(tools.iter().map(line).collect()).to_string()
}

/// Returns the available evidence as JSON.
fn evidence_text(context: Context<'_>, evidence: &ExecutorOutput, fused: Option<Estimate>) -> String {
    let mut sections = String::new();
    if let Some(options) = options_text(context) {
        sections += &format!("\n{options}");
    }
    if context.form == AnswerForm::Score
        && context.state.plan.as_ref().is_some_and(|plan| plan.query_type == QueryType::Other)
    {
        sections += "\nThe answer choices:\nA. Excellent\nB. Good\nC. Fair\nD. Poor\nE. Bad";
    }
    if context.form == AnswerForm::Text {
        sections += "\nThere are no answer choices: let final_answer be one short sentence that answers the question.";
    }
    if let Some(analysis) = evidence.distortion_analysis.as_ref().filter(|analysis| !analysis.is_empty()) {
        sections += &format!("\nDistortion analysis: {}", json!(analysis));
    }
    if let Some(scores) = evidence.quality_scores.as_ref().filter(|scores| !scores.is_empty()) {
        let plain: Value = json!(scores);
        sections += &format!("\nTool response (scores from 1, bad, to 5, excellent): {plain}");
        let several = scores.values().any(|of| of.values().any(|tools| matches!(tools, OneOrMany::Many(_))));
        if several {
            sections += "\nSeveral tools measured the same distortion; each is listed.";
        }
    }
    let mut unlisted: Vec<String> = Vec::new();
    for log in evidence.distinct_runs().into_iter().filter(|log| !evidence.is_selected(log)) {
        let score = log.normalized_score.map_or(f64::NAN, Score::value);
        unlisted.push(format!("{} gives {score:.2} for {}", log.tool_name, log.object_name));
    }
    if !unlisted.is_empty() {
        sections += &format!("\nTools that were run in addition: {}.", unlisted.join(", "));
    }
    if let Some(Estimate { score, interval }) = fused {
        let mut names: Vec<&str> =
            counted(evidence, context.registry).iter().map(|log| log.tool_name.as_str()).collect();
        // Runs are in the order of the objects, so the same name may not be next to itself.
        names.sort_unstable();
        names.dedup();
        sections += &format!(
            "\nTogether, the tools that determine the score ({}) point to a quality of {score:.2} on the scale from 1 (E, Bad) to 5 (A, Excellent).",
            names.join(", ")
        );
        if let Some(interval) = interval {
            let (low, high) = (interval.low(), interval.high());
            sections += &format!(" Nine of ten mean opinions are expected between {low:.2} and {high:.2}.");
        }
    }
    sections
}
