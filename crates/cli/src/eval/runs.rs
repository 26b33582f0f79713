//! Prints two runs side by side.

use std::io::{self, Write};

use agenticiqa::eval::{Run, Runs};

use super::with_interval;
use crate::arguments::RecordFormat;
use crate::exit::Stop;
use crate::table;
use crate::terminal;

/// Prints the comparison.
pub fn print(report: &Runs, format: RecordFormat) -> Result<(), Stop> {
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

fn text(out: &mut impl Write, report: &Runs) -> io::Result<()> {
    let [one, other] = &report.runs;
    let mut table = table::new(&["", one.input.as_str(), other.input.as_str()]);
    let mut row = |name: &str, value: &dyn Fn(&Run) -> String| {
        table.add_row([name.to_owned(), value(one), value(other)]);
    };
    let count = |value: f64, run: &Run| format!("{:.1}", value / run.records.max(1) as f64);
    row("mode", &|run| run.mode.clone());
    row("backends", &|run| run.backends.clone());
    row("records", &|run| run.records.to_string());
    row("failed", &|run| run.failed.to_string());
    row("calls per record", &|run| count(run.calls as f64, run));
    row("tokens per record", &|run| count(run.tokens as f64, run));
    row("cost, USD", &|run| run.cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("{cost:.4}")));
    row("views per record", &|run| count(run.views as f64, run));
    row("disagreements", &|run| run.disagreements.to_string());
    row("new plans", &|run| run.replans.to_string());
    if report.scores.is_some() {
        row("SRCC", &|run| run.srcc.map_or_else(|| "–".to_owned(), |srcc| format!("{srcc:.4}")));
    }
    if report.answers.is_some() {
        row("accuracy", &|run| {
            let accuracy = run.accuracy.map(|found| format!("{:.1} % of {}", 100.0 * found.accuracy, found.n));
            accuracy.unwrap_or_else(|| "–".to_owned())
        });
    }
    writeln!(out, "{table}")?;
    if let Some(scores) = &report.scores {
        let difference = with_interval(
            scores.paired_bootstrap.map(|found| found.difference),
            scores.paired_bootstrap.map(|found| found.interval),
        );
        let p = scores.paired_bootstrap.map_or_else(|| "–".to_owned(), |found| format!("{:.4}", found.p_value));
        writeln!(out, "SRCC difference on {} common samples: {difference}, p {p} (paired bootstrap)", scores.n)?;
    }
    if let Some(answers) = &report.answers {
        writeln!(
            out,
            "answers to {} common questions: only the first is correct on {}, only the second on {}, p {:.4} (exact McNemar)",
            answers.n, answers.only_first, answers.only_second, answers.p_value
        )?;
    }
    Ok(())
}
