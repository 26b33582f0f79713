//! The program `agenticiqa`: arguments in, results to stdout, everything else to stderr, one exit code.

mod arguments;
mod exit;
mod logging;
mod score;
mod table;
mod tools;

use std::io::{self, Write};
use std::process::ExitCode;

use agenticiqa::tools::Registry;
use clap::{CommandFactory, Parser};

use arguments::{Arguments, Command, ModelFile};
use exit::{Exit, Stop};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    logging::start(&arguments);
    match run(arguments) {
        Ok(exit) => exit.into(),
        Err(stop) => stop.report(),
    }
}

fn run(arguments: Arguments) -> Result<Exit, Stop> {
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global();
        pool.map_err(|error| Stop::failed(format!("{} threads cannot be started: {error}", threads.get())))?;
    }
    match arguments.command {
        Command::Score(score) => score::run(&score, arguments.quiet),
        Command::Tools(tools) => tools::run(&tools),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "agenticiqa", &mut script);
            io::stdout().write_all(&script)?;
            Ok(Exit::Done)
        }
    }
}

/// The built-in tools, with the model files that the user gave.
fn registry(models: &[ModelFile]) -> Result<Registry, Stop> {
    let mut registry = Registry::builtin()?;
    if let Some(path) = std::env::var_os("AGENTICIQA_ILNIQE_MODEL").filter(|path| !path.is_empty()) {
        registry.load_model("ILNIQE", path.as_ref())?;
    }
    for ModelFile { tool, path } in models {
        registry.load_model(tool, path)?;
    }
    Ok(registry)
}
