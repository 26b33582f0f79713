//! The run of one assessment through the nodes, and its record.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Agent;
use crate::checkpoint::Asked;
use crate::events::{Event, EventLog};
use crate::executor::Executor;
use crate::inputs::Inputs;
use crate::planner;
use crate::reasoner::{Context, Error as ReasonerError, Reasoner};
use crate::state::Node;
use crate::state::{
    AgenticIqaState, AnswerForm, AssessmentRecord, ByNode, ExecutorOutput, FinalStatus, Metadata, SecondOpinion,
    SummarizerOutput, Text,
};
use crate::summarizer::{Conclusion, Summarizer, UNDETERMINED};
use agenticiqa_vlm::queue_timeout::timeout;

/// The error type when all nodes ran and none had an answer.
const NO_ANSWER: &str = "NoAnswerError";

/// The reason why an assessment stopped.
pub(super) struct Failure {
    kind: &'static str,
    message: String,
}

/// A running assessment.
pub(super) struct Run<'a> {
    pub agent: &'a Agent,
    pub form: AnswerForm,
    pub inputs: Arc<Inputs>,
    pub events: EventLog,
    pub state: AgenticIqaState,
    pub asked: Asked,
    pub times: ByNode<f64>,
    pub failure: Option<Failure>,
    pub second_opinion: Option<SecondOpinion>,
}

