//! The origin of a value, for errors and `doctor`.

use std::fmt;
use std::path::PathBuf;

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built into the program.
    Default,
    /// A location in a file.
    File {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
    },
    /// An environment variable.
    Variable {
        /// The name of the variable.
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

/// A field with its value and origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The field, such as `planner.backend`.
    pub field: String,
    /// The value for display. Variables in a file are shown unexpanded.
    pub value: String,
    /// The origin of the value.
    pub origin: Origin,
}
