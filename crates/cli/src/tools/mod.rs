//! `agenticiqa tools`: lists, describes, checks, installs and removes tools.

mod install;
mod markdown;

use std::io::Write;

use agenticiqa::config::Settings;
use agenticiqa::tools::{Backend, CheckOutcome, Registry, SamplePair, Scale, Tool};

use crate::advice;
use crate::arguments::{ListFormat, Models, Tools, ToolsCommand};
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal;

/// Maximum width of `tools list`.
const LIST_WIDTH: u16 = 100;
/// Maximum width of its column of strengths, so that each built-in tool fits into one line.
const STRENGTHS_WIDTH: usize = 28;

/// Runs the subcommand; without one, prints the list.
pub fn run(arguments: &Tools, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    let registry = |models: &Models| crate::registry(settings, &models.models);
    let has_python = settings.pipeline.tools.worker.python.is_some();
    match &arguments.command {
        None => list(&registry(&Models::default())?, false, has_python),
        Some(ToolsCommand::List { available, format: ListFormat::Text, models }) => {
            list(&registry(models)?, *available, has_python)
        }
        Some(ToolsCommand::List { available, format: ListFormat::Markdown, models }) => {
            markdown::print(&registry(models)?, *available)
        }
        Some(ToolsCommand::Show { name, models }) => show(registry(models)?.get(name)?),
        Some(ToolsCommand::Check { names, models }) => check(&registry(models)?, names),
        Some(ToolsCommand::Install(install)) => install::run(install, settings, &registry(&Models::default())?, quiet),
        Some(ToolsCommand::Remove { names }) => install::remove(names, settings, &registry(&Models::default())?),
    }
}

fn list(registry: &Registry, only_available: bool, has_python: bool) -> Result<Exit, Stop> {
    let mut table = table::new(&["tool", "type", "better", "scale", "map", "best at", "status"]);
    for tool in registry.iter().filter(|tool| !only_available || tool.availability().is_available()) {
        table.add_row([
            tool.name(),
            &tool.metadata().tool_type.to_string(),
            table::direction(tool.metadata().lower_is_better),
            scale(tool),
            if tool.has_map() { "yes" } else { "" },
            &strengths(tool),
            status(tool, has_python),
        ]);
    }
    if table.width().is_none_or(|width| width > LIST_WIDTH) {
        table.set_width(LIST_WIDTH);
    }
    writeln!(terminal::stdout(), "{table}\n\n`agenticiqa tools show NAME` describes a tool and what it needs to run.")?;
    Ok(Exit::Done)
}

/// Returns the strengths of a tool that fit into the list, and the number of others.
fn strengths(tool: &Tool) -> String {
    let all: Vec<&str> = tool.metadata().strengths.iter().map(String::as_str).collect();
    let shortened = |shown: usize| match all.len() - shown {
        0 => all.join(", "),
        more => format!("{} +{more}", all[..shown].join(", ")),
    };
    let fits = |text: &String| text.chars().count() <= STRENGTHS_WIDTH;
    (1..=all.len()).rev().map(shortened).find(fits).unwrap_or_else(|| shortened(all.len().min(1)))
}

/// Returns whether a tool can run, in a word or two.
fn status(tool: &Tool, has_python: bool) -> &'static str {
    let availability = tool.availability();
    match tool.metadata().backend {
        _ if availability.is_available() => "ready",
        _ if availability.remedy().is_some() => "not installed",
        Backend::Worker if !has_python => "needs Python",
        Backend::Onnx => "no model file",
        Backend::Command => "no program",
        _ => "unavailable",
    }
}

/// Returns the kind of a tool's scale, as a word.
fn scale(tool: &Tool) -> &'static str {
    match tool.scale() {
        Scale::Logistic(_) => "fitted",
        Scale::Linear { .. } => "linear",
        Scale::None => "raw",
    }
}

/// Returns why a tool cannot run and how to change that; `None` if it can run.
fn missing(tool: &Tool) -> Option<String> {
    let availability = tool.availability();
    let reason = availability.reason()?;
    let installed = tool.files().iter().all(|file| file.is_file());
    Some(match availability.remedy() {
        Some(remedy) => format!("{reason}; {}", advice::remedy(remedy)),
        None if tool.metadata().install.is_some() && !installed => {
            format!("{reason}; run `agenticiqa tools install {}`", tool.name())
        }
        None => reason.to_owned(),
    })
}

