//! The agent: one question about one picture, through planner, executor and summarizer, into one record.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agenticiqa_imaging::{Decoder, Error as DecodeError};
use agenticiqa_metrics::{Error as MetricError, Region};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::checkpoint::Checkpoints;
use crate::executor::{Executor, Grounding};
use crate::journal::{Event, Journal, Node};
use crate::reasoner::{Context, Error as ReasonerError, Reasoner};
use crate::state::{
    AgenticIqaState, AnswerForm, AssessmentRecord, ByNode, ExecutorOutput, FinalStatus, Metadata, RegionBox,
    SummarizerOutput, Text,
};
use crate::subject::{Source, Subject};
use crate::summarizer::{Conclusion, Summarizer, UNDETERMINED, fusion::Fusion};
use crate::tools::{Registry, ToolCache};
use crate::vlm::{RateCard, Usage};
use crate::{graph, planner, question};

/// The question when none is asked.
pub const DEFAULT_QUERY: &str = "Assess the overall quality of this image.";

/// Where a picture comes from.
#[derive(Debug, Clone)]
pub enum Input {
    /// A file.
    Path(PathBuf),
    /// The bytes of a file, and the name that the record gives it.
    Bytes(String, Vec<u8>),
}

impl Input {
    /// The name in the record.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Bytes(name, _) => name.clone(),
        }
    }

    fn open(self, decoder: &Decoder) -> Result<Source, DecodeError> {
        match self {
            Self::Path(path) => Source::open(decoder, &path),
            Self::Bytes(_, bytes) => Source::decode(decoder, bytes),
        }
    }
}

/// A question about a picture.
#[derive(Debug, Clone)]
pub struct Request {
    /// The name of the sample; by default the picture's file name without its extension.
    pub sample_id: Option<String>,
    /// The question.
    pub query: String,
    /// The options of a multiple-choice question.
    pub options: Vec<String>,
    /// The picture.
    pub image: Input,
    /// What it is compared with.
    pub reference: Option<Input>,
    /// The parts of the picture whose place is known.
    pub regions: Vec<RegionBox>,
    /// Tools that must be run.
    pub tools: Vec<String>,
    /// The form of the answer; told from the question by default.
    pub form: Option<AnswerForm>,
    /// How often a new plan may be asked for; the agent's setting by default.
    pub max_replan_iterations: Option<u32>,
    /// Fields that are not ours, copied into the record.
    pub input: Map<String, Value>,
}

impl Request {
    /// The default question about a picture.
    pub fn new(image: Input) -> Self {
        Self {
            sample_id: None,
            query: DEFAULT_QUERY.to_owned(),
            options: Vec::new(),
            image,
            reference: None,
            regions: Vec::new(),
            tools: Vec::new(),
            form: None,
            max_replan_iterations: None,
            input: Map::new(),
        }
    }
}

/// Why a request cannot be taken up; the messages name what is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A picture cannot be read.
    #[error(transparent)]
    Picture(#[from] DecodeError),
    /// Picture and reference do not fit.
    #[error(transparent)]
    Pair(#[from] MetricError),
    /// A region lies outside the picture.
    #[error("region {name:?}: {error}")]
    Region {
        /// Its name.
        name: String,
        /// What is wrong.
        error: MetricError,
    },
    /// Two regions have one name.
    #[error("two regions are called {0:?}: give each its own name")]
    RepeatedRegion(String),
    /// A tool does not exist.
    #[error(transparent)]
    Tool(#[from] crate::tools::Error),
    /// A field is empty or otherwise invalid.
    #[error(transparent)]
    Field(#[from] crate::state::Invalid),
    /// The options contradict the form of the answer.
    #[error("a choice needs options: give them with --option, or in the query as \"A. ... B. ...\"")]
    NoOptions,
}

/// How the agent works.
#[derive(Debug, Clone)]
pub struct Options {
    /// How pictures are read.
    pub decoder: Decoder,
    /// How often a new plan may be asked for.
    pub max_replan_iterations: u32,
    /// Whether a model may be asked where objects are.
    pub grounding: Grounding,
    /// How tools and reasoner are weighed.
    pub fusion: Fusion,
    /// How long each node may take.
    pub timeouts: ByNode<Duration>,
    /// Where the state is kept after each node.
    pub checkpoints: Option<Checkpoints>,
    /// Whether to go on from the last checkpoint of the sample.
    pub resume: bool,
    /// What tokens cost.
    pub rates: RateCard,
}

impl Default for Options {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            decoder: Decoder::default(),
            max_replan_iterations: 2,
            grounding: Grounding::Auto,
            fusion: Fusion::default(),
            timeouts: ByNode { planner: seconds(60), executor: seconds(300), summarizer: seconds(60) },
            checkpoints: None,
            resume: false,
            rates: RateCard::default(),
        }
    }
}

/// The agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The results that are known.
    pub cache: Arc<ToolCache>,
    /// Who does the thinking, for each node.
    pub reasoners: ByNode<Arc<dyn Reasoner>>,
    /// How it works.
    pub options: Options,
}

