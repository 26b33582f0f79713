//! The section on the distribution of scores.

use std::collections::BTreeMap;

use crate::report::charts;
use crate::report::document::{Section, Table};
use crate::report::run::Run;
use crate::report::tally::quantile;
use crate::report::words::{self, count};

/// The maximum number of groups in a table.
const MOST_GROUPS: usize = 200;

/// The distribution of scores, overall and by group.
pub(super) fn scores(run: &Run) -> Section {
    let mut section = Section::new(run.number, "scores", "Scores");
    let scores = run.sorted_scores();
    if scores.is_empty() {
        section.lead = "No sample has a score.".to_owned();
        return section;
    }
    section.charts.push(charts::histogram(&scores));
    let heading = |what: &str| -> Vec<String> {
        [what, "n", "mean", "5 %", "25 %", "median", "75 %", "95 %"].map(str::to_owned).to_vec()
    };
    let row = |name: &str, scores: &[f64]| -> Vec<String> {
        let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        let places = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| words::score(Some(quantile(scores, share))));
        [name.to_owned(), count(scores.len() as u64), words::score(Some(mean))].into_iter().chain(places).collect()
    };
    let mut table = Table::new("Scores from 1 (bad) to 5 (excellent)", &heading("samples")).numeric(1..);
    table.row(row("all", &scores));
    section.tables.push(table);
    for (place, field) in run.group_by.iter().enumerate() {
        let mut groups: BTreeMap<&str, Vec<f64>> = Default::default();
        for one in &run.rows.rows {
            let Ok(score) = one.score else { continue };
            groups.entry(one.groups[place].as_deref().unwrap_or("(none)")).or_default().push(score);
        }
        let mut table = Table::new(format!("Scores by {field}"), &heading(field)).numeric(1..);
        for (value, mut scores) in groups.into_iter().take(MOST_GROUPS) {
            scores.sort_by(f64::total_cmp);
            table.row(row(value, &scores));
        }
        section.tables.push(table);
    }
    section
}
