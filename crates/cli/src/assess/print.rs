//! Prints a record as text: answer, score, distortions, tools, reasons and notes.

use std::io::Write;

use agenticiqa::language::Language;
use agenticiqa::state::{
    AssessmentRecord, Attribute, Axis, DistortionAnalysis, ExecutorOutput, GLOBAL, Severity, ToolExecutionLog,
};
use agenticiqa::tools::Registry;
use agenticiqa::words;
use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment};

use super::{opinions, parts};
use crate::exit::Stop;
use crate::maps::Written;
use crate::table;
use crate::terminal::{self, shown};

const BOLD: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Prints the record, in color on a terminal. Its texts come from outside and must not control the
/// terminal themselves.
pub fn record(record: &AssessmentRecord, registry: &Registry, maps: &[Written]) -> Result<(), Stop> {
    match terminal::cleaned(record) {
        Some(record) => write(&mut anstream::stdout().lock(), &record, registry, maps),
        // Without colors, whose control characters the writer would show.
        None => {
            let mut plain = anstream::StripStream::new(Vec::new());
            write(&mut plain, record, registry, maps)?;
            Ok(terminal::stdout().write_all(&plain.into_inner())?)
        }
    }
}

fn write(out: &mut impl Write, record: &AssessmentRecord, registry: &Registry, maps: &[Written]) -> Result<(), Stop> {
    let heading = |text: &str| format!("{BOLD}{text}{BOLD:#}");
    let (path, query) = (shown(&record.image_path), shown(&record.query));
    writeln!(out, "{FAINT}{path}  {query}{FAINT:#}")?;
    if let Some(result) = &record.summarizer_result {
        let chosen = record.options.iter().find(|option| option.letter.to_string() == result.final_answer.as_str());
        let text = match (chosen, result.quality_level) {
            (Some(option), _) => format!("{}. {}", option.letter, option.text),
            (None, Some(level)) if result.final_answer.as_str().len() == 1 => {
                format!("{}. {}", result.final_answer, level.name())
            }
            _ => result.final_answer.to_string(),
        };
        writeln!(out, "\n{}", heading(&text))?;
        if let (Some(score), Some(level)) = (result.quality_score, result.quality_level) {
            let color = level_color(level.number());
            let interval = result.score_interval.map(|of| format!(" ({:.1}–{:.1})", of.low(), of.high()));
            let sure = if result.open_levels().is_some() { "perhaps " } else { "" };
            let level = words::word(level, Language::English);
            let (bar, interval) = (table::bar(score.value()), interval.unwrap_or_default());
            writeln!(out, "{color}{bar}{color:#} of 5{interval}, {sure}{level}")?;
        }
    }
    opinions::print(out, record, &heading("Two opinions"))?;
    let (told, measured) = reasons(record);
    if !told.is_empty() {
        writeln!(out, "\n{}", wrap(told))?;
    }
    if let Some(result) = &record.summarizer_result {
        parts::waterfall(out, result, &heading("What the score is made of"))?;
    }
    if let Some(evidence) = &record.executor_evidence {
        parts::what_ifs(out, evidence, &heading("What if"))?;
        severities(out, evidence, &heading("Distortions"))?;
        attributes(out, evidence, &heading("Attributes"))?;
        tools(out, evidence, registry, &heading("Tools"))?;
    }
    if !measured.is_empty() {
        writeln!(out, "\n{}\n{}", heading("Reasons"), wrap(measured))?;
    }
    opinions::disagreements(out, record, &heading("Model and measurement disagree"))?;
    opinions::calls(out, &record.metadata, &heading("Calls"))?;
    let metadata = &record.metadata;
    let mut notes: Vec<&String> = metadata.error_details.iter().flatten().collect();
    notes.extend(&metadata.notes);
    if !notes.is_empty() {
        writeln!(out, "\n{}", heading("Notes"))?;
        for note in notes {
            writeln!(out, "{}", wrap(&format!("- {note}")))?;
        }
    }
    for Written { what, path } in maps {
        writeln!(out, "{what}: {}", shown(path))?;
    }
    let rounds =
        if metadata.iteration_count > 0 { format!(", {} plans", metadata.iteration_count + 1) } else { String::new() };
    let cost = metadata.cost_usd.filter(|cost| *cost > 0.0).map(|cost| format!(", {cost:.4} USD")).unwrap_or_default();
    let roles = &metadata.backends;
    let backends = if roles.planner == roles.executor && roles.executor == roles.summarizer {
        roles.planner.clone()
    } else {
        format!("{} / {} / {}", roles.planner, roles.executor, roles.summarizer)
    };
    writeln!(out, "\n{FAINT}{backends}, {:.2} s{rounds}{cost}{FAINT:#}", metadata.execution_time_ms / 1000.0)?;
    Ok(())
}

/// Returns what a person would say, without the answer, and the measurements. Reasons of one paragraph are
/// all measurements.
fn reasons(record: &AssessmentRecord) -> (&str, &str) {
    let Some(result) = &record.summarizer_result else { return ("", "") };
    match result.quality_reasoning.as_str().split_once("\n\n") {
        Some((told, measured)) => {
            (told.strip_prefix(result.final_answer.as_str()).unwrap_or(told).trim_start(), measured)
        }
        None => ("", result.quality_reasoning.as_str()),
    }
}

