//! The sections that compare scores and answers with people's.

use std::collections::HashMap;

use super::with_interval;
use crate::eval::{Agreement, Correlation};
use crate::report::charts;
use crate::report::document::{Section, Table};
use crate::report::run::Run;
use crate::report::words::{self, count, figure, percent};

/// The maximum number of groups in a table.
const MOST_GROUPS: usize = 200;
const FIGURES: [&str; 7] = ["n", "SRCC", "PLCC", "PLCC fitted", "KRCC", "RMSE", "outliers"];

fn figures(caption: String, what: &str) -> Table {
    let headings: Vec<&str> = [what].into_iter().chain(FIGURES).collect();
    Table::new(caption, &headings).numeric(1..)
}

fn figures_of(name: &str, agreement: &Agreement) -> Vec<String> {
    let measures = [agreement.srcc, agreement.plcc, agreement.plcc_fitted, agreement.krcc].map(with_interval);
    let rest = [
        agreement.rmse.map_or_else(words::nothing, words::raw),
        agreement.outlier_ratio.map_or_else(words::nothing, percent),
    ];
    [name.to_owned(), count(agreement.n as u64)].into_iter().chain(measures).chain(rest).collect()
}

/// Compares scores with opinions.
pub(super) fn agreement(run: &Run, correlation: &Correlation, seed: u64) -> Section {
    let mut section = Section::new(run.number, "agreement", "Agreement with people");
    let Some(evaluated) = correlation.evaluated.first() else { return section };
    let cases: HashMap<&str, &str> = run.cases.iter().map(|case| (case.sample_id.as_str(), case.id.as_str())).collect();
    section.charts.push(charts::scatter(evaluated, &cases, seed));
    let dataset = correlation.dataset.as_deref().unwrap_or("all samples");
    let mut table = figures(format!("Scores and mean opinions: {dataset}"), "scores");
    table.row(figures_of(&run.name, &evaluated.overall));
    for row in &correlation.published {
        let (srcc, plcc) = (figure(Some(row.srcc)), figure(Some(row.plcc)));
        let none = words::nothing;
        let name = format!("{}, paper", row.method);
        table.quiet_row([name, none(), srcc, none(), plcc, none(), none(), none()]);
    }
    section.tables.push(table);
    for field in &run.group_by {
        let groups: Vec<_> = evaluated.groups.iter().filter(|group| group.field == *field).collect();
        section.charts.extend(charts::forest(evaluated, field));
        let mut table = figures(format!("By {field}"), field);
        for group in groups.iter().take(MOST_GROUPS) {
            table.row(figures_of(&group.value, &group.agreement));
        }
        section.tables.push(table);
        if groups.len() > MOST_GROUPS {
            section.notes.push(format!("{field}: the first {MOST_GROUPS} of {} groups are shown", groups.len()));
        }
    }
    section.notes.extend(agreement_notes(correlation));
    section
}

fn agreement_notes(correlation: &Correlation) -> Vec<String> {
    let Some(evaluated) = correlation.evaluated.first() else { return Vec::new() };
    let (counts, overall) = (&evaluated.counts, &evaluated.overall);
    let left_out = counts.left_out();
    let left_out = if left_out.is_empty() { "none left out".to_owned() } else { format!("left out: {left_out}") };
    let mut notes = vec![format!(
        "{} of {} records used, {left_out}; {} with a tied score, {} with a tied MOS",
        count(counts.used as u64),
        count(counts.rows as u64),
        overall.tied_scores,
        overall.tied_opinions
    )];
    let bootstrap = correlation.bootstrap;
    if bootstrap.resamples > 0 {
        let (share, resamples, seed) = (100.0 * bootstrap.confidence, bootstrap.resamples, bootstrap.seed);
        notes.push(format!(
            "confidence intervals: {share} %, percentile bootstrap with {resamples} resamples, seed {seed}"
        ));
    }
    if let Some(rule) = overall.outlier_rule {
        notes.push(format!(
            "PLCC fitted, RMSE and outliers are computed after fitting a five-parameter logistic; an outlier is {}",
            rule.describe()
        ));
    }
    if !correlation.published.is_empty() {
        notes.push("paper: AgenticIQA, arXiv 2509.26006; its PLCC is computed after the fit".to_owned());
    }
    notes.extend(evaluated.notes.iter().chain(&overall.note).cloned());
    notes
}

/// Compares answers with the correct ones.
pub(super) fn answers(run: &Run) -> Option<Section> {
    let answers = run.answers.as_ref()?;
    let mut section = Section::new(run.number, "answers", "Answers");
    let caption = format!("Correct answers: {}", answers.dataset.as_deref().unwrap_or("all questions"));
    let mut table = Table::new(caption, &["questions", "n", "correct", "accuracy", "interval", "paper"]).numeric(1..);
    let all = [("", "overall", answers.overall), ("", "answered", answers.answered)];
    let groups = answers.groups.iter().map(|group| (group.field.as_str(), group.value.as_str(), group.accuracy));
    for (field, value, accuracy) in all.into_iter().chain(groups) {
        let field = field.rsplit('.').next().filter(|field| !field.is_empty());
        let paper = answers.published.iter().find(|row| row.part == value && row.method != "human");
        table.row([
            field.map_or(value.to_owned(), |field| format!("{field}: {value}")),
            count(accuracy.n),
            count(accuracy.correct),
            percent(accuracy.accuracy),
            format!("{} – {}", percent(accuracy.interval.low), percent(accuracy.interval.high)),
            paper.map_or_else(words::nothing, |row| percent(row.accuracy)),
        ]);
    }
    section.tables.push(table);
    let letters = &answers.confusion.letters;
    let headings: Vec<&str> =
        ["correct"].into_iter().chain(letters.iter().map(String::as_str)).chain(["none"]).collect();
    let mut confusion = Table::new("Correct answer (rows) and given answer (columns)", &headings).numeric(1..);
    for (letter, counts) in letters.iter().zip(&answers.confusion.counts) {
        confusion.row([letter.clone()].into_iter().chain(counts.iter().map(|number| count(*number))));
    }
    section.tables.push(confusion);
    let counts = &answers.counts;
    section.notes.push(format!(
        "{} of {} records are questions with a known answer; counted as wrong: {} unanswered, {} failed; Wilson intervals",
        counts.used, counts.rows, counts.unanswered, counts.failed
    ));
    Some(section)
}
