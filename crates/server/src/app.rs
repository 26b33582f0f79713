//! What all requests share: the agent and its tools, the allowed folders, what is kept on disk, and who may work when.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agenticiqa::agent::Agent;
use agenticiqa::config::{self, Backend, Environment, Overrides, Settings};
use agenticiqa::imaging::Decoder;
use agenticiqa::setup;
use agenticiqa::tools::Registry;
use tokio::sync::watch;

use crate::admission::Admission;
use crate::error::Problem;
use crate::jobs::Jobs;
use crate::pictures::Pictures;
use crate::roots::Roots;
use crate::sources::Sources;
use crate::store::Store;
use crate::telemetry::Telemetry;
use crate::token::Token;

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The settings make no agent.
    #[error(transparent)]
    Setup(#[from] setup::Error),
    /// An allowed folder is not there.
    #[error("--allow-root {0}")]
    Root(std::io::Error),
    /// Neither the settings nor the system name a folder for data.
    #[error("there is no folder to keep data in: set server.data_dir in pipeline.yaml, or AGENTICIQA_DATA_DIR")]
    NoDataFolder,
    /// The data folder cannot be used.
    #[error("{path}: {reason}")]
    Data {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error("{address}: cannot listen there: {error}; is another server running? --port names another port")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        error: std::io::Error,
    },
    /// A setting is no good.
    #[error("{0}")]
    Setting(String),
}

/// How much of everything is accepted.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of a request.
    pub body: usize,
    /// How long a request may take.
    pub timeout: Duration,
    /// How long a client may take to send its request.
    pub read_timeout: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Characters of a question.
    pub query: usize,
    /// Bytes of a file that a request names.
    pub file: u64,
}

/// What all requests share. Cheap to clone through its [`Arc`].
#[derive(Debug)]
pub struct App {
    /// The agent as it is configured.
    pub agent: Arc<Agent>,
    /// The configuration in force.
    pub settings: Settings,
    /// Where keys are looked up.
    pub environment: Environment,
    /// The folders below which requests may name files.
    pub roots: Roots,
    /// Images that were sent.
    pub pictures: Pictures,
    /// Images that were decoded lately.
    pub sources: Sources,
    /// Assessments and jobs on disk.
    pub store: Store,
    /// How much is accepted.
    pub limits: Limits,
    /// Assessments, scores and maps at a time.
    pub admission: Admission,
    /// Images that are made smaller for the page at a time.
    pub views: Admission,
    /// What is counted.
    pub telemetry: Telemetry,
    /// What every call must show, if anything.
    pub token: Option<Token>,
    /// Batches in the background.
    pub jobs: Jobs,
    reload: Reload,
    others: Mutex<HashMap<String, Arc<Agent>>>,
    ending: watch::Sender<bool>,
    ended: AtomicBool,
}

/// What the settings were loaded with, to load them again for another backend.
#[derive(Debug, Clone, Default)]
pub struct Reload {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// What the command line says of the settings.
    pub overrides: Overrides,
}

/// So many other backends are kept ready.
const OTHER_AGENTS: usize = 16;
/// Images in memory, in bytes.
const DECODED_BYTES: u64 = 256 << 20;
/// The longest question, in characters.
const LONGEST_QUERY: usize = 20_000;
/// The largest file that a request may name.
const LARGEST_FILE: u64 = 512 << 20;

