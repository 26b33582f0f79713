//! `agenticiqa rank` and `agenticiqa cull`: folders of photos.

pub mod cull;
pub mod rank;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agenticiqa::batch::Found;
use agenticiqa::config::Settings;
use agenticiqa::photos::{Cache, Progress, Survey};
use indicatif::{ProgressBar, ProgressStyle};

use crate::advice::Advice;
use crate::arguments::{Limits, Measuring};
use crate::exit::{Exit, Stop};
use crate::terminal::{shown, tell};

/// Finds the photos, and reports the folders that cannot be read.
fn find(patterns: &[String]) -> Result<(Vec<PathBuf>, Exit), Stop> {
    let Found { paths, unreadable } = Found::search(patterns)?;
    for error in &unreadable {
        tell!("error: {error}");
    }
    let exit = if unreadable.is_empty() { Exit::Done } else { Exit::BadInput };
    if paths.is_empty() {
        return Err(Stop::bad_input("there is no image that can be read"));
    }
    Ok((paths, exit))
}

/// Returns the cache of measurements, unless it is switched off or the user has no data folder.
fn cache(measuring: Measuring, settings: &Settings) -> Option<Cache> {
    let folder = settings.pipeline.cache.disk.clone().or_else(|| settings.data_folder.clone());
    folder.filter(|_| !measuring.no_cache).map(|folder| Cache::new(folder.join("photos")))
}

/// Returns how photos are measured.
fn survey<'a>(limits: Limits, settings: &Settings, cache: Option<&'a Cache>, stop: &'a AtomicBool) -> Survey<'a> {
    Survey { decoder: limits.decoder(settings), cache, workers: rayon::current_num_threads(), stop }
}

/// The progress bar, with rate and time left, on a terminal only.
struct Live(ProgressBar);

impl Live {
    fn new(hidden: bool) -> Self {
        if hidden || !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} ETA {eta} {wide_msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    fn show(&self, progress: Progress) {
        self.0.set_length(progress.total as u64);
        self.0.set_position(progress.done as u64);
        if progress.known + progress.failed > 0 {
            self.0.set_message(format!("{} known, {} errors", progress.known, progress.failed));
        }
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Prints why photos cannot be used, and returns the exit code.
fn report(failed: &[(PathBuf, agenticiqa::photos::Failure)]) -> Exit {
    use agenticiqa::photos::Failure;
    for (path, failure) in failed {
        tell!("error: {}: {failure}", shown(path.display()));
        if let Failure::Image(error) = failure
            && let Some(advice) = error.advice()
        {
            tell!("  help: {advice}");
        }
    }
    if failed.is_empty() { Exit::Done } else { Exit::BadInput }
}
