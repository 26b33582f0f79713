//! Prints accuracies as tables, JSON or CSV.

use std::io::{self, Write};

use agenticiqa::eval::{Accuracy, Mcq};

use crate::arguments::Format;
use crate::exit::Stop;
use crate::table;
use crate::terminal;

/// Prints the results.
pub fn print(report: &Mcq, format: Format) -> Result<(), Stop> {
    let mut out = terminal::stdout();
    match format {
        Format::Json => {
            serde_json::to_writer(&mut out, report)?;
            writeln!(out)?;
        }
        Format::Csv => csv(report)?,
        Format::Text => text(&mut out, report)?,
    }
    Ok(out.flush()?)
}

/// Returns every accuracy with its field and value.
fn rows(report: &Mcq) -> Vec<(&str, &str, Accuracy)> {
    let all = [("", "overall", report.overall), ("", "answered", report.answered)];
    let groups = report.groups.iter().map(|group| (group.field.as_str(), group.value.as_str(), group.accuracy));
    all.into_iter().chain(groups).collect()
}

fn csv(report: &Mcq) -> Result<(), Stop> {
    let mut writer = csv::Writer::from_writer(terminal::stdout());
    writer.write_record(["field", "value", "n", "correct", "accuracy", "low", "high"])?;
    for (field, value, accuracy) in rows(report) {
        let Accuracy { n, correct, accuracy, interval } = accuracy;
        let numbers = [
            n.to_string(),
            correct.to_string(),
            accuracy.to_string(),
            interval.low.to_string(),
            interval.high.to_string(),
        ];
        writer.write_record([field, value].into_iter().chain(numbers.iter().map(String::as_str)))?;
    }
    Ok(writer.flush()?)
}

fn text(out: &mut impl Write, report: &Mcq) -> io::Result<()> {
    let dataset = report.dataset.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    writeln!(out, "{}{dataset}", report.input)?;
    let mut table = table::new(&["questions", "n", "correct", "accuracy", "interval", "paper"]);
    for (field, value, accuracy) in rows(report) {
        let name = field.rsplit('.').next().filter(|field| !field.is_empty());
        let paper = report.published.iter().find(|row| row.part == value && row.method != "human");
        table.add_row([
            name.map_or(value.to_owned(), |field| format!("{field}: {value}")),
            accuracy.n.to_string(),
            accuracy.correct.to_string(),
            format!("{:.1} %", 100.0 * accuracy.accuracy),
            format!("{:.1} – {:.1} %", 100.0 * accuracy.interval.low, 100.0 * accuracy.interval.high),
            paper.map(|row| format!("{:.1} %", 100.0 * row.accuracy)).unwrap_or_default(),
        ]);
    }
    writeln!(out, "{table}\n\ncorrect answer (rows) and given answer (columns)")?;
    let letters = report.confusion.letters.iter().map(String::as_str);
    let headings: Vec<&str> = [""].into_iter().chain(letters).chain(["none"]).collect();
    let mut confusion = table::new(&headings);
    for (letter, counts) in report.confusion.letters.iter().zip(&report.confusion.counts) {
        confusion.add_row([letter.clone()].into_iter().chain(counts.iter().map(u64::to_string)));
    }
    writeln!(out, "{confusion}\n")?;
    let counts = &report.counts;
    let left_out = [
        (counts.other_split, "of another split"),
        (counts.duplicates, "repeated"),
        (counts.without_key, "without a correct answer"),
    ];
    let skipped: Vec<String> =
        left_out.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let skipped =
        if skipped.is_empty() { "none skipped".to_owned() } else { format!("skipped: {}", skipped.join(", ")) };
    writeln!(
        out,
        "{} of {} questions used, {skipped}; counted as wrong: {} unanswered, {} failed",
        counts.used, counts.rows, counts.unanswered, counts.failed
    )?;
    writeln!(out, "intervals: Wilson score")
}
