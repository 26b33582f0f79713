//! The JSON lines between this program and the worker; described in `worker/agenticiqa_worker.py`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Protocol version.
pub(super) const PROTOCOL: u32 = 1;
/// Source code of the worker.
pub(super) const PROGRAM: &str = include_str!("../../worker/agenticiqa_worker.py");
/// Reads the program from the first line of standard input and runs it. Modules in the working
/// directory are ignored, because the owner of the images there must not choose the code.
pub(super) const LAUNCHER: &str = "import sys; sys.path[:] = [p for p in sys.path if p]; import json; exec(compile(\
                                   json.loads(sys.stdin.buffer.readline()), 'agenticiqa_worker.py', 'exec'))";
/// Maximum length of an answer in bytes.
pub(super) const LONGEST_LINE: u64 = 1 << 20;

/// A request for scores.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    pub id: u64,
    pub metric: &'a str,
    pub options: &'a Map<String, Value>,
    pub batch: Vec<Item<'a>>,
}

/// An image and its reference.
#[derive(Debug, Serialize)]
pub(super) struct Item<'a> {
    pub image: Samples<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Samples<'a>>,
}

/// Raw samples in a memory-mapped file.
#[derive(Debug, Serialize)]
pub(super) struct Samples<'a> {
    pub buffer: &'a Path,
    pub width: usize,
    pub height: usize,
    pub channels: usize,
    pub dtype: &'static str,
    pub layout: &'static str,
    /// Whether the worker removes the file name once it has opened the file, so that nothing is
    /// left behind if either process dies.
    pub unlink: bool,
}

/// A line from the worker.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    /// The first line.
    Hello(Hello),
    /// A metric is being created; the answer follows.
    Event {
        /// ID of the request.
        id: u64,
        /// What is being done: `creating` or `measuring`.
        event: String,
    },
    /// The scores of a batch.
    Answer(Answer),
    /// The request was not understood.
    Refusal {
        /// The reason.
        error: String,
    },
}

/// Greeting of the worker.
#[derive(Debug, Deserialize)]
pub(super) struct Hello {
    pub hello: String,
    pub protocol: u32,
    #[serde(default)]
    pub error: Option<String>,
}

/// The scores of a batch, or an error per image.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub id: u64,
    pub scores: Vec<Option<f64>>,
    pub errors: Vec<Option<String>>,
    pub seconds: Vec<Option<f64>>,
    /// The reason why the metric could not be created.
    #[serde(default)]
    pub unavailable: Option<String>,
}
