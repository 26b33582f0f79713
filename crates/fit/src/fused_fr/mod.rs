//! `agenticiqa-fit fusion`: fits Fused-FR to opinions, and tells how it does on what was left out.

mod report;
mod table;
mod train;
mod validation;

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use table::Row;
use validation::{Split, Unseen};

/// Where the opinions are and where the model goes.
#[derive(Args)]
pub struct Arguments {
    /// A table of mean opinions beside scores of the members and numbers on tone and color (CSV).
    #[arg(long)]
    scores: PathBuf,
    /// The model.
    #[arg(long)]
    output: PathBuf,
    /// The report; printed if there is none.
    #[arg(long)]
    report: Option<PathBuf>,
}

/// Fits the model, writes it, and reports.
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
