//! The agent: sends one question about one image through planner, executor and summarizer.

mod run;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agenticiqa_imaging::{Decoder, Error as DecodeError};
use agenticiqa_metrics::Error as MetricError;
use serde_json::{Map, Value};

use crate::checkpoint::{Asked, Checkpoints};
use crate::events::EventLog;
use crate::executor::Grounding;
use crate::fusion::Fusion;
use crate::inputs::{Inputs, Source};
use crate::reasoner::Reasoner;
use crate::state::{AgenticIqaState, AnswerForm, AssessmentRecord, ByNode, DEFAULT_REPLAN_ITERATIONS, RegionBox, Text};
use crate::{graph, question};
use agenticiqa_tools::{Registry, Tool, ToolCache};
use agenticiqa_vision::repair::Effort;
use agenticiqa_vlm::RateCard;
use agenticiqa_vlm::queue_timeout;

use run::Run;

pub use crate::state::DEFAULT_QUERY;

/// The source of an image.
#[derive(Debug, Clone)]
pub enum Input {
    /// A file path.
    Path(PathBuf),
    /// The name for the record, and the bytes of an image file.
    Bytes(String, Vec<u8>),
    /// The name for the record, and a decoded image file.
    Source(String, Arc<Source>),
}

impl From<&str> for Input {
    fn from(path: &str) -> Self {
        Self::Path(path.into())
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl Input {
    /// Returns the name for the record.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => agenticiqa_imaging::files::path_text(path),
            Self::Bytes(name, _) | Self::Source(name, _) => name.clone(),
        }
    }

    fn open(self, decoder: &Decoder) -> Result<Source, DecodeError> {
        match self {
            Self::Path(path) => Source::open(decoder, &path),
            Self::Bytes(name, bytes) => {
                let named = |reason| DecodeError::File { path: name.into(), reason: Box::new(reason) };
                Source::decode(decoder, bytes).map_err(named)
            }
            Self::Source(_, source) => Ok(Arc::unwrap_or_clone(source)),
        }
    }
}

/// A question about an image.
#[derive(Debug, Clone)]
pub struct Request {
    /// The ID of the sample. Default: the file name of the image without its extension.
    pub sample_id: Option<String>,
    /// The question.
    pub query: String,
    /// The options of a multiple-choice question.
    pub options: Vec<String>,
    /// The image.
    pub image: Input,
    /// The reference image to compare with.
    pub reference: Option<Input>,
    /// The named regions of the image.
    pub regions: Vec<RegionBox>,
    /// The tools that must run.
    pub tools: Vec<String>,
    /// The form of the answer. Default: derived from the question.
    pub form: Option<AnswerForm>,
    /// The maximum number of replans. Default: the setting of the agent.
    pub max_replan_iterations: Option<u32>,
    /// Whether the heat maps of the tools are kept, see [`Assessment::inputs`].
    pub maps: bool,
    /// How many edits are tried that could mend the faults of the image, if any.
    pub what_if: Option<Effort>,
    /// Additional fields that are copied into the record.
    pub input: Map<String, Value>,
}

impl Request {
    /// Creates a request with the default question.
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
            maps: false,
            what_if: None,
            input: Map::new(),
        }
    }
}

/// The reason why a request is rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An image cannot be decoded.
    #[error(transparent)]
    Picture(#[from] DecodeError),
    /// The image and the reference do not match.
    #[error(transparent)]
    Pair(#[from] MetricError),
    /// A region lies outside the image.
    #[error("region {name:?}: {error}")]
    Region {
        /// The name of the region.
        name: String,
        /// The reason.
        error: MetricError,
    },
    /// Two regions have the same name.
    #[error("two regions are called {0:?}")]
    RepeatedRegion(String),
    /// A tool is unknown.
    #[error(transparent)]
    Tool(#[from] agenticiqa_tools::Error),
    /// A field is empty or otherwise invalid.
    #[error(transparent)]
    Field(#[from] crate::state::Invalid),
    /// The answer must be a choice, but there are no options.
    #[error("a choice needs options, and the query has none (\"A. ... B. ...\")")]
    NoOptions,
}

impl Error {
    /// Returns the name of the error type, for grouping.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Picture(_) => "PictureError",
            Self::Pair(_) => "PairError",
            Self::Region { .. } | Self::RepeatedRegion(_) => "RegionError",
            Self::Tool(_) => "ToolError",
            Self::Field(_) | Self::NoOptions => "InputError",
        }
    }
}

/// The settings of an agent.
#[derive(Debug, Clone)]
pub struct Options {
    /// Decodes the images.
    pub decoder: Decoder,
    /// The maximum number of replans.
    pub max_replan_iterations: u32,
    /// Whether a model may be asked to locate objects.
    pub grounding: Grounding,
    /// The parameters of the score fusion.
    pub fusion: Fusion,
    /// The time limit of each node.
    pub timeouts: ByNode<Duration>,
    /// The folder for checkpoints; `None` disables them.
    pub checkpoints: Option<Checkpoints>,
    /// Whether to resume from the last checkpoint of the sample.
    pub resume: bool,
    /// The prices of tokens.
    pub rates: RateCard,
}

impl Default for Options {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            decoder: Decoder::default(),
            max_replan_iterations: DEFAULT_REPLAN_ITERATIONS,
            grounding: Grounding::Auto,
            fusion: Fusion::default(),
            timeouts: ByNode { planner: seconds(60), executor: seconds(300), summarizer: seconds(60) },
            checkpoints: None,
            resume: false,
            rates: RateCard::default(),
        }
    }
}

