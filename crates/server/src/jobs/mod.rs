//! Background jobs. Each job has a folder with its input and records, and an entry in the store. A
//! restarted server finds its jobs there and continues them.

mod create;
mod index;
mod job;
mod results;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agenticiqa::agent::Agent;
use agenticiqa::batch::{Ending, Input};
use jiff::Timestamp;
use tokio::sync::{Notify, Semaphore};

pub use index::{Finding, Index, Row, record};
pub use job::{Entry, Job, JobState, JobView, Plan};
pub use results::{ExportFormat, Facets, Histogram, ResultRow, Results, ResultsQuery, Sort};

use crate::app::App;
use crate::error::Problem;
use crate::store::{Store, StoreError};

/// The number of jobs that run at the same time: one job uses all cores.
const AT_A_TIME: usize = 1;
/// The maximum number of queued and running jobs.
const MOST_WAITING: usize = 64;
/// The maximum number of stored jobs.
const MOST_KEPT: usize = 2000;
/// The default number of concurrent model calls.
const CALLS: usize = 8;

/// All jobs.
#[derive(Debug)]
pub struct Jobs {
    folder: PathBuf,
    entries: Mutex<BTreeMap<String, Arc<Entry>>>,
    turns: Semaphore,
    ending: AtomicBool,
    ended: Notify,
}

impl Jobs {
    /// Loads the stored jobs. Unfinished jobs are marked as interrupted until [`App::resume_jobs`].
    pub fn open(folder: &Path, store: &Store) -> Result<Self, StoreError> {
        let mut entries = BTreeMap::new();
        for stored in store.jobs()? {
            match serde_json::from_slice::<Job>(&stored) {
                Ok(mut job) => {
                    if job.state.is_active() {
                        job.state = JobState::Interrupted;
                    }
                    entries.insert(job.id.clone(), Entry::new(folder.join(&job.id), job));
                }
                Err(error) => tracing::warn!("skipped a stored job that cannot be read: {error}"),
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            entries: Mutex::new(entries),
            turns: Semaphore::new(AT_A_TIME),
            ending: AtomicBool::new(false),
            ended: Notify::new(),
        })
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all jobs, newest first.
    pub fn list(&self) -> Vec<Arc<Entry>> {
        self.entries().values().rev().cloned().collect()
    }

    /// Returns a job by ID.
    pub fn get(&self, id: &str) -> Result<Arc<Entry>, Problem> {
        let found = self.entries().get(id).cloned();
        found.ok_or_else(|| Problem::not_found(format!("job {id:?} not found: GET /jobs lists all jobs")))
    }

    /// Returns the number of queued and running jobs.
    pub fn active(&self) -> usize {
        self.entries().values().filter(|entry| entry.state().is_active()).count()
    }

    /// Stops all jobs after the samples in progress. They resume when the server starts again.
    pub fn interrupt(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.turns.close();
        self.entries().values().for_each(|entry| entry.stop());
    }

    /// Waits until no job is running.
    pub async fn finished(&self) {
        loop {
            let ended = self.ended.notified();
            if !self.entries().values().any(|entry| entry.state() == JobState::Running) {
                return;
            }
            ended.await;
        }
    }

    fn has_room(&self) -> Result<(), Problem> {
        if self.active() >= MOST_WAITING {
            return Err(Problem::busy(
                format!("{MOST_WAITING} jobs are already queued or running: try again later"),
                60,
            ));
        }
        if self.entries().len() >= MOST_KEPT {
            return Err(Problem::busy(
                format!("{MOST_KEPT} jobs are already stored: delete some with DELETE /jobs/{{id}}"),
                60,
            ));
        }
        Ok(())
    }
}

impl App {
    /// Resumes the jobs that a shutdown interrupted.
    pub fn resume_jobs(self: &Arc<Self>) {
        for entry in self.jobs.list().into_iter().rev() {
            if entry.state() == JobState::Interrupted {
                self.start_job(&entry);
            }
        }
    }

    /// Queues a job.
    pub fn start_job(self: &Arc<Self>, entry: &Arc<Entry>) {
        entry.change(|job| {
            job.state = JobState::Queued;
            (job.problem, job.finished) = (None, None);
        });
        let (app, entry) = (Arc::clone(self), Arc::clone(entry));
        tokio::spawn(async move { app.run_job(entry).await });
    }

    async fn run_job(self: Arc<Self>, entry: Arc<Entry>) {
        self.keep_job(&entry).await;
        let Ok(_turn) = self.jobs.turns.acquire().await else { return };
        // The job may have been stopped or removed while it was queued.
        if entry.state() != JobState::Queued || entry.is_removed() {
            return;
        }
        let stop = entry.begin();
        entry.change(|job| job.state = JobState::Running);
        self.keep_job(&entry).await;
        if self.jobs.ending.load(Ordering::SeqCst) {
            stop.stop();
        }
        let ended = self.work_on(&entry, &stop).await;
        if entry.is_removed() {
            entry.change(|job| job.state = JobState::Stopped);
            self.clear_job(&entry).await;
        } else {
            entry.change(|job| {
                (job.state, job.problem) = match ended {
                    Ok(Ending::Complete) => (JobState::Done, None),
                    Ok(_) if self.jobs.ending.load(Ordering::SeqCst) => (JobState::Interrupted, None),
                    Ok(_) => (JobState::Stopped, None),
                    Err(problem) => (JobState::Failed, Some(problem)),
                };
                job.finished = Some(Timestamp::now().to_string());
            });
            self.keep_job(&entry).await;
        }
        self.jobs.ended.notify_waiters();
    }

