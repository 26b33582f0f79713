//! Choice of the engine.

use std::path::{Path, PathBuf};

/// Environment variable with the path of the ONNX Runtime library.
const VARIABLE: &str = "ORT_DYLIB_PATH";

/// The engine that runs a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Runtime {
    /// The built-in engine.
    #[default]
    BuiltIn,
    /// ONNX Runtime, with the path of its shared library. A process uses only one library.
    Library(PathBuf),
}

impl Runtime {
    /// Returns the installed library if given, otherwise the library in `ORT_DYLIB_PATH`,
    /// otherwise the built-in engine. If a named library does not load, loading a model fails;
    /// there is no fallback.
    pub fn find(installed: Option<&Path>) -> Self {
        let named = || std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let installed = installed.filter(|path| path.is_file()).map(Path::to_owned);
        installed.or_else(named).map_or(Self::BuiltIn, Self::Library)
    }

    /// Returns the display name of the engine.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in engine",
            Self::Library(_) => "ONNX Runtime",
        }
    }
}
