//! Which engine runs a graph.

use std::path::{Path, PathBuf};

/// The environment variable that names the library of ONNX Runtime.
const VARIABLE: &str = "ORT_DYLIB_PATH";

/// Which engine runs a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Runtime {
    /// The engine that is built in.
    #[default]
    BuiltIn,
    /// ONNX Runtime, by its shared library. One library serves the whole process.
    Library(PathBuf),
}

impl Runtime {
    /// The library that is installed if there is one, else the one that `ORT_DYLIB_PATH` names, else the engine that is
    /// built in. A library that is named but does not load is an error of the model, not another engine.
    pub fn find(installed: Option<&Path>) -> Self {
        let named = || std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let installed = installed.filter(|path| path.is_file()).map(Path::to_owned);
        installed.or_else(named).map_or(Self::BuiltIn, Self::Library)
    }

    /// The engine's name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in engine",
            Self::Library(_) => "ONNX Runtime",
        }
    }
}