    async fn work_on(
        self: &Arc<Self>,
        entry: &Arc<Entry>,
        stop: &agenticiqa::batch::StopSignal,
    ) -> Result<Ending, String> {
        let plan = entry.job().plan;
        let agent = self.agent_of(plan.backend.as_deref()).map_err(|problem| problem.to_string())?;
        let agent = match plan.max_replan_iterations {
            None => agent,
            Some(most) => {
                let mut changed: Agent = (*agent).clone();
                changed.options.max_replan_iterations = most;
                Arc::new(changed)
            }
        };
        let threads = rayon::current_num_threads();
        let usual = if Self::asks_models(&agent) { CALLS + threads } else { threads + 1 };
        let batch = entry.batch(plan.concurrency.map_or(usual, |concurrency| concurrency as usize));
        let (app, checked, input) = (Arc::clone(self), Arc::clone(entry), batch.input.clone());
        // Checked again, because links may have changed since the job was created.
        let check = tokio::task::spawn_blocking(move || app.check_paths(&checked.folder, &input, &plan.root));
        check.await.map_err(|error| error.to_string())?.map_err(|problem| problem.to_string())?;
        let heard = Arc::clone(entry);
        let summary = batch.run(agent, stop, &move |progress| heard.heard(progress)).await;
        let summary = summary.map_err(|error| error.to_string())?;
        entry.change(|job| job::count(job, &summary));
        Ok(summary.ending)
    }

    /// Checks that every file of an input is in an allowed folder or in the job's own folder.
    /// Returns the number of samples.
    fn check_paths(&self, own: &Path, input: &Input, root: &Path) -> Result<u64, Problem> {
        let own = own.canonicalize()?;
        let unreadable = |error: agenticiqa::batch::Error| Problem::invalid(error.to_string());
        let mut samples = 0;
        for item in input.items(&job::paths(root)).map_err(unreadable)? {
            samples += 1;
            let Ok(sample) = item.map_err(unreadable)? else { continue };
            for path in std::iter::once(&sample.image_path).chain(&sample.reference_path) {
                let real = path.canonicalize();
                if real.is_ok_and(|real| real.starts_with(&own)) {
                    continue;
                }
                match self.roots.resolve("manifest", &path.display().to_string()) {
                    Err(problem) if problem.status() == axum::http::StatusCode::FORBIDDEN => {
                        return Err(Problem::forbidden(format!("line {}: {}", sample.line, problem)));
                    }
                    // A missing file is reported in the record of its sample.
                    _ => {}
                }
            }
        }
        Ok(samples)
    }

    /// Stops a job at once, so that the next one can start.
    pub async fn stop_job(self: &Arc<Self>, entry: &Arc<Entry>) {
        match entry.state() {
            JobState::Queued | JobState::Interrupted => {
                entry.change(|job| job.state = JobState::Stopped);
                self.keep_job(entry).await;
            }
            _ => entry.abandon(),
        }
    }

    /// Removes a job, its records and its images. A running job is stopped first.
    pub async fn remove_job(self: &Arc<Self>, entry: &Arc<Entry>) {
        if !entry.remove() {
            return;
        }
        self.jobs.entries().remove(&entry.job().id);
        match entry.state() {
            JobState::Running => entry.abandon(),
            _ => self.clear_job(entry).await,
        }
    }

    async fn clear_job(self: &Arc<Self>, entry: &Arc<Entry>) {
        let (app, entry) = (Arc::clone(self), Arc::clone(entry));
        let clear = move || {
            if let Err(error) = app.store.remove_job(&entry.job().id) {
                tracing::error!("cannot remove a job from the store: {error}");
            }
            if let Err(error) = std::fs::remove_dir_all(&entry.folder) {
                tracing::warn!("cannot remove {}: {error}", entry.folder.display());
            }
        };
        drop(tokio::task::spawn_blocking(clear).await);
    }

    /// Writes the state of a job to disk. A failure is logged.
    async fn keep_job(self: &Arc<Self>, entry: &Arc<Entry>) {
        if let Err(error) = self.store_job(entry).await {
            tracing::error!("cannot store the state of a job: {error}");
        }
    }

    async fn store_job(self: &Arc<Self>, entry: &Arc<Entry>) -> Result<(), String> {
        let (app, job) = (Arc::clone(self), entry.job());
        if entry.is_removed() {
            return Ok(());
        }
        let keep = move || {
            let kept = serde_json::to_vec(&job).map_err(|error| error.to_string());
            kept.and_then(|json| app.store.keep_job(&job.id, &json).map_err(|error| error.to_string()))
        };
        tokio::task::spawn_blocking(keep).await.map_err(|error| error.to_string())?
    }
}
