//! The summarizer: fuses tool scores with the reasoner's judgment, then answers or asks for a new
//! plan.

pub mod certainty;
mod contributions;
pub mod sufficiency;

use crate::advice;
use crate::disagreements;
use crate::fusion::{Estimate, Fusion};
use crate::language::Language;
use crate::reasoner::{Context, Error, Reasoner, Verdict};
use crate::state::{
    AnswerForm, Disagreement, ExecutorOutput, FusedLevels, PlannerOutput, QualityLevel, QueryType, Score,
    SummarizerOutput, Text, UsedEvidence,
};

/// The answer when no answer is possible.
pub const UNDETERMINED: &str = "Unable to determine";
/// The reason in the record when the answers of a model could not be read.
const UNREADABLE: &str = "VLM output parsing failed";
/// The maximum length of the reason in logs, in characters.
const LOGGED_REASON: usize = 2000;

/// Writes the conclusion.
#[derive(Debug)]
pub struct Summarizer<'a> {
    /// The reasoner that answers the question.
    pub reasoner: &'a dyn Reasoner,
    /// The parameters of the fusion.
    pub fusion: Fusion,
}

/// The conclusion, and the evidence that is still missing when no replan is possible.
#[derive(Debug)]
pub struct Conclusion {
    /// The result.
    pub result: SummarizerOutput,
    /// The missing evidence.
    pub gap: Option<String>,
}

impl Summarizer<'_> {
    /// Concludes from the plan and the evidence of the state.
    pub async fn summarize(&self, context: Context<'_>) -> Result<Conclusion, Error> {
        let plan = context.state.plan.as_ref().ok_or(Error::Prerequisite("plan", "planner"))?;
        let evidence = context.state.executor_evidence.as_ref();
        let evidence = evidence.ok_or(Error::Prerequisite("executor_evidence", "executor"))?;
        announce(context, plan, evidence);
        let tools = Estimate::of(evidence, context.registry);
        let fused = tools.map(|tools| tools.fused(&self.fusion, None));
        let verdict = match self.reasoner.conclude(context, plan, evidence, fused).await {
            Ok(verdict) => verdict,
            Err(error) => return self.undetermined(context, fused, &error),
        };
        let judged_levels = verdict.levels;
        let levels = judged_levels.as_ref();
        let judged = || levels.filter(|_| context.form == AnswerForm::Score).map(|levels| self.judged(levels));
        let estimate = tools.map(|tools| tools.fused(&self.fusion, levels)).or_else(judged);
        let score = estimate.and_then(|estimate| Score::new(estimate.score).ok());
        let disagreement = tools.and_then(|tools| self.disagreement(context, &verdict, tools));
        let contradicted = disagreement.as_ref().filter(|_| plan.query_type == QueryType::Iqa);
        let gap = sufficiency::gap(plan, evidence).or_else(|| contradicted.map(Disagreement::reason));
        let reason = gap.as_deref().filter(|gap| may_replan(context, gap));
        let missing = gap.as_deref().filter(|_| reason.is_none());
        let mut verdict = complete(verdict, evidence, missing);
        let interval = estimate.and_then(|estimate| estimate.interval);
        if let (Some(score), Some(interval), false) = (score, interval, verdict.tells_certainty) {
            certainty::say(&mut verdict, context, evidence, score, interval);
        }
        let Verdict { final_answer, reasoning, used_evidence, .. } = verdict;
        let letter = || score.map(|score| QualityLevel::of(score).letter().to_string());
        let final_answer = final_answer.or_else(letter).unwrap_or_else(|| UNDETERMINED.to_owned());
        let result = SummarizerOutput::new(&final_answer, context.form, score, &reasoning)
            .map_err(|invalid| self.unusable(&invalid.to_string()))?;
        let mut result = result.with_interval(interval).with_replan(reason.and_then(|gap| Text::new(gap).ok()));
        result.used_evidence = used_evidence;
        result.disagreements = disagreement.into_iter().collect();
        result.contributions = contributions::contributions(evidence, score);
        result.advice = contributions::advice(evidence);
        result.recommendations = advice::recommendations(evidence, Language::of(context.state.query.as_str()));
        result.fusion = tools.map(|tools| self.levels(tools, judged_levels));
        Ok(Conclusion { gap: missing.map(str::to_owned), result })
    }

    /// Compares the level that a model names with the tools.
    fn disagreement(&self, context: Context<'_>, verdict: &Verdict, tools: Estimate) -> Option<Disagreement> {
        if context.form != AnswerForm::Score || !self.reasoner.is_checked() {
            return None;
        }
        let letter = verdict.final_answer.as_deref()?.chars().next()?;
        disagreements::level(self.reasoner.name(), QualityLevel::from_letter(letter)?, tools)
    }

    fn levels(&self, tools: Estimate, probabilities: Option<[f64; 5]>) -> FusedLevels {
        FusedLevels { tools: tools.score, weights: self.fusion.weights(tools.score), probabilities }
    }

    /// Returns the score of judged levels when no tool measured anything.
    fn judged(&self, levels: &[f64; 5]) -> Estimate {
        Estimate { score: self.fusion.score(None, Some(levels)).clamp(1.0, 5.0), interval: None }
    }

    fn unusable(&self, reason: &str) -> Error {
        Error::BadAnswers { backend: self.reasoner.name().to_owned(), attempts: 1, reason: reason.to_owned() }
    }

    /// Builds the result when the reasoner has no answer. It keeps the tool scores and asks for no
    /// new plan, because the next round could fail in the same way.
    fn undetermined(&self, context: Context<'_>, fused: Option<Estimate>, error: &Error) -> Result<Conclusion, Error> {
        let detail = error.to_string();
        tracing::error!("the summarizer has no answer: {}", detail.chars().take(LOGGED_REASON).collect::<String>());
        let reason = match error {
            Error::BadAnswers { .. } => UNREADABLE.to_owned(),
            other => format!("No usable answer: {other}"),
        };
        let score = fused.and_then(|fused| Score::new(fused.score).ok());
        let result = SummarizerOutput::new(UNDETERMINED, context.form, score, &reason)
            .map_err(|invalid| self.unusable(&invalid.to_string()))?;
        let result = result.with_interval(fused.and_then(|fused| fused.interval));
        Ok(Conclusion { gap: Some(detail), result })
    }
}

