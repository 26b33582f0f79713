//! Prints how many questions are understood, as tables or JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use agenticiqa::eval::{UnderstoodCount, UnderstoodQuestions};

use crate::arguments::RecordFormat;
use crate::exit::Stop;
use crate::table;
use crate::terminal;

/// Prints the report.
pub fn print(report: &UnderstoodQuestions, format: RecordFormat) -> Result<(), Stop> {
    let mut out = terminal::stdout();
    match format {
        RecordFormat::Json => {
            serde_json::to_writer(&mut out, report)?;
            writeln!(out)?;
        }
        RecordFormat::Text => text(&mut out, report)?,
    }
    Ok(out.flush()?)
}

fn text(out: &mut impl Write, report: &UnderstoodQuestions) -> io::Result<()> {
    let overall = &report.overall;
    let share = 100.0 * overall.share();
    writeln!(
        out,
        "{}: {} of {} questions are understood ({share:.1} %)",
        report.input, overall.understood, overall.questions
    )?;
    section(out, "concern", &report.by_concern)?;
    section(out, "language", &report.by_language)?;
    section(out, "form", &report.by_form)?;
    section(out, "axis", &report.by_axis)?;
    let words: Vec<String> = report.unknown_words.iter().map(|(word, count)| format!("{word} {count}")).collect();
    if !words.is_empty() {
        writeln!(out, "\nunknown words: {}", words.join(", "))?;
    }
    Ok(())
}

fn section(out: &mut impl Write, name: &str, counts: &BTreeMap<String, UnderstoodCount>) -> io::Result<()> {
    if counts.is_empty() {
        return Ok(());
    }
    let mut table = table::new(&[name, "questions", "understood", "share"]);
    for (value, count) in counts {
        table.add_row([
            value.clone(),
            count.questions.to_string(),
            count.understood.to_string(),
            format!("{:.1} %", 100.0 * count.share()),
        ]);
    }
    writeln!(out, "\n{table}")
}
