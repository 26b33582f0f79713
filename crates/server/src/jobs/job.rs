//! A job: what it was asked for, how far it is, and what of that is on disk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use agenticiqa::batch::{Batch, Existing, Input, Options, PathRules, Progress, StopSignal, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::index::Index;

/// How a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It waits for its turn.
    Queued,
    /// It runs.
    Running,
    /// Every sample has a record.
    Done,
    /// Somebody stopped it; it can be resumed.
    Stopped,
    /// It could not go on; `problem` says why.
    Failed,
    /// The server ended; it is resumed when the server starts again.
    Interrupted,
}

impl JobState {
    /// Whether it runs or will run by itself.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// What was asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The manifest in the job's own folder.
    pub input: PathBuf,
    /// Where its relative paths start.
    pub root: PathBuf,
    /// Tools that every image must be measured with.
    pub tools: Vec<String>,
    /// Who thinks.
    pub backend: Option<String>,
    /// How often a new plan may be made.
    pub max_replan_iterations: Option<u32>,
    /// Images at a time.
    pub concurrency: Option<u32>,
}

/// What is known of a job; all of it is on disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// Its name in the interface.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How it is.
    pub state: JobState,
    /// Samples of the input.
    pub total: u64,
    /// Samples with a record.
    pub done: u64,
    /// Samples with an answer.
    pub ok: u64,
    /// Samples without one.
    pub errors: u64,
    /// Tokens that models took.
    pub tokens: u64,
    /// What they cost.
    pub cost_usd: Option<f64>,
    /// When it was asked for.
    pub created: String,
    /// When it ended.
    pub finished: Option<String>,
    /// Why it failed.
    pub problem: Option<String>,
    /// What was asked for.
    pub plan: Plan,
}

/// A job as the interface shows it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JobView {
    /// Its name in the interface.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How it is.
    pub state: JobState,
    /// Samples of the input.
    pub total: u64,
    /// Samples with a record.
    pub done: u64,
    /// Samples with an answer.
    pub ok: u64,
    /// Samples without one.
    pub errors: u64,
    /// Samples a second.
    pub rate: Option<f64>,
    /// Seconds until it is done, at this rate.
    pub eta_seconds: Option<f64>,
    /// Tokens that models took.
    pub tokens: u64,
    /// What they cost in US dollars; null where a rate is not known.
    pub cost_usd: Option<f64>,
    /// When it was asked for.
    pub created: String,
    /// When it ended.
    pub finished: Option<String>,
    /// Why it failed.
    pub problem: Option<String>,
}

/// A job in memory.
#[derive(Debug)]
pub struct Entry {
    /// Its own folder.
    pub folder: PathBuf,
    job: Mutex<Job>,
    /// Grows with every change, for those who watch.
    changes: watch::Sender<u64>,
    stop: Mutex<Option<StopSignal>>,
    started: Mutex<Option<(Instant, u64)>>,
    removed: AtomicBool,
    /// The records, for results.
    pub index: Mutex<Index>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entry {
    /// A job that does not run yet.
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

    /// What is known of it.
    pub fn job(&self) -> Job {
        lock(&self.job).clone()
    }

    /// How it is.
    pub fn state(&self) -> JobState {
        lock(&self.job).state
    }

    /// Changes what is known of it, and tells those who watch.
    pub fn change(&self, change: impl FnOnce(&mut Job)) -> Job {
        let mut job = lock(&self.job);
        change(&mut job);
        let changed = job.clone();
        drop(job);
        self.changes.send_modify(|count| *count += 1);
        changed
    }

    /// Hears of every change from now on.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Where its records are.
    pub fn records(&self) -> PathBuf {
        self.folder.join("records.jsonl")
    }

    /// Asks it to stop after the samples that are running.
    pub fn stop(&self) {
        if let Some(stop) = lock(&self.stop).as_ref() {
            stop.stop();
        }
    }

    /// Marks it as removed; whether it was not before.
    pub fn remove(&self) -> bool {
        !self.removed.swap(true, Ordering::SeqCst)
    }

    /// Whether it was removed.
    pub fn is_removed(&self) -> bool {
        self.removed.load(Ordering::SeqCst)
    }

    /// A new run begins; what stops it.
    pub fn begin(&self) -> StopSignal {
        let signal = StopSignal::default();
        *lock(&self.stop) = Some(signal.clone());
        *lock(&self.started) = None;
        *lock(&self.index) = Index::default();
        signal
    }

    /// A record was written.
    pub fn heard(&self, progress: &Progress<'_>) {
        let summary = progress.summary;
        let first = {
            let mut started = lock(&self.started);
            let first = started.is_none();
            started.get_or_insert_with(|| (Instant::now(), summary.done_before + summary.written()));
            first
        };
        if first {
            // What was read before may have been taken out of the file.
            *lock(&self.index) = Index::default();
        }
        self.change(|job| count(job, summary));
    }

    /// The job as the interface shows it.
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

    /// The batch that does the work.
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

/// Relative paths of a manifest start at its own folder.
pub fn paths(root: &Path) -> PathRules {
    PathRules::new(Some(root), None)
}

/// Takes over what a run has counted.
pub fn count(job: &mut Job, summary: &Summary) {
    job.total = summary.total;
    job.done = summary.done_before + summary.written();
    job.ok = summary.done_before + summary.succeeded + summary.partial;
    job.errors = summary.failed;
    job.tokens = summary.tokens;
    job.cost_usd = summary.cost_usd;
}
