//! Scores a manifest with tools, for `eval correlation --tool` and `calibrate`.

use std::io::{self, IsTerminal};

use agenticiqa::config::Settings;
use agenticiqa::dataset::Manifest;
use agenticiqa::eval::{self, Scored};
use agenticiqa::tools::{Registry, ToolCache};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::ScoringArguments;
use crate::exit::Stop;

/// Scores the samples of a split, with a progress bar.
pub fn run(
    manifest: &Manifest,
    split: Option<&str>,
    (registry, tools): (&Registry, &[String]),
    arguments: &ScoringArguments,
    settings: &Settings,
    quiet: bool,
) -> Result<Scored, Stop> {
    let decoder = arguments.limits.decoder(settings);
    let folder = arguments.cache.clone().or_else(|| settings.pipeline.cache.disk.clone());
    let cache = ToolCache::new(settings.pipeline.cache.memory_entries, folder);
    let progress = bar(quiet);
    let report = |done: usize, all: usize| {
        progress.set_length(all as u64);
        progress.set_position(done as u64);
    };
    let wanted = |sample: &agenticiqa::dataset::Sample| split.is_none() || sample.split.as_deref() == split;
    let scored = eval::measure(manifest, wanted, registry, tools, (&decoder, &cache), report)?;
    progress.finish_and_clear();
    let statistics = cache.statistics();
    tracing::info!(
        "{} scores from the cache, {} computed",
        statistics.memory_hits + statistics.disk_hits,
        statistics.misses
    );
    Ok(scored)
}

fn bar(quiet: bool) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} ETA {eta}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
