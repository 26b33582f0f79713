//! Manages the worker of a registry: starts it on demand, restarts it when it dies, gives up when
//! it keeps dying, and remembers failures so that they are not repeated.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agenticiqa_metrics::Pair;

use super::process::{Broken, Process};
use super::protocol::Answer;
use super::{WorkerScore, WorkerSection, WorkerSettings, probe};
use crate::Failure;

/// Maximum number of images in one call.
const BATCH: usize = 8;
/// Number of attempts before a metric counts as one that crashes the worker.
const ATTEMPTS: u32 = 2;
/// Number of consecutive deaths after which the worker is not restarted.
const DEATHS: u32 = 5;
/// How long a permanent failure is not retried. A connection may return, or a package may be
/// installed.
const REST: Duration = Duration::from_secs(600);

/// The worker process and its known failures.
#[derive(Debug)]
pub(super) struct Keeper {
    settings: WorkerSettings,
    /// Locked during a call, because the process handles one request at a time.
    place: Mutex<Place>,
    /// Process ID, readable without waiting for a call; 0 if there is no process.
    process_id: AtomicU32,
    probed: OnceLock<Result<String, String>>,
    /// Failures by metric; the empty name is the whole worker.
    troubles: Mutex<HashMap<String, Trouble>>,
}

#[derive(Debug, Default)]
struct Place {
    process: Option<Process>,
    deaths: u32,
}

#[derive(Debug)]
struct Trouble {
    reason: String,
    since: Instant,
}

const WHOLE: &str = "";

impl Keeper {
    pub fn new(settings: WorkerSettings) -> Self {
        Self {
            settings,
            place: Mutex::default(),
            process_id: AtomicU32::new(0),
            probed: OnceLock::new(),
            troubles: Mutex::default(),
        }
    }

    /// Returns the known reason why a metric cannot work. Never waits for a call.
    pub fn trouble(&self, metric: &WorkerSection) -> Option<String> {
        self.probed().err().or_else(|| self.remembered(WHOLE)).or_else(|| self.remembered(&metric.key()))
    }

    /// Returns the version of pyiqa.
    pub fn version(&self) -> Option<String> {
        self.probed().ok()
    }

    pub fn process_id(&self) -> Option<u32> {
        Some(self.process_id.load(Ordering::Relaxed)).filter(|id| *id != 0)
    }

    fn probed(&self) -> Result<String, String> {
        self.probed.get_or_init(|| probe::probe(&self.settings)).clone()
    }

    fn remembered(&self, name: &str) -> Option<String> {
        let troubles = self.troubles();
        troubles.get(name).filter(|trouble| trouble.since.elapsed() < REST).map(|trouble| trouble.reason.clone())
    }

    fn remember(&self, name: &str, reason: &str) {
        tracing::warn!("worker: {reason}");
        let trouble = Trouble { reason: reason.to_owned(), since: Instant::now() };
        self.troubles().insert(name.to_owned(), trouble);
    }

    fn troubles(&self) -> MutexGuard<'_, HashMap<String, Trouble>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures images in batches.
    pub fn measure(&self, metric: &WorkerSection, pairs: &[Pair<'_>]) -> Vec<Result<WorkerScore, Failure>> {
        pairs.chunks(BATCH).flat_map(|pairs| self.measure_batch(metric, pairs)).collect()
    }

    fn measure_batch(&self, metric: &WorkerSection, pairs: &[Pair<'_>]) -> Vec<Result<WorkerScore, Failure>> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        // Checked only now, because an earlier call may have found a problem.
        let outcome = match self.trouble(metric) {
            Some(reason) => Err(reason),
            None => self.call(&mut place, metric, pairs),
        };
        self.process_id.store(place.process.as_ref().map_or(0, Process::id), Ordering::Relaxed);
        match outcome {
            Ok(answer) => scores(answer),
            Err(reason) => pairs.iter().map(|_| Err(Failure::Tool(reason.clone()))).collect(),
        }
    }

    /// Makes one call and repeats it if the worker dies, because an earlier call may have caused
    /// the death.
    fn call(&self, place: &mut Place, metric: &WorkerSection, pairs: &[Pair<'_>]) -> Result<Answer, String> {
        let name = &metric.metric;
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.attempt(place, metric, pairs) {
                Ok(answer) => {
                    place.deaths = 0;
                    if let Some(reason) = &answer.unavailable {
                        self.remember(&metric.key(), reason);
                    }
                    return Ok(answer);
                }
                Err(Broken::Unasked(reason)) => return Err(reason),
                Err(broken) => {
                    place.process = None;
                    let reason = self.explain(name, &broken);
                    match broken {
                        Broken::Died(_) if attempt < ATTEMPTS && place.deaths + 1 < DEATHS => {
                            tracing::warn!("{reason}; restarting it");
                            place.deaths += 1;
                            continue;
                        }
                        Broken::Died(_) => self.remember(&metric.key(), &reason),
                        Broken::Stuck { creating: true } => self.remember(&metric.key(), &reason),
                        Broken::Unusable(_) => self.remember(WHOLE, &reason),
                        Broken::Stuck { creating: false } | Broken::Garbage(_) | Broken::Unasked(_) => {}
                    }
                    self.count_death(place, &broken, &reason);
                    return Err(reason);
                }
            }
        }
    }

    fn attempt(&self, place: &mut Place, metric: &WorkerSection, pairs: &[Pair<'_>]) -> Result<Answer, Broken> {
        let process = match &mut place.process {
            Some(process) => process,
            empty => {
                let process = empty.insert(Process::start(&self.settings)?);
                self.process_id.store(process.id(), Ordering::Relaxed);
                process
            }
        };
        process.call(metric, pairs, self.settings.timeout)
    }

    fn count_death(&self, place: &mut Place, broken: &Broken, reason: &str) {
        if matches!(broken, Broken::Died(_) | Broken::Garbage(_)) {
            place.deaths += 1;
            if place.deaths >= DEATHS {
                let reason =
                    format!("the worker failed {} times in a row and is not restarted; last: {reason}", place.deaths);
                self.remember(WHOLE, &reason);
                place.deaths = 0;
            }
        }
    }

    fn explain(&self, metric: &str, broken: &Broken) -> String {
        let (python, seconds) = (self.settings.python.display(), self.settings.timeout.as_secs_f64());
        match broken {
            Broken::Died(how) => format!("the worker died while it measured with {metric}: {how}"),
            Broken::Garbage(what) => format!("{python} did not answer like a worker: {what}"),
            Broken::Stuck { creating: true } => format!(
                "{metric} was not ready after {seconds} seconds; if its weights are being downloaded, run once: {python} -c \
                 \"import pyiqa; pyiqa.create_metric('{metric}')\", or raise tools.worker.timeout_seconds"
            ),
            Broken::Stuck { creating: false } => {
                format!("{metric} took more than {seconds} seconds and was ended (tools.worker.timeout_seconds)")
            }
            Broken::Unusable(reason) | Broken::Unasked(reason) => reason.clone(),
        }
    }
}

fn scores(answer: Answer) -> Vec<Result<WorkerScore, Failure>> {
    let items = answer.scores.into_iter().zip(answer.errors).zip(answer.seconds);
    items
        .map(|((score, error), seconds)| match (score, error) {
            (Some(score), None) => Ok(WorkerScore { score, seconds: seconds.unwrap_or_default() }),
            (_, error) => Err(Failure::Tool(error.unwrap_or_else(|| "the worker returned no score".to_owned()))),
        })
        .collect()
}
