//! Settings of the worker, and the `worker` section of `tools.json`.

#![cfg_attr(not(feature = "worker"), allow(dead_code))]

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Settings of the worker: interpreter, device and timeout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The interpreter with pyiqa: a path, or a name that is looked up in `PATH`.
    pub python: PathBuf,
    /// The Torch device: `cpu`, `cuda`, `cuda:1`, `mps`.
    pub device: String,
    /// Timeout of a call, after which the process is killed and the call fails.
    pub timeout: Duration,
    /// Additional environment variables of the process.
    pub variables: Vec<(String, String)>,
}

impl WorkerSettings {
    /// Creates settings for an interpreter, on the CPU and with a timeout of 120 seconds per call.
    pub fn new(python: impl Into<PathBuf>) -> Self {
        let timeout = Duration::from_secs(120);
        Self { python: python.into(), device: "cpu".to_owned(), timeout, variables: Vec::new() }
    }
}

/// The `worker` section of `tools.json`: a pyiqa metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSection {
    /// Name of the metric in pyiqa.
    pub metric: String,
    /// Options for pyiqa's `create_metric`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

impl WorkerSection {
    /// Creates a section for a metric with default options.
    pub fn new(metric: impl Into<String>) -> Self {
        Self { metric: metric.into(), options: Map::new() }
    }

    /// Returns a key that identifies the metric and its options.
    pub(super) fn key(&self) -> String {
        if self.options.is_empty() {
            self.metric.clone()
        } else {
            format!("{} {}", self.metric, Value::Object(self.options.clone()))
        }
    }
}
