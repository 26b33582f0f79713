//! How well scores and answers agree with people: correlations of scores with opinions, shares of right answers.
//!
//! Rules, the same everywhere, counted in [`Counts`] and shown:
//! - opinions and scores are turned so that higher is better, by `higher_is_better` and by the tool's own direction; a
//!   correlation of 1 is full agreement, a negative one is disagreement;
//! - equal values share the mean of their ranks (SRCC), and tau-b counts them out (KRCC);
//! - rows without opinion, without score, with an error, or with an infinite score (PSNR of identical images) are left out;
//! - a sample that is there more than once counts once, by its last row with a score.

mod agreement;
pub(crate) mod compare;
pub(crate) mod correlation;
pub(crate) mod drawing;
pub(crate) mod mcq;
mod paper;
pub(crate) mod plot;
pub(crate) mod rows;
mod tools;

use std::path::PathBuf;

pub use agreement::{Agreement, Measure, OutlierRule};
pub use compare::Comparison;
pub use correlation::{Correlation, Evaluated, Group, Settings, of_records, of_tools};
pub use drawing::Drawing;
pub use mcq::{Accuracy, Confusion, Mcq, McqCounts, McqGroup, mcq};
pub use paper::{PublishedAccuracy, PublishedCorrelation, published_accuracies, published_correlations};
pub use plot::{group_plot, scatter_plot};
pub use rows::{Absence, Counts, Filter};
pub use tools::{Scored, ToolScores, measure};

use crate::dataset;
use agenticiqa_tools as registry;

/// Why nothing could be evaluated; messages say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] dataset::Error),
    /// A tool is unknown or cannot run.
    #[error(transparent)]
    Tool(#[from] registry::Error),
    /// Numbers cannot be compared.
    #[error(transparent)]
    Numbers(#[from] agenticiqa_statistics::Error),
    /// No tool is named, and the file has no assessments.
    #[error(
        "{}: it is a manifest, without scores, and no tool is named",
        path.display()
    )]
    NoScores {
        /// The file.
        path: PathBuf,
    },
    /// Too few rows are left.
    #[error("{}: {used} of {rows} samples can be used, at least {needed} are needed: {reasons}", path.display())]
    TooFew {
        /// The file.
        path: PathBuf,
        /// How many rows it has.
        rows: usize,
        /// How many can be used.
        used: usize,
        /// How many are needed.
        needed: usize,
        /// Why the others cannot.
        reasons: String,
    },
    /// A plot cannot be made.
    #[error("the plot cannot be drawn: {0}")]
    Drawing(String),
    /// A tool compares with a reference that no sample has.
    #[error("{tool} compares with a reference, and no sample of {} has a reference_path", path.display())]
    NoReferences {
        /// The tool.
        tool: String,
        /// The file.
        path: PathBuf,
    },
}
