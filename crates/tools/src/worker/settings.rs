//! What the worker is given, and what `tools.json` says of a metric that it serves.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which Python, which device, how long a call may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The interpreter that has pyiqa: a path, or a name that is looked up as the shell does.
    pub python: PathBuf,
    /// What Torch computes on: `cpu`, `cuda`, `cuda:1`, `mps`.
    pub device: String,
    /// How long a call may take before the process is ended and the call counts as failed.
    pub timeout: Duration,
    /// Environment variables of the process besides those of this one.
    pub variables: Vec<(String, String)>,
}

impl WorkerSettings {
    /// This Python, on the CPU, with 120 seconds for a call.
    pub fn new(python: impl Into<PathBuf>) -> Self {
        let timeout = Duration::from_secs(120);
        Self { python: python.into(), device: "cpu".to_owned(), timeout, variables: Vec::new() }
    }
}

/// What `tools.json` says of a metric that the worker serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSection {
    /// The name that pyiqa has for it.
    pub metric: String,
    /// Options of pyiqa's `create_metric`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

impl WorkerSection {
    /// A metric as pyiqa makes it by default.
    pub fn new(metric: impl Into<String>) -> Self {
        Self { metric: metric.into(), options: Map::new() }
    }

    /// What tells it from other metrics.
    pub(super) fn key(&self) -> String {
        if self.options.is_empty() {
            self.metric.clone()
        } else {
            format!("{} {}", self.metric, Value::Object(self.options.clone()))
        }
    }
}
