//! Runs the samples of the input through the agent, several at a time.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::{mpsc, watch};
use tokio::task::{self, JoinSet};

use super::budget::{Budget, Spending};
use super::execution_log::{ExecutionLog, LogFile};
use super::failure::{Known, kind};
use super::resume::{self, Existing, Found, Ledger};
use super::writer::Writer;
use super::{Error, Flaw, Input, Item, Output, PathRules, Sample, Summary};
use agenticiqa_agent::events::EventLog;
use agenticiqa_agent::state::{AssessmentRecord, Effort};
use agenticiqa_agent::{Agent, Request};
use agenticiqa_vlm::queue_timeout;

/// The number of lines to read ahead.
const READ_AHEAD: usize = 64;

/// The reason why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every requested sample has a record.
    Complete,
    /// The stop signal was received.
    Stopped,
    /// The time limit was reached.
    MaxTime,
    /// The cost limit was reached.
    MaxCost,
}

/// The options of a batch run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The number of samples to assess concurrently.
    pub concurrency: usize,
    /// The maximum number of samples to assess, not counting those already done.
    pub max_samples: Option<u64>,
    /// The samples of the input to assess, counted from 1.
    pub sample_range: RangeInclusive<u64>,
    /// The time limit per sample, without the time in queues.
    pub sample_timeout: Option<Duration>,
    /// The limits on cost and time.
    pub budget: Budget,
    /// Tools that must run for every sample.
    pub tools: Vec<String>,
    /// Whether edits that could mend faults are tried.
    pub what_if: bool,
    /// The log with one line per sample.
    pub execution_log: Option<LogFile>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: std::thread::available_parallelism().map_or(2, usize::from),
            max_samples: None,
            sample_range: 1..=u64::MAX,
            sample_timeout: None,
            budget: Budget::default(),
            tools: Vec::new(),
            what_if: false,
            execution_log: None,
        }
    }
}

/// Stops a run from another task.
#[derive(Debug, Clone, Default)]
pub struct StopSignal(Arc<watch::Sender<Stop>>);

/// How much of a run is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Stop {
    #[default]
    Nothing,
    NewSamples,
    Everything,
}

impl StopSignal {
    /// Requests the stop: running samples are finished and written, and no new sample starts.
    pub fn stop(&self) {
        self.raise(Stop::NewSamples);
    }

    /// Requests the stop at once: running samples are given up and get no record, so that a resumed
    /// run assesses them again.
    pub fn abandon(&self) {
        self.raise(Stop::Everything);
    }

    fn raise(&self, stop: Stop) {
        self.0.send_if_modified(|current| {
            let raised = stop > *current;
            *current = stop.max(*current);
            raised
        });
    }

    async fn asked(&self, stop: Stop) {
        // Cannot fail: `self` owns the sender.
        drop(self.0.subscribe().wait_for(|current| *current >= stop).await);
    }
}

/// The progress of a run.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The results so far.
    pub summary: &'a Summary,
    /// The estimated number of samples that this run will assess.
    pub expected: u64,
    /// The record that was just written.
    pub record: &'a AssessmentRecord,
}

/// A batch: its input, its output and its options.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The source of samples.
    pub input: Input,
    /// How relative paths of the input are resolved.
    pub paths: PathRules,
    /// The path of the output.
    pub output: PathBuf,
    /// What to do if the output exists.
    pub existing: Existing,
    /// The options of the run.
    pub options: Options,
}

impl Batch {
    /// The file that records are appended to: the output, or a file next to a Parquet output, which
    /// is converted at the end.
    pub fn lines(&self) -> PathBuf {
        if !self.is_parquet() {
            return self.output.clone();
        }
        let mut name = self.output.as_os_str().to_owned();
        name.push(".jsonl");
        name.into()
    }

    fn is_parquet(&self) -> bool {
        self.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
    }

    /// Writes the Parquet file, if requested.
    fn finish(&self, written: u64) -> Result<(), Error> {
        #[cfg(feature = "parquet")]
        if self.is_parquet() {
            super::columns::convert(&self.lines(), &self.output).map_err(|error| Error::Output {
                path: self.output.clone(),
                error,
                written,
            })?;
        }
        Ok(())
    }

