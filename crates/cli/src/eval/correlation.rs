//! Prints correlations as tables, JSON or CSV.

use std::io::{self, Write};

use agenticiqa::eval::{Agreement, Correlation, Measure};
use agenticiqa::statistics::Interval;

use super::with_interval;
use crate::arguments::Format;
use crate::exit::Stop;
use crate::table;
use crate::terminal;

const COLUMNS: [&str; 19] = [
    "name",
    "field",
    "value",
    "n",
    "srcc",
    "srcc_low",
    "srcc_high",
    "plcc",
    "plcc_low",
    "plcc_high",
    "plcc_fitted",
    "plcc_fitted_low",
    "plcc_fitted_high",
    "krcc",
    "krcc_low",
    "krcc_high",
    "rmse",
    "outlier_ratio",
    "left_out",
];

/// Prints the results; `plots` are the paths of the plots.
pub fn print(report: &Correlation, format: Format, plots: &[String]) -> Result<(), Stop> {
    let mut out = terminal::stdout();
    match format {
        Format::Json => {
            serde_json::to_writer(&mut out, report)?;
            writeln!(out)?;
        }
        Format::Csv => csv(report)?,
        Format::Text => {
            text(&mut out, report)?;
            plots.iter().try_for_each(|path| writeln!(out, "plot: {path}"))?;
        }
    }
    Ok(out.flush()?)
}

fn csv(report: &Correlation) -> Result<(), Stop> {
    let mut writer = csv::Writer::from_writer(terminal::stdout());
    writer.write_record(COLUMNS)?;
    for evaluated in &report.evaluated {
        let left_out = evaluated.counts.left_out();
        writer.write_record(fields([&evaluated.name, "", ""], &evaluated.overall, &left_out))?;
        for group in &evaluated.groups {
            writer.write_record(fields([&evaluated.name, &group.field, &group.value], &group.agreement, ""))?;
        }
    }
    Ok(writer.flush()?)
}

fn fields(names: [&str; 3], agreement: &Agreement, left_out: &str) -> Vec<String> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let ends = |interval: Option<Interval>| [interval.map(|ends| ends.low), interval.map(|ends| ends.high)];
    let mut fields: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    fields.push(agreement.n.to_string());
    for Measure { value, interval } in [agreement.srcc, agreement.plcc, agreement.plcc_fitted, agreement.krcc] {
        fields.push(number(value));
        fields.extend(ends(interval).map(number));
    }
    fields.extend([agreement.rmse, agreement.outlier_ratio].map(number));
    fields.push(left_out.to_owned());
    fields
}

fn text(out: &mut impl Write, report: &Correlation) -> io::Result<()> {
    let dataset = report.dataset.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let split = report.split.as_ref().map(|split| format!(", split {split}")).unwrap_or_default();
    writeln!(out, "{}{dataset}{split}", report.input)?;
    let rows = report.evaluated.iter().map(|evaluated| (evaluated.name.as_str(), &evaluated.overall));
    writeln!(out, "{}", figures("scores", rows))?;
    for evaluated in &report.evaluated {
        let fields: std::collections::BTreeSet<&str> =
            evaluated.groups.iter().map(|group| group.field.as_str()).collect();
        for field in fields {
            let members = evaluated.groups.iter().filter(|group| group.field == field);
            writeln!(out, "\n{} by {field}", evaluated.name)?;
            writeln!(out, "{}", figures(field, members.map(|group| (group.value.as_str(), &group.agreement))))?;
        }
    }
    remarks(out, report)?;
    comparisons(out, report)?;
    published(out, report)
}

fn figures<'a>(what: &str, rows: impl Iterator<Item = (&'a str, &'a Agreement)>) -> comfy_table::Table {
    let mut table = table::new(&[what, "n", "SRCC", "PLCC", "PLCC fitted", "KRCC", "RMSE", "outliers"]);
    for (name, agreement) in rows {
        let measure = |measure: Measure| with_interval(measure.value, measure.interval);
        table.add_row([
            name.to_owned(),
            agreement.n.to_string(),
            measure(agreement.srcc),
            measure(agreement.plcc),
            measure(agreement.plcc_fitted),
            measure(agreement.krcc),
            agreement.rmse.map(table::number).unwrap_or_else(|| "–".to_owned()),
            agreement.outlier_ratio.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share)),
        ]);
    }
    table
}

/// Prints the counts, the skipped samples and the assumptions.
fn remarks(out: &mut impl Write, report: &Correlation) -> io::Result<()> {
    writeln!(out)?;
    for evaluated in &report.evaluated {
        let (counts, overall) = (&evaluated.counts, &evaluated.overall);
        let left_out = counts.left_out();
        let left_out = if left_out.is_empty() { "none skipped".to_owned() } else { format!("skipped: {left_out}") };
        let ties = format!("{} with tied scores, {} with tied mos", overall.tied_scores, overall.tied_opinions);
        writeln!(out, "{}: {} of {} samples used, {left_out}; {ties}", evaluated.name, counts.used, counts.rows)?;
        for note in evaluated.notes.iter().chain(&overall.note) {
            writeln!(out, "  {note}")?;
        }
    }
    let bootstrap = report.bootstrap;
    if bootstrap.resamples > 0 {
        let share = 100.0 * bootstrap.confidence;
        writeln!(
            out,
            "intervals: {share}%, percentile bootstrap with {} resamples, seed {}",
            bootstrap.resamples, bootstrap.seed
        )?;
    }
    if let Some(rule) = report.evaluated.iter().find_map(|evaluated| evaluated.overall.outlier_rule) {
        writeln!(
            out,
            "PLCC fitted, RMSE and outliers: after the five-parameter logistic; an outlier is {}",
            rule.describe()
        )?;
    }
    Ok(())
}

fn comparisons(out: &mut impl Write, report: &Correlation) -> io::Result<()> {
    if report.comparisons.is_empty() {
        return Ok(());
    }
    let mut table = table::new(&["first", "second", "n", "SRCC difference", "p (paired bootstrap)", "p (Williams)"]);
    for comparison in &report.comparisons {
        let bootstrap = comparison.paired_bootstrap;
        table.add_row([
            comparison.first.clone(),
            comparison.second.clone(),
            comparison.n.to_string(),
            with_interval(bootstrap.map(|found| found.difference), bootstrap.map(|found| found.interval)),
            bootstrap.map_or("–".to_owned(), |found| format!("{:.4}", found.p_value)),
            comparison.williams.map_or("–".to_owned(), |found| format!("{:.2e}", found.p_value)),
        ]);
    }
    writeln!(out, "\n{table}")
}

fn published(out: &mut impl Write, report: &Correlation) -> io::Result<()> {
    let Some(dataset) = report.published.first().map(|row| &row.dataset) else { return Ok(()) };
    writeln!(out, "\n{dataset} in the AgenticIQA paper (arXiv 2509.26006)")?;
    let mut table = table::new(&["scores", "SRCC", "PLCC"]);
    for evaluated in &report.evaluated {
        let overall = &evaluated.overall;
        let figure = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
        let plcc = overall.plcc_fitted.value.or(overall.plcc.value);
        table.add_row([format!("{} (here)", evaluated.name), figure(overall.srcc.value), figure(plcc)]);
    }
    for row in &report.published {
        table.add_row([row.method.clone(), format!("{:.4}", row.srcc), format!("{:.4}", row.plcc)]);
    }
    writeln!(out, "{table}")
}
