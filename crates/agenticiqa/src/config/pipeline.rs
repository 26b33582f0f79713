//! `pipeline.yaml`: how an assessment runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use garde::Validate;
use serde::{Deserialize, Serialize};

use agenticiqa_agent::executor::Grounding;
use agenticiqa_agent::fusion::Fusion;
use agenticiqa_tools::{Metadata, WorkerSettings};
use agenticiqa_vlm::BaseUrl;
use agenticiqa_vlm::rules::within;

/// How an assessment runs.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "sections with their fields")]
pub struct Pipeline {
    /// How often the summarizer may ask for a new plan; 0 for never.
    #[garde(custom(within(0.0, 5.0)))]
    pub max_replan_iterations: u32,
    /// How the evidence is gathered.
    #[garde(dive)]
    pub executor: Executor,
    /// How scores of tools and the judgment of a model become one score.
    #[garde(dive)]
    pub fusion: Fusion,
    /// Limits of images.
    #[garde(dive)]
    pub images: Images,
    /// Where scores are kept.
    #[garde(dive)]
    pub cache: Cache,
    /// Where the state after each node is kept.
    #[garde(skip)]
    pub checkpoints: Checkpoints,
    /// What the tools are given.
    #[garde(dive)]
    pub tools: Tools,
    /// What is logged.
    #[garde(skip)]
    pub logging: Logging,
    /// The HTTP service.
    #[garde(dive)]
    pub server: Server,
}

/// How the evidence is gathered.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "grounding and concurrency")]
pub struct Executor {
    /// Whether a model is asked where the objects of the question are.
    #[garde(skip)]
    pub grounding: Grounding,
    /// Calls of models and tools at a time for one image.
    #[garde(custom(within(1.0, 64.0)))]
    pub concurrency: u32,
}

/// Limits of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "max_side and max_pixels")]
pub struct Images {
    /// Images for models are made no larger than this on the longer side.
    #[garde(custom(within(64.0, 65536.0)))]
    pub max_side: u32,
    /// Larger images are refused before they are decoded.
    #[garde(custom(positive))]
    pub max_pixels: u64,
}

fn positive(value: &u64, _: &()) -> garde::Result {
    if *value == 0 { Err(garde::Error::new("must be 1 or more")) } else { Ok(()) }
}

/// Where scores are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "memory_entries and disk")]
pub struct Cache {
    /// How many in memory; 0 for none.
    #[garde(skip)]
    pub memory_entries: u64,
    /// The folder that keeps them across runs.
    #[garde(skip)]
    pub disk: Option<PathBuf>,
}

/// Where the state after each node is kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "dir")]
pub struct Checkpoints {
    /// The folder; `None` keeps none.
    pub dir: Option<PathBuf>,
}

/// What the tools are given.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "metadata, models, data_dir, pypi_mirror, add and worker")]
pub struct Tools {
    /// A `tools.json` instead of the built-in list.
    #[garde(skip)]
    pub metadata: Option<PathBuf>,
    /// Model files by tool.
    #[garde(skip)]
    pub models: BTreeMap<String, PathBuf>,
    /// The folder of installed files; `None` is the user's own.
    #[garde(skip)]
    pub data_dir: Option<PathBuf>,
    /// The server that is asked instead of `https://files.pythonhosted.org`.
    #[garde(skip)]
    pub pypi_mirror: Option<BaseUrl>,
    /// Tools of the user's own, and entries that replace those of the list.
    #[garde(skip)]
    pub add: BTreeMap<String, Metadata>,
    /// The Python process for metrics of pyiqa.
    #[garde(dive)]
    pub worker: Worker,
}

/// The Python process for metrics of pyiqa.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "python, device and timeout_seconds")]
pub struct Worker {
    /// A Python that has pyiqa; `None` starts none.
    #[garde(skip)]
    pub python: Option<PathBuf>,
    /// What Torch computes on.
    #[garde(length(min = 1))]
    pub device: String,
    /// How long a call may take.
    #[garde(custom(within(0.1, 86400.0)))]
    pub timeout_seconds: f64,
}

impl Worker {
    /// What the worker is started with, if it is at all.
    pub fn settings(&self) -> Option<WorkerSettings> {
        let timeout = Duration::try_from_secs_f64(self.timeout_seconds).ok()?;
        let settings = WorkerSettings::new(self.python.as_ref()?);
        Some(WorkerSettings { device: self.device.clone(), timeout, ..settings })
    }
}

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "level and format")]
pub struct Logging {
    /// From which level on.
    pub level: LogLevel,
    /// In which form.
    pub format: LogFormat,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the levels of every log")]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The HTTP service: where it listens, what it may read, and how much of everything it takes on.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "host, port, allow_roots and the limits of the service")]
pub struct Server {
    /// The address that it listens on.
    #[garde(length(min = 1))]
    pub host: String,
    /// The port; 0 for any that is free.
    #[garde(skip)]
    pub port: u16,
    /// The folders below which requests may name files.
    #[garde(skip)]
    pub allow_roots: Vec<PathBuf>,
    /// The origins of pages that may call it besides its own.
    #[garde(skip)]
    pub cors_origins: Vec<String>,
    /// Names under which it is reached besides those of this machine, checked against the header `Host`.
    #[garde(skip)]
    pub host_names: Vec<String>,
    /// Where images, assessments and jobs are kept; `None` is `server` below the user's data folder.
    #[garde(skip)]
    pub data_dir: Option<PathBuf>,
    /// Larger requests are refused.
    #[garde(custom(positive))]
    pub max_body_bytes: u64,
    /// Images of more pixels are refused before they are decoded.
    #[garde(custom(positive))]
    pub max_pixels: u64,
    /// Assessments at a time; `None` is one a core.
    #[garde(inner(custom(within(1.0, 1024.0))))]
    pub assessments: Option<u32>,
    /// Assessments that may wait for their turn.
    #[garde(custom(within(0.0, 100000.0)))]
    pub queue: u32,
    /// How long a request may take.
    #[garde(custom(within(0.01, 86400.0)))]
    pub timeout_seconds: f64,
    /// How long a client may take to send its request.
    #[garde(custom(within(0.01, 86400.0)))]
    pub read_timeout_seconds: f64,
    /// Connections at a time.
    #[garde(custom(within(1.0, 1000000.0)))]
    pub connections: u32,
    /// Assessments that are kept.
    #[garde(custom(within(1.0, 10000000.0)))]
    pub kept_assessments: u32,
    /// Bytes of uploaded images that are kept.
    #[garde(custom(positive))]
    pub kept_picture_bytes: u64,
}
