//! Arguments of several commands.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// What scores must hold.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Gates")]
pub struct Gates {
    /// Exit with 3 if a score is below this
    #[arg(long, value_name = "SCORE")]
    pub fail_under: Option<f64>,

    /// Exit with 3 if a score is lower than in this file, an earlier output of the same command in JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub baseline: Option<PathBuf>,

    /// By how much a score may be lower than in the baseline
    #[arg(long, value_name = "DIFFERENCE", default_value = "0.1", requires = "baseline")]
    pub max_drop: f64,

    /// Write what came of it as JUnit XML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
}

/// Answers of models that are kept.
#[derive(Debug, Clone, Default, Args)]
pub struct Recordings {
    /// Store each request to a model and its answer in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub record: Option<PathBuf>,

    /// Take the answers of models from this folder: no key, no network, the same records again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "record")]
    pub replay: Option<PathBuf>,
}
