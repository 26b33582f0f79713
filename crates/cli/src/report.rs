//! `agenticiqa report`: a report about one or several runs.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use agenticiqa::config::Settings;
use agenticiqa::report::{Options, Progress, Report as Findings, Run, Studio};
use agenticiqa::statistics::Bootstrap;
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Report;
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal;

/// Reads the records, writes the report and prints a summary.
pub fn run(arguments: &Report, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    if arguments.output.exists() && !arguments.output.is_dir() {
        return Err(Stop::bad_input(format!("{}: --output is a file, not a folder", arguments.output.display())));
    }
    let registry = crate::registry(settings, &[])?;
    let studio = Studio { registry: &registry, decoder: arguments.limits.decoder(settings) };
    let options = Options {
        title: arguments.title.clone(),
        cases: arguments.cases,
        group_by: arguments.group_by.clone(),
        bootstrap: Bootstrap { resamples: arguments.resamples, seed: arguments.seed, ..Bootstrap::default() },
        root: arguments.root.clone(),
        studio: (!arguments.no_pictures).then_some(studio),
    };
    let live = Live::new(&arguments.input, quiet);
    let findings = Findings::of(&arguments.input, &options, &|progress| live.emit(progress))?;
    live.finish();
    let files = findings.write(&arguments.output)?;
    for run in &findings.runs {
        warn(run);
    }
    print(&findings, &files)?;
    Ok(Exit::Done)
}

/// Warns about lines that are not records.
fn warn(run: &Run) {
    if let Some((line, reason)) = run.broken.first.first() {
        let (path, count) = (run.path.display(), run.broken.count);
        let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        tracing::warn!("{path}: skipped {lines} that cannot be read as a record, e.g. line {line}: {reason}");
    }
}

/// Prints a table of the runs, their errors and the paths of the report.
fn print(findings: &Findings, files: &[PathBuf]) -> Result<(), Stop> {
    let mut out = terminal::stdout();
    let mut summary = table::new(&[
        "run", "records", "ok", "partial", "errors", "invalid", "time", "cost", "SRCC", "PLCC", "accuracy",
    ]);
    for run in &findings.runs {
        summary.add_row(row(run));
    }
    writeln!(out, "{summary}")?;
    for run in &findings.runs {
        for (kind, group) in run.tally.errors_by_frequency() {
            let more = group.count - group.sample_ids.len() as u64;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(
                out,
                "{}: {}x {kind}: {}{more} ({})",
                run.name,
                group.count,
                group.sample_ids.join(", "),
                group.example
            )?;
        }
        if let Some(reason) = &run.not_compared {
            writeln!(out, "no comparison with opinions: {reason}")?;
        }
    }
    for file in files {
        writeln!(out, "{}", file.display())?;
    }
    Ok(out.flush()?)
}

fn row(run: &Run) -> Vec<String> {
    let tally = &run.tally;
    let nothing = || "–".to_owned();
    let figure = |value: Option<f64>| value.map_or_else(nothing, |value| format!("{value:.4}"));
    let overall = run.correlation.as_ref().and_then(|found| found.evaluated.first()).map(|found| &found.overall);
    let time = tally.time_quantiles()[3].map(|(_, sum)| format!("{:.1} s", sum / 1000.0));
    let cost = if tally.cost_unknown > 0 { "?".to_owned() } else { format!("{:.2} USD", tally.cost_usd) };
    vec![
        run.name.clone(),
        tally.records.to_string(),
        tally.succeeded.to_string(),
        tally.partial.to_string(),
        tally.failed.to_string(),
        run.broken.count.to_string(),
        time.unwrap_or_else(nothing),
        cost,
        figure(overall.and_then(|found| found.srcc.value)),
        figure(overall.and_then(|found| found.plcc_fitted.value.or(found.plcc.value))),
        run.answers.as_ref().map_or_else(nothing, |found| format!("{:.1} %", 100.0 * found.overall.accuracy)),
    ]
}

/// Progress bar on stderr, on a terminal only.
struct Live(ProgressBar);

impl Live {
    fn new(inputs: &[PathBuf], quiet: bool) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let length = |path: &PathBuf| path.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        let style = ProgressStyle::with_template("{msg} {bar:30} {percent} %");
        let bar = ProgressBar::new(inputs.iter().map(length).sum());
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message("reading"))
    }

    fn emit(&self, progress: Progress) {
        match progress {
            Progress::Read(bytes) => self.0.set_position(bytes),
            Progress::Evaluating => self.0.set_message("evaluating"),
            Progress::Cases(done, all) => {
                self.0.set_message("images");
                self.0.set_length(all as u64);
                self.0.set_position(done as u64);
            }
        }
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