fn severities(out: &mut impl Write, evidence: &ExecutorOutput, heading: &str) -> Result<(), Stop> {
    let Some(analysis) = evidence.distortion_analysis.as_ref().filter(|analysis| !analysis.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\n{heading}")?;
    for (part, analyses) in analysis {
        let place = if part.as_str() == GLOBAL { String::new() } else { format!("{part}: ") };
        for DistortionAnalysis { distortion, severity, explanation } in analyses {
            let color = severity_color(*severity);
            let line = format!("{place}{} - {explanation}", distortion.name());
            writeln!(
                out,
                "{color}{:<9}{color:#} {}",
                severity.name(),
                indent(&wrap_to(&line, width().saturating_sub(10)), 10)
            )?;
        }
    }
    Ok(())
}

fn attributes(out: &mut impl Write, evidence: &ExecutorOutput, heading: &str) -> Result<(), Stop> {
    let Some(attributes) = evidence.attributes.as_ref().filter(|attributes| !attributes.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\n{heading}")?;
    for (part, attributes) in attributes {
        let words = |(axis, attribute): (&Axis, &Attribute)| {
            let kind = attribute.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
            let share = if attribute.reason.is_some() {
                String::new()
            } else {
                format!(" {:.0}%", 100.0 * attribute.probability)
            };
            format!("{} {}{kind}{share}", axis.name(), attribute.level)
        };
        let place = if part.as_str() == GLOBAL { String::new() } else { format!("{part}: ") };
        let list: Vec<String> = attributes.iter().map(words).collect();
        writeln!(out, "{}", wrap(&format!("{place}{}", list.join(", "))))?;
    }
    Ok(())
}

fn tools(out: &mut impl Write, evidence: &ExecutorOutput, registry: &Registry, heading: &str) -> Result<(), Stop> {
    if evidence.tool_logs.is_empty() {
        return Ok(());
    }
    let mut table = table::new(&["tool", "for", "raw", "better", "1-5", "time"]);
    for (index, log) in evidence.tool_logs.iter().enumerate() {
        let same = |earlier: &&ToolExecutionLog| {
            (&earlier.tool_name, earlier.region, earlier.fallback) == (&log.tool_name, log.region, log.fallback)
        };
        if evidence.tool_logs[..index].iter().any(|earlier| same(&earlier)) {
            continue;
        }
        let reasons: Vec<String> = evidence.tool_logs.iter().filter(same).map(purpose).collect();
        let better = registry.get(log.tool_name.as_str()).ok().and_then(|tool| tool.metadata().lower_is_better);
        let name = if log.fallback { format!("{} (fallback)", log.tool_name) } else { log.tool_name.to_string() };
        let raw = log.raw_score.map_or_else(|| "failed".to_owned(), |raw| table::number(raw.0));
        let interval = log.interval.map(|interval| [interval.low(), interval.high()]);
        table.add_row(vec![
            Cell::new(name),
            Cell::new(reasons.join(", ")),
            Cell::new(raw).set_alignment(CellAlignment::Right),
            Cell::new(table::direction(better)),
            Cell::new(log.normalized_score.map(|score| table::bar_with(score.value(), interval)).unwrap_or_default()),
            Cell::new(format!("{:.0} ms", log.execution_time.value() * 1000.0)).set_alignment(CellAlignment::Right),
        ]);
    }
    writeln!(out, "\n{heading}\n{table}")?;
    Ok(())
}

fn purpose(log: &ToolExecutionLog) -> String {
    let place = if log.object_name.as_str() == GLOBAL { String::new() } else { format!(" of {}", log.object_name) };
    format!("{}{place}", log.distortion.name())
}

fn level_color(level: u8) -> Style {
    let color = match level {
        1 => AnsiColor::Red,
        2 => AnsiColor::BrightRed,
        3 => AnsiColor::Yellow,
        4 => AnsiColor::Green,
        _ => AnsiColor::BrightGreen,
    };
    color.on_default()
}

fn severity_color(severity: Severity) -> Style {
    match severity {
        Severity::None => FAINT,
        Severity::Slight => AnsiColor::Green.on_default(),
        Severity::Moderate => AnsiColor::Yellow.on_default(),
        Severity::Severe => AnsiColor::BrightRed.on_default(),
        Severity::Extreme => AnsiColor::Red.on_default().bold(),
    }
}

fn width() -> usize {
    const READABLE: usize = 100;
    terminal_size::terminal_size().map_or(READABLE, |(width, _)| usize::from(width.0).clamp(40, READABLE))
}

fn wrap(text: &str) -> String {
    wrap_to(text, width())
}

/// Breaks lines between words. Text without spaces, such as Chinese, is not broken.
fn wrap_to(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

fn indent(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap_to("one two three", 7), "one two\nthree");
        assert_eq!(wrap_to("unbreakable", 3), "unbreakable");
        assert_eq!(indent("a\nb", 2), "a\n  b");
    }
}
