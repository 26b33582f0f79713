//! Prints the summary as text or as a JSON object.

use std::io::Write;

use agenticiqa::batch::{Batch, Ending, Estimate, Summary};

use super::live::counts;
use crate::arguments::RecordFormat;
use crate::exit::{Exit, Stop};
use crate::terminal;

/// Prints the summary to stdout.
pub fn summary(summary: &Summary, batch: &Batch, format: RecordFormat) -> Result<(), Stop> {
    let mut out = terminal::stdout();
    if format == RecordFormat::Json {
        serde_json::to_writer(&mut out, summary)?;
        writeln!(out)?;
        return Ok(());
    }
    let rate = summary.written() as f64 / summary.seconds.max(1e-9);
    let (written, seconds) = (summary.written(), summary.seconds);
    writeln!(out, "{written} samples in {seconds:.1} s ({rate:.1} per second): {}", counts(summary))?;
    if summary.done_before > 0 {
        writeln!(out, "{} of {} samples were already done", summary.done_before, summary.total)?;
    }
    for line in summary.error_lines() {
        writeln!(out, "{line}")?;
    }
    if summary.foreign > 0 {
        let output = batch.output.display();
        writeln!(out, "{output} also has {} records whose samples are not in the input", summary.foreign)?;
    }
    let why = match summary.ending {
        Ending::Complete => None,
        Ending::Stopped => Some("stopped"),
        Ending::MaxTime => Some("stopped by --max-time"),
        Ending::MaxCost => Some("stopped by --max-cost"),
    };
    let left = summary.total.saturating_sub(summary.done_before + written);
    if let Some(why) = why {
        writeln!(out, "{why}: {left} samples are left; continue with --resume")?;
    } else if summary.failed > 0 {
        writeln!(out, "retry the failed samples with --resume")?;
    }
    Ok(())
}

/// Prints what a run would do. Invalid lines are bad input.
pub fn estimate(estimate: &Estimate, format: RecordFormat) -> Result<Exit, Stop> {
    let mut out = terminal::stdout();
    let exit = if estimate.flawed > 0 { Exit::BadInput } else { Exit::Done };
    if format == RecordFormat::Json {
        serde_json::to_writer(&mut out, estimate)?;
        writeln!(out)?;
        return Ok(exit);
    }
    let Estimate { total, done, open, flawed, calls, tokens, .. } = estimate;
    writeln!(out, "{total} samples: {done} done, {open} to assess, {flawed} invalid lines")?;
    for (line, message) in &estimate.flaws {
        writeln!(out, "line {line}: {message}")?;
    }
    if *flawed as usize > estimate.flaws.len() {
        writeln!(out, "and {} more", *flawed as usize - estimate.flaws.len())?;
    }
    if *calls > 0 {
        let cost = estimate
            .cost_usd
            .map_or("unknown cost (see rates in model_backends.yaml)".to_owned(), |cost| format!("{cost:.2} USD"));
        let basis = match estimate.from_records {
            0 => "a rough estimate".to_owned(),
            records => format!("estimated from {records} existing records"),
        };
        writeln!(out, "about {calls} model calls, {tokens} tokens, {cost} ({basis}; replans not included)")?;
    }
    Ok(exit)
}
