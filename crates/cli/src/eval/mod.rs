//! `agenticiqa eval`: compares scores and answers with those of people.

mod correlation;
mod mcq;
mod runs;
mod understanding;

use std::path::Path;

use agenticiqa::config::Settings;
use agenticiqa::dataset::Manifest;
use agenticiqa::eval::{self, Correlation, Drawing, Filter};
use agenticiqa::statistics::{Bootstrap, Interval};

use crate::arguments::{BootstrapArguments, Eval, EvalCommand, EvalCorrelation, EvalMcq, EvalRuns};
use crate::exit::{Exit, Stop};
use crate::measure;

/// Runs the command.
pub fn run(arguments: &Eval, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    match &arguments.command {
        EvalCommand::Correlation(arguments) => correlation(arguments, settings, quiet),
        EvalCommand::Mcq(arguments) => mcq(arguments),
        EvalCommand::Runs(arguments) => compare_runs(arguments),
        EvalCommand::Understanding(arguments) => {
            understanding::print(&eval::understanding(&arguments.file)?, arguments.format)?;
            Ok(Exit::Done)
        }
    }
}

fn correlation(arguments: &EvalCorrelation, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    let path = arguments.input.path();
    let filter =
        Filter { split: arguments.split.clone(), group_by: arguments.group_by.clone(), score: arguments.score.clone() };
    let how =
        eval::Settings { filter, bootstrap: bootstrap(&arguments.bootstrap)?, dataset: arguments.dataset.clone() };
    let report = if arguments.tools.is_empty() {
        eval::of_records(&path, arguments.compare.as_deref(), &how)?
    } else {
        let registry = crate::registry(settings, &arguments.scoring.models.models)?;
        let manifest = Manifest::read(&path)?;
        let tools = (&registry, arguments.tools.as_slice());
        let scored = measure::run(&manifest, arguments.split.as_deref(), tools, &arguments.scoring, settings, quiet)?;
        eval::of_tools(&path, &scored, &how)?
    };
    let plots = arguments.plots.as_deref().map(|folder| write_plots(folder, &report)).transpose()?.unwrap_or_default();
    correlation::print(&report, arguments.format, &plots)?;
    Ok(Exit::Done)
}

fn compare_runs(arguments: &EvalRuns) -> Result<Exit, Stop> {
    let filter = Filter { split: arguments.split.clone(), ..Filter::default() };
    let bootstrap = bootstrap(&arguments.bootstrap)?;
    runs::print(&eval::runs(&arguments.first, &arguments.second, &filter, &bootstrap)?, arguments.format)?;
    Ok(Exit::Done)
}

fn bootstrap(arguments: &BootstrapArguments) -> Result<Bootstrap, Stop> {
    let BootstrapArguments { resamples, confidence, seed } = *arguments;
    confident(confidence)?;
    Ok(Bootstrap { resamples, confidence, seed })
}

fn confident(confidence: f64) -> Result<(), Stop> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(Stop::bad_input(format!("--confidence {confidence} must be between 0 and 1, e.g. 0.95")))
}

fn mcq(arguments: &EvalMcq) -> Result<Exit, Stop> {
    confident(arguments.confidence)?;
    let filter = Filter { split: arguments.split.clone(), group_by: arguments.group_by.clone(), score: None };
    let report = eval::mcq(&arguments.input.path(), &filter, arguments.confidence)?;
    mcq::print(&report, arguments.format)?;
    Ok(Exit::Done)
}

/// Writes a scatter plot for each set of scores and a plot for each group field.
fn write_plots(folder: &Path, report: &Correlation) -> Result<Vec<String>, Stop> {
    let mut written = Vec::new();
    let mut write = |name: String, drawing: Drawing| -> Result<(), Stop> {
        let png = drawing.png().map_err(Stop::failed)?;
        for (kind, content) in [("svg", drawing.svg().into_bytes()), ("png", png)] {
            let path = folder.join(format!("{name}.{kind}"));
            let failed = |error| Stop::failed(format!("{}: {error}", path.display()));
            agenticiqa::write_atomically(&path, &content).map_err(failed)?;
            written.push(path.display().to_string());
        }
        Ok(())
    };
    for evaluated in &report.evaluated {
        let stem = Path::new(&evaluated.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = plain(&stem.unwrap_or_default());
        write(name.clone(), eval::scatter_plot(report, evaluated))?;
        let fields: std::collections::BTreeSet<&str> =
            evaluated.groups.iter().map(|group| group.field.as_str()).collect();
        for field in fields {
            if let Some(drawing) = eval::group_plot(evaluated, field) {
                write(format!("{name}-by-{}", plain(field)), drawing)?;
            }
        }
    }
    Ok(written)
}

/// Replaces characters that do not belong in a file name.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '-' }).collect()
}

/// Formats a value with its interval.
fn with_interval(value: Option<f64>, interval: Option<Interval>) -> String {
    match (value, interval) {
        (None, _) => "–".to_owned(),
        (Some(value), None) => format!("{value:.4}"),
        (Some(value), Some(Interval { low, high })) => format!("{value:.4} [{low:.3}, {high:.3}]"),
    }
}
