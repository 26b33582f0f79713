//! Tool execution: runs the selected tools in parallel, each distinct measurement once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use agenticiqa_metrics::Region;
use jiff::Timestamp;
use rayon::prelude::*;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::events::{Event, EventLog};
use crate::inputs::{Inputs, ToolMap};
use crate::reasoner::{Context, Selection};
use crate::state::{
    ByDistortion, Distortion, Interval, OneOrMany, RawScore, RegionBox, Score, Seconds, Text, ToolExecutionLog,
    ToolScore, region_of,
};
use agenticiqa_tools::{CacheKey, CachedRun, Registry, ToolCache};

/// The tools that replace a failed tool, in this order.
const STAND_INS: [&str; 2] = ["BRISQUE", "NIQE"];
/// The maximum number of tools in other processes that run at the same time.
const WAITING: usize = 4;
/// Scores that exceed 1..=5 by more than this are reported as clipped.
const CLIPPING: f64 = 0.01;

/// The results of the tools.
#[derive(Debug, Default)]
pub(super) struct Executed {
    pub quality_scores: Option<ByDistortion<OneOrMany<ToolScore>>>,
    pub tool_logs: Vec<ToolExecutionLog>,
}

/// One tool for one distortion of one object.
#[derive(Debug, Clone)]
struct Job {
    tool: Text,
    object: Text,
    distortion: Distortion,
    region: Option<Region>,
    /// True if the tool was selected for the distortion, false if it runs in addition.
    selected: bool,
}

impl Job {
    fn measures_the_same_as(&self, other: &Self) -> bool {
        (&self.tool, self.region) == (&other.tool, other.region)
    }
}

/// The log entries of a tool on one object, with those of its replacement if it failed.
#[derive(Debug, Clone)]
struct Measured {
    logs: Vec<ToolExecutionLog>,
}

/// Runs the selected tools and passes the results so far to `tell` after each run, so that nothing
/// is lost on a timeout. A tool measures the region of its object if known, else the whole image.
pub(super) async fn execute(
    context: Context<'_>,
    cache: &Arc<ToolCache>,
    selection: &Selection,
    regions: &[RegionBox],
    tell: &(dyn Fn(Executed) + Sync),
) {
    let mut jobs = jobs(&selection.selected, regions, true);
    jobs.extend(self::jobs(&selection.additional, regions, false));
    let distinct = distinct(&jobs);
    let bench = Bench {
        inputs: Arc::clone(context.inputs),
        registry: Arc::clone(context.registry),
        cache: Arc::clone(cache),
        events: context.events.clone(),
    };
    let (ended, mut measured) = unbounded_channel();
    let mut known: Vec<Option<Measured>> = vec![None; distinct.len()];
    let work = distinct.clone();
    // Metrics use all cores for up to seconds, so they must not block the threads of the runtime.
    let working = tokio::task::spawn_blocking(move || bench.measure(&work, &ended));
    while let Some((index, of_job)) = measured.recv().await {
        known[index] = Some(of_job);
        tell(assemble(&jobs, &distinct, &known));
    }
    if let Err(error) = working.await {
        context.events.problem(format!("tool execution failed: {error}"));
    }
}

/// Returns the jobs without duplicates of the same measurement.
fn distinct(jobs: &[Job]) -> Vec<Job> {
    let mut distinct: Vec<Job> = Vec::new();
    for job in jobs {
        if !distinct.iter().any(|earlier| earlier.measures_the_same_as(job)) {
            distinct.push(job.clone());
        }
    }
    distinct
}

/// Combines the known results of all jobs, in the order of the jobs.
fn assemble(jobs: &[Job], distinct: &[Job], known: &[Option<Measured>]) -> Executed {
    let mut executed = Executed::default();
    let mut seen = vec![false; distinct.len()];
    for job in jobs {
        let Some(index) = distinct.iter().position(|earlier| earlier.measures_the_same_as(job)) else { continue };
        let again = std::mem::replace(&mut seen[index], true);
        // A replacement counts only for jobs whose tool was selected.
        let logs = known[index].iter().flat_map(|measured| &measured.logs).filter(|log| job.selected || !log.fallback);
        for log in logs {
            let log = ToolExecutionLog {
                object_name: job.object.clone(),
                distortion: job.distortion,
                cached: log.cached || again,
                ..log.clone()
            };
            if job.selected { executed.add(log) } else { executed.tool_logs.push(log) }
        }
    }
    executed
}

