//! `agenticiqa doctor`: what is configured, what is missing, what to do about it. Keys are never shown.

use std::io::Write;
use std::time::Duration;

use agenticiqa::config::{Backend, Environment, Settings};
use agenticiqa::doctor::{self, Report};
use agenticiqa::setup::Models;
use agenticiqa::vlm::{Options, Prompt};
use serde::Serialize;

use crate::arguments::{Doctor, RecordFormat};
use crate::exit::{Exit, Stop};
use crate::table;

/// How long a model may take to say a word.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a model answers.
#[derive(Debug, Serialize)]
struct Answered {
    backend: String,
    answers: bool,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Findings<'a> {
    #[serde(flatten)]
    report: &'a Report,
    api: Option<&'a [Answered]>,
}

/// Prints what was found. Something that will not work as configured is a failure.
pub fn run(arguments: &Doctor, settings: &Settings, environment: &Environment) -> Result<Exit, Stop> {
    let registry = crate::registry(settings, &[])?;
    let report = doctor::facts(settings, environment, &registry);
    let api = arguments.check_api.then(|| check(settings, environment)).transpose()?;
    let mut out = anstream::stdout().lock();
    match arguments.format {
        RecordFormat::Json => {
            serde_json::to_writer_pretty(&mut out, &Findings { report: &report, api: api.as_deref() })?;
            writeln!(out)?;
        }
        RecordFormat::Text => print(&mut out, &report, api.as_deref(), arguments.all)?,
    }
    let silent = api.iter().flatten().any(|answered| !answered.answers);
    Ok(if report.problems.is_empty() && !silent { Exit::Done } else { Exit::Failed })
}

/// Asks every model that a role or its fallback names.
fn check(settings: &Settings, environment: &Environment) -> Result<Vec<Answered>, Stop> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut asked: Vec<Answered> = Vec::new();
    let mut models = Models::new(settings, environment);
    for (_, role) in settings.models.roles() {
        let first = (Some(&role.backend), settings.models.base_url(role));
        let second = (role.fallback_backend.as_ref(), settings.models.fallback_base_url(role));
        for (backend, url) in [first, second] {
            let Some(backend) = backend.and_then(Backend::model) else { continue };
            let name = backend.as_str().to_owned();
            if asked.iter().any(|earlier| earlier.backend == name) {
                continue;
            }
            let prompt = Prompt { system: String::new(), user: "Say yes.".to_owned() };
            let options = Options { max_tokens: 16, timeout: PATIENCE, ..Options::default() };
            let reason = match models.connect(backend, url) {
                Ok(model) => {
                    runtime.block_on(model.generate(&prompt, &[], &options)).err().map(|error| error.to_string())
                }
                Err(error) => Some(error.to_string()),
            };
            asked.push(Answered { backend: name, answers: reason.is_none(), reason });
        }
    }
    Ok(asked)
}

fn print(out: &mut impl Write, report: &Report, api: Option<&[Answered]>, all: bool) -> Result<(), Stop> {
    writeln!(out, "agenticiqa {} on {}, {} threads", report.version, report.target, report.threads)?;
    match report.config_files.as_slice() {
        [] => writeln!(out, "configuration: built in, no file")?,
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
    for answered in api.into_iter().flatten() {
        let state = if answered.answers { "answers" } else { "does not answer" };
        writeln!(
            out,
            "{} {state}{}",
            answered.backend,
            answered.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
        )?;
    }
    let ready = report.tools.iter().filter(|tool| tool.available).count();
    writeln!(out, "\ntools: {ready} of {} can run here (`agenticiqa tools list` says why not)", report.tools.len())?;
    for folder in &report.folders {
        let state = if folder.writable { "writable" } else { "not writable" };
        writeln!(out, "{}: {} ({state})", folder.purpose, folder.path.display())?;
    }
    for problem in &report.problems {
        writeln!(out, "problem: {problem}")?;
    }
    for suggestion in &report.suggestions {
        writeln!(out, "next: {suggestion}")?;
    }
    Ok(())
}
