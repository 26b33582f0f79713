//! The sections of a report, with facts, tables and charts.

mod agreement;
mod errors_and_cost;
mod faults;
mod scores;

use agenticiqa_statistics::Interval;

use agreement::{agreement, answers};
use errors_and_cost::{errors, evidence, spending};
use faults::faults;
use scores::scores;

use super::document::{Fact, Section, Table};
use super::run::Run;
use super::tally::quantile;
use super::words::{self, count, figure, milliseconds, of, percent};
use crate::eval::{Comparison, Measure};

/// The summary: counts, time, models, tokens, cost.
pub(super) fn facts(run: &Run) -> Vec<Fact> {
    let tally = &run.tally;
    let mut facts = vec![Fact::new("samples", count(run.rows.rows.len() as u64), records_hint(run))];
    let share = |number: u64| percent(number as f64 / tally.records.max(1) as f64);
    facts.push(Fact::new("answered", count(tally.succeeded), share(tally.succeeded)).toned("good"));
    if tally.partial > 0 {
        facts.push(Fact::new("with problems", count(tally.partial), share(tally.partial)).toned("warn"));
    }
    let tone = if tally.failed > 0 { "bad" } else { "" };
    facts.push(Fact::new("failed", count(tally.failed), share(tally.failed)).toned(tone));
    let scores = run.sorted_scores();
    if !scores.is_empty() {
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let middle = format!("middle half {:.2} to {:.2}", quantile(&scores, 0.25), quantile(&scores, 0.75));
        facts.push(Fact::new("mean score", format!("{mean:.2}"), middle));
    }
    facts.extend(headline(run));
    if let Some((times, sum)) = tally.time_quantiles()[3] {
        facts.push(Fact::new(
            "time per sample",
            milliseconds(times.median),
            format!("median; {} in total", milliseconds(sum)),
        ));
    }
    let tokens = tally.all_tokens();
    let unknown =
        if tally.cost_unknown > 0 { format!("; unknown for {}", count(tally.cost_unknown)) } else { String::new() };
    let cost = if tokens == 0 && tally.cost_usd == 0.0 && tally.cost_unknown == 0 {
        "none".to_owned()
    } else {
        words::dollars(tally.cost_usd)
    };
    facts.push(Fact::new("cost", cost, of(tokens, "token", "tokens") + &unknown));
    facts
}

fn records_hint(run: &Run) -> String {
    let mut parts = vec![of(run.tally.records, "record", "records")];
    if run.rows.counts.duplicates > 0 {
        parts.push(format!("{} repeated", count(run.rows.counts.duplicates as u64)));
    }
    if run.broken.count > 0 {
        parts.push(of(run.broken.count, "invalid line", "invalid lines"));
    }
    parts.join(", ")
}

/// The main results of an evaluation.
fn headline(run: &Run) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(evaluated) = run.correlation.as_ref().and_then(|correlation| correlation.evaluated.first()) {
        let overall = &evaluated.overall;
        let plcc = if overall.plcc_fitted.value.is_some() { overall.plcc_fitted } else { overall.plcc };
        for (name, measure) in [("SRCC", overall.srcc), ("PLCC", plcc)] {
            facts.push(Fact::new(name, figure(measure.value), ends(measure.interval)));
        }
    }
    if let Some(answers) = &run.answers {
        let overall = answers.overall;
        let hint = format!("{} of {} correct", count(overall.correct), count(overall.n));
        facts.push(Fact::new("accuracy", percent(overall.accuracy), hint));
    }
    facts
}

fn ends(interval: Option<Interval>) -> String {
    interval.map(|Interval { low, high }| format!("[{low:.3}, {high:.3}]")).unwrap_or_default()
}

fn with_interval(measure: Measure) -> String {
    let interval = ends(measure.interval);
    if interval.is_empty() { figure(measure.value) } else { format!("{} {interval}", figure(measure.value)) }
}

/// Returns all sections of a run that have content.
pub(super) fn all(run: &Run, seed: u64) -> Vec<Section> {
    let parts = [
        run.correlation.as_ref().map(|correlation| agreement(run, correlation, seed)),
        answers(run),
        Some(scores(run)),
        faults(run),
        errors(run),
        Some(spending(run)),
        evidence(run),
    ];
    parts.into_iter().flatten().collect()
}

/// Compares the first run with the others.
pub(super) fn comparisons(comparisons: &[Comparison]) -> Option<Table> {
    if comparisons.is_empty() {
        return None;
    }
    let headings =
        ["first", "second", "n", "SRCC, first", "SRCC, second", "difference", "p (bootstrap)", "p (Williams)"];
    let mut table = Table::new("Difference between runs", &headings).numeric(2..);
    for one in comparisons {
        let bootstrap = one.paired_bootstrap;
        let difference =
            Measure { value: bootstrap.map(|found| found.difference), interval: bootstrap.map(|found| found.interval) };
        table.row([
            one.first.clone(),
            one.second.clone(),
            count(one.n as u64),
            figure(one.first_srcc),
            figure(one.second_srcc),
            with_interval(difference),
            bootstrap.map_or_else(words::nothing, |found| format!("{:.4}", found.p_value)),
            one.williams.map_or_else(words::nothing, |found| format!("{:.2e}", found.p_value)),
        ]);
    }
    Some(table)
}
