//! `agenticiqa tools`: what there is, what is known of it, whether it works here, and what is missing.

mod install;
mod markdown;

use std::io::{self, Write};

use agenticiqa::config::Settings;
use agenticiqa::tools::{Backend, CheckOutcome, Registry, SamplePair, Scale, Tool};

use crate::arguments::{ListFormat, Models, Tools, ToolsCommand};
use crate::exit::{Exit, Stop};
use crate::table;

/// Runs the subcommand; the list when there is none.
pub fn run(arguments: &Tools, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    let registry = |models: &Models| crate::registry(settings, &models.models);
    match &arguments.command {
        None => list(&registry(&Models::default())?, false),
        Some(ToolsCommand::List { available, format: ListFormat::Text, models }) => {
            list(&registry(models)?, *available)
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

fn list(registry: &Registry, only_available: bool) -> Result<Exit, Stop> {
    let mut table = table::new(&["tool", "type", "better", "scale", "map", "runs", "best at", "here"]);
    for tool in registry.iter().filter(|tool| !only_available || tool.availability().is_available()) {
        table.add_row([
            tool.name(),
            &tool.metadata().tool_type.to_string(),
            table::direction(tool.metadata().lower_is_better),
            scale(tool),
            if tool.has_map() { "yes" } else { "" },
            &tool.metadata().backend.to_string(),
            &tool.metadata().strengths.join(", "),
            &missing(tool).unwrap_or_else(|| "ready".to_owned()),
        ]);
    }
    writeln!(io::stdout(), "{table}")?;
    Ok(Exit::Done)
}

/// The kind of a tool's scale, in a word.
fn scale(tool: &Tool) -> &'static str {
    match tool.scale() {
        Scale::Logistic(_) => "fitted",
        Scale::Linear { .. } => "linear",
        Scale::None => "raw",
    }
}

/// What a tool is missing, and the command that gets it; `None` if it can run.
fn missing(tool: &Tool) -> Option<String> {
    let availability = tool.availability();
    let reason = availability.reason()?;
    let install = "agenticiqa tools install";
    let installed = tool.files().iter().all(|file| file.is_file());
    if tool.metadata().install.is_some() && !installed && !reason.contains(install) {
        return Some(format!("{reason}: `{install} {}`", tool.name()));
    }
    Some(reason.to_owned())
}

fn show(tool: &Tool) -> Result<Exit, Stop> {
    let mut out = io::stdout().lock();
    let metadata = tool.metadata();
    let mut line = |label: &str, text: &str| writeln!(out, "{label:<12}{text}");
    line("name", tool.name())?;
    line("type", if tool.needs_reference() { "FR, compares with a reference" } else { "NR, judges an image alone" })?;
    line("about", tool.description())?;
    line("runs", &how_it_runs(tool))?;
    line("here", missing(tool).as_deref().unwrap_or("ready"))?;
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
        line("smallest", &format!("{0}x{0} pixels", info.minimum_side))?;
        line("paper", info.paper)?;
    }
    line("map", if tool.has_map() { "yes" } else { "no" })?;
    line("better", table::direction(metadata.lower_is_better))?;
    if !metadata.strengths.is_empty() {
        line("best at", &metadata.strengths.join(", "))?;
    }
    let fitted_on = metadata.fitted_on.as_deref().unwrap_or("parameters of the tool list");
    let scale = match tool.scale() {
        Scale::Logistic(logistic) if logistic.beta5.is_some() => {
            format!("logistic with five betas, fitted on {fitted_on}")
        }
        Scale::Logistic(_) => format!("logistic with four betas, fitted on {fitted_on}"),
        Scale::Linear { worst, best } => format!("linear, {worst} is 1 and {best} is 5 (not fitted on human scores)"),
        Scale::None => "none: a plain measurement".to_owned(),
    };
    line("1-5 scale", &scale)?;
    Ok(Exit::Done)
}

/// What runs a tool, in words.
fn how_it_runs(tool: &Tool) -> String {
    let metadata = tool.metadata();
    match (metadata.backend, &metadata.command) {
        (Backend::Command, Some(command)) => {
            format!("command: {}, at most {} s", command.run.join(" "), command.timeout)
        }
        (Backend::Native, _) if tool.files().is_empty() => "native, built in".to_owned(),
        (Backend::Native, _) => "native, built in, with a model file".to_owned(),
        (Backend::Builtin, _) => "a model of this project, built in".to_owned(),
        (Backend::Onnx, _) => "onnx: a network in a file, without Python".to_owned(),
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
            CheckOutcome::Unrecorded { score } => ("runs; no score on record".to_owned(), score.to_string()),
            CheckOutcome::Failed(failure) => (format!("failed: {}", failure.message()), String::new()),
            CheckOutcome::Unavailable { reason } => {
                (format!("not here: {}", missing(tool).unwrap_or(reason)), String::new())
            }
        };
        table.add_row([tool.name().to_owned(), result, score]);
    }
    writeln!(io::stdout(), "{table}")?;
    Ok(exit)
}