    /// Runs until the end or until `stop` is requested. `watch` is called with every record.
    pub async fn run(
        &self,
        agent: Arc<Agent>,
        stop: &StopSignal,
        watch: &(dyn Fn(&Progress<'_>) + Send + Sync),
    ) -> Result<Summary, Error> {
        let (ledger, output, found) = self.open().await?;
        let mut summary = Summary::new(ledger.total(), ledger.done(), found.foreign);
        let expected = self.expected(&ledger);
        let lines = self.open_lines(Arc::new(ledger));
        let log = self.options.execution_log.clone().map(ExecutionLog::new);
        let writer = Writer::start(self.lines(), output, log);
        let mut crew = Crew::new(self, agent, writer);
        let start = Instant::now();
        let mut watch = |summary: &Summary, record: &AssessmentRecord| watch(&Progress { summary, expected, record });
        let ended = crew.work(lines, stop, &mut summary, &mut watch).await;
        let Crew { running, writer, .. } = crew;
        // Samples are still running only after an error: their records cannot be written.
        drop(running);
        writer.finish().await?;
        let batch = self.clone();
        let written = summary.written();
        joined(task::spawn_blocking(move || batch.finish(written)).await)?;
        summary.ending = ended?;
        summary.seconds = start.elapsed().as_secs_f64();
        Ok(summary)
    }

    /// Indexes the input and prepares the output.
    async fn open(&self) -> Result<(Ledger, Output, Found), Error> {
        let batch = self.clone();
        let open = move || {
            if batch.is_parquet() && cfg!(not(feature = "parquet")) {
                return Err(Error::NoParquet(batch.output));
            }
            if batch.is_parquet() && batch.existing == Existing::Refuse && batch.output.exists() {
                return Err(Error::OutputExists(batch.output));
            }
            if let Some(input) = batch.input.path()
                && input
                    .canonicalize()
                    .ok()
                    .zip(batch.output.canonicalize().ok())
                    .is_some_and(|(one, other)| one == other)
            {
                return Err(Error::SameFile(batch.output.clone()));
            }
            let mut ledger = Ledger::read(&batch.input, &batch.paths)?;
            let range = &batch.options.sample_range;
            if *range.start() > ledger.total().max(1) {
                let path = batch.input.path().map_or_else(|| batch.input.name(), |path| path.display().to_string());
                return Err(Error::Range { path, first: *range.start(), total: ledger.total() });
            }
            let (output, found) = resume::open(&batch.lines(), batch.existing, &mut ledger, range)?;
            Ok((ledger, output, found))
        };
        joined(task::spawn_blocking(open).await)
    }

    /// Estimates how many samples will be assessed, assuming that all done samples are in the
    /// range.
    fn expected(&self, ledger: &Ledger) -> u64 {
        let last = (*self.options.sample_range.end()).min(ledger.total());
        let asked = (last + 1).saturating_sub(*self.options.sample_range.start());
        let open = asked.min(ledger.total() - ledger.done());
        self.options.max_samples.map_or(open, |most| open.min(most))
    }

    /// Reads the lines to process, a few ahead.
    fn open_lines(&self, ledger: Arc<Ledger>) -> mpsc::Receiver<Result<Item, Error>> {
        let (sender, receiver) = mpsc::channel(READ_AHEAD);
        let batch = self.clone();
        // A thread instead of a task, because it mostly waits.
        std::thread::spawn(move || {
            let items = match batch.input.items(&batch.paths) {
                Ok(items) => items,
                Err(error) => return drop(sender.blocking_send(Err(error))),
            };
            let (first, last) = batch.options.sample_range.clone().into_inner();
            let (skipped, taken) = (first.saturating_sub(1), (last + u64::from(last < u64::MAX)).saturating_sub(first));
            let asked = items.skip(usize::try_from(skipped).unwrap_or(usize::MAX));
            let asked = asked.take(usize::try_from(taken).unwrap_or(usize::MAX));
            let open = asked.filter_map(|item| match item {
                Ok(item) => resume::judge(&ledger, item).map(Ok),
                Err(error) => Some(Err(error)),
            });
            let most = batch.options.max_samples.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
            for item in open.take(most) {
                // The receiver is gone when the run was stopped.
                if sender.blocking_send(item).is_err() {
                    return;
                }
            }
        });
        receiver
    }
}

/// The running samples.
pub(super) struct Crew<'a> {
    batch: &'a Batch,
    agent: Arc<Agent>,
    running: JoinSet<AssessmentRecord>,
    known: HashMap<task::Id, (Known, Instant)>,
    pub writer: Writer,
}

impl<'a> Crew<'a> {
    pub fn new(batch: &'a Batch, agent: Arc<Agent>, writer: Writer) -> Self {
        Self { batch, agent, running: JoinSet::new(), known: HashMap::new(), writer }
    }

