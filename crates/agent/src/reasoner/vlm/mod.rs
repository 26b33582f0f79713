//! A reasoner that prompts a vision-language model, validates its answers and asks again if they
//! are unusable.

mod ask;
mod citation;
mod joined;
mod json;
mod levels;
mod profile;
mod prompts;
mod shapes;
mod texts;

use futures_util::FutureExt;
use serde_json::{Value, json};

use super::builtin;
use super::{Analyses, Context, Descriptions, DistortionSet, Joined, Reasoner, Selection, Thought, Verdict};
use crate::fusion::Estimate;
use crate::inputs::views;
use crate::question;
use crate::state::{AnswerForm, ExecutorOutput, Mode, Node, PlannerOutput, QualityLevel, QueryType, RegionBox};
use agenticiqa_tools::Tool;
use agenticiqa_vlm::{Answer, AnswerCache, Client, Options};
use ask::Question;
use profile::Rated;
pub use profile::{PROFILES, Profile, Rating};
use prompts::fill;
use texts::{contradicted, describe, evidence_text, history, options_text, scope_text};

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
    /// What the model is sent.
    pub mode: Mode,
    /// The limits of the views that the model is sent.
    pub views: views::Limits,
}

/// An answer, its reasons, and the probabilities of the levels.
type Concluded = (String, String, Option<[f64; 5]>);

impl VlmReasoner {
    /// Creates the reasoner of a node with the default settings.
    pub fn new(node: Node, client: Client) -> Self {
        Self {
            node,
            client,
            options: Options::default(),
            attempts: 3,
            max_side: agenticiqa_vlm::DEFAULT_MAX_SIDE,
            answers: None,
            mode: Mode::default(),
            views: views::Limits::default(),
        }
    }

    fn grounded(&self) -> bool {
        self.mode == Mode::Grounded
    }

    /// Reads answer, reasoning and the probabilities of the levels: as JSON, or in the form of the model's
    /// family.
    fn read_conclusion(&self, answer: &Answer, context: Context<'_>) -> Result<Concluded, String> {
        let rates = context.form == AnswerForm::Score;
        let profile = self.profile();
        let as_json = ask::read_any(answer, |object| read_verdict(object, context));
        if self.grounded() && rates && profile.rating != Rating::Json && as_json.is_err() {
            let Rated { level, probabilities, reasoning } = profile.rated(answer)?;
            return Ok((level.letter().to_string(), reasoning, Some(probabilities)));
        }
        let (final_answer, reasoning) = as_json?;
        let level = final_answer.chars().next().and_then(QualityLevel::from_letter).filter(|_| rates);
        let levels = level.map(|level| levels::probabilities(answer, level));
        Ok((final_answer, reasoning, levels))
    }

    /// Returns the user prompt, which mentions the reference if there is one.
    fn user(&self, context: Context<'_>, template: &str) -> String {
        let user = fill(template, &[("query", context.state.query.as_str())]);
        let reference = context.inputs.reference().map(|_| "\nThe reference image: <reference image>");
        format!("{user}{}", reference.unwrap_or_default())
    }
}

impl Reasoner for VlmReasoner {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn plan<'a>(&'a self, context: Context<'a>) -> Thought<'a, PlannerOutput> {
        async move {
            let mut user = self.user(context, prompts::PLANNER_USER);
            if let Some(options) = options_text(context).filter(|_| self.grounded()) {
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
            let mut user = self.user(context, prompts::EXECUTOR_USER);
            if self.grounded() {
                user += &scope_text(plan);
            }
            let schema = shapes::detection_schema(scope);
            let question = Question::new("distortion_set", prompts::DETECTION_SYSTEM.to_owned(), user, schema);
            let question = question.seeing(self, context, plan);
            Ok(self.ask(context, question, |answer| shapes::read_detection(answer, scope)).await?.0)
        }
        .boxed()
    }

    fn describe<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, Option<Descriptions>> {
        async move { if self.grounded() { builtin::describe(context, plan).await.map(Some) } else { Ok(None) } }.boxed()
    }

    fn measure<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, Option<Analyses>> {
        async move { if self.grounded() { builtin::measure(context, plan).await.map(Some) } else { Ok(None) } }.boxed()
    }

    fn is_checked(&self) -> bool {
        self.grounded()
    }

    fn join<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, Option<Joined>> {
        async move { if self.grounded() { self.ask_at_once(context, plan, tools).await.map(Some) } else { Ok(None) } }
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
            let mut user = self.user(context, prompts::EXECUTOR_USER);
            if self.grounded() {
                user += &contradicted(context, self.client.name());
            }
            let schema = shapes::analysis_schema(distortions);
            let question = Question::new("distortion_analysis", system, user, schema).seeing(self, context, plan);
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
            let evidence_text = evidence_text(context, evidence, fused, self.mode);
            let user = format!("{}{evidence_text}", self.user(context, prompts::EXECUTOR_USER));
            let letters: Vec<String> = match context.form {
                AnswerForm::Score => ["A", "B", "C", "D", "E"].map(str::to_owned).to_vec(),
                AnswerForm::Choice => context.state.options.iter().map(|option| option.letter.to_string()).collect(),
                AnswerForm::Text => Vec::new(),
            };
            let schema = shapes::conclusion_schema(&letters);
            let rates = context.form == AnswerForm::Score;
            let question = Question::new("conclusion", system.to_owned(), user, schema);
            let question = Question { logprobs: rates, rates, ..question }.seeing(self, context, plan);
            let read = |answer: &Answer| self.read_conclusion(answer, context);
            let (concluded, _) = self.ask_for(context, question, read).await?;
            let (final_answer, reasoning, levels) = concluded;
            Ok(Verdict {
                levels,
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