fn announce(context: Context<'_>, plan: &PlannerOutput, evidence: &ExecutorOutput) {
    let distortions = evidence.distortion_analysis.as_ref().map_or(0, |analysis| analysis.values().map(Vec::len).sum());
    tracing::info!(
        query_type = ?plan.query_type,
        form = ?context.form,
        distortions,
        tool_scores = evidence.distinct_scores().len(),
        image = context.state.image_path.as_str(),
        reference = context.state.reference_path.as_ref().map(Text::as_str),
        "summarizing"
    );
}

/// Returns whether another replan is allowed.
fn may_replan(context: Context<'_>, gap: &str) -> bool {
    let (count, max) = (context.state.iteration_count, context.state.max_replan_iterations);
    if count >= max {
        tracing::warn!(
            iteration = count,
            "max iterations reached ({max}), not replanning although evidence is missing: {gap}"
        );
        return false;
    }
    tracing::info!(need_replan = true, iteration = count, replan_reason = gap, "replanning");
    true
}

/// Adds the limits of the evidence to the reasoning, for every type of reasoner.
fn complete(mut verdict: Verdict, evidence: &ExecutorOutput, missing: Option<&str>) -> Verdict {
    let mut say = |sentence: String| add(&mut verdict, sentence, Vec::new());
    if evidence.is_unsupported() {
        say("There is no tool score and no distortion analysis: no measurement supports the answer.".to_owned());
    }
    if let Some(gap) = missing {
        say(format!("The evidence is incomplete: {gap}."));
    } else if let Some(contradiction) = sufficiency::contradiction(evidence) {
        say(format!("{contradiction}."));
    }
    verdict
}

/// Adds a sentence to the reasoning, with JSON pointers to its evidence.
fn add(verdict: &mut Verdict, sentence: String, evidence: Vec<String>) {
    let reasoning = verdict.reasoning.trim_end();
    let mut languages = Language::ALL.into_iter().map(Language::phrases);
    let ended = languages.find(|phrases| reasoning.ends_with(phrases.full_stop()));
    let stop = if reasoning.is_empty() || reasoning.ends_with(['!', '?']) || ended.is_some() { "" } else { "." };
    let space = ended.map_or(" ", |phrases| phrases.between_sentences());
    verdict.reasoning = format!("{reasoning}{stop}{space}{sentence}").trim().to_owned();
    verdict.used_evidence.push(UsedEvidence { sentence, evidence });
}
