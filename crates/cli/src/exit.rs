//! How the program ends: 0 done, 1 the work failed, 2 bad usage or bad input, 3 a quality gate was not met.

use std::io;
use std::process::ExitCode;

use agenticiqa::{agent, batch, config, dataset, eval, report, scoring, setup, tools};

use crate::advice::{self, Advice};

/// How a command that ran to its end went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All done.
    Done,
    /// Something could not be done.
    Failed,
    /// Some input could not be used.
    BadInput,
    /// The score is below the gate.
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

/// Why a command stopped before its end.
#[derive(Debug)]
pub struct Stop {
    exit: Exit,
    message: Option<String>,
    advice: Option<String>,
}

impl Stop {
    /// The work failed.
    pub fn failed(message: impl ToString) -> Self {
        Self { exit: Exit::Failed, message: Some(message.to_string()), advice: None }
    }

    /// The input or the usage is bad.
    pub fn bad_input(message: impl ToString) -> Self {
        Self { exit: Exit::BadInput, message: Some(message.to_string()), advice: None }
    }

    /// The same, with what to do about it.
    pub fn with(self, advice: Option<String>) -> Self {
        Self { advice, ..self }
    }

    /// Says why on stderr and gives the exit code.
    pub fn report(self) -> ExitCode {
        if let Some(message) = self.message {
            eprintln!("error: {message}");
        }
        if let Some(advice) = self.advice {
            eprintln!("  help: {advice}");
        }
        self.exit.into()
    }
}

/// Errors of the library that the user's input is to blame for.
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
        // A reader that has seen enough, such as `head`, is no failure.
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, message: None, advice: None };
        }
        Self::failed(format!("the output cannot be written: {error}"))
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
