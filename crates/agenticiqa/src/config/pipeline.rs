//! `pipeline.yaml`: the options of an assessment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use garde::Validate;
use serde::{Deserialize, Serialize};

use agenticiqa_agent::executor::Grounding;
use agenticiqa_agent::fusion::Fusion;
use agenticiqa_agent::state::MAX_REPLAN_ITERATIONS;
use agenticiqa_tools::{Metadata, WorkerSettings};
use agenticiqa_vlm::BaseUrl;
use agenticiqa_vlm::rules::within;

/// The options of an assessment.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "sections with their fields")]
pub struct Pipeline {
    /// The maximum number of replans; 0 disables replanning.
    #[garde(custom(within(0.0, MAX_REPLAN_ITERATIONS.into())))]
    pub max_replan_iterations: u32,
    /// How evidence is gathered.
    #[garde(dive)]
    pub executor: Executor,
    /// How tool scores and the judgment of a model are fused into one score.
    #[garde(dive)]
    pub fusion: Fusion,
    /// The limits on images.
    #[garde(dive)]
    pub images: Images,
    /// The cache of scores and answers.
    #[garde(dive)]
    pub cache: Cache,
    /// The checkpoints of the state after each node.
    #[garde(skip)]
    pub checkpoints: Checkpoints,
    /// The settings of the tools.
    #[garde(dive)]
    pub tools: Tools,
    /// The settings of logs.
    #[garde(skip)]
    pub logging: Logging,
    /// The settings of the HTTP server.
    #[garde(dive)]
    pub server: Server,
}

/// How evidence is gathered.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "grounding and concurrency")]
pub struct Executor {
    /// Whether a model is asked to locate the objects of the question.
    #[garde(skip)]
    pub grounding: Grounding,
    /// The maximum number of concurrent model and tool calls per image.
    #[garde(custom(within(1.0, 64.0)))]
    pub concurrency: u32,
}

/// The limits on images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "max_side, max_pixels and max_memory_bytes")]
pub struct Images {
    /// The maximum length of the longer side of images for models, in pixels.
    #[garde(custom(within(64.0, 65536.0)))]
    pub max_side: u32,
    /// The maximum number of pixels. Larger images are rejected before decoding.
    #[garde(custom(positive))]
    pub max_pixels: u64,
    /// The maximum memory of one image in bytes; `None` is half of the free memory, at most 2 GiB.
    #[garde(inner(custom(positive)))]
    pub max_memory_bytes: Option<u64>,
}

fn positive(value: &u64, _: &()) -> garde::Result {
    if *value == 0 { Err(garde::Error::new("must be 1 or more")) } else { Ok(()) }
}

/// The cache of scores and answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "memory_entries, disk and model_answers")]
pub struct Cache {
    /// The maximum number of scores in memory; 0 disables it.
    #[garde(skip)]
    pub memory_entries: u64,
    /// The folder for scores and answers across runs.
    #[garde(skip)]
    pub disk: Option<PathBuf>,
    /// Whether answers of models are cached.
    #[garde(skip)]
    pub model_answers: bool,
}

/// The checkpoints of the state after each node.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "dir")]
pub struct Checkpoints {
    /// The folder; `None` disables checkpoints.
    pub dir: Option<PathBuf>,
}

/// The settings of the tools.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "metadata, models, data_dir, pypi_mirror, add and worker")]
pub struct Tools {
    /// A `tools.json` instead of the built-in list.
    #[garde(skip)]
    pub metadata: Option<PathBuf>,
    /// Model files by tool.
    #[garde(skip)]
    pub models: BTreeMap<String, PathBuf>,
    /// The folder of installed files; `None` uses the user's data folder.
    #[garde(skip)]
    pub data_dir: Option<PathBuf>,
    /// The server to use instead of `https://files.pythonhosted.org`.
    #[garde(skip)]
    pub pypi_mirror: Option<BaseUrl>,
    /// Additional tools, and entries that replace those of the list.
    #[garde(skip)]
    pub add: BTreeMap<String, Metadata>,
    /// The Python process for pyiqa metrics.
    #[garde(dive)]
    pub worker: Worker,
}

/// The Python process for pyiqa metrics.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "python, device and timeout_seconds")]
pub struct Worker {
    /// A Python interpreter with pyiqa; `None` disables the worker.
    #[garde(skip)]
    pub python: Option<PathBuf>,
    /// The Torch device.
    #[garde(length(min = 1))]
    pub device: String,
    /// The time limit of a call in seconds.
    #[garde(custom(within(0.1, 86400.0)))]
    pub timeout_seconds: f64,
}

impl Worker {
    /// Returns the settings of the worker, or `None` if it is disabled.
    pub fn settings(&self) -> Option<WorkerSettings> {
        let timeout = Duration::try_from_secs_f64(self.timeout_seconds).ok()?;
        let settings = WorkerSettings::new(self.python.as_ref()?);
        Some(WorkerSettings { device: self.device.clone(), timeout, ..settings })
    }
}

/// The settings of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "level and format")]
pub struct Logging {
    /// The minimum level.
    pub level: LogLevel,
    /// The format of log lines.
    pub format: LogFormat,
}

/// The minimum level of log messages.
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

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The settings of the HTTP server: address, allowed folders, and limits.
#[derive(Debug, Clone, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "host, port, allow_roots and the limits of the service")]
pub struct Server {
    /// The address to listen on.
    #[garde(length(min = 1))]
    pub host: String,
    /// The port; 0 selects a free one.
    #[garde(skip)]
    pub port: u16,
    /// The folders below which requests may name files.
    #[garde(skip)]
    pub allow_roots: Vec<PathBuf>,
    /// The additional origins of web pages that may call the server.
    #[garde(skip)]
    pub cors_origins: Vec<String>,
    /// The backends that clients may name in addition to `builtin` and those of the roles. A name
    /// that ends in `*` allows all names with that prefix.
    #[garde(skip)]
    pub backends: Vec<String>,
    /// The additional host names of the server, checked against the header `Host`.
    #[garde(skip)]
    pub host_names: Vec<String>,
    /// The folder for images, assessments and jobs; `None` uses `server` below the user's data
    /// folder.
    #[garde(skip)]
    pub data_dir: Option<PathBuf>,
    /// The maximum size of a request in bytes.
    #[garde(custom(positive))]
    pub max_body_bytes: u64,
    /// The maximum number of pixels. Larger images are rejected before decoding.
    #[garde(custom(positive))]
    pub max_pixels: u64,
    /// The maximum number of concurrent assessments; `None` uses one per core.
    #[garde(inner(custom(within(1.0, 1024.0))))]
    pub assessments: Option<u32>,
    /// The maximum number of waiting assessments.
    #[garde(custom(within(0.0, 100000.0)))]
    pub queue: u32,
    /// The time limit of a request in seconds.
    #[garde(custom(within(0.01, 86400.0)))]
    pub timeout_seconds: f64,
    /// The time limit for receiving a request, in seconds.
    #[garde(custom(within(0.01, 86400.0)))]
    pub read_timeout_seconds: f64,
    /// The maximum number of concurrent connections.
    #[garde(custom(within(1.0, 1000000.0)))]
    pub connections: u32,
    /// The maximum number of stored assessments.
    #[garde(custom(within(1.0, 10000000.0)))]
    pub kept_assessments: u32,
    /// The maximum total size of stored images in bytes.
    #[garde(custom(positive))]
    pub kept_picture_bytes: u64,
}
