//! `agenticiqa doctor`: shows what is configured, what is missing and how to fix it. Never prints
//! keys.

use std::io::Write;
use std::time::Duration;

use agenticiqa::config::{Environment, Settings};
use agenticiqa::doctor::{self, ApiFact, Report};
use serde::Serialize;

use crate::advice;
use crate::arguments::{Doctor, RecordFormat};
use crate::exit::{Exit, Stop};
use crate::{table, terminal};

/// Time limit for a server to list its models, or for a model to answer.
const API_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Serialize)]
struct Findings<'a> {
    #[serde(flatten)]
    report: &'a Report,
    suggestions: Vec<String>,
    api: Option<&'a [ApiFact]>,
}

/// Prints the findings. Fails if something does not work as configured.
pub fn run(arguments: &Doctor, settings: &Settings, environment: &Environment) -> Result<Exit, Stop> {
    let registry = crate::registry(settings, &[])?;
    let report = doctor::facts(settings, environment, &registry);
    let api = if arguments.check_api {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Some(runtime.block_on(doctor::check_api(settings, environment, API_TIMEOUT)))
    } else {
        None
    };
    let mut out = terminal::stdout();
    match arguments.format {
        RecordFormat::Json => {
            let suggestions = report.suggestions.iter().map(advice::suggestion).collect();
            let findings = Findings { report: &report, suggestions, api: api.as_deref() };
            serde_json::to_writer_pretty(&mut out, &findings)?;
            writeln!(out)?;
        }
        RecordFormat::Text => print(&mut out, &report, api.as_deref(), arguments.all)?,
    }
    let silent = api.iter().flatten().any(|fact| !fact.answers);
    Ok(if report.problems.is_empty() && !silent { Exit::Done } else { Exit::Failed })
}

/// Describes the result of calling a model.
fn describe(fact: &ApiFact) -> String {
    let state = match (fact.answers, fact.listed) {
        (false, _) => "does not answer",
        (true, Some(true)) => "answers and offers the model",
        (true, Some(false)) => "answers, but does not list the model: check its name",
        (true, None) => "answers",
    };
    let reason = fact.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} {state}{reason}", fact.backend)
}

fn print(out: &mut impl Write, report: &Report, api: Option<&[ApiFact]>, all: bool) -> Result<(), Stop> {
    writeln!(out, "agenticiqa {} on {}, {} threads", report.version, report.target, report.threads)?;
    match report.config_files.as_slice() {
        [] => writeln!(out, "configuration: defaults, no file")?,
        files => {
            for file in files {
                writeln!(out, "configuration: {}", file.display())?;
            }
        }
    }
    let mut settings = table::new(&["setting", "value", "from"]);
    for setting in report.settings.iter().filter(|setting| all || !setting.default) {
        settings.add_row([&setting.field, &setting.value, &setting.source]);
    }
    if settings.row_count() > 0 {
        writeln!(out, "\n{settings}")?;
    }
    let mut roles = table::new(&["role", "backend", "address", "fallback"]);
    for role in &report.roles {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
        roles.add_row([&role.role, &role.backend, &or_dash(&role.base_url), &or_dash(&role.fallback_backend)]);
    }
    writeln!(out, "\n{roles}")?;
    let mut keys = table::new(&["provider", "key", "variable"]);
    for key in &report.keys {
        let state = match (key.present, key.needed) {
            (true, _) => "present",
            (false, true) => "missing",
            (false, false) => "not set",
        };
        keys.add_row([&key.provider, state, &key.variables.join(" or ")]);
    }
    writeln!(out, "\n{keys}")?;
    for fact in api.into_iter().flatten() {
        writeln!(out, "{}", describe(fact))?;
    }
    let ready = report.tools.iter().filter(|tool| tool.available).count();
    writeln!(out, "\ntools: {ready} of {} are ready (see `agenticiqa tools list`)", report.tools.len())?;
    for folder in &report.folders {
        let state = if folder.writable { "writable" } else { "not writable" };
        writeln!(out, "{}: {} ({state})", folder.purpose, folder.path.display())?;
    }
    for problem in &report.problems {
        writeln!(out, "problem: {problem}")?;
    }
    for suggestion in &report.suggestions {
        writeln!(out, "next: {}", advice::suggestion(suggestion))?;
    }
    Ok(())
}