impl Run<'_> {
    fn context(&self) -> Context<'_> {
        Context {
            state: &self.state,
            form: self.form,
            inputs: &self.inputs,
            registry: &self.agent.registry,
            events: &self.events,
        }
    }

    /// Resumes from the last readable checkpoint if it belongs to the same request.
    pub fn resume(&mut self) {
        let (Some(checkpoints), true) = (&self.agent.options.checkpoints, self.agent.options.resume) else { return };
        match checkpoints.latest(self.state.sample_id.as_str()) {
            Ok(Some(found)) => {
                let tools =
                    found.state.executor_evidence.as_ref().map(|evidence| evidence.check_tools(&self.agent.registry));
                if found.asked == self.asked && tools.is_none_or(|checked| checked.is_ok()) {
                    self.events.note(format!("resumed after the {}", found.node.name()));
                    self.state =
                        AgenticIqaState { max_replan_iterations: self.state.max_replan_iterations, ..found.state };
                } else {
                    self.events
                        .note("the last checkpoint belongs to another question, image, region or tool: starting over");
                }
            }
            Ok(None) => {}
            Err(error) => self.events.problem(format!("checkpoints cannot be read: {error}")),
        }
    }

    /// Runs one node and returns whether the graph continues.
    pub async fn step(&mut self, node: Node) -> bool {
        let (start, iteration) = (Instant::now(), self.state.iteration_count);
        self.events.emit(Event::NodeStarted { node, iteration });
        let goes_on = match node {
            Node::Planner => self.plan().await,
            Node::Executor => self.execute().await,
            Node::Summarizer => self.summarize().await,
        };
        let seconds = start.elapsed().as_secs_f64();
        *self.times.get_mut(node) += seconds * 1000.0;
        tracing::info!(node = node.name(), iteration, seconds, "node ended");
        self.events.emit(Event::NodeEnded { node, iteration, seconds });
        if let Some(checkpoints) = self.agent.options.checkpoints.as_ref().filter(|_| goes_on)
            && let Err(error) = checkpoints.write(node, &self.asked, &self.state)
        {
            self.events.problem(format!("the checkpoint cannot be written: {error}"));
        }
        goes_on
    }

    fn limit(&self, node: Node) -> Duration {
        *self.agent.options.timeouts.get(node)
    }

    async fn plan(&mut self) -> bool {
        let limit = self.limit(Node::Planner);
        let reasoner = self.agent.reasoners.planner.as_ref();
        let planned = timeout(limit, planner::plan(reasoner, self.context())).await;
        match planned.unwrap_or(Err(ReasonerError::Timeout(limit.as_secs()))) {
            Ok(plan) => {
                let again = self.state.replan_history.last().is_some_and(|replan| replan.tried == plan);
                if again && self.is_deterministic() {
                    // The backends are deterministic, so the same plan would find the same
                    // evidence.
                    let result = self.state.summarizer_result.take();
                    if let Some(reason) = result.as_ref().and_then(SummarizerOutput::replan_reason) {
                        self.events.problem(format!("{reason}; a new plan would be the same as the last"));
                    }
                    self.state.summarizer_result = result.map(SummarizerOutput::without_replan);
                } else {
                    self.state.executor_evidence = None;
                    self.state.summarizer_result = None;
                }
                let iteration = self.state.iteration_count;
                self.events.emit(Event::Plan { iteration, plan: Box::new(plan.clone()) });
                self.state.plan = Some(plan);
                true
            }
            Err(error) => self.fail(Node::Planner, &error),
        }
    }

    fn is_deterministic(&self) -> bool {
        let ByNode { planner, executor, summarizer } = &self.agent.reasoners;
        planner.is_deterministic() && executor.is_deterministic() && summarizer.is_deterministic()
    }

    async fn execute(&mut self) -> bool {
        let Some(plan) = self.state.plan.clone() else {
            return self.fail(Node::Executor, &ReasonerError::Prerequisite("plan", "planner"));
        };
        let (limit, found) = (self.limit(Node::Executor), Mutex::new(ExecutorOutput::default()));
        let executor = Executor {
            reasoner: self.agent.reasoners.executor.as_ref(),
            cache: &self.agent.cache,
            grounding: self.agent.options.grounding,
            calls: self.agent.options.calls,
        };
        let executed = timeout(limit, executor.execute(self.context(), &plan, &found)).await;
        match executed {
            Ok(grounded) => self.state.regions.extend(grounded),
            Err(_) => {
                let problem =
                    format!("executor: {}; the evidence found so far is kept", ReasonerError::Timeout(limit.as_secs()));
                self.events.problem(problem);
            }
        }
        let evidence = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.state.executor_evidence = Some(evidence);
        true
    }

    async fn summarize(&mut self) -> bool {
        let limit = self.limit(Node::Summarizer);
        let summarizer =
            Summarizer { reasoner: self.agent.reasoners.summarizer.as_ref(), fusion: self.agent.options.fusion };
        let concluded = timeout(limit, summarizer.summarize(self.context())).await;
        let concluded = concluded.unwrap_or_else(|_| {
            let error = ReasonerError::Timeout(limit.as_secs());
            let result = SummarizerOutput::new(UNDETERMINED, self.form, None, &format!("No usable answer: {error}"));
            result.map(|result| Conclusion { result, gap: Some(error.to_string()) }).map_err(|_| error)
        });
        match concluded {
            Ok(Conclusion { result, gap }) => {
                if let Some(gap) = gap {
                    self.events.problem(gap);
                }
                if let Some(reason) = result.replan_reason() {
                    let iteration = self.state.iteration_count;
                    self.events.emit(Event::Replan { iteration, reason: reason.to_owned() });
                }
                self.state.conclude(result);
                true
            }
            Err(error) => self.fail(Node::Summarizer, &error),
        }
    }

    /// Asks a second backend for a conclusion from the same plan and evidence. The first conclusion stays.
    pub async fn ask_second(&mut self, reasoner: &dyn Reasoner) {
        let Ok(backend) = Text::new(reasoner.name()) else { return };
        let (Some(first), true) = (self.state.summarizer_result.clone(), self.state.executor_evidence.is_some()) else {
            return;
        };
        // The second opinion cannot ask for a new plan.
        let state = AgenticIqaState { iteration_count: self.state.max_replan_iterations, ..self.state.clone() };
        let (limit, context) = (self.limit(Node::Summarizer), Context { state: &state, ..self.context() });
        let summarizer = Summarizer { reasoner, fusion: self.agent.options.fusion };
        let concluded = timeout(limit, summarizer.summarize(context)).await;
        let concluded = concluded.unwrap_or(Err(ReasonerError::Timeout(limit.as_secs())));
        let opinion = match concluded {
            Ok(Conclusion { result, gap }) if result.final_answer.as_str() == UNDETERMINED => {
                Err(gap.unwrap_or_else(|| result.quality_reasoning.to_string()))
            }
            Ok(Conclusion { result, .. }) => Ok(result),
            Err(error) => Err(error.to_string()),
        };
        self.second_opinion = Some(match opinion {
            Ok(result) => {
                let same = first.final_answer == result.final_answer;
                let agrees = (self.form != AnswerForm::Text).then_some(same);
                SecondOpinion { backend, result: Some(result), error: None, agrees }
            }
            Err(error) => {
                self.events.problem(format!("no second opinion from {backend}: {error}"));
                SecondOpinion { backend, result: None, error: Text::new(error).ok(), agrees: None }
            }
        });
    }

    fn fail(&mut self, node: Node, error: &ReasonerError) -> bool {
        let message = format!("{}: {error}", node.name());
        tracing::error!("{message}");
        self.failure = Some(Failure { kind: error.kind_name(), message });
        false
    }

    pub fn record(self, elapsed: Duration, input: Map<String, Value>) -> AssessmentRecord {
        let mut tokens_used = ByNode::<u64>::default();
        let calls = self.events.calls();
        for call in &calls {
            *tokens_used.get_mut(call.node) += call.prompt_tokens + call.completion_tokens;
        }
        let cost = calls.iter().map(|call| call.cost_usd);
        let mut problems = self.events.problems();
        problems.extend(self.failure.iter().map(|failure| failure.message.clone()));
        let state = self.state;
        let answered = state
            .summarizer_result
            .as_ref()
            .is_some_and(|result| result.final_answer.as_str() != UNDETERMINED || result.quality_score.is_some());
        let final_status = match (answered && self.failure.is_none(), problems.is_empty()) {
            (false, _) => FinalStatus::Error,
            (true, true) => FinalStatus::Success,
            (true, false) => FinalStatus::Partial,
        };
        let error_type = match (&self.failure, final_status) {
            (Some(failure), _) => Some(failure.kind),
            (None, FinalStatus::Error) => Some(NO_ANSWER),
            _ => None,
        };
        self.events.emit(Event::Done { status: final_status });
        let mut notes = self.inputs.notes();
        notes.extend(self.events.notes());
        AssessmentRecord {
            sample_id: state.sample_id,
            query: state.query,
            options: state.options,
            image_path: state.image_path,
            reference_path: state.reference_path,
            regions: state.regions,
            plan: state.plan,
            executor_evidence: state.executor_evidence,
            summarizer_result: state.summarizer_result,
            second_opinion: self.second_opinion,
            metadata: Metadata {
                execution_time_ms: elapsed.as_secs_f64() * 1000.0,
                iteration_count: state.iteration_count,
                replan_history: state.replan_history,
                final_status,
                error_type: error_type.map(str::to_owned),
                error_details: (!problems.is_empty()).then_some(problems),
                timestamp: Timestamp::now(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                backends: self.agent.backends(),
                mode: Some(self.agent.options.mode),
                tokens_used,
                cached_answers: self.events.reused(),
                // The empty sum is -0.0; adding 0.0 makes it positive.
                cost_usd: cost.sum::<Option<f64>>().map(|cost| cost + 0.0),
                calls,
                views: self.inputs.sent_views(),
                node_times_ms: self.times,
                notes,
            },
            input,
        }
    }
}