fn jobs(tools: &ByDistortion<OneOrMany<Text>>, regions: &[RegionBox], selected: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (object, tools) in tools {
        let region = region_of(object.as_str(), regions);
        for (distortion, tools) in tools {
            for tool in tools.as_slice() {
                let (tool, object) = (tool.clone(), object.clone());
                jobs.push(Job { tool, object, distortion: *distortion, region, selected });
            }
        }
    }
    jobs
}

/// Everything that a run needs, owned, so that it can move to another thread.
struct Bench {
    inputs: Arc<Inputs>,
    registry: Arc<Registry>,
    cache: Arc<ToolCache>,
    events: EventLog,
}

impl Bench {
    /// Runs all jobs and sends each result when it is ready. Tools in other processes get their own
    /// threads, because a slow one would block the threads that compute.
    fn measure(&self, jobs: &[Job], ended: &UnboundedSender<(usize, Measured)>) {
        let waits = |job: &Job| self.registry.get(job.tool.as_str()).is_ok_and(|tool| tool.waits());
        let (waiting, computing): (Vec<usize>, Vec<usize>) = (0..jobs.len()).partition(|index| waits(&jobs[*index]));
        // The receiver is gone after a timeout or a cancellation: skip the jobs that have not
        // started.
        let run = |index: usize| {
            if !ended.is_closed() {
                drop(ended.send((index, self.run_with_stand_in(&jobs[index]))));
            }
        };
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..waiting.len().min(WAITING) {
                scope.spawn(|| {
                    while let Some(index) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                        run(*index);
                    }
                });
            }
            computing.par_iter().for_each(|index| run(*index));
        });
    }

    /// Runs the tool of a job. If a selected tool fails, a generic no-reference tool replaces it on
    /// the same pixels. Tools that run in addition are not replaced.
    fn run_with_stand_in(&self, job: &Job) -> Measured {
        let mut logs = vec![self.run(job, job.tool.as_str(), false)];
        let failure = logs[0].error.clone();
        if let Some(reason) = failure.as_ref().filter(|_| !job.selected) {
            self.events.note(format!("{} was run in addition to the selected tools and failed: {reason}", job.tool));
        } else if let Some(reason) = failure {
            self.events.problem(format!("{} failed: {reason}", job.tool));
            for stand_in in STAND_INS.into_iter().filter(|name| *name != job.tool.as_str()) {
                let log = self.run(job, stand_in, true);
                let worked = log.error.is_none();
                logs.push(log);
                if worked {
                    break;
                }
            }
        }
        for log in &logs {
            self.events.emit(Event::ToolEnded { log: log.clone() });
        }
        Measured { logs }
    }

    fn run(&self, job: &Job, tool: &str, fallback: bool) -> ToolExecutionLog {
        let start = Instant::now();
        let outcome = self.raw_score(tool, job.region);
        let elapsed = Seconds::from(start.elapsed());
        let (raw, interval, seconds, cached, error) = match outcome {
            Ok((run, cached)) => (Some(run.raw_score), run.interval, run.execution_time, cached, None),
            Err(reason) => (None, None, elapsed, false, Some(reason)),
        };
        let normalized = raw.and_then(|raw| self.normalize(tool, raw.0));
        let interval = interval.and_then(|interval| self.normalize_interval(tool, interval));
        if let Some(reason) = &error {
            tracing::error!(tool, object = job.object.as_str(), "tool failed: {reason}");
        } else {
            tracing::info!(tool, object = job.object.as_str(), ?raw, ?normalized, "tool ended");
        }
        ToolExecutionLog {
            tool_name: Text::new(tool).unwrap_or_else(|_| job.tool.clone()),
            object_name: job.object.clone(),
            distortion: job.distortion,
            raw_score: raw,
            normalized_score: normalized,
            interval,
            execution_time: seconds,
            fallback,
            error,
            timestamp: Timestamp::now(),
            region: job.region.map(|region| [region.x, region.y, region.width, region.height]),
            cached,
        }
    }

    /// Returns the raw score from the cache or from a new run, and whether it was cached.
    fn raw_score(&self, name: &str, region: Option<Region>) -> Result<(CachedRun, bool), String> {
        let tool = self.registry.get(name).map_err(|error| error.to_string())?;
        if tool.needs_reference() && self.inputs.reference().is_none() {
            return Err(format!("{name} needs a reference, and there is none"));
        }
        let reference = self.inputs.reference().filter(|_| tool.needs_reference()).map(|source| source.digest);
        let key = CacheKey::new(self.inputs.image().digest, tool.name(), &tool.fingerprint(), reference, region);
        // The cache has scores and no maps.
        let with_map = self.inputs.wants_maps() && tool.has_map();
        if let Some(run) = self.cache.get(&key).filter(|_| !with_map) {
            return Ok((run, true));
        }
        let part = self.inputs.part(region).map_err(|error| error.to_string())?;
        let mut run = part.measure(tool, with_map);
        if let Some(failure) = run.error {
            return Err(failure.message().to_owned());
        }
        if let Some(map) = run.map.take() {
            self.inputs.keep_map(ToolMap { tool: tool.name().to_owned(), region, map });
        }
        let raw = run.raw_score.unwrap_or(f64::NAN);
        if !is_usable(raw, tool.info().map(|info| info.range)) {
            return Err(format!("{name} returned {raw}"));
        }
        let execution_time = Seconds::new(run.execution_time).map_err(|error| error.to_string())?;
        let run = CachedRun { raw_score: RawScore(raw), interval: run.interval, execution_time };
        self.cache.insert(key, run);
        Ok((run, false))
    }

    fn normalize_interval(&self, name: &str, interval: (f64, f64)) -> Option<Interval> {
        let [low, high] = self.registry.get(name).ok()?.scale().normalize_interval(interval)?;
        Interval::new(low, high).ok()
    }

    fn normalize(&self, name: &str, raw: f64) -> Option<Score> {
        let tool = self.registry.get(name).ok()?;
        let unclipped = tool.scale().unclipped(raw)?;
        tool.warn_of_linear_scale();
        if !(1.0 - CLIPPING..=5.0 + CLIPPING).contains(&unclipped) {
            tracing::warn!(tool = name, raw, "the score {unclipped:.2} is outside 1..5 and was clipped");
        }
        Score::new(unclipped.clamp(1.0, 5.0)).ok()
    }
}