/// The record of an assessment, with the images and heat maps that it was made of.
#[derive(Debug, Clone)]
pub struct Assessment {
    /// The record.
    pub record: AssessmentRecord,
    /// The decoded images, and the heat maps if the request asked for them.
    pub inputs: Arc<Inputs>,
}

/// Answers questions about image quality.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The available tools.
    pub registry: Arc<Registry>,
    /// The cache of tool results.
    pub cache: Arc<ToolCache>,
    /// The reasoner of each node.
    pub reasoners: ByNode<Arc<dyn Reasoner>>,
    /// The settings.
    pub options: Options,
}

impl Agent {
    /// Returns the backend name of each node.
    pub fn backends(&self) -> ByNode<String> {
        let ByNode { planner, executor, summarizer } = &self.reasoners;
        let name = |reasoner: &Arc<dyn Reasoner>| reasoner.name().to_owned();
        ByNode { planner: name(planner), executor: name(executor), summarizer: name(summarizer) }
    }

    /// Answers the question of a request. Returns an error only if the request is invalid. Later
    /// failures are reported in the record.
    pub async fn assess(&self, request: Request, events: EventLog) -> Result<AssessmentRecord, Error> {
        self.assess_with_inputs(request, events).await.map(|assessment| assessment.record)
    }

    /// Answers the question and keeps what was decoded and measured for it.
    pub async fn assess_with_inputs(&self, request: Request, events: EventLog) -> Result<Assessment, Error> {
        queue_timeout::within(self.assess_now(request, events)).await
    }

    async fn assess_now(&self, request: Request, events: EventLog) -> Result<Assessment, Error> {
        let start = Instant::now();
        let (state, form, inputs, input) = self.prepare(request).await?;
        let asked = asked(&state, &inputs);
        let mut run = Run { agent: self, form, inputs, events, state, asked, times: ByNode::default(), failure: None };
        run.resume();
        while let Some(node) = graph::next(&run.state) {
            if !run.step(node).await {
                break;
            }
        }
        let inputs = Arc::clone(&run.inputs);
        Ok(Assessment { record: run.record(start.elapsed(), input), inputs })
    }

    async fn prepare(
        &self,
        request: Request,
    ) -> Result<(AgenticIqaState, AnswerForm, Arc<Inputs>, Map<String, Value>), Error> {
        let named =
            |field: &str, invalid: crate::state::Invalid| crate::state::Invalid { field: field.to_owned(), ..invalid };
        let (image_path, reference_path) = (request.image.name(), request.reference.as_ref().map(Input::name));
        let stem = || PathBuf::from(&image_path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let sample_id = request.sample_id.or_else(stem).unwrap_or_else(|| image_path.clone());
        question::check_length(&request.query, &request.options)?;
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
        // Whatever a region was in the record that it comes from: in this question it is given.
        let given = |one: RegionBox| RegionBox::given(one.name.clone(), one.region());
        state.regions = request.regions.into_iter().map(given).collect();
        // Without a reference the tool that carries the score is all but certain to run: it loads while the image is decoded.
        if request.reference.is_none() {
            let carries = |tool: &&Tool| tool.has_interval() && !tool.needs_reference();
            self.registry.iter().filter(carries).for_each(Tool::prepare);
        }
        let decoder = self.options.decoder;
        let (image, reference, maps, what_if) = (request.image, request.reference, request.maps, request.what_if);
        let open = move || -> Result<Inputs, Error> {
            let (image, reference) = rayon::join(
                || image.open(&decoder),
                || reference.map(|reference| reference.open(&decoder)).transpose(),
            );
            let inputs = Inputs::new(image?, reference?)?;
            let inputs = if maps { inputs.with_maps() } else { inputs };
            Ok(inputs.with_what_if(what_if))
        };
        // Decoding takes a while, so it must not block the threads of the runtime.
        let opened = tokio::task::spawn_blocking(open).await;
        let inputs = opened.unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()))?;
        check_regions(&inputs, &state.regions)?;
        Ok((state, form, Arc::new(inputs), request.input))
    }
}

fn asked(state: &AgenticIqaState, inputs: &Inputs) -> Asked {
    Asked {
        query: state.query.to_string(),
        options: state.options.clone(),
        image_sha256: inputs.image().digest.to_string(),
        reference_sha256: inputs.reference().map(|reference| reference.digest.to_string()),
        regions: state.regions.clone(),
        tools: state.requested_tools.clone(),
    }
}

fn check_regions(inputs: &Inputs, regions: &[RegionBox]) -> Result<(), Error> {
    for (index, region) in regions.iter().enumerate() {
        let name = &region.name;
        if regions[..index].iter().any(|earlier| earlier.name == *name) {
            return Err(Error::RepeatedRegion(name.to_string()));
        }
        inputs.part(Some(region.region())).map_err(|error| Error::Region { name: name.to_string(), error })?;
    }
    Ok(())
}
