//! The program `agenticiqa`. Results go to stdout, everything else to stderr.

mod advice;
mod arguments;
mod assess;
mod batch;
mod calibrate;
mod dataset;
mod doctor;
mod eval;
mod exit;
mod gate;
mod logging;
mod maps;
mod mcp;
mod measure;
mod regions;
mod report;
mod score;
mod serve;
mod table;
mod terminal;
mod tools;
mod trust;

use std::io::{self, Write};
use std::process::ExitCode;

use agenticiqa::config::{Overrides, Settings};
use agenticiqa::tools::Registry;
use agenticiqa::vlm::Recording;
use clap::{CommandFactory, Parser};

use arguments::{Arguments, Assignment, Backends, Command, ModelFile, Recordings};
use exit::{Exit, Stop};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Arguments are repeated in the message. They may be names of files.
        Err(error) if error.use_stderr() && std::env::args_os().any(|argument| is_odd(&argument)) => {
            return Stop::usage(error.render().to_string()).report();
        }
        Err(error) => error.exit(),
    };
    match run(arguments) {
        Ok(exit) => exit.into(),
        Err(stop) => stop.report(),
    }
}

/// Whether an argument has characters that must not reach a terminal.
fn is_odd(argument: &std::ffi::OsStr) -> bool {
    argument.to_str().is_none_or(|text| terminal::shown(text) != text)
}

fn run(arguments: Arguments) -> Result<Exit, Stop> {
    match &arguments.command {
        Command::Graph { schemas } => return graph(*schemas),
        Command::Man => return man(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "agenticiqa", &mut script);
            io::stdout().write_all(&script)?;
            return Ok(Exit::Done);
        }
        _ => {}
    }
    let overrides = match &arguments.command {
        Command::Assess(assess) => overrides(&assess.backends),
        Command::Batch(batch) => overrides(&batch.backends),
        Command::Serve(serve) => overrides(&serve.backends),
        Command::Mcp(mcp) => overrides(&mcp.backends),
        _ => Overrides::default(),
    };
    let (settings, environment) = trust::settings(&arguments, &overrides)?;
    logging::start(&arguments, &settings.pipeline.logging);
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global();
        pool.map_err(|error| Stop::failed(format!("cannot start {} threads: {error}", threads.get())))?;
    }
    match &arguments.command {
        Command::Assess(assess) => assess::run(assess, &settings, &environment, arguments.quiet),
        Command::Batch(batch) => batch::run(batch, &settings, &environment, arguments.quiet),
        Command::Score(score) => score::run(score, &settings, arguments.quiet),
        Command::Regions(regions) => regions::run(regions, &settings),
        Command::Tools(tools) => tools::run(tools, &settings, arguments.quiet),
        Command::Dataset(dataset) => dataset::run(dataset),
        Command::Eval(eval) => eval::run(eval, &settings, arguments.quiet),
        Command::Calibrate(calibrate) => calibrate::run(calibrate, &settings, arguments.quiet),
        Command::Report(report) => report::run(report, &settings, arguments.quiet),
        Command::Serve(serve) => {
            serve::run(serve, settings, &environment, arguments.config.as_deref(), arguments.quiet)
        }
        Command::Mcp(mcp) => mcp::run(mcp, settings, &environment, arguments.config.as_deref()),
        Command::Doctor(doctor) => doctor::run(doctor, &settings, &environment),
        Command::Graph { .. } | Command::Man | Command::Completions { .. } => Ok(Exit::Done),
    }
}

/// Returns the settings that the command line overrides.
fn overrides(backends: &Backends) -> Overrides {
    let assignments = backends.backend_override.iter();
    Overrides {
        backend: backends.backend.clone(),
        planner_backend: backends.planner_backend.clone(),
        executor_backend: backends.executor_backend.clone(),
        summarizer_backend: backends.summarizer_backend.clone(),
        max_replan: backends.max_replan,
        assignments: assignments.map(|Assignment(key, value)| (key.clone(), value.clone())).collect(),
    }
}

/// Returns whether model answers are recorded or replayed.
fn recording(arguments: &Recordings) -> Option<Recording> {
    let record = arguments.record.clone().map(Recording::Record);
    record.or_else(|| arguments.replay.clone().map(Recording::Replay))
}

/// Prints the agent graph, or the JSON Schemas.
fn graph(schemas: bool) -> Result<Exit, Stop> {
    let mut out = terminal::stdout();
    if schemas {
        let all: serde_json::Map<String, serde_json::Value> =
            agenticiqa::state::schemas().into_iter().map(|(name, schema)| (name.to_owned(), schema.into())).collect();
        serde_json::to_writer_pretty(&mut out, &all)?;
        writeln!(out)?;
    } else {
        out.write_all(agenticiqa::graph::mermaid().as_bytes())?;
    }
    Ok(Exit::Done)
}

fn man() -> Result<Exit, Stop> {
    clap_mangen::Man::new(Arguments::command()).render(&mut io::stdout().lock())?;
    Ok(Exit::Done)
}

/// Creates the tool registry, with the model files of the command line.
fn registry(settings: &Settings, models: &[ModelFile]) -> Result<Registry, Stop> {
    let mut registry = agenticiqa::setup::registry(settings)?;
    for ModelFile { tool, path } in models {
        registry.load_model(tool, path)?;
    }
    Ok(registry)
}