/// Returns whether a raw score is a result. An infinite score is a failure unless it is an end of the
/// range of the metric: the PSNR of identical images is infinite by definition.
fn is_usable(raw: f64, range: Option<(f64, f64)>) -> bool {
    raw.is_finite() || range.is_some_and(|(low, high)| raw == low || raw == high)
}

impl Executed {
    fn add(&mut self, log: ToolExecutionLog) {
        if let Some(score) = log.normalized_score {
            let of_object = self.quality_scores.get_or_insert_default().entry(log.object_name.clone()).or_default();
            let scored = (log.tool_name.clone(), score);
            match of_object.remove(&log.distortion) {
                None => of_object.insert(log.distortion, OneOrMany::One(scored)),
                Some(earlier) => {
                    let all = earlier.as_slice().iter().cloned().chain([scored]).collect();
                    of_object.insert(log.distortion, OneOrMany::Many(all))
                }
            };
        }
        self.tool_logs.push(log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_metric_without_a_bound_may_return_infinity() {
        let registry = Registry::builtin().unwrap();
        let range = |tool: &str| registry.get(tool).unwrap().info().unwrap().range;
        let (psnr, ssim) = (range("PSNR"), range("SSIM"));
        for (raw, range, usable) in [
            (30.0, Some(psnr), true),
            (30.0, None, true),
            (f64::INFINITY, Some(psnr), true),
            (f64::NEG_INFINITY, Some(psnr), false),
            (f64::INFINITY, Some(ssim), false),
            (f64::INFINITY, None, false),
            (f64::NAN, Some(psnr), false),
            (f64::NAN, None, false),
        ] {
            assert_eq!(is_usable(raw, range), usable, "{raw} in {range:?}");
        }
    }
}
