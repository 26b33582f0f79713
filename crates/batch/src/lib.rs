//! Many assessments: a stream of samples in, one record a sample out, whatever happens on the way.
//!
//! The input is read twice: once to know its samples (names, their number, what is wrong with them), once to work on
//! them, so that no more than a few samples are in memory at a time. Records are appended one whole line at a time; a run that was
//! killed goes on with [`Existing::Resume`] and ends with exactly one record a sample.

mod budget;
#[cfg(feature = "parquet")]
mod columns;
mod estimate;
mod execution_log;
mod failure;
pub mod gate;
mod input;
mod line;
mod output;
pub mod path_rules;
mod resume;
mod run;
mod sample;
#[cfg(test)]
mod simulation;
mod summary;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::path::PathBuf;

pub use crate::path_rules::PathRules;
pub use budget::Budget;
pub use estimate::Estimate;
pub use execution_log::{ExecutionLog, LogFile};
pub use input::{Input, Item, Items, Pictures};
pub use line::{Line, open_lines};
pub use output::{Output, Sink};
pub use resume::{Existing, Ledger, Standing};
pub use run::{Batch, Ending, Options, Progress, StopSignal};
pub use sample::{Flaw, Sample};
pub use summary::{ErrorGroup, Summary};

/// Why a batch cannot be started or cannot go on. What goes wrong with one sample is said in its record instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be read.
    #[error("{path}: the input cannot be read: {reason}")]
    Input {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// This program cannot read or write Parquet.
    #[error("{0}: this build cannot read or write Parquet (feature `parquet`)")]
    NoParquet(PathBuf),
    /// There is already something where the output goes.
    #[error("{0}: the output file exists")]
    OutputExists(PathBuf),
    /// Input and output are one file.
    #[error("{0}: input and output are the same file")]
    SameFile(PathBuf),
    /// Another process writes to the output.
    #[error("{0}: another run is writing to this file")]
    OutputInUse(PathBuf),
    /// The output has a line that is no record.
    #[error(
        "{path}, line {line}: this is not an assessment record ({reason})"
    )]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A record of the output answers another question than the sample of its name.
    #[error(
        "{path}, line {line}: the record of {sample_id:?} is about another query or image than line {input_line} of the input"
    )]
    AnotherQuestion {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The sample.
        sample_id: String,
        /// The line of the input.
        input_line: u64,
    },
    /// The output cannot be written.
    #[error(
        "{path}: the output cannot be written: {error}; {written} records are safe"
    )]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
        /// How many records this run has written.
        written: u64,
    },
    /// The output cannot be opened.
    #[error("{path}: the output cannot be opened: {error}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}
