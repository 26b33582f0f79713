//! Asks whether the working folder may name programs and servers.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use agenticiqa::config::{Environment, Overrides, Settings, Source, TrustStore};

use crate::arguments::{Arguments, Command};
use crate::exit::Stop;
use crate::terminal::{self, shown, tell};

/// Loads the settings. Asks once per folder on a terminal, and warns otherwise.
pub fn settings(arguments: &Arguments, overrides: &Overrides) -> Result<(Settings, Environment), Stop> {
    let load = |environment: &Environment| Settings::load(arguments.config.as_deref(), environment, overrides);
    let mut environment = Environment::load()?;
    if arguments.trust_folder {
        remember(&environment, true);
        environment = environment.trusting(true);
    }
    let settings = load(&environment)?;
    if settings.ignored.is_empty() {
        return Ok((settings, environment));
    }
    let said = TrustStore::open(&environment).and_then(|store| store.answer(environment.directory()));
    if said.is_none() && may_ask(arguments) {
        let trusted = ask(environment.directory(), &settings.ignored)?;
        remember(&environment, trusted);
        if trusted {
            let environment = environment.trusting(true);
            return Ok((load(&environment)?, environment));
        }
    }
    warn(&settings.ignored);
    Ok((settings, environment))
}

/// Whether there is someone to ask. The standard input of MCP belongs to its client.
fn may_ask(arguments: &Arguments) -> bool {
    !matches!(arguments.command, Command::Mcp(_))
        && !arguments.quiet
        && io::stdin().is_terminal()
        && io::stderr().is_terminal()
}

fn ask(folder: &Path, ignored: &[Source]) -> Result<bool, Stop> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut out = terminal::stderr();
    writeln!(out, "The configuration of {} names programs or servers:", shown(folder.display()))?;
    for source in ignored {
        writeln!(out, "  {}", line(source))?;
    }
    write!(out, "Trust this folder? Its programs may run, and its servers may get your images and keys. [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn warn(ignored: &[Source]) {
    tell!("warning: this folder is not trusted, so these settings are ignored:");
    for source in ignored {
        tell!("  {}", line(source));
    }
    tell!("  help: check them, then use --trust-folder once, or AGENTICIQA_TRUST=1 for one run");
}

fn line(source: &Source) -> String {
    let value = if source.value.is_empty() { String::new() } else { format!(": {}", shown(&source.value)) };
    if source.origin.to_string().starts_with(&source.field) {
        return shown(&source.origin);
    }
    format!("{} ({}){value}", shown(&source.field), shown(&source.origin))
}

/// Remembers the answer. It holds for this run even if it cannot be written.
fn remember(environment: &Environment, trusted: bool) {
    let written = match TrustStore::open(environment) {
        Some(store) => store.remember(environment.directory(), trusted),
        None => Err(io::Error::other("there is no folder for your configuration")),
    };
    if let Err(error) = written {
        tell!("note: the answer cannot be remembered: {error}");
    }
}
