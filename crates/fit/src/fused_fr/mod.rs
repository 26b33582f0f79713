//! `agenticiqa-fit fusion`: fits Fused-FR to opinions, and reports its accuracy on data that was
//! left out.

mod report;
mod table;
mod train;
mod validation;

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use table::Row;
use validation::{Split, Unseen};

/// Arguments of `fusion`.
#[derive(Args)]
pub struct Arguments {
    /// CSV table of mean opinions with metric scores and statistics of tone and color
    #[arg(long)]
    scores: PathBuf,
    /// Model file to write
    #[arg(long)]
    output: PathBuf,
    /// Report file to write [default: print the report]
    #[arg(long)]
    report: Option<PathBuf>,
}

/// Fits the model, writes it, and returns the report.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let rows = table::read(&arguments.scores)?;
    let unseen = Unseen {
        contents: validation::left_out(&rows, Split::Contents)?,
        kinds: validation::left_out(&rows, Split::Kinds)?,
    };
    let width = validation::calibrate(&rows, &unseen, |_| true);
    let all: Vec<&Row> = rows.iter().collect();
    let mut model = train::fit(&all)?;
    (model.half_width, model.spread) = (width.half, width.spread);
    let bytes = model.write()?;
    std::fs::write(&arguments.output, &bytes).map_err(|error| Error::file(&arguments.output, error))?;
    let text = report::report(&rows, &unseen, &model, bytes.len())?;
    match &arguments.report {
        Some(path) => std::fs::write(path, &text).map(|()| String::new()).map_err(|error| Error::file(path, error)),
        None => Ok(text),
    }
}
