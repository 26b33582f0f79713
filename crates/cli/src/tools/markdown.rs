//! The table of docs/tools.md, made from the tool list alone.

use std::io::Write;

use agenticiqa::tools::{Backend, Registry, Tool};

use super::{install, scale};
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal;

/// Prints the table.
pub fn print(registry: &Registry, only_available: bool) -> Result<Exit, Stop> {
    let mut out = terminal::stdout();
    writeln!(out, "| tool | type | runs | needs | better | 1-5 scale | best at |")?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | --- |")?;
    for tool in registry.iter().filter(|tool| !only_available || tool.availability().is_available()) {
        let metadata = tool.metadata();
        let cells = [
            tool.name().to_owned(),
            metadata.tool_type.to_string(),
            how(tool).to_owned(),
            needs(tool),
            table::direction(metadata.lower_is_better).to_owned(),
            fitted(tool),
            metadata.strengths.join(", "),
        ];
        // Pipes and line breaks would end a cell.
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace(char::is_control, " "));
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(Exit::Done)
}

fn how(tool: &Tool) -> &'static str {
    match (tool.metadata().backend, &tool.metadata().install) {
        (Backend::Native, _) => "native",
        (Backend::Builtin, _) => "built in",
        (Backend::Onnx, Some(_)) => "installable",
        (Backend::Onnx, None) => "network of yours",
        (Backend::Worker, _) => "by worker",
        (Backend::Command, _) => "command of yours",
    }
}

fn needs(tool: &Tool) -> String {
    let metadata = tool.metadata();
    match (&metadata.install, metadata.backend) {
        (Some(install), _) if !install.is_downloadable() => {
            let file = install.sources.first().map_or("", |source| source.file_name());
            format!("`tools install {} --from {file}` ({}; not ours to ship)", tool.name(), install.license)
        }
        (Some(section), _) => {
            let size = install::size(section.download_size());
            format!("`tools install {}` ({size}, {})", tool.name(), section.license)
        }
        (None, Backend::Native | Backend::Builtin) => "nothing".to_owned(),
        (None, Backend::Onnx) => "its ONNX file".to_owned(),
        (None, Backend::Worker) => "Python with `pyiqa`, which downloads the weights".to_owned(),
        (None, Backend::Command) => "its program".to_owned(),
    }
}

fn fitted(tool: &Tool) -> String {
    match &tool.metadata().fitted_on {
        Some(data) => {
            let dataset = data.split([',', ';']).next().unwrap_or(data);
            format!("fitted on {dataset}")
        }
        None if scale(tool) == "linear" => "linear, not fitted".to_owned(),
        None => scale(tool).to_owned(),
    }
}
