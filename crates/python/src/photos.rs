//! Rankings and groups of many photos.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agenticiqa::batch::Found;
use agenticiqa::config::{Overrides, Settings};
use agenticiqa::photos::{self, By, Cache, Criterion, Options, Survey};
use agenticiqa::setup;
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::Problem;
use crate::settings;
use crate::threads;

/// Ranks photos, best first. Returns a list of rows in JSON; photos that cannot be used come last.
#[pyfunction]
#[pyo3(signature = (images, by=None, cache=true))]
pub fn rank(py: Python<'_>, images: Vec<String>, by: Option<&str>, cache: bool) -> PyResult<String> {
    let by = match by.map(str::parse::<By>) {
        Some(Ok(by)) => by,
        _ => By::Quality,
    };
    attended(py, move |stop| {
        let (settings, _) = settings::load(None, &Overrides::default())?;
        let registry = setup::registry(&settings)?;
        let criterion = match &by {
            By::Quality => Criterion::Quality,
            By::Axis(axis) => Criterion::Axis(*axis),
            By::Tool(name) => Criterion::Tool(registry.runnable(name)?),
        };
        if let Criterion::Tool(tool) = criterion
            && tool.needs_reference()
        {
            return Err(Problem::Pair(format!(
                "{} compares with a reference: choose a no-reference tool",
                tool.name()
            )));
        }
        with_survey(&images, cache, &settings, stop, |survey, paths| {
            let ranking = photos::rank(survey, paths, criterion, &|_| ());
            let rows: Vec<photos::Row> = ranking.rows.iter().cloned().chain(ranking.failures()).collect();
            json(&rows)
        })
    })
}

/// Groups photos of the same scene and decides which to keep. Returns a list of rows in JSON.
#[pyfunction]
#[pyo3(signature = (images, reject_below=None, cache=true))]
pub fn cull(py: Python<'_>, images: Vec<String>, reject_below: Option<f64>, cache: bool) -> PyResult<String> {
    attended(py, move |stop| {
        let (settings, _) = settings::load(None, &Overrides::default())?;
        with_survey(&images, cache, &settings, stop, |survey, paths| {
            let options = Options { reject_below, ..Options::default() };
            let culled = photos::cull(survey, paths, &options, &|_| ());
            json(&culled.map_err(|error| Problem::Other(error.to_string()))?.photos)
        })
    })
}

/// Runs `work` on another thread, so that Ctrl-C ends the wait and then the work.
fn attended(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<String, Problem> + Send + 'static,
) -> PyResult<String> {
    threads::begin_agent()?;
    let stop = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&stop);
    let done = threads::attended(py, move || work(&watched)).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
    Ok(done?)
}

fn with_survey<T>(
    images: &[String],
    cache: bool,
    settings: &Settings,
    stop: &AtomicBool,
    run: impl FnOnce(&Survey<'_>, &[PathBuf]) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let found = Found::search(images).map_err(|error| Problem::Picture(error.to_string()))?;
    if let Some(error) = found.unreadable.first() {
        return Err(Problem::Picture(error.to_string()));
    }
    let folder = settings.pipeline.cache.disk.clone().or_else(|| settings.data_folder.clone());
    let cache = folder.filter(|_| cache).map(|folder| Cache::new(folder.join("photos")));
    let decoder = setup::decoder(settings);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    run(&Survey { decoder, cache: cache.as_ref(), workers, stop }, &found.paths)
}

fn json<T: Serialize>(rows: &[T]) -> Result<String, Problem> {
    serde_json::to_string(rows).map_err(|error| Problem::Other(error.to_string()))
}
