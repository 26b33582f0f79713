//! Advice on the errors of the libraries, in terms of the command line.

use agenticiqa::config::{self, Origin};
use agenticiqa::doctor::Suggestion;
use agenticiqa::tools::Remedy;
use agenticiqa::{agent, batch, dataset, eval, imaging, metrics, report, scoring, setup, tools};
use agenticiqa_server::StartError;

/// An error that the command line has advice for.
pub trait Advice {
    /// Returns what to do, as one sentence; `None` if the error needs no advice.
    fn advice(&self) -> Option<String>;
}

fn some(advice: &str) -> Option<String> {
    Some(advice.to_owned())
}

const REFERENCE: &str = "give the reference image with --reference, or choose a no-reference tool";
const OTHER_OUTPUT: &str = "name another file with --output";

/// Describes how to make a tool run.
pub fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Install { package } => format!("run `agenticiqa tools install {package}`"),
        Remedy::InstallFrom { package, file } => format!(
            "run `agenticiqa tools install {package} --from {file}`, or name the file with --model {package}=PATH or \
             AGENTICIQA_{package}_MODEL"
        ),
    }
}

/// Words a suggestion of `doctor`.
pub fn suggestion(suggestion: &Suggestion) -> String {
    match suggestion {
        Suggestion::UseBackend { variables, backend } => {
            format!("{} is set: use it with `--backend {backend}`", variables.join(" or "))
        }
        Suggestion::CompleteTool { tool, reason, remedy: wanted } => match wanted {
            Some(wanted) => format!("{tool}: {reason}; {}", remedy(wanted)),
            None => format!("{tool}: {reason}"),
        },
        _ => "the builtin backend answers without an API key; to use a model, set OPENAI_API_KEY and add \
              `--backend openai.gpt-4o`, or start Ollama and add `--backend ollama.qwen2.5vl:7b`"
            .to_owned(),
    }
}

/// Describes a configuration error, with the flag that the value came from.
pub fn configuration(error: &config::Error) -> String {
    match error {
        config::Error::Invalid { origin: Origin::Override(name), field, reason } => {
            format!("{}: {field}: {reason}", flag(name))
        }
        config::Error::Syntax { origin: Origin::Override(name), reason } => {
            format!("{}: not valid YAML: {reason}", flag(name))
        }
        other => other.to_string(),
    }
}

/// The flag of an override, with the field that it sets: `backend_override planner.backend`.
fn flag(name: &str) -> String {
    match name.split_once(' ') {
        Some((name, field)) => format!("--{} {field}", name.replace('_', "-")),
        None => format!("--{}", name.replace('_', "-")),
    }
}

impl Advice for metrics::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::ReferenceMissing { .. } => some(REFERENCE),
            Self::SizeMismatch { .. } => some("resize one of the images first"),
            _ => None,
        }
    }
}

impl Advice for imaging::Error {
    fn advice(&self) -> Option<String> {
        match self.reason() {
            Self::TooLarge { .. } => some("raise the limit with --max-pixels"),
            Self::NeedsMemory { .. } => some("shrink the image, or raise the limit with --max-memory (such as 8GB)"),
            Self::Pixels(error) => error.advice(),
            _ => None,
        }
    }
}

impl Advice for tools::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::UnknownTool { .. } => some("`agenticiqa tools list` shows all tools"),
            Self::Unavailable { remedy: Some(wanted), .. } => Some(remedy(wanted)),
            _ => None,
        }
    }
}

impl Advice for tools::install::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::NotDownloadable { package, file } => Some(format!(
                "get {file} from its authors, then run `agenticiqa tools install {package} --from {file}`"
            )),
            Self::Status { .. } => some("check the address in tools.json, or give the file with --from"),
            Self::Connection { .. } => some("run the same command again: it continues where it stopped"),
            _ => None,
        }
    }
}

impl Advice for scoring::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Tool(error) => error.advice(),
            Self::ReferenceMissing { .. } => some(REFERENCE),
            Self::Reference(error) => error.advice(),
            Self::RepeatedRegion(_) => some("give each --region its own name"),
            _ => None,
        }
    }
}

impl Advice for agent::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Picture(error) => error.advice(),
            Self::Pair(error) | Self::Region { error, .. } => error.advice(),
            Self::Tool(error) => error.advice(),
            Self::RepeatedRegion(_) => some("give each --region its own name"),
            Self::NoOptions => some("give the options with --option"),
            _ => None,
        }
    }
}

impl Advice for setup::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Tools(error) => error.advice(),
            _ => None,
        }
    }
}

impl Advice for StartError {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Setup(error) => error.advice(),
            Self::Root(_) => some("name existing folders with --allow-root, or in server.allow_roots of pipeline.yaml"),
            Self::NoDataFolder => some("name a folder with --data"),
            Self::Listen { .. } => some("if another server is running, choose another port with --port"),
            _ => None,
        }
    }
}

impl Advice for batch::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::NoParquet(_) => some("build with --features parquet, or use JSON Lines or CSV"),
            Self::OutputExists(_) => {
                some("continue the run with --resume, replace the file with --overwrite, or name another --output")
            }
            Self::SameFile(_) | Self::OutputInUse(_) | Self::AnotherQuestion { .. } => some(OTHER_OUTPUT),
            Self::NotARecord { .. } => some("remove the line, or name another file with --output"),
            Self::Output { .. } => some("make room, then continue with --resume"),
            Self::Input { path, .. } if path.is_dir() => some("name a file, or give the images with --images"),
            _ => None,
        }
    }
}

impl Advice for dataset::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Pictures { .. } => some("unpack the images too, or leave them out with --skip-missing"),
            Self::File { path, .. } if !path.exists() => some("name the folder of the dataset with --root"),
            _ => None,
        }
    }
}

impl Advice for eval::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::File(error) => error.advice(),
            Self::Tool(error) => error.advice(),
            Self::NoScores { .. } => {
                some("name tools with --tool, or run `agenticiqa batch` on the manifest and evaluate its output")
            }
            _ => None,
        }
    }
}

impl Advice for report::Error {
    fn advice(&self) -> Option<String> {
        match self {
            Self::NoRecords { .. } => some("name a file that `agenticiqa batch` wrote"),
            _ => None,
        }
    }
}
