//! `agenticiqa tools`: what there is, what is known of it, whether it works here.

use std::io::{self, Write};

use agenticiqa::config::Settings;
use agenticiqa::tools::{CheckOutcome, Registry, SamplePair, Scale, Tool};

use crate::arguments::{Models, Tools, ToolsCommand};
use crate::exit::{Exit, Stop};
use crate::table;

/// Runs the subcommand; the list when there is none.
pub fn run(arguments: &Tools, settings: &Settings) -> Result<Exit, Stop> {
    let registry = |models: &Models| crate::registry(settings, &models.models);
    match &arguments.command {
        None => list(&registry(&Models::default())?, false),
        Some(ToolsCommand::List { available, models }) => list(&registry(models)?, *available),
        Some(ToolsCommand::Show { name, models }) => show(registry(models)?.get(name)?),
        Some(ToolsCommand::Check { models }) => check(&registry(models)?),
    }
}

fn list(registry: &Registry, only_available: bool) -> Result<Exit, Stop> {
    let mut table = table::new(&["tool", "type", "better", "scale", "map", "best at", "here"]);
    for tool in registry.iter().filter(|tool| !only_available || tool.availability().is_available()) {
        let scale = match tool.scale() {
            Scale::Logistic(_) => "fitted",
            Scale::Linear { .. } => "linear",
            Scale::None => "raw",
        };
        let here = tool.availability();
        table.add_row([
            tool.name(),
            &tool.metadata().tool_type.to_string(),
            table::direction(tool.metadata().lower_is_better),
            scale,
            if tool.info().is_some_and(|info| info.has_map) { "yes" } else { "" },
            &tool.metadata().strengths.join(", "),
            here.reason().map_or("ready", |reason| reason),
        ]);
    }
    writeln!(io::stdout(), "{table}")?;
    Ok(Exit::Done)
}

fn show(tool: &Tool) -> Result<Exit, Stop> {
    let mut out = io::stdout().lock();
    let metadata = tool.metadata();
    let mut line = |label: &str, text: &str| writeln!(out, "{label:<12}{text}");
    line("name", tool.name())?;
    line("type", if tool.needs_reference() { "FR, compares with a reference" } else { "NR, judges a picture alone" })?;
    line("about", tool.description())?;
    line("here", tool.availability().reason().unwrap_or("ready"))?;
    if let Some(info) = tool.info() {
        line("measures", info.summary)?;
        let unit = if info.unit.is_empty() { String::new() } else { format!(" {}", info.unit) };
        line("range", &format!("{} to {}{unit}", table::number(info.range.0), table::number(info.range.1)))?;
        line("smallest", &format!("{0}x{0} pixels", info.minimum_side))?;
        line("map", if info.has_map { "yes" } else { "no" })?;
        line("paper", info.paper)?;
    }
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

fn check(registry: &Registry) -> Result<Exit, Stop> {
    let sample = SamplePair::load()?;
    let mut table = table::new(&["tool", "result", "score"]);
    let mut exit = Exit::Done;
    for tool in registry.iter() {
        let outcome = sample.check(tool);
        if outcome.is_failure() {
            exit = Exit::Failed;
        }
        let (result, score) = match outcome {
            CheckOutcome::Passed { score } => ("ok".to_owned(), table::number(score)),
            CheckOutcome::Differs { score, recorded } => {
                (format!("differs from the recorded {recorded}"), table::number(score))
            }
            CheckOutcome::Unrecorded { score } => ("no score on record".to_owned(), score.to_string()),
            CheckOutcome::Failed(failure) => (format!("failed: {}", failure.message()), String::new()),
            CheckOutcome::Unavailable { reason } => (format!("not here: {reason}"), String::new()),
        };
        table.add_row([tool.name().to_owned(), result, score]);
    }
    writeln!(io::stdout(), "{table}")?;
    Ok(exit)
}
