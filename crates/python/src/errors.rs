//! What goes wrong, as exceptions of `agenticiqa.errors`. The advice is in terms of Python.

use agenticiqa::imaging::Error as DecodeError;
use agenticiqa::tools::{Failure, Remedy};
use agenticiqa::{agent, batch, config, metrics, scoring, setup, tools};
use pyo3::prelude::*;

/// The exceptions themselves; Python has them, so that they can be caught, pickled and read about.
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

/// Why there is no result; one kind for each exception.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Problem {
    /// An image cannot be read.
    #[error("{0}")]
    Picture(String),
    /// There is no such file.
    #[error("{0}")]
    Missing(String),
    /// Image and reference do not fit, or one of them is missing.
    #[error("{0}")]
    Pair(String),
    /// A tool cannot work.
    #[error("{0}")]
    Tool(String),
    /// There is no such tool.
    #[error("{0}")]
    UnknownTool(String),
    /// The configuration is no good.
    #[error("{0}")]
    Settings(String),
    /// This process is the child of one that had threads.
    #[error(
        "this process was forked after AgenticIQA had started its threads, which a fork does not copy: start processes with \
         multiprocessing.get_context(\"spawn\"), or use AgenticIQA for the first time after the fork"
    )]
    Forked,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Problem {
    /// What an exception says of an image.
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

/// What is wrong with a reference says so.
pub fn of_reference(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PictureError>(py) {
        return error;
    }
    let told = error.value(py).str().and_then(|message| Ok(message.to_str()?.to_owned()));
    told.map_or_else(|other| other, |message| Problem::Picture(unusable_reference(&message)).into())
}

/// The program's words for it.
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

/// What would make a tool run, as a call.
fn advice(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Install { package } => format!("call agenticiqa.install_tool({package:?})"),
        Remedy::InstallFrom { package, file } => format!("call agenticiqa.install_tool({package:?}, source={file:?})"),
    }
}

impl From<scoring::Error> for Problem {
    fn from(error: scoring::Error) -> Self {
        let message = error.to_string();
        match error {
            scoring::Error::Tool(error) => error.into(),
            scoring::Error::ReferenceMissing { .. } => Self::Pair(format!("{message}: pass reference=")),
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
            _ => Self::Settings(message),
        }
    }
}

impl From<batch::Error> for Problem {
    fn from(error: batch::Error) -> Self {
        Self::Settings(error.to_string())
    }
}
