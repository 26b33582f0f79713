//! The worker of a build with the feature `worker`.

use std::sync::Arc;

use agenticiqa_metrics::{Measurement, Pair};

use super::keeper::Keeper;
use crate::engine::{Engine, ToolInput};
use crate::{Availability, Failure};

use super::{WorkerSection, WorkerSettings};

const OFF: &str = "needs pyiqa: set AGENTICIQA_PYTHON (or tools.worker.python) to a Python that has it, for example one made by \
                   `python3 -m venv pyiqa && pyiqa/bin/pip install pyiqa`: pyiqa/bin/python";

/// Measures with pyiqa in a Python process. Clones share the process, which ends with the last of
/// them, or with this program.
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

/// Result of a worker metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkerScore {
    /// The raw score.
    pub score: f64,
    /// Run time of the metric alone in seconds, measured by the worker.
    pub seconds: f64,
}

impl Worker {
    /// Creates a worker. Its process starts at the first measurement.
    pub fn new(settings: WorkerSettings) -> Self {
        Self { keeper: Some(Arc::new(Keeper::new(settings))) }
    }

    /// Returns whether a Python interpreter is configured.
    pub fn is_on(&self) -> bool {
        self.keeper.is_some()
    }

    /// Returns whether a metric can be expected to work, without starting the worker. The first
    /// call runs the interpreter for some milliseconds to check whether pyiqa is installed.
    pub fn availability(&self, metric: &WorkerSection) -> Availability {
        match &self.keeper {
            None => Availability::missing(OFF),
            Some(keeper) => match keeper.trouble(metric) {
                None => Availability::Ready,
                Some(reason) => Availability::missing(reason),
            },
        }
    }

    /// Measures images, or pairs for a full-reference metric, with one metric. Blocks until all
    /// are measured, including the calls of other threads, because the process handles one request
    /// at a time.
    pub fn measure(&self, metric: &WorkerSection, pairs: &[Pair<'_>]) -> Vec<Result<WorkerScore, Failure>> {
        match &self.keeper {
            None => pairs.iter().map(|_| Err(Failure::Tool(OFF.to_owned()))).collect(),
            Some(keeper) => keeper.measure(metric, pairs),
        }
    }

    /// Returns the process ID while the process runs.
    pub fn process_id(&self) -> Option<u32> {
        self.keeper.as_ref().and_then(|keeper| keeper.process_id())
    }

    /// Returns the engine of a tool.
    pub(crate) fn engine(&self, metric: WorkerSection, full_reference: bool) -> Arc<dyn Engine> {
        Arc::new(WorkerTool { worker: self.clone(), metric, full_reference })
    }
}

/// Engine of a worker metric.
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
        let nothing = || Err(Failure::Tool("the worker returned no answer".to_owned()));
        measured.unwrap_or_else(nothing).map(|measured| Measurement::new(measured.score))
    }

    fn waits(&self) -> bool {
        true
    }
}