impl Agent {
    /// Answers the question. Only a request that cannot be taken up is an error; what goes wrong later is said in the
    /// record.
    pub async fn assess(&self, request: Request, journal: Journal) -> Result<AssessmentRecord, Error> {
        let start = Instant::now();
        let (state, form, subject, input) = self.prepare(request).await?;
        let mut run = Run { agent: self, form, subject, journal, state, times: ByNode::default(), failure: None };
        run.resume();
        while let Some(node) = graph::next(&run.state) {
            if !run.step(node).await {
                break;
            }
        }
        Ok(run.record(start.elapsed(), input))
    }

    async fn prepare(
        &self,
        request: Request,
    ) -> Result<(AgenticIqaState, AnswerForm, Arc<Subject>, Map<String, Value>), Error> {
        let named =
            |field: &str, invalid: crate::state::Invalid| crate::state::Invalid { field: field.to_owned(), ..invalid };
        let (image_path, reference_path) = (request.image.name(), request.reference.as_ref().map(Input::name));
        let stem = || PathBuf::from(&image_path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let sample_id = request.sample_id.or_else(stem).unwrap_or_else(|| image_path.clone());
        let query = Text::new(&request.query).map_err(|invalid| named("query", invalid))?;
        let mut state = AgenticIqaState::new(Text::new(sample_id)?, query, Text::new(&image_path)?);
        state.reference_path = reference_path.map(Text::new).transpose()?;
        state.options = match request.options.as_slice() {
            [] => question::options_in(&request.query),
            given => question::options_given(given)?,
        };
        let form = question::answer_form(&request.query, &state.options, request.form);
        if form == AnswerForm::Choice && state.options.is_empty() {
            return Err(Error::NoOptions);
        }
        for tool in &request.tools {
            state.requested_tools.push(Text::new(self.registry.get(tool)?.name())?);
        }
        state.max_replan_iterations = request.max_replan_iterations.unwrap_or(self.options.max_replan_iterations);
        state.regions = request.regions;
        let decoder = self.options.decoder;
        let (image, reference) = (request.image, request.reference);
        let open = move || -> Result<Subject, Error> {
            let (image, reference) = rayon::join(
                || image.open(&decoder),
                || reference.map(|reference| reference.open(&decoder)).transpose(),
            );
            Ok(Subject::new(image?, reference?)?)
        };
        // Decoding takes a while and all the time of a core: not on the threads of the runtime.
        let opened = tokio::task::spawn_blocking(open).await;
        let subject = opened.unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()))?;
        check_regions(&subject, &state.regions)?;
        Ok((state, form, Arc::new(subject), request.input))
    }
}

fn check_regions(subject: &Subject, regions: &[RegionBox]) -> Result<(), Error> {
    for (index, RegionBox { name, x, y, width, height }) in regions.iter().enumerate() {
        if regions[..index].iter().any(|earlier| earlier.name == *name) {
            return Err(Error::RepeatedRegion(name.to_string()));
        }
        let region = Region { x: *x, y: *y, width: *width, height: *height };
        subject.part(Some(region)).map_err(|error| Error::Region { name: name.to_string(), error })?;
    }
    Ok(())
}

/// One assessment on its way.
struct Run<'a> {
    agent: &'a Agent,
    form: AnswerForm,
    subject: Arc<Subject>,
    journal: Journal,
    state: AgenticIqaState,
    times: ByNode<f64>,
    failure: Option<String>,
}