impl App {
    /// Everything that requests share, by the settings. `registry` may have model files that the command line gave.
    pub fn new(
        settings: Settings,
        environment: Environment,
        registry: Registry,
        reload: Reload,
    ) -> Result<Arc<Self>, StartError> {
        let server = settings.pipeline.server.clone();
        let data = data_folder(&settings)?;
        let failed = |reason: String| StartError::Data { path: data.clone(), reason };
        let mut agent = setup::agent(&settings, &environment, registry)?;
        agent.options.decoder = Decoder { max_pixels: server.max_pixels.min(agent.options.decoder.max_pixels) };
        let pictures = Pictures::open(&data.join("pictures"), server.kept_picture_bytes);
        let store = Store::open(&data.join("server.redb"), u64::from(server.kept_assessments));
        let store = store.map_err(|error| failed(error.to_string()))?;
        let jobs = Jobs::open(&data.join("jobs"), &store).map_err(|error| failed(error.to_string()))?;
        let cores = rayon::current_num_threads();
        let width = server.assessments.map_or(cores, |width| width as usize);
        Ok(Arc::new(Self {
            agent: Arc::new(agent),
            roots: Roots::new(&server.allow_roots).map_err(StartError::Root)?,
            pictures: pictures.map_err(|error| failed(error.to_string()))?,
            sources: Sources::new(DECODED_BYTES),
            store,
            limits: limits(&server),
            admission: Admission::new(width, server.queue as usize),
            views: Admission::new(cores, 4096),
            telemetry: Telemetry::default(),
            token: environment.lookup("AGENTICIQA_TOKEN").map(|token| Token::new(&token)),
            jobs,
            settings,
            environment,
            reload,
            others: Mutex::default(),
            ending: watch::Sender::new(false),
            ended: AtomicBool::new(false),
        }))
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.agent.registry
    }

    /// How images are read.
    pub fn decoder(&self) -> Decoder {
        self.agent.options.decoder
    }

    /// The agent with another backend, or the configured one.
    pub fn agent_of(&self, backend: Option<&str>) -> Result<Arc<Agent>, Problem> {
        let Some(backend) = backend else { return Ok(Arc::clone(&self.agent)) };
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = others.get(backend) {
            return Ok(Arc::clone(agent));
        }
        let overrides = Overrides { backend: Some(backend.to_owned()), ..self.reload.overrides.clone() };
        let settings = Settings::load(self.reload.config.as_deref(), &self.environment, &overrides)
            .map_err(|error| Problem::invalid(format!("backend: {error}")))?;
        let other = setup::agent(&settings, &self.environment, self.registry().clone())?;
        let mut options = other.options.clone();
        options.decoder = self.decoder();
        let agent = Agent {
            registry: Arc::clone(&self.agent.registry),
            cache: Arc::clone(&self.agent.cache),
            options,
            ..other
        };
        if others.len() >= OTHER_AGENTS {
            others.clear();
        }
        let agent = Arc::new(agent);
        others.insert(backend.to_owned(), Arc::clone(&agent));
        Ok(agent)
    }

    /// Whether any role is played by a model.
    pub fn asks_models(agent: &Agent) -> bool {
        let names = agent.backends();
        [names.planner, names.executor, names.summarizer].iter().any(|name| name != Backend::Builtin.as_str())
    }

    /// Tells everybody that the service ends: streams close, jobs stop after the samples that are running.
    pub fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.ending.send_replace(true);
        self.jobs.interrupt();
    }

    /// Whether the service ends.
    pub fn is_ending(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Waits until the service ends.
    pub async fn ending(&self) {
        let mut ending = self.ending.subscribe();
        // The sender lives as long as this.
        drop(ending.wait_for(|ending| *ending).await);
    }
}

/// Where everything is kept.
fn data_folder(settings: &Settings) -> Result<PathBuf, StartError> {
    let own = settings.pipeline.server.data_dir.clone();
    own.or_else(|| settings.data_folder.as_deref().map(|folder: &Path| folder.join("server")))
        .ok_or(StartError::NoDataFolder)
}

fn limits(server: &config::Server) -> Limits {
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Limits {
        body: usize::try_from(server.max_body_bytes).unwrap_or(usize::MAX),
        timeout: seconds(server.timeout_seconds),
        read_timeout: seconds(server.read_timeout_seconds),
        connections: server.connections as usize,
        query: LONGEST_QUERY,
        file: LARGEST_FILE,
    }
}
