//! Converts errors of the libraries to exceptions of `agenticiqa.errors`, with advice in terms of
//! Python.

use agenticiqa::imaging::Error as DecodeError;
use agenticiqa::tools::{Failure, Remedy};
use agenticiqa::{agent, batch, config, metrics, scoring, setup, tools};
use pyo3::prelude::*;

/// The exceptions. They are defined in Python, so that programs can catch and pickle them.
mod exceptions {
    use pyo3::import_exception;

    import_exception!(agenticiqa.errors, AgenticIQAError);
    import_exception!(agenticiqa.errors, ForkError);
    import_exception!(agenticiqa.errors, MissingFileError);
    import_exception!(agenticiqa.errors, PairError);
    import_exception!(agenticiqa.errors, PictureError);
    import_exception!(agenticiqa.errors, SettingsError);
    import_exception!(agenticiqa.errors, ToolError);
    import_exception!(agenticiqa.errors, UnknownToolError);
}

use exceptions::*;

/// The reason why there is no result: one variant per exception.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Problem {
    /// An image cannot be read.
    #[error("{0}")]
    Picture(String),
    /// The file does not exist.
    #[error("{0}")]
    Missing(String),
    /// Image and reference differ in size, or the reference is missing.
    #[error("{0}")]
    Pair(String),
    /// A tool cannot run, or failed.
    #[error("{0}")]
    Tool(String),
    /// No tool has this name.
    #[error("{0}")]
    UnknownTool(String),
    /// A setting or an argument is invalid.
    #[error("{0}")]
    Settings(String),
    /// The process was forked after its parent had started threads.
    #[error(
        "this process was forked after AgenticIQA had started its threads, which a fork does not copy: start processes with \
         multiprocessing.get_context(\"spawn\"), or use AgenticIQA for the first time after the fork"
    )]
    Forked,
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl Problem {
    /// Creates the problem of an image from the message of an exception.
    pub fn of_picture(py: Python<'_>, error: &PyErr) -> Self {
        Self::Picture(error.value(py).to_string())
    }
}

impl From<Problem> for PyErr {
    fn from(problem: Problem) -> Self {
        let message = problem.to_string();
        match problem {
            Problem::Picture(_) => PictureError::new_err(message),
            Problem::Missing(_) => MissingFileError::new_err(message),
            Problem::Pair(_) => PairError::new_err(message),
            Problem::Tool(_) => ToolError::new_err(message),
            Problem::UnknownTool(_) => UnknownToolError::new_err(message),
            Problem::Settings(_) => SettingsError::new_err(message),
            Problem::Forked => ForkError::new_err(message),
            Problem::Other(_) => AgenticIQAError::new_err(message),
        }
    }
}

/// Rewords a `PictureError` so that it names the reference. Other exceptions stay unchanged.
pub fn of_reference(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PictureError>(py) {
        return error;
    }
    let told = error.value(py).str().and_then(|message| Ok(message.to_str()?.to_owned()));
    told.map_or_else(|other| other, |message| Problem::Picture(unusable_reference(&message)).into())
}

/// Returns the message for a reference that cannot be used, worded as in the libraries.
pub fn unusable_reference(reason: &str) -> String {
    format!("the reference cannot be used: {reason}")
}

impl From<DecodeError> for Problem {
    fn from(error: DecodeError) -> Self {
        let message = error.to_string();
        match error.reason() {
            DecodeError::NotFound => Self::Missing(message),
            _ => Self::Picture(message),
        }
    }
}

impl From<metrics::Error> for Problem {
    fn from(error: metrics::Error) -> Self {
        let message = error.to_string();
        match error {
            metrics::Error::ReferenceMissing { .. } => Self::Pair(format!("{message}: pass reference=")),
            metrics::Error::SizeMismatch { .. } => Self::Pair(message),
            _ => Self::Picture(message),
        }
    }
}

impl From<tools::Error> for Problem {
    fn from(error: tools::Error) -> Self {
        let message = error.to_string();
        match error {
            tools::Error::UnknownTool { .. } => {
                Self::UnknownTool(format!("{message}; agenticiqa.list_tools() has all"))
            }
            tools::Error::Unavailable { remedy: Some(remedy), .. } => {
                Self::Tool(format!("{message}: {}", advice(&remedy)))
            }
            tools::Error::Unavailable { .. } | tools::Error::NothingToInstall { .. } | tools::Error::Model { .. } => {
                Self::Tool(message)
            }
            _ => Self::Settings(message),
        }
    }
}

impl From<tools::install::Error> for Problem {
    fn from(error: tools::install::Error) -> Self {
        let message = error.to_string();
        match error {
            tools::install::Error::NotDownloadable { package, file } => {
                Self::Tool(format!("{message}: pass it as install_tool({package:?}, source={file:?})"))
            }
            _ => Self::Tool(message),
        }
    }
}

/// Returns the Python call that makes a tool run.
fn advice(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Install { package } => format!("call agenticiqa.install_tool({package:?})"),
        Remedy::InstallFrom { package, file } => format!("call agenticiqa.install_tool({package:?}, source={file:?})"),
    }
}

/// Advice for regions with the same name.
const OWN_NAME: &str = ": pass each region under its own name";

impl From<scoring::Error> for Problem {
    fn from(error: scoring::Error) -> Self {
        let message = error.to_string();
        match error {
            scoring::Error::Tool(error) => error.into(),
            scoring::Error::ReferenceMissing { .. } => Self::Pair(format!("{message}: pass reference=")),
            scoring::Error::RepeatedRegion(_) => Self::Picture(format!("{message}{OWN_NAME}")),
            _ => Self::Picture(message),
        }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(message) | Failure::NotApplicable(message) => Self::Picture(message),
            Failure::Tool(message) => Self::Tool(message),
        }
    }
}

impl From<config::Error> for Problem {
    fn from(error: config::Error) -> Self {
        Self::Settings(error.to_string())
    }
}

impl From<setup::Error> for Problem {
    fn from(error: setup::Error) -> Self {
        match error {
            setup::Error::Tools(error) => error.into(),
            other => Self::Settings(other.to_string()),
        }
    }
}

impl From<agent::Error> for Problem {
    fn from(error: agent::Error) -> Self {
        let message = error.to_string();
        match error {
            agent::Error::Picture(error) => error.into(),
            agent::Error::Pair(error) => error.into(),
            agent::Error::Tool(error) => error.into(),
            agent::Error::Region { .. } => Self::Picture(message),
            agent::Error::NoOptions => Self::Settings(format!("{message}: pass options=")),
            agent::Error::RepeatedRegion(_) => Self::Settings(format!("{message}{OWN_NAME}")),
            _ => Self::Settings(message),
        }
    }
}

impl From<batch::Error> for Problem {
    /// Only manifests are read: Python programs write their results themselves.
    fn from(error: batch::Error) -> Self {
        Self::Settings(match error {
            batch::Error::Input { path, reason } => {
                let advice = if path.is_dir() { ": pass the path of a file" } else { "" };
                format!("{}: the manifest cannot be read: {reason}{advice}", path.display())
            }
            batch::Error::NoParquet(path) => {
                format!("{}: this build cannot read Parquet: pass a JSON Lines or CSV file", path.display())
            }
            other => other.to_string(),
        })
    }
}
