//! `agenticiqa dataset`: prepares and validates manifests of public datasets.

use std::collections::BTreeMap;
use std::io::{self, Write};

use agenticiqa::dataset::{self, Manifest, Options, Shares, Validation};

use crate::arguments::{Dataset, DatasetCommand, Prepare, RecordFormat, Validate};
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal;

/// Maximum number of problems to print.
const SHOWN: usize = 50;

/// Runs the command.
pub fn run(arguments: &Dataset) -> Result<Exit, Stop> {
    match &arguments.command {
        DatasetCommand::List => list(),
        DatasetCommand::Prepare(arguments) => prepare(arguments),
        DatasetCommand::Validate(arguments) => validate(arguments),
    }
}

fn list() -> Result<Exit, Stop> {
    let mut table = table::new(&["dataset", "description", "files in --root"]);
    for info in dataset::all() {
        table.add_row([info.name, info.summary, info.layout]);
    }
    writeln!(terminal::stdout(), "{table}")?;
    Ok(Exit::Done)
}

fn prepare(arguments: &Prepare) -> Result<Exit, Stop> {
    let shares = Shares::new(arguments.train_share, arguments.validation_share).ok_or_else(|| {
        let (train, validation) = (arguments.train_share, arguments.validation_share);
        Stop::bad_input(format!(
            "--train-share {train} and --validation-share {validation} must not be negative and must not add up to more than 1"
        ))
    })?;
    let options = Options { skip_missing: arguments.skip_missing, shares };
    let prepared = dataset::prepare(&arguments.name, &arguments.root, &options)?;
    Manifest::write(&arguments.output, &prepared.samples).map_err(Stop::failed)?;
    let mut splits: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in &prepared.samples {
        *splits.entry(sample.split.as_deref().unwrap_or("none")).or_default() += 1;
    }
    let splits: Vec<String> = splits.iter().map(|(split, count)| format!("{count} {split}")).collect();
    let mut out = terminal::stdout();
    let (name, count, output) = (prepared.info.name, prepared.samples.len(), arguments.output.display());
    writeln!(out, "{name}: {count} samples ({}) written to {output}", splits.join(", "))?;
    if !prepared.missing.is_empty() {
        writeln!(out, "skipped {} samples with missing images, e.g. {}", prepared.missing.len(), prepared.missing[0])?;
    }
    Ok(Exit::Done)
}

fn validate(arguments: &Validate) -> Result<Exit, Stop> {
    let found = dataset::validate(&arguments.manifest, !arguments.no_paths)?;
    let mut out = terminal::stdout();
    match arguments.format {
        RecordFormat::Json => {
            serde_json::to_writer(&mut out, &found)?;
            writeln!(out)?;
        }
        RecordFormat::Text => text(arguments, &found, &mut out)?,
    }
    Ok(if found.problems.is_empty() { Exit::Done } else { Exit::BadInput })
}

fn text(arguments: &Validate, found: &Validation, out: &mut impl Write) -> io::Result<()> {
    let path = arguments.manifest.display();
    for problem in found.problems.iter().take(SHOWN) {
        let sample = problem.sample_id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        writeln!(out, "{path}, line {}{sample}: {}: {}", problem.line, problem.field, problem.reason)?;
    }
    if found.problems.len() > SHOWN {
        writeln!(out, "... and {} more", found.problems.len() - SHOWN)?;
    }
    let splits: Vec<String> = found.splits.iter().map(|(split, count)| format!("{count} {split}")).collect();
    writeln!(
        out,
        "{path}: {} samples ({}), {} with reference, {} with mos, {} with answer; {} problems",
        found.samples,
        splits.join(", "),
        found.with_reference,
        found.with_mos,
        found.with_answer,
        found.problems.len()
    )
}
