//! Metrics of pyiqa, by a Python process that is started at the first measurement and kept.
//!
//! | file | idea |
//! | --- | --- |
//! | `settings.rs` | which Python, which device, how long a call may take; the section of `tools.json` |
//! | `probe.rs` | whether that Python has pyiqa, asked of a short process once |
//! | `protocol.rs` | the lines that go to the process and come back |
//! | `buffer.rs` | images in shared memory |
//! | `process.rs` | one running process: its start, one call, its end |
//! | `keeper.rs` | the process of a registry: started, restarted, given up; what is known to fail |
//!
//! The program that runs there is `worker/agenticiqa_worker.py`, built in.

mod buffer;
mod keeper;
mod probe;
mod process;
mod protocol;
mod settings;

use std::sync::Arc;

use agenticiqa_metrics::{Measurement, Pair};

use super::engine::{Engine, ToolInput};
use super::{Availability, Failure};
use keeper::Keeper;

pub use settings::{WorkerSection, WorkerSettings};

const OFF: &str = "needs pyiqa: set AGENTICIQA_PYTHON (or tools.worker.python) to a Python that has it, for example one made by \
                   `python3 -m venv pyiqa && pyiqa/bin/pip install pyiqa`: pyiqa/bin/python";

/// Measures with pyiqa in a Python process. Clones share the process; it ends with the last of them, and with this program
/// in any case.
///
/// ```
/// use agenticiqa_tools::{Worker, WorkerSettings};
///
/// let off = Worker::default();
/// assert!(!off.is_on());
/// let on = Worker::new(WorkerSettings::new("pyiqa/bin/python"));  // nothing is started yet
/// assert!(on.is_on());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Worker {
    keeper: Option<Arc<Keeper>>,
}

/// What a metric of the worker gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerScore {
    /// The metric's own number.
    pub score: f64,
    /// Seconds of the metric alone, as the worker counts them.
    pub seconds: f64,
}

impl Worker {
    /// A worker by these settings; its process is started at the first measurement.
    pub fn new(settings: WorkerSettings) -> Self {
        Self { keeper: Some(Arc::new(Keeper::new(settings))) }
    }

    /// Whether there is a Python to use at all.
    pub fn is_on(&self) -> bool {
        self.keeper.is_some()
    }

    /// Whether a metric can be expected to work: what is known without starting the worker. The first question asks the
    /// interpreter whether it has pyiqa, in a process of some milliseconds.
    pub fn availability(&self, metric: &WorkerSection) -> Availability {
        match &self.keeper {
            None => Availability::missing(OFF),
            Some(keeper) => match keeper.trouble(metric) {
                None => Availability::Ready,
                Some(reason) => Availability::missing(reason),
            },
        }
    }

    /// Measures images, or pairs for a metric that compares, one after the other with one metric. Blocks until all are
    /// measured, and until the calls of others are: the process does one thing at a time.
    pub fn measure(&self, metric: &WorkerSection, pairs: &[Pair<'_>]) -> Vec<Result<WorkerScore, Failure>> {
        match &self.keeper {
            None => pairs.iter().map(|_| Err(Failure::Tool(OFF.to_owned()))).collect(),
            Some(keeper) => keeper.measure(metric, pairs),
        }
    }

    /// The process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.keeper.as_ref().and_then(|keeper| keeper.process_id())
    }

    /// What runs a tool of the list.
    pub(super) fn engine(&self, metric: WorkerSection, full_reference: bool) -> Arc<dyn Engine> {
        Arc::new(WorkerTool { worker: self.clone(), metric, full_reference })
    }
}

/// One metric of the worker as a tool.
#[derive(Debug)]
struct WorkerTool {
    worker: Worker,
    metric: WorkerSection,
    full_reference: bool,
}

impl Engine for WorkerTool {
    fn availability(&self) -> Availability {
        self.worker.availability(&self.metric)
    }

    fn fingerprint(&self) -> String {
        let version = self.worker.keeper.as_ref().and_then(|keeper| keeper.version()).unwrap_or_default();
        format!("pyiqa {version} {}", self.metric.key())
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        let pair = match (self.full_reference, input.pair().reference()) {
            (true, Some(_)) => *input.pair(),
            (true, None) => return Err(Failure::Input("there is no reference to compare with".to_owned())),
            (false, _) => Pair::single(input.pair().distorted()),
        };
        let measured = self.worker.measure(&self.metric, &[pair]).pop();
        let nothing = || Err(Failure::Tool("the worker gave no answer".to_owned()));
        measured.unwrap_or_else(nothing).map(|measured| Measurement::new(measured.score))
    }

    fn waits(&self) -> bool {
        true
    }
}
