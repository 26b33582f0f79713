//! Prints the parts of a score as a waterfall, and what edits would change.

use std::io::Write;

use agenticiqa::state::{Contribution, ExecutorOutput, GLOBAL, Operation, Refusal, SummarizerOutput, WhatIf, WhatIfs};
use anstyle::{AnsiColor, Style};

use crate::exit::Stop;

/// Width of the waterfall, which runs from 1 to 5.
const WIDTH: usize = 32;
const FALL: Style = AnsiColor::Red.on_default();
const RISE: Style = AnsiColor::Green.on_default();

/// Prints where the score comes from: each line starts where the one before ended.
pub fn waterfall(out: &mut impl Write, result: &SummarizerOutput, heading: &str) -> Result<(), Stop> {
    let Some((start, others)) = result.contributions.split_first() else { return Ok(()) };
    writeln!(out, "\n{heading}")?;
    let width = result.contributions.iter().map(|part| part.name.chars().count()).max().unwrap_or(0);
    writeln!(out, "{:width$}  {:+.2}  {}", start.name, start.value, bar(1.0, start.value))?;
    let mut from = start.value;
    for Contribution { name, value, interval } in others {
        let to = from + value;
        let style = if *value < 0.0 { FALL } else { RISE };
        let interval = interval.map(|[low, high]| format!("  ({low:+.1} to {high:+.1})")).unwrap_or_default();
        writeln!(out, "{name:width$}  {value:+.2}  {style}{}{style:#}{interval}", bar(from, to))?;
        from = to;
    }
    Ok(())
}

/// Draws the way from one score to another on the scale from 1 to 5.
fn bar(from: f64, to: f64) -> String {
    let place = |score: f64| ((score.clamp(1.0, 5.0) - 1.0) / 4.0 * WIDTH as f64).round() as usize;
    let (first, last) = (place(from.min(to)), place(from.max(to)));
    let drawn = last.max(first + 1) - first;
    format!("{}{}{}", " ".repeat(first), "█".repeat(drawn), " ".repeat(WIDTH.saturating_sub(first + drawn)))
}

/// Prints what edits would change.
pub fn what_ifs(out: &mut impl Write, evidence: &ExecutorOutput, heading: &str) -> Result<(), Stop> {
    let Some(what_if) = evidence.what_if.as_ref().filter(|all| all.values().any(has_news)) else {
        return Ok(());
    };
    writeln!(out, "\n{heading}")?;
    for (object, what_ifs) in what_if {
        let place = if object.as_str() == GLOBAL { String::new() } else { format!("{object}: ") };
        for tried in &what_ifs.tried {
            writeln!(out, "{place}{}", sentence(tried))?;
        }
        for lost in &what_ifs.lost {
            writeln!(out, "{place}No edit can mend the {}.", lost.name())?;
        }
        if !what_ifs.skipped.is_empty() {
            let skipped: Vec<&str> = what_ifs.skipped.iter().map(|problem| problem.name()).collect();
            writeln!(out, "{place}Not tried, to save time: edits for {}. --what-if tries them.", skipped.join(", "))?;
        }
        if let Some(refusal) = what_ifs.refusal {
            writeln!(out, "{place}No edit was tried: {}.", reason(refusal))?;
        }
    }
    Ok(())
}

/// Returns why no edit was tried.
pub fn reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NotAPhoto => "the image is unlike photos",
        Refusal::OneColor => "the image has one color",
    }
}

fn has_news(what_ifs: &WhatIfs) -> bool {
    let WhatIfs { tried, lost, skipped, refusal } = what_ifs;
    !tried.is_empty() || !lost.is_empty() || !skipped.is_empty() || refusal.is_some()
}

fn sentence(tried: &WhatIf) -> String {
    let edit = edit(tried.operation, tried.amount);
    let [low, high] = tried.gain_interval;
    if tried.doubtful {
        return format!("{edit} would not raise the score, so the {} is doubtful.", tried.problem.name());
    }
    format!(
        "{edit} would raise the score from {:.1} to {:.1} (gain {low:+.1} to {high:+.1}).",
        tried.before, tried.after
    )
}

/// Returns an edit in words.
pub fn edit(operation: Operation, amount: f64) -> String {
    match operation {
        Operation::Deblock => format!("Smoothing the blocks ({:.0}%)", 100.0 * amount),
        Operation::Denoise => format!("Removing {amount:.1} gray levels of noise"),
        Operation::WhiteBalance => format!("Removing {:.0}% of the color cast", 100.0 * amount),
        Operation::WhitePatch => format!("Making the brightest tones white ({:.0}%)", 100.0 * amount),
        Operation::Exposure => format!("An exposure of {amount:+.1} EV"),
        Operation::Shadows => format!("Brightening the shadows ({:.0}%)", 100.0 * amount),
        Operation::Contrast => format!("Using {:.0}% of the unused tones", 100.0 * amount),
        Operation::Saturation => format!("Colors {amount:.2} times as strong"),
        Operation::Sharpen => format!("Sharpening ({:.0}%)", 100.0 * amount),
        Operation::Soften => format!("Softening with a radius of {amount:.1} px"),
    }
}
