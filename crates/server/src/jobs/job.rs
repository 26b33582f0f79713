//! A job: its configuration, its progress and its state on disk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use agenticiqa::batch::{Batch, Existing, Input, Options, PathRules, Progress, StopSignal, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::index::Index;

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Waiting to run.
    Queued,
    /// Running.
    Running,
    /// Finished; every sample has a record.
    Done,
    /// Stopped by request; can be resumed.
    Stopped,
    /// Failed; `problem` contains the reason.
    Failed,
    /// Interrupted by a server shutdown; resumes when the server starts again.
    Interrupted,
}

impl JobState {
    /// Returns whether the job is queued or running.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// The configuration of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// File name of the manifest in the job's folder.
    pub input: PathBuf,
    /// The folder that relative paths in the manifest start from.
    pub root: PathBuf,
    /// Tools to run on every image.
    pub tools: Vec<String>,
    /// Backend, if not the configured one.
    pub backend: Option<String>,
    /// Maximum number of replans.
    pub max_replan_iterations: Option<u32>,
    /// Number of images assessed at the same time.
    pub concurrency: Option<u32>,
}

/// A job as it is stored on disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Job ID.
    pub id: String,
    /// Job name.
    pub name: String,
    /// State of the job.
    pub state: JobState,
    /// Number of samples in the input.
    pub total: u64,
    /// Number of samples with a record.
    pub done: u64,
    /// Number of samples with an answer.
    pub ok: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Number of tokens used by models.
    pub tokens: u64,
    /// Cost in US dollars; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
    /// Time of creation.
    pub created: String,
    /// Time of completion.
    pub finished: Option<String>,
    /// Error message, if the job failed.
    pub problem: Option<String>,
    /// Configuration of the job.
    pub plan: Plan,
}

/// A job as the API returns it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JobView {
    /// Job ID.
    pub id: String,
    /// Job name.
    pub name: String,
    /// State of the job.
    pub state: JobState,
    /// Number of samples in the input.
    pub total: u64,
    /// Number of samples with a record.
    pub done: u64,
    /// Number of samples with an answer.
    pub ok: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Samples per second.
    pub rate: Option<f64>,
    /// Estimated seconds until completion.
    pub eta_seconds: Option<f64>,
    /// Number of tokens used by models.
    pub tokens: u64,
    /// Cost in US dollars; null if a price is unknown.
    pub cost_usd: Option<f64>,
    /// Time of creation.
    pub created: String,
    /// Time of completion.
    pub finished: Option<String>,
    /// Error message, if the job failed.
    pub problem: Option<String>,
}

/// A job in memory.
#[derive(Debug)]
pub struct Entry {
    /// The folder of the job.
    pub folder: PathBuf,
    job: Mutex<Job>,
    /// Increases with every change; see [`Entry::watch`].
    changes: watch::Sender<u64>,
    stop: Mutex<Option<StopSignal>>,
    started: Mutex<Option<(Instant, u64)>>,
    removed: AtomicBool,
    /// The index of the records.
    pub index: Mutex<Index>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entry {
    /// Creates an entry for a job that is not running.
    pub fn new(folder: PathBuf, job: Job) -> Arc<Self> {
        Arc::new(Self {
            folder,
            job: Mutex::new(job),
            changes: watch::Sender::new(0),
            stop: Mutex::default(),
            started: Mutex::default(),
            removed: AtomicBool::new(false),
            index: Mutex::default(),
        })
    }

    /// Returns a copy of the job.
    pub fn job(&self) -> Job {
        lock(&self.job).clone()
    }

    /// Returns the state of the job.
    pub fn state(&self) -> JobState {
        lock(&self.job).state
    }

    /// Changes the job, notifies watchers and returns the changed job.
    pub fn change(&self, change: impl FnOnce(&mut Job)) -> Job {
        let mut job = lock(&self.job);
        change(&mut job);
        let changed = job.clone();
        drop(job);
        self.changes.send_modify(|count| *count += 1);
        changed
    }

    /// Returns a receiver that is notified of every change.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Returns the path of the records.
    pub fn records(&self) -> PathBuf {
        self.folder.join("records.jsonl")
    }

    /// Stops the job after the samples in progress.
    pub fn stop(&self) {
        if let Some(stop) = lock(&self.stop).as_ref() {
            stop.stop();
        }
    }

    /// Stops the job at once. Samples in progress are assessed again if the job is resumed.
    pub fn abandon(&self) {
        if let Some(stop) = lock(&self.stop).as_ref() {
            stop.abandon();
        }
    }

    /// Marks the job as removed. Returns `false` if it was already removed.
    pub fn remove(&self) -> bool {
        !self.removed.swap(true, Ordering::SeqCst)
    }

    /// Returns whether the job was removed.
    pub fn is_removed(&self) -> bool {
        self.removed.load(Ordering::SeqCst)
    }

    /// Starts a new run and returns the signal that stops it.
    pub fn begin(&self) -> StopSignal {
        let signal = StopSignal::default();
        *lock(&self.stop) = Some(signal.clone());
        *lock(&self.started) = None;
        *lock(&self.index) = Index::default();
        signal
    }

    /// Updates the progress after a record was written.
    pub fn heard(&self, progress: &Progress<'_>) {
        let summary = progress.summary;
        let first = {
            let mut started = lock(&self.started);
            let first = started.is_none();
            started.get_or_insert_with(|| (Instant::now(), summary.done_before + summary.written()));
            first
        };
        if first {
            // Resuming removes failed records, so earlier offsets may be invalid.
            *lock(&self.index) = Index::default();
        }
        self.change(|job| count(job, summary));
    }

    /// Returns the job as the API shows it.
    pub fn view(&self) -> JobView {
        let job = self.job();
        let started = *lock(&self.started);
        let rate = started.filter(|_| job.state == JobState::Running).and_then(|(start, before)| {
            let written = job.done.saturating_sub(before) as f64;
            let seconds = start.elapsed().as_secs_f64();
            (written > 0.0 && seconds > 0.0).then_some(written / seconds)
        });
        let left = job.total.saturating_sub(job.done) as f64;
        JobView {
            rate,
            eta_seconds: rate.map(|rate| left / rate),
            id: job.id,
            name: job.name,
            state: job.state,
            total: job.total,
            done: job.done,
            ok: job.ok,
            errors: job.errors,
            tokens: job.tokens,
            cost_usd: job.cost_usd,
            created: job.created,
            finished: job.finished,
            problem: job.problem,
        }
    }

    /// Builds the batch that runs the job.
    pub fn batch(&self, concurrency: usize) -> Batch {
        let Plan { input, root, tools, .. } = lock(&self.job).plan.clone();
        Batch {
            paths: paths(&root),
            input: Input::file(self.folder.join(input)),
            output: self.records(),
            existing: Existing::Resume,
            options: Options { concurrency, tools, ..Options::default() },
        }
    }
}

/// Returns path rules with `root` as the start of relative paths.
pub fn paths(root: &Path) -> PathRules {
    PathRules::new(Some(root), None)
}

/// Copies the counters of a run to the job.
pub fn count(job: &mut Job, summary: &Summary) {
    job.total = summary.total;
    job.done = summary.done_before + summary.written();
    job.ok = summary.done_before + summary.succeeded + summary.partial;
    job.errors = summary.failed;
    job.tokens = summary.tokens;
    job.cost_usd = summary.cost_usd;
}