impl Run<'_> {
    fn context(&self) -> Context<'_> {
        Context {
            state: &self.state,
            form: self.form,
            subject: &self.subject,
            registry: &self.agent.registry,
            journal: &self.journal,
        }
    }

    /// Goes on from the last good checkpoint, if it belongs to the same question.
    fn resume(&mut self) {
        let (Some(checkpoints), true) = (&self.agent.options.checkpoints, self.agent.options.resume) else { return };
        match checkpoints.latest(self.state.sample_id.as_str()) {
            Ok(Some(found)) => {
                let same = |state: &AgenticIqaState| {
                    (state.query.clone(), state.options.clone(), state.image_path.clone(), state.reference_path.clone())
                };
                let tools =
                    found.state.executor_evidence.as_ref().map(|evidence| evidence.check_tools(&self.agent.registry));
                if same(&found.state) == same(&self.state) && tools.is_none_or(|checked| checked.is_ok()) {
                    self.journal.note(format!("resumed after the {}", found.node.name()));
                    self.state =
                        AgenticIqaState { max_replan_iterations: self.state.max_replan_iterations, ..found.state };
                } else {
                    self.journal.note("the last checkpoint belongs to another question: started anew");
                }
            }
            Ok(None) => {}
            Err(error) => self.journal.problem(format!("checkpoints cannot be read: {error}")),
        }
    }

    /// Runs one node; whether the graph goes on.
    async fn step(&mut self, node: Node) -> bool {
        let (start, iteration) = (Instant::now(), self.state.iteration_count);
        self.journal.tell(Event::NodeStarted { node, iteration });
        let goes_on = match node {
            Node::Planner => self.plan().await,
            Node::Executor => self.execute().await,
            Node::Summarizer => self.summarize().await,
        };
        let seconds = start.elapsed().as_secs_f64();
        *self.times.get_mut(node) += seconds * 1000.0;
        tracing::info!(node = node.name(), iteration, seconds, "node ended");
        self.journal.tell(Event::NodeEnded { node, iteration, seconds });
        if let Some(checkpoints) = self.agent.options.checkpoints.as_ref().filter(|_| goes_on)
            && let Err(error) = checkpoints.write(node, &self.state)
        {
            self.journal.problem(format!("the checkpoint cannot be written: {error}"));
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
                    // The same steps would find the same evidence.
                    self.journal.note("a new plan would be the same as the last: no further round");
                    let result = self.state.summarizer_result.take().map(|result| result.with_replan(None));
                    self.state.summarizer_result = result;
                } else {
                    self.state.executor_evidence = None;
                    self.state.summarizer_result = None;
                }
                self.state.plan = Some(plan);
                true
            }
            Err(error) => self.fail(format!("planner: {error}")),
        }
    }

    fn is_deterministic(&self) -> bool {
        let ByNode { planner, executor, summarizer } = &self.agent.reasoners;
        planner.is_deterministic() && executor.is_deterministic() && summarizer.is_deterministic()
    }

    async fn execute(&mut self) -> bool {
        let Some(plan) = self.state.plan.clone() else { return self.fail("executor: there is no plan".to_owned()) };
        let (limit, found) = (self.limit(Node::Executor), Mutex::new(ExecutorOutput::default()));
        let executor = Executor {
            reasoner: self.agent.reasoners.executor.as_ref(),
            cache: &self.agent.cache,
            grounding: self.agent.options.grounding,
        };
        let executed = timeout(limit, executor.execute(self.context(), &plan, &found)).await;
        match executed {
            Ok(grounded) => self.state.regions.extend(grounded),
            Err(_) => {
                let problem =
                    format!("executor: {}; what was found until then is kept", ReasonerError::Timeout(limit.as_secs()));
                self.journal.problem(problem);
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
            let result =
                SummarizerOutput::new(UNDETERMINED, self.form, None, &format!("No answer could be had: {error}"));
            result.map(|result| Conclusion { result, gap: Some(error.to_string()) }).map_err(|_| error)
        });
        match concluded {
            Ok(Conclusion { result, gap }) => {
                if let Some(gap) = gap {
                    self.journal.problem(gap);
                }
                if let Some(reason) = result.replan_reason() {
                    let iteration = self.state.iteration_count;
                    self.journal.tell(Event::Replan { iteration, reason: reason.to_owned() });
                }
                self.state.conclude(result);
                true
            }
            Err(error) => self.fail(format!("summarizer: {error}")),
        }
    }

    fn fail(&mut self, failure: String) -> bool {
        tracing::error!("{failure}");
        self.failure = Some(failure);
        false
    }

    fn record(self, elapsed: Duration, input: Map<String, Value>) -> AssessmentRecord {
        let ByNode { planner, executor, summarizer } = &self.agent.reasoners;
        let name = |reasoner: &Arc<dyn Reasoner>| reasoner.name().to_owned();
        let backends = ByNode { planner: name(planner), executor: name(executor), summarizer: name(summarizer) };
        let mut tokens_used = ByNode::<u64>::default();
        let spent = self.journal.spent();
        for spending in &spent {
            *tokens_used.get_mut(spending.node) += spending.prompt_tokens + spending.completion_tokens;
        }
        let cost = spent.iter().map(|spending| {
            let usage = Usage { prompt_tokens: spending.prompt_tokens, completion_tokens: spending.completion_tokens };
            self.agent.options.rates.cost(&spending.backend, usage)
        });
        let mut problems = self.journal.problems();
        problems.extend(self.failure.clone());
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
        self.journal.tell(Event::Done { status: final_status });
        let mut notes = self.subject.notes();
        notes.extend(self.journal.notes());
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
            metadata: Metadata {
                execution_time_ms: elapsed.as_secs_f64() * 1000.0,
                iteration_count: state.iteration_count,
                replan_history: state.replan_history,
                final_status,
                error_details: (!problems.is_empty()).then_some(problems),
                timestamp: Timestamp::now(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                backends,
                tokens_used,
                cost_usd: cost.sum(),
                node_times_ms: self.times,
                notes,
            },
            input,
        }
    }
}
