//! Fits the models that AgenticIQA ships: perception, Fused-FR and Fused-NR.
//!
//! This program is for developers of AgenticIQA and is not part of `agenticiqa` itself:
//!
//! ```sh
//! cargo run --release -p agenticiqa-fit -- perception --help
//! ```
//!
//! `perception` generates distorted images (`samples`), labels them (`labels`), grows trees
//! (`boost`, `train`) and reports the accuracy on photos that were kept apart (`report`). `fusion`
//! fits the score with a reference. `fused-nr` reports on the models that `scripts/training` makes,
//! and `regions` on the places that are found without a model.

mod boost;
mod contributions;
mod corpus;
mod detector;
mod error;
mod fused_fr;
mod fused_nr;
mod labels;
mod linear;
mod measure;
mod opinions;
mod parts;
mod regions;
mod report;
mod samples;
mod scenes;
mod statistics;
mod train;
mod what_if;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use agenticiqa_vision::perception::Model;
use clap::{Args, Parser, Subcommand};

use error::Error;
use train::{Mode, Taken};

/// Fits the models that AgenticIQA ships.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fits the detection of distortions and their severity
    Perception(Perception),
    /// Reports how well Fused-NR, attributes and findings agree with people
    FusedNr(fused_nr::Arguments),
    /// Reports how many labeled subjects the detector finds
    Detector(detector::Arguments),
    /// Fits what each distortion costs, so that a score is a sum
    Contributions(contributions::Arguments),
    /// Fits the intervals of gains, or reports what edits gain
    WhatIf(what_if::Arguments),
    /// Fits Fused-FR, the score with a reference
    Fusion(fused_fr::Arguments),
    /// Fits which photos show the same scene, and which of them is better
    Scenes(scenes::Arguments),
    /// Reports how often subject and sky are found, and blurred backgrounds called blur
    Regions(regions::Arguments),
    /// Fits how sharp and how light people find parts of photos, or reports how often that is right
    Parts(parts::Arguments),
    /// Compares findings with the human opinions in a manifest
    Opinions {
        /// Folder with the manifest.jsonl
        folder: PathBuf,
        /// Use one photo in this many
        #[arg(long, default_value_t = 10)]
        step: usize,
    },
    /// Prints the measurements of all images of a folder, one JSON object per line
    Measure {
        /// Folder of images
        folder: PathBuf,
    },
    /// Prints the findings of an image as JSON
    Examine {
        /// Image file
        image: PathBuf,
        /// Reference image
        #[arg(long)]
        reference: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Perception {
    /// Folders of clean photos; of a folder with a manifest.jsonl only the best-rated are used
    #[arg(long, required = true, num_args = 1..)]
    photos: Vec<PathBuf>,
    /// Number of best-rated photos to distort, per folder with a manifest
    #[arg(long, default_value_t = 100)]
    best: usize,
    /// Number of best-rated photos to use as clean images, per folder with a manifest
    #[arg(long, default_value_t = 400)]
    clean: usize,
    /// Folder that caches measurements
    #[arg(long)]
    cache: PathBuf,
    /// Stop measuring after this many seconds; run again to continue
    #[arg(long, default_value_t = u64::MAX)]
    seconds: u64,
    /// Fit to the photos measured so far, even if some are left
    #[arg(long)]
    partly: bool,
    /// Model file to write
    #[arg(long)]
    out: PathBuf,
    /// Report file to write [default: print the report]
    #[arg(long)]
    report: Option<PathBuf>,
}

/// Measurements whose usual range is stored in the model for explanations.
const USUAL: [&str; 19] = [
    "edge_width",
    "edge_slope",
    "path_most",
    "noise",
    "strong_impulses",
    "noise_red",
    "grid_steps",
    "grid_peaks",
    "level_gaps",
    "equal_neighbors",
    "brightness",
    "contrast",
    "overshoot",
    "saturation",
    "cast_gray",
    "chroma_90",
    "colors",
    "green_alone",
    "zeros_1",
];

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Perception(arguments) => perception(&arguments),
        Command::FusedNr(arguments) => fused_nr::run(&arguments),
        Command::Detector(arguments) => detector::run(&arguments),
        Command::Contributions(arguments) => contributions::run(&arguments),
        Command::WhatIf(arguments) => what_if::run(&arguments),
        Command::Fusion(arguments) => fused_fr::run(&arguments),
        Command::Scenes(arguments) => scenes::run(&arguments),
        Command::Regions(arguments) => regions::run(&arguments),
        Command::Parts(arguments) => parts::run(&arguments),
        Command::Opinions { folder, step } => opinions::compare(&folder, step),
        Command::Measure { folder } => measure::folder(&folder),
        Command::Examine { image, reference } => opinions::show(&image, reference.as_deref()),
    };
    match outcome {
        Ok(text) => {
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn perception(arguments: &Perception) -> Result<String, Error> {
    let contents = corpus::collect(&arguments.photos, arguments.best, arguments.clean)?;
    let left = samples::measure_all(&contents, &arguments.cache, arguments.seconds)?;
    if left > 0 && !arguments.partly {
        return Ok(format!("{left} of {} photos are left: run again to continue\n", contents.len()));
    }
    let mut measured = Vec::new();
    for content in &contents {
        if let Some(found) = samples::read(&arguments.cache, content)? {
            measured.push((content, found));
        }
    }
    let Some((_, first)) = measured.first() else {
        return Err(Error::Nothing("no photo has been measured".to_owned()));
    };
    let (single_names, pair_names) = (first.single_names.clone(), first.pair_names.clone());
    if measured.iter().any(|(_, found)| found.single_names != single_names || found.pair_names != pair_names) {
        return Err(Error::Nothing("the cache contains other measurements: use a new folder".to_owned()));
    }
    let of = |test: bool| -> Vec<Taken<'_>> {
        let chosen = measured.iter().filter(|(content, _)| content.test == test);
        chosen
            .flat_map(|(content, found)| {
                let (photo, elsewhere) = (samples::hash(&content.name) >> 8, content.elsewhere);
                found.samples.iter().map(move |sample| Taken { sample, photo, elsewhere })
            })
            .collect()
    };
    let (fitting, testing) = (of(false), of(true));
    let mut model = Model {
        single: train::judge(&fitting, &single_names, Mode::Single),
        pair: train::judge(&fitting, &pair_names, Mode::Pair),
        usual: train::usual(&fitting, &single_names, &USUAL),
    };
    let bytes = model.write()?;
    std::fs::write(&arguments.out, &bytes).map_err(|error| Error::file(&arguments.out, error))?;
    let tested = measured.iter().filter(|(content, _)| content.test).count();
    let text = format!(
        "Fitted to {} images of {} photos, tested on {} images of {tested} others. The model has {} bytes.\n\n## Without a reference\n\n{}## With a reference\n\n{}",
        fitting.len(),
        measured.len() - tested,
        testing.len(),
        bytes.len(),
        report::report(&model.single, &testing, Mode::Single),
        report::report(&model.pair, &testing, Mode::Pair),
    );
    match &arguments.report {
        Some(path) => {
            std::fs::write(path, &text).map_err(|error| Error::file(path, error))?;
            Ok(String::new())
        }
        None => Ok(text),
    }
}
