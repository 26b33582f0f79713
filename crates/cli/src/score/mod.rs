//! `agenticiqa score`: scores images with tools, without the agent.

mod print;

use std::io::{self, IsTerminal};
use std::path::Path;

use agenticiqa::config::Settings;
use agenticiqa::gate::Case;
use agenticiqa::scoring::{Request, Scored, Scorer, Selection};
use agenticiqa::tools::Failure;
use indicatif::{ProgressBar, ProgressStyle};

use crate::advice::Advice;
use crate::arguments::Score;
use crate::exit::{Exit, Stop};
use crate::gate::Check;
use crate::maps;
use crate::terminal::{self, tell};

/// Scores every image. A failure is reported and does not stop the others.
pub fn run(arguments: &Score, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    let check = Check::new(&arguments.gate, "agenticiqa score")?;
    let registry = crate::registry(settings, &arguments.models.models)?;
    let decoder = arguments.limits.decoder(settings);
    let selection = match (arguments.all, &arguments.tools) {
        (true, _) => Selection::All,
        (false, tools) if tools.is_empty() => Selection::Default,
        (false, tools) => Selection::Named(tools.clone()),
    };
    let request = Request {
        reference: arguments.reference.clone(),
        selection,
        regions: arguments.regions.clone(),
        maps: arguments.map.is_some(),
    };
    let scorer = Scorer::new(&registry, decoder, request)?;
    let mut maps = arguments.map.as_deref().map(maps::Folder::create).transpose()?;
    let mut printer = print::Printer::new(arguments.format, &scorer);
    let progress = progress(arguments.images.len(), quiet);
    let (mut exit, mut cases) = (Exit::Done, Vec::new());
    for path in &arguments.images {
        progress.set_message(terminal::shown(path.display()));
        let mut scored = scorer.score(path);
        if let Some(maps) = &mut maps {
            maps.write_rows(&mut scored.rows)?;
        }
        exit = exit.max(outcome(&scored));
        if !check.is_idle() {
            cases.extend(scored.rows.iter().filter_map(Case::of_row));
        }
        progress.suspend(|| {
            report(path, &scored, quiet);
            printer.print(path, &scored)
        })?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    printer.finish()?;
    Ok(exit.max(check.run(|| Ok(cases.iter().cloned().map(Ok)))?))
}

/// Progress bar, on a terminal and for more than one image.
fn progress(count: usize, quiet: bool) -> ProgressBar {
    if quiet || count < 2 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} ETA {eta} {wide_msg}");
    ProgressBar::new(count as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn outcome(scored: &Scored) -> Exit {
    let failures = scored.rows.iter().filter_map(|row| row.failure.as_ref());
    let exits = failures.map(|failure| match failure {
        Failure::Input(_) | Failure::NotApplicable(_) => Exit::BadInput,
        Failure::Tool(_) => Exit::Failed,
    });
    let undecoded = if scored.picture.is_err() { Exit::BadInput } else { Exit::Done };
    exits.fold(undecoded, Exit::max)
}

/// Prints an error on stderr if the image or a tool failed: the file, the first reason, the number
/// of others.
fn report(path: &Path, scored: &Scored, quiet: bool) {
    match &scored.picture {
        Err(error) => {
            tell!("error: {error}");
            if let Some(advice) = error.advice() {
                tell!("  help: {advice}");
            }
        }
        Ok(_) => {
            let failed: Vec<_> = scored.rows.iter().filter(|row| row.error.is_some()).collect();
            if let Some(reason) = failed.first().and_then(|row| row.error.as_ref()) {
                let more = if failed.len() > 1 { format!(" (and {} more)", failed.len() - 1) } else { String::new() };
                tell!("error: {}: {reason}{more}", path.display());
            }
        }
    }
    if !quiet {
        for (tool, reason) in &scored.skipped {
            tracing::info!("{}: skipped {tool}: {reason}", path.display());
        }
    }
}
