//! Runs many assessments: reads samples from a file or a folder and writes one record per sample.
//!
//! A [`Batch`] reads its [`Input`] (JSON Lines, CSV, TSV, Parquet, or a list of images), sends each
//! [`Sample`] to an [`Agent`](agenticiqa_agent::Agent), and appends each record to the output as
//! one line of JSON. A sample that fails gets a record with the error and does not stop the run.
//! The result of a run is a [`Summary`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use agenticiqa_agent::reasoner::{Reasoner, builtin::Builtin};
//! use agenticiqa_agent::{Agent, state::ByNode};
//! use agenticiqa_batch::{Batch, Ending, Existing, Input, Options, PathRules, Pictures, StopSignal};
//! use agenticiqa_metrics::Image;
//! use agenticiqa_tools::{Registry, ToolCache};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let photo = Image::from_gray8(64, 64, (0..4096).map(|i| (i * 7 % 251) as u8).collect())?;
//! std::fs::write(folder.path().join("photo.png"), agenticiqa_imaging::encode_png(&photo)?)?;
//!
//! let builtin: Arc<dyn Reasoner> = Arc::new(Builtin);
//! let agent = Agent {
//!     registry: Arc::new(Registry::builtin()?),
//!     cache: Arc::new(ToolCache::new(1000, None)),
//!     reasoners: ByNode { planner: builtin.clone(), executor: builtin.clone(), summarizer: builtin },
//!     options: agenticiqa_agent::Options::default(),
//! };
//! let images = Pictures::find(&[folder.path().display().to_string()], "Is it sharp?")?;
//! let batch = Batch {
//!     input: Input::Pictures(images),
//!     paths: PathRules::new(None, None),
//!     output: folder.path().join("records.jsonl"),
//!     existing: Existing::Refuse,
//!     options: Options::default(),
//! };
//! let summary = batch.run(Arc::new(agent), &StopSignal::default(), &|_| ()).await?;
//! assert_eq!((summary.ending, summary.written()), (Ending::Complete, 1));
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The command `agenticiqa batch` and the jobs of the HTTP server use this crate.
//!
//! - **Resume**: with [`Existing::Resume`], an interrupted run keeps its good records, retries
//!   failed samples, and ends with exactly one record per sample.
//! - **Memory**: the input is read twice, once to index its samples and once to process them, so
//!   only a few samples are in memory at a time.
//! - **Budget**: a [`Budget`] limits cost and time; [`Options`] limits concurrency, samples and
//!   time per sample.
//! - **Dry run**: [`Batch::estimate`] checks the input and returns an [`Estimate`] of calls and
//!   cost.
//! - **Gates**: the module [`gate`] compares scores with a limit or with an earlier run.
//! - **Distributed runs**: [`open_lines`] returns each [`Line`] of an input, to be assessed
//!   anywhere.

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

/// The reason why a batch cannot start or continue. Errors of a single sample are in its record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be read.
    #[error("{path}: the input cannot be read: {reason}")]
    Input {
        /// The path of the input.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Parquet support is not compiled in.
    #[error("{0}: this build cannot read or write Parquet (feature `parquet`)")]
    NoParquet(PathBuf),
    /// The output file already exists.
    #[error("{0}: the output file exists")]
    OutputExists(PathBuf),
    /// Input and output are the same file.
    #[error("{0}: input and output are the same file")]
    SameFile(PathBuf),
    /// The range of samples begins after the last sample.
    #[error("{path}: the range begins at sample {first}, but the input has only {total}")]
    Range {
        /// The name of the input.
        path: String,
        /// The first sample of the range.
        first: u64,
        /// The number of samples.
        total: u64,
    },
    /// Another process is writing to the output.
    #[error("{0}: another run is writing to this file")]
    OutputInUse(PathBuf),
    /// The output contains a line that is not a record.
    #[error("{path}, line {line}: this is not an assessment record ({reason})")]
    NotARecord {
        /// The path of the output.
        path: PathBuf,
        /// The line number.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// A record in the output has the name of a sample but another question, image, option or
    /// region.
    #[error(
        "{path}, line {line}: the record of {sample_id:?} is about another query, image, option or region than line \
         {input_line} of the input"
    )]
    AnotherQuestion {
        /// The path of the output.
        path: PathBuf,
        /// The line number in the output.
        line: u64,
        /// The ID of the sample.
        sample_id: String,
        /// The line number in the input.
        input_line: u64,
    },
    /// The output cannot be written.
    #[error("{path}: the output cannot be written: {error}; {written} records are safe")]
    Output {
        /// The path of the output.
        path: PathBuf,
        /// The cause.
        error: io::Error,
        /// The number of records that this run has written.
        written: u64,
    },
    /// The output cannot be opened.
    #[error("{path}: the output cannot be opened: {error}")]
    Open {
        /// The path of the output.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
}
