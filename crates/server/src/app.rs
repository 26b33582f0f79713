//! State shared by all requests: agent, tools, allowed folders, stores and limits.

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
use axum::http::StatusCode;
use tokio::sync::watch;

use crate::admission::Admission;
use crate::error::Problem;
use crate::jobs::Jobs;
use crate::pictures::Pictures;
use crate::roots::{RootError, Roots};
use crate::sources::Sources;
use crate::store::Store;
use crate::telemetry::Telemetry;
use crate::token::Token;

/// An error that prevents the server from starting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The settings do not produce a usable agent.
    #[error(transparent)]
    Setup(#[from] setup::Error),
    /// An allowed folder does not exist or is not a folder.
    #[error(transparent)]
    Root(#[from] RootError),
    /// Neither the settings nor the system provide a data folder.
    #[error("no data folder: set server.data_dir in pipeline.yaml, or AGENTICIQA_DATA_DIR")]
    NoDataFolder,
    /// The data folder cannot be read or written.
    #[error("{path}: {reason}")]
    Data {
        /// The folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: String,
        /// The system error.
        error: std::io::Error,
    },
    /// A setting is invalid.
    #[error("{0}")]
    Setting(String),
}

/// Limits on requests and connections.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The maximum size of a request body in bytes.
    pub body: usize,
    /// The maximum time for handling a request.
    pub timeout: Duration,
    /// The maximum time for receiving a request.
    pub read_timeout: Duration,
    /// The maximum number of open connections.
    pub connections: usize,
    /// The maximum number of characters in a question.
    pub query: usize,
    /// The maximum size in bytes of a file that a request names by path.
    pub file: u64,
}

/// State shared by all requests, cloned cheaply through its [`Arc`].
#[derive(Debug)]
pub struct App {
    /// The agent with the configured backends.
    pub agent: Arc<Agent>,
    /// The effective configuration.
    pub settings: Settings,
    /// The source of API keys and other variables.
    pub environment: Environment,
    /// The folders from which requests may name files.
    pub roots: Roots,
    /// Uploaded images.
    pub pictures: Pictures,
    /// Recently decoded images.
    pub sources: Sources,
    /// Stored assessments and jobs.
    pub store: Store,
    /// Limits on requests and connections.
    pub limits: Limits,
    /// Limits concurrent assessments, scores and maps.
    pub admission: Admission,
    /// Limits concurrent decoding and resizing of images for viewing.
    pub views: Admission,
    /// Counters for `GET /metrics`.
    pub telemetry: Telemetry,
    /// The token that requests must send, if any.
    pub token: Option<Token>,
    /// Background jobs.
    pub jobs: Jobs,
    reload: Reload,
    others: Mutex<HashMap<String, Arc<Agent>>>,
    ending: watch::Sender<bool>,
    ended: AtomicBool,
}

/// How the settings were loaded, so that they can be loaded again for another backend.
#[derive(Debug, Clone, Default)]
pub struct Reload {
    /// The configuration file or folder, if one was given.
    pub config: Option<PathBuf>,
    /// Settings that override the configuration.
    pub overrides: Overrides,
}

/// The maximum number of agents cached for backends named in requests.
const OTHER_AGENTS: usize = 16;
/// The maximum size of the cache of decoded images in bytes.
const DECODED_BYTES: u64 = 256 << 20;
/// The maximum number of characters in a question.
const LONGEST_QUERY: usize = 20_000;
/// The maximum size in bytes of a file that a request names by path.
const LARGEST_FILE: u64 = 512 << 20;

impl App {
    /// Builds the shared state from the settings.
    ///
    /// `registry` may contain additional tools, such as ONNX models given by the caller.
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
        let decoder = agent.options.decoder;
        agent.options.decoder = Decoder { max_pixels: server.max_pixels.min(decoder.max_pixels), ..decoder };
        let pictures = Pictures::open(&data.join("pictures"), server.kept_picture_bytes);
        let store = Store::open(&data.join("server.redb"), u64::from(server.kept_assessments));
        let store = store.map_err(|error| failed(error.to_string()))?;
        let jobs = Jobs::open(&data.join("jobs"), &store).map_err(|error| failed(error.to_string()))?;
        let cores = rayon::current_num_threads();
        let width = server.assessments.map_or(cores, |width| width as usize);
        Ok(Arc::new(Self {
            agent: Arc::new(agent),
            roots: Roots::new(&server.allow_roots)?,
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

    /// Returns the tools.
    pub fn registry(&self) -> &Registry {
        &self.agent.registry
    }

    /// Returns the image decoder, which enforces the pixel limit.
    pub fn decoder(&self) -> Decoder {
        self.agent.options.decoder
    }

    /// Returns the agent for `backend`, or the configured agent for `None`.
    pub fn agent_of(&self, backend: Option<&str>) -> Result<Arc<Agent>, Problem> {
        let Some(backend) = backend else { return Ok(Arc::clone(&self.agent)) };
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = others.get(backend) {
            return Ok(Arc::clone(agent));
        }
        let overrides = Overrides { backend: Some(backend.to_owned()), ..self.reload.overrides.clone() };
        let settings = Settings::load(self.reload.config.as_deref(), &self.environment, &overrides)
            .map_err(|error| Problem::invalid(format!("backend: {error}")))?;
        if !self.offers(backend) {
            let message = format!(
                "backend: this server does not offer {backend}; it offers {}, and its operator can add others to \
                 server.backends",
                self.offered().join(", ")
            );
            return Err(Problem::new(StatusCode::FORBIDDEN, "ForbiddenBackendError", message));
        }
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

    /// Whether clients may name a backend: the built-in one, those of the roles, and those of
    /// `server.backends`. Others could use any key of the server.
    fn offers(&self, backend: &str) -> bool {
        self.offered().iter().any(|offered| match offered.strip_suffix('*') {
            Some(prefix) => backend.starts_with(prefix),
            None => offered == backend,
        })
    }

    fn offered(&self) -> Vec<String> {
        let roles = self.settings.models.roles().map(|(_, role)| role.backend.to_string());
        let named = self.settings.pipeline.server.backends.iter().cloned();
        let mut offered = vec![Backend::Builtin.as_str().to_owned()];
        for backend in roles.into_iter().chain(named) {
            if !offered.contains(&backend) {
                offered.push(backend);
            }
        }
        offered
    }

    /// Returns whether any role uses a model instead of the built-in analyst.
    pub fn asks_models(agent: &Agent) -> bool {
        let names = agent.backends();
        [names.planner, names.executor, names.summarizer].iter().any(|name| name != Backend::Builtin.as_str())
    }

    /// Starts the shutdown: streams close, and jobs stop after the samples in progress.
    pub fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.ending.send_replace(true);
        self.jobs.interrupt();
    }

    /// Returns whether the shutdown has started.
    pub fn is_ending(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Waits until the shutdown starts.
    pub async fn ending(&self) {
        let mut ending = self.ending.subscribe();
        // Cannot fail: `self` owns the sender.
        drop(ending.wait_for(|ending| *ending).await);
    }
}

/// Returns the folder for images, assessments and jobs.
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