fn show(tool: &Tool) -> Result<Exit, Stop> {
    let mut out = terminal::stdout();
    let metadata = tool.metadata();
    let mut line = |label: &str, text: &str| writeln!(out, "{label:<12}{text}");
    line("name", tool.name())?;
    line("type", if tool.needs_reference() { "FR (full reference)" } else { "NR (no reference)" })?;
    line("about", tool.description())?;
    line("runs", &how_it_runs(tool))?;
    line("status", missing(tool).as_deref().unwrap_or("ready"))?;
    for (file, index) in tool.files().iter().zip(0..) {
        let state = if file.is_file() { "" } else { " (not installed)" };
        line(if index == 0 { "files" } else { "" }, &format!("{}{state}", file.display()))?;
    }
    if let Some(install) = &metadata.install {
        line("license", &format!("{}: {}", install.license, install.notice))?;
    }
    if let Some(info) = tool.info() {
        line("measures", info.summary)?;
        let unit = if info.unit.is_empty() { String::new() } else { format!(" {}", info.unit) };
        line("range", &format!("{} to {}{unit}", table::number(info.range.0), table::number(info.range.1)))?;
        line("min. size", &format!("{0}x{0} pixels", info.minimum_side))?;
        line("paper", info.paper)?;
    }
    line("map", if tool.has_map() { "yes" } else { "no" })?;
    line("better", table::direction(metadata.lower_is_better))?;
    if !metadata.strengths.is_empty() {
        line("best at", &metadata.strengths.join(", "))?;
    }
    let fitted_on = metadata.fitted_on.as_deref().unwrap_or("unknown data");
    let scale = match tool.scale() {
        Scale::Logistic(logistic) if logistic.beta5.is_some() => {
            format!("logistic with five parameters, fitted on {fitted_on}")
        }
        Scale::Logistic(_) => format!("logistic with four parameters, fitted on {fitted_on}"),
        Scale::Linear { worst, best } => format!("linear from {worst} (1) to {best} (5), not fitted on human scores"),
        Scale::None => "none: a measurement, not a quality score".to_owned(),
    };
    line("1-5 scale", &scale)?;
    Ok(Exit::Done)
}

/// Describes what runs a tool.
fn how_it_runs(tool: &Tool) -> String {
    let metadata = tool.metadata();
    match (metadata.backend, &metadata.command) {
        (Backend::Command, Some(command)) => {
            format!("command: {} (timeout {} s)", command.run.join(" "), command.timeout)
        }
        (Backend::Native, _) if tool.files().is_empty() => "native, built in".to_owned(),
        (Backend::Native, _) => "native, built in, with a model file".to_owned(),
        (Backend::Builtin, _) => "built in, a model of this project".to_owned(),
        (Backend::Onnx, _) => "onnx: a network in an ONNX file, without Python".to_owned(),
        (backend, _) => backend.to_string(),
    }
}

fn check(registry: &Registry, names: &[String]) -> Result<Exit, Stop> {
    let named = names.iter().map(|name| registry.get(name)).collect::<Result<Vec<&Tool>, _>>()?;
    let sample = SamplePair::load()?;
    let mut table = table::new(&["tool", "result", "score"]);
    let mut exit = Exit::Done;
    for tool in registry.iter().filter(|tool| named.is_empty() || named.iter().any(|one| one.name() == tool.name())) {
        let outcome = sample.check(tool);
        if outcome.is_failure() {
            exit = Exit::Failed;
        }
        let (result, score) = match outcome {
            CheckOutcome::Passed { score } => ("ok".to_owned(), table::number(score)),
            CheckOutcome::Differs { score, recorded } => {
                (format!("differs from the recorded {recorded}"), table::number(score))
            }
            CheckOutcome::Unrecorded { score } => ("runs, no recorded score".to_owned(), score.to_string()),
            CheckOutcome::Failed(failure) => (format!("failed: {}", failure.message()), String::new()),
            CheckOutcome::Unavailable { reason } => {
                (format!("not ready: {}", missing(tool).unwrap_or(reason)), String::new())
            }
        };
        table.add_row([tool.name().to_owned(), result, score]);
    }
    writeln!(terminal::stdout(), "{table}")?;
    Ok(exit)
}
