//! Agreement with people: correlations of scores with opinions, and accuracy of answers.
//!
//! The same rules apply everywhere. [`Counts`] reports what was left out.
//! - Opinions and scores are oriented so that higher is better, according to `higher_is_better` and
//!   the direction of the tool. A correlation of 1 means full agreement; a negative one means
//!   disagreement.
//! - Ties share the mean of their ranks (SRCC), and tau-b corrects for them (KRCC).
//! - Rows without an opinion, without a score, with an error, or with an infinite score (PSNR of
//!   identical images) are left out.
//! - A sample that occurs several times counts once, with its last row that has a score.

mod agreement;
pub(crate) mod compare;
pub(crate) mod correlation;
pub(crate) mod drawing;
pub(crate) mod mcq;
mod paper;
pub(crate) mod plot;
pub(crate) mod rows;
mod runs;
mod tools;
mod understanding;

use std::path::PathBuf;

pub use agreement::{Agreement, Measure, OutlierRule};
pub use compare::Comparison;
pub use correlation::{Correlation, Evaluated, Group, Settings, of_records, of_tools};
pub use drawing::Drawing;
pub use mcq::{Accuracy, Confusion, Mcq, McqCounts, McqGroup, mcq};
pub use paper::{PublishedAccuracy, PublishedCorrelation, published_accuracies, published_correlations};
pub use plot::{group_plot, scatter_plot};
pub use rows::{Absence, Counts, Filter};
pub use runs::{Answers, Run, Runs, runs};
pub use tools::{Scored, ToolScores, measure};
pub use understanding::{UnderstoodCount, UnderstoodQuestions, understanding};

use crate::dataset;
use agenticiqa_tools as registry;

/// The reason why nothing could be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] dataset::Error),
    /// A tool is unknown or cannot run.
    #[error(transparent)]
    Tool(#[from] registry::Error),
    /// The statistics cannot be computed.
    #[error(transparent)]
    Numbers(#[from] agenticiqa_statistics::Error),
    /// The file has no records, and no tool was named.
    #[error(
        "{}: it is a manifest, without scores, and no tool is named",
        path.display()
    )]
    NoScores {
        /// The path of the file.
        path: PathBuf,
    },
    /// Too few rows can be used.
    #[error("{}: {used} of {rows} samples can be used, at least {needed} are needed: {reasons}", path.display())]
    TooFew {
        /// The path of the file.
        path: PathBuf,
        /// The number of rows.
        rows: usize,
        /// The number of usable rows.
        used: usize,
        /// The number of rows needed.
        needed: usize,
        /// Why the other rows cannot be used.
        reasons: String,
    },
    /// A plot cannot be drawn.
    #[error("the plot cannot be drawn: {0}")]
    Drawing(String),
    /// A tool needs a reference, but no sample has one.
    #[error("{tool} compares with a reference, and no sample of {} has a reference_path", path.display())]
    NoReferences {
        /// The name of the tool.
        tool: String,
        /// The path of the file.
        path: PathBuf,
    },
}
