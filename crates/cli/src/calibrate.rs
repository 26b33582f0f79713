//! `agenticiqa calibrate`: fits the scale of tools to human opinion scores.

use std::io::{self, Write};
use std::path::Path;

use agenticiqa::calibrate::{self, Calibrated};
use agenticiqa::config::Settings;
use agenticiqa::dataset::Manifest;
use agenticiqa::setup;
use agenticiqa::tools::{Registry, Tool};

use crate::arguments::{Calibrate, RecordFormat};
use crate::exit::{Exit, Stop};
use crate::terminal::{self, tell};
use crate::{measure, table};

/// Scores the manifest, fits each tool, writes the tool list and prints the curves. A tool that
/// cannot be fitted is an error and does not stop the others.
pub fn run(arguments: &Calibrate, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    let output = &arguments.output;
    if output.exists() && !arguments.force {
        let advice = "use another --output, or replace the file with --force".to_owned();
        return Err(Stop::bad_input(format!("{} already exists", output.display())).with(Some(advice)));
    }
    let registry = crate::registry(settings, &arguments.scoring.models.models)?;
    let manifest = Manifest::read(&arguments.manifest)?;
    let split = arguments.split.as_deref();
    let tools = if arguments.tools.is_empty() { suitable(&registry, &manifest) } else { arguments.tools.clone() };
    let scored = measure::run(&manifest, split, (&registry, &tools), &arguments.scoring, settings, quiet)?;
    if scored.samples.is_empty() {
        let split = split.unwrap_or_default();
        return Err(Stop::bad_input(format!("{}: no sample in the split {split:?}", manifest.path.display())));
    }
    let dataset = scored.samples.iter().find_map(|sample| sample.dataset.clone());
    let dataset = dataset.unwrap_or_else(|| file_name(&manifest.path));
    let (mut fitted, mut exit) = (Vec::new(), Exit::Done);
    for outcome in calibrate::calibrate(&scored, &registry, (&dataset, split), calibrate::today()) {
        match outcome {
            Ok(one) => fitted.push(one),
            Err(error) => {
                tell!("error: {error}");
                exit = Exit::Failed;
            }
        }
    }
    if fitted.is_empty() {
        return Ok(exit);
    }
    let list = calibrate::updated(setup::tool_list(settings)?, &registry, &fitted)?;
    agenticiqa::write_atomically(output, list.to_json()?.as_bytes())?;
    print(arguments, &fitted)?;
    Ok(exit)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Names the tools that are ready, have a direction, and have a reference if they need one.
fn suitable(registry: &Registry, manifest: &Manifest) -> Vec<String> {
    let references = manifest.samples.iter().any(|(_, sample)| sample.reference_path.is_some());
    let fits = |tool: &&Tool| {
        tool.availability().is_available()
            && tool.metadata().lower_is_better.is_some()
            && (references || !tool.needs_reference())
    };
    registry.iter().filter(fits).map(|tool| tool.name().to_owned()).collect()
}

fn print(arguments: &Calibrate, fitted: &[Calibrated]) -> Result<(), Stop> {
    let mut out = terminal::stdout();
    if arguments.format == RecordFormat::Json {
        for one in fitted {
            serde_json::to_writer(&mut out, one)?;
            writeln!(out)?;
        }
        return Ok(());
    }
    for one in fitted {
        curve(&mut out, one)?;
    }
    writeln!(
        out,
        "written to {}; to use it, set in pipeline.yaml: tools: {{metadata: {}}}",
        arguments.output.display(),
        arguments.output.display()
    )?;
    Ok(())
}

fn curve(out: &mut impl Write, one: &Calibrated) -> io::Result<()> {
    let figure = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    let calibration = &one.calibration;
    writeln!(out, "{}: fitted on {}", one.tool, calibration.describe())?;
    write!(out, "  SRCC {}, PLCC {}", figure(calibration.srcc), figure(calibration.plcc))?;
    if let Some(previous) = one.previous_residual {
        write!(out, "; residual before {previous:.3}")?;
    }
    writeln!(out)?;
    let left_out = one.counts.left_out();
    if !left_out.is_empty() {
        writeln!(out, "  skipped: {left_out}")?;
    }
    for reason in &one.failures {
        writeln!(out, "    {reason}")?;
    }
    if one.constrained {
        writeln!(out, "  the best fit is not monotonic: used the best monotonic one")?;
    }
    let mut table = table::new(&["raw score", "opinion", "1 (bad) to 5 (excellent)", "images"]);
    for bin in &one.curve {
        let clipped = bin.fitted.clamp(1.0, 5.0);
        table.add_row([
            table::number(bin.raw_score),
            format!("{:.2}", bin.opinion),
            table::bar(clipped),
            bin.n.to_string(),
        ]);
    }
    writeln!(out, "{table}")
}