    /// Runs samples until none is left, or until no new sample may start and the last one has
    /// ended.
    pub async fn work(
        &mut self,
        mut lines: mpsc::Receiver<Result<Item, Error>>,
        stop: &StopSignal,
        summary: &mut Summary,
        watch: &mut (dyn FnMut(&Summary, &AssessmentRecord) + Send),
    ) -> Result<Ending, Error> {
        let mut spending = Spending::new(self.batch.options.budget);
        let deadline = spending.deadline();
        let (mut ending, mut exhausted) = (None, false);
        let width = self.batch.options.concurrency.max(1);
        loop {
            if ending.is_none() && !exhausted && !spending.affords_another(self.running.len()) {
                ending = Some(Ending::MaxCost);
            }
            if self.running.is_empty() && (exhausted || ending.is_some()) {
                break;
            }
            let takes = ending.is_none() && !exhausted && self.running.len() < width;
            let record = tokio::select! {
                biased;
                () = stop.asked(Stop::Everything) => {
                    // Dropped samples are canceled. What they have started may go on, but nothing
                    // waits for it.
                    self.running.abort_all();
                    return Ok(Ending::Stopped);
                }
                () = stop.asked(Stop::NewSamples), if ending.is_none() => { ending = Some(Ending::Stopped); continue }
                () = until(deadline), if ending.is_none() => { ending = Some(Ending::MaxTime); continue }
                Some(joined) = self.running.join_next_with_id() => self.finished(joined),
                line = lines.recv(), if takes => match line {
                    Some(item) => match item? {
                        Ok(sample) => { self.begin(sample); continue }
                        Err(flaw) => self.flawed(&flaw),
                    },
                    None => { exhausted = true; continue }
                },
            };
            spending.finish(record.metadata.cost_usd);
            summary.add(&record);
            watch(summary, &record);
            if !self.writer.write(record).await {
                break;
            }
        }
        // A stop after the last line still counts as complete.
        Ok(if exhausted { Ending::Complete } else { ending.unwrap_or(Ending::Complete) })
    }

    fn begin(&mut self, sample: Sample) {
        let known = Known::of(&sample);
        let (agent, limit) = (Arc::clone(&self.agent), self.batch.options.sample_timeout);
        let options = &self.batch.options;
        let what_if = options.what_if.then_some(Effort::Full);
        let request = Request { what_if, ..sample.request(&options.tools) };
        let handle = self.running.spawn(record(agent, known.clone(), request, limit));
        self.known.insert(handle.id(), (known, Instant::now()));
    }

    fn flawed(&self, flaw: &Flaw) -> AssessmentRecord {
        let name = resume::flaw_name(&self.batch.input, flaw);
        Known::of_flaw(flaw, name).record(&self.agent, kind::INPUT, &flaw.message, Duration::ZERO)
    }

    fn finished(&mut self, joined: Result<(task::Id, AssessmentRecord), task::JoinError>) -> AssessmentRecord {
        match joined {
            Ok((id, record)) => {
                self.known.remove(&id);
                record
            }
            // A panic ends one sample, not the run.
            Err(failure) => match self.known.remove(&failure.id()) {
                Some((known, start)) => {
                    let message = format!("the program failed on this sample: {failure}");
                    known.record(&self.agent, kind::INTERNAL, &message, start.elapsed())
                }
                None => std::panic::resume_unwind(failure.into_panic()),
            },
        }
    }
}

/// Returns the record of the request for a sample, also if it fails.
pub(super) async fn record(
    agent: Arc<Agent>,
    known: Known,
    request: Request,
    limit: Option<Duration>,
) -> AssessmentRecord {
    let start = Instant::now();
    let assessment = agent.assess(request, EventLog::default());
    let assessed = match limit {
        Some(limit) => queue_timeout::within(queue_timeout::timeout(limit, assessment)).await,
        None => Ok(assessment.await),
    };
    match assessed {
        Ok(Ok(record)) => record,
        Ok(Err(error)) => known.record(&agent, error.kind_name(), &error.to_string(), start.elapsed()),
        Err(_) => {
            let message = format!("no result within the time limit of {:?}", limit.unwrap_or_default());
            known.record(&agent, kind::TIMEOUT, &message, start.elapsed())
        }
    }
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Resumes a panic from another thread.
fn joined<T>(result: Result<T, task::JoinError>) -> T {
    result.unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()))
}
