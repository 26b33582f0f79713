//! Exit codes: 0 success, 1 failure, 2 bad usage or bad input, 3 a quality gate was not met.

use std::io;
use std::process::ExitCode;

use agenticiqa::{agent, batch, config, dataset, eval, report, scoring, setup, tools};

use crate::advice::{self, Advice};
use crate::terminal::tell;

/// Result of a command that ran to its end. The order is the severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything succeeded.
    Done,
    /// Something failed.
    Failed,
    /// Some input could not be used.
    BadInput,
    /// A score does not meet the gate.
    GateNotMet,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::BadInput => Self::from(2),
            Exit::GateNotMet => Self::from(3),
        }
    }
}

/// Error that stops a command.
#[derive(Debug)]
pub struct Stop {
    exit: Exit,
    message: Option<String>,
    advice: Option<String>,
}

impl Stop {
    /// A failure: exit code 1.
    pub fn failed(message: impl ToString) -> Self {
        Self { exit: Exit::Failed, message: Some(message.to_string()), advice: None }
    }

    /// Bad input or bad usage: exit code 2.
    pub fn bad_input(message: impl ToString) -> Self {
        Self { exit: Exit::BadInput, message: Some(message.to_string()), advice: None }
    }

    /// Wrong arguments: exit code 2, with a message of its own form.
    pub fn usage(message: String) -> Self {
        Self { exit: Exit::BadInput, message: Some(message.trim_start_matches("error: ").to_owned()), advice: None }
    }

    /// Adds advice, printed as a help line.
    pub fn with(self, advice: Option<String>) -> Self {
        Self { advice, ..self }
    }

    /// Prints the message on stderr and returns the exit code.
    pub fn report(self) -> ExitCode {
        if let Some(message) = self.message {
            tell!("error: {message}");
        }
        if let Some(advice) = self.advice {
            tell!("  help: {advice}");
        }
        self.exit.into()
    }
}

/// Maps library errors that the user's input causes to exit code 2.
macro_rules! bad_input {
    ($($error:ty),+) => {$(
        impl From<$error> for Stop {
            fn from(error: $error) -> Self {
                Self::bad_input(&error).with(error.advice())
            }
        }
    )+};
}

bad_input!(tools::Error, scoring::Error, agent::Error, setup::Error, dataset::Error, eval::Error);

impl From<config::Error> for Stop {
    fn from(error: config::Error) -> Self {
        Self::bad_input(advice::configuration(&error))
    }
}

impl From<tools::install::Error> for Stop {
    fn from(error: tools::install::Error) -> Self {
        use tools::install::Error::{NotDownloadable, NotFound};
        let stop = match error {
            NotDownloadable { .. } | NotFound { .. } => Self::bad_input(&error),
            _ => Self::failed(&error),
        };
        stop.with(error.advice())
    }
}

impl From<batch::Error> for Stop {
    fn from(error: batch::Error) -> Self {
        let stop = match error {
            batch::Error::Output { .. } => Self::failed(&error),
            _ => Self::bad_input(&error),
        };
        stop.with(error.advice())
    }
}

impl From<report::Error> for Stop {
    fn from(error: report::Error) -> Self {
        let stop = match error {
            report::Error::Output { .. } | report::Error::Layout(_) => Self::failed(&error),
            _ => Self::bad_input(&error),
        };
        stop.with(error.advice())
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        // A reader that stops reading, such as `head`, is not a failure.
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, message: None, advice: None };
        }
        Self::failed(format!("cannot write the output: {error}"))
    }
}

impl From<serde_json::Error> for Stop {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<csv::Error> for Stop {
    fn from(error: csv::Error) -> Self {
        io::Error::from(error).into()
    }
}
