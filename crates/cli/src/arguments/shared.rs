//! Arguments that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Quality gates.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Gates")]
pub struct Gates {
    /// Exit with code 3 if a score (1 to 5) is below this, e.g. 3.5
    #[arg(long, value_name = "SCORE")]
    pub fail_under: Option<f64>,

    /// Exit with code 3 if a score is lower than in this file, an earlier JSON output of the same
    /// command
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub baseline: Option<PathBuf>,

    /// Drop below the baseline that is still accepted
    #[arg(long, value_name = "DIFFERENCE", default_value = "0.1", requires = "baseline")]
    pub max_drop: f64,

    /// Write gate results as JUnit XML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
}

/// Recording and replay of model answers.
#[derive(Debug, Clone, Default, Args)]
pub struct Recordings {
    /// Save each model request and its answer in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub record: Option<PathBuf>,

    /// Read model answers from this folder instead of calling the models (no API key, no network)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "record")]
    pub replay: Option<PathBuf>,
}
