//! Where a value comes from, so that errors and `doctor` can point at it.

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built into the program.
    Default,
    /// A place in a file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
    },
    /// An environment variable.
    Variable {
        /// Its name.
        name: String,
        /// Whether it was read from `.env`.
        dotenv: bool,
    },
    /// A value that the caller passed ([`Overrides`](super::Overrides)), by its name there.
    Override(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Variable { name, dotenv: false } => write!(f, "environment variable {name}"),
            Self::Variable { name, dotenv: true } => write!(f, "{name} in .env"),
            Self::Override(name) => write!(f, "override {name}"),
        }
    }
}

/// One field in force: what it is and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The field, such as `planner.backend`.
    pub field: String,
    /// Its value for people; what was read from a variable inside a file is shown as it is written there.
    pub value: String,
    /// Where the value comes from.
    pub origin: Origin,
}
