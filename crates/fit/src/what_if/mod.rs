//! `agenticiqa-fit what-if`: fits how far the gain of an edit may be off, and reports what edits gain on
//! photos and on generated damage that nothing was fitted to.

mod damage;
mod labeled;
mod mended;

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;

/// Arguments of `what-if`.
#[derive(Args)]
pub struct Arguments {
    /// Folder with photos, opinions and a manifest.jsonl
    #[arg(long)]
    opinions: PathBuf,
    /// File with the attributes of the photos, one JSON object per line
    #[arg(long)]
    labels: PathBuf,
    /// Folders of clean photos to damage and to mend
    #[arg(long, num_args = 0..)]
    photos: Vec<PathBuf>,
    /// Fit the intervals of gains and write them to this file
    #[arg(long)]
    output: Option<PathBuf>,
    /// Write each labeled photo next to what the best edit makes of it to this folder
    #[arg(long)]
    pairs: Option<PathBuf>,
    /// Measure only about one in this many of the photos without a problem
    #[arg(long, default_value_t = 1)]
    clean_step: u64,
    /// Report on labeled photos only
    #[arg(long)]
    labeled: bool,
}

/// Fits if asked to, and returns the report.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    if let Some(path) = &arguments.output {
        return mended::fit(&arguments.opinions, path);
    }
    let mut report = labeled::report(arguments)?;
    if !arguments.labeled {
        report += &mended::report(&arguments.opinions, &arguments.photos)?;
    }
    Ok(report)
}
