//! The section on faults: what costs this folder most, and what to fix first.

use crate::report::charts;
use crate::report::document::{Section, Table};
use crate::report::run::Run;
use crate::report::tally::Tally;
use crate::report::words::{count, percent};

/// Gains of the folder below this are not worth a recommendation.
const WORTH: f64 = 0.01;

/// A fault of the images of a folder.
struct Fault<'a> {
    name: &'a str,
    images: u64,
    /// What it costs, averaged over all images of the folder.
    cost: f64,
    /// What mending it gains, averaged over all images, and the images in which an edit helps.
    gain: f64,
    mended: u64,
}

/// What the faults cost, most expensive first, and what edits gain.
pub(super) fn faults(run: &Run) -> Option<Section> {
    section(run.number, &run.tally)
}

fn section(number: usize, tally: &Tally) -> Option<Section> {
    let faults = of(tally);
    let first = faults.first()?;
    let mut section = Section::new(number, "faults", "What to fix first");
    section.lead = format!(
        "{} costs this folder most: {:.2} levels per image, found in {} of {} images.",
        capital(first.name),
        first.cost,
        count(first.images),
        count(tally.records)
    );
    if let Some(best) = faults.iter().filter(|fault| fault.gain >= WORTH).max_by(|a, b| a.gain.total_cmp(&b.gain)) {
        section.lead += &format!(
            " Fix {} first: edits of {} images would raise the mean score by {:.2}.",
            best.name,
            count(best.mended),
            best.gain
        );
    } else if tally.repairs.is_empty() {
        section.notes.push("No edits were tried: `agenticiqa batch --what-if` says what fixing would gain.".to_owned());
    }
    let bars: Vec<(String, f64)> = faults.iter().map(|fault| (fault.name.to_owned(), fault.cost)).collect();
    section.charts.push(charts::bars("What each fault costs, in levels per image of the folder", &bars));
    let headings = [
        "fault",
        "images",
        "share",
        "cost per image with it",
        "cost per image",
        "images that an edit helps",
        "gain per image",
    ];
    let mut table = Table::new("What costs most", &headings).numeric(1..);
    for Fault { name, images, cost, gain, mended } in &faults {
        let each = cost * tally.records as f64 / (*images).max(1) as f64;
        table.row([
            (*name).to_owned(),
            count(*images),
            percent(*images as f64 / tally.records.max(1) as f64),
            format!("{each:.2}"),
            format!("{cost:.2}"),
            count(*mended),
            format!("{gain:.2}"),
        ]);
    }
    section.tables.push(table);
    Some(section)
}

fn of(tally: &Tally) -> Vec<Fault<'_>> {
    let records = tally.records.max(1) as f64;
    let mut faults: Vec<Fault<'_>> = Vec::new();
    for (name, (sum, images)) in &tally.faults {
        let (gain, mended) = tally.repairs.get(name).copied().unwrap_or_default();
        faults.push(Fault { name, images: *images, cost: -sum / records, gain: gain / records, mended });
    }
    faults.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    faults
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn tally(repairs: &[(&str, (f64, u64))]) -> Tally {
        let named = |(name, value): &(&str, (f64, u64))| ((*name).to_owned(), *value);
        let faults = [("blur", (-2.0, 2)), ("underexposure", (-1.2, 3))];
        let (faults, repairs): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (faults.iter().map(named).collect(), repairs.iter().map(named).collect());
        Tally { records: 4, faults, repairs, ..Tally::default() }
    }

    #[test]
    fn the_most_expensive_fault_and_the_best_repair_are_named() {
        let section = section(1, &tally(&[("underexposure", (0.8, 2))])).unwrap();
        assert_eq!(
            section.lead,
            "Blur costs this folder most: 0.50 levels per image, found in 2 of 4 images. Fix underexposure first: edits \
             of 2 images would raise the mean score by 0.20."
        );
        let rows: Vec<&str> = section.tables[0].rows.iter().map(|row| row.cells[0].as_str()).collect();
        assert_eq!(rows, ["blur", "underexposure"]);
        assert!(section.charts[0].svg.contains("blur") && section.charts[0].text.len() == 2);
    }

    #[test]
    fn without_edits_the_report_says_how_to_get_them_and_without_faults_there_is_no_section() {
        let untried = section(1, &tally(&[])).unwrap();
        assert!(!untried.lead.contains("Fix") && untried.notes[0].contains("--what-if"), "{untried:?}");
        assert!(section(1, &Tally::default()).is_none());
    }
}
