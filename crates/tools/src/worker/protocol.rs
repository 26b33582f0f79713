//! The lines between this program and the worker; `worker/agenticiqa_worker.py` describes them.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the protocol that is spoken here.
pub(super) const PROTOCOL: u32 = 1;
/// The program itself.
pub(super) const PROGRAM: &str = include_str!("../../worker/agenticiqa_worker.py");
/// Reads the program from the first line of standard input and runs it. The working directory is no place to look for
/// modules: whoever owns the images there must not choose the code.
pub(super) const LAUNCHER: &str = "import sys; sys.path[:] = [p for p in sys.path if p]; import json; exec(compile(\
                                   json.loads(sys.stdin.buffer.readline()), 'agenticiqa_worker.py', 'exec'))";
/// A longer line than this is no answer.
pub(super) const LONGEST_LINE: u64 = 1 << 20;

/// Asks for scores.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    pub id: u64,
    pub metric: &'a str,
    pub options: &'a Map<String, Value>,
    pub batch: Vec<Item<'a>>,
}

/// An image and what it is compared with.
#[derive(Debug, Serialize)]
pub(super) struct Item<'a> {
    pub image: Samples<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Samples<'a>>,
}

/// Raw samples in a file that is mapped into memory.
#[derive(Debug, Serialize)]
pub(super) struct Samples<'a> {
    pub buffer: &'a Path,
    pub width: usize,
    pub height: usize,
    pub channels: usize,
    pub dtype: &'static str,
    pub layout: &'static str,
    /// The worker removes the name once it has opened the file, so that nothing is left behind whoever dies.
    pub unlink: bool,
}

/// A line of the worker.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    /// The first one.
    Hello(Hello),
    /// A metric is being made; the answer follows.
    Event {
        /// The request.
        id: u64,
        /// What is being done.
        event: String,
    },
    /// The scores of a batch.
    Answer(Answer),
    /// A request that was not understood.
    Refusal {
        /// Why.
        error: String,
    },
}

/// What the worker says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Hello {
    pub hello: String,
    pub protocol: u32,
    #[serde(default)]
    pub error: Option<String>,
}

/// The scores of a batch, or why there are none, image by image.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub id: u64,
    pub scores: Vec<Option<f64>>,
    pub errors: Vec<Option<String>>,
    pub seconds: Vec<Option<f64>>,
    /// Why the metric could not be made.
    #[serde(default)]
    pub unavailable: Option<String>,
}
