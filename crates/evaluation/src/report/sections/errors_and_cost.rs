//! The sections on errors, time, cost and evidence.

use crate::report::document::{Section, Table};
use crate::report::run::Run;
use crate::report::tally::NODES;
use crate::report::words::{self, count, milliseconds, of};
use agenticiqa_agent::state::Severity;

/// Errors by type, and lines that are not records.
pub(super) fn errors(run: &Run) -> Option<Section> {
    let groups = run.tally.errors_by_frequency();
    if groups.is_empty() && run.broken.count == 0 {
        return None;
    }
    let mut section = Section::new(run.number, "errors", "Errors");
    if !groups.is_empty() {
        let mut table = Table::new("Records with errors", &["type", "records", "samples", "first message"]);
        table.numeric[1] = true;
        for (kind, group) in groups {
            let more = group.count - group.sample_ids.len() as u64;
            let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
            table.row([
                kind.to_owned(),
                count(group.count),
                group.sample_ids.join(", ") + &more,
                group.example.clone(),
            ]);
        }
        section.tables.push(table);
    }
    if run.broken.count > 0 {
        let mut table =
            Table::new(format!("Lines of {} that are not records", run.path.display()), &["line", "problem"]);
        for (line, reason) in &run.broken.first {
            table.row([line.to_string(), reason.clone()]);
        }
        section.tables.push(table);
        let more = run.broken.count - run.broken.first.len() as u64;
        if more > 0 {
            section.notes.push(format!("and {} more invalid lines", count(more)));
        }
    }
    Some(section)
}

/// Time, tokens and cost by node, with the models used.
pub(super) fn spending(run: &Run) -> Section {
    let tally = &run.tally;
    let mut section = Section::new(run.number, "spending", "Time and cost");
    let mut table =
        Table::new("By node", &["node", "model", "mean", "median", "90 %", "99 %", "maximum", "total", "tokens"])
            .numeric(2..);
    let tokens = [tally.tokens.planner, tally.tokens.executor, tally.tokens.summarizer, tally.all_tokens()];
    let models = [&tally.backends.planner, &tally.backends.executor, &tally.backends.summarizer];
    let model = |place: usize| -> String {
        let named = |(name, times): (&String, &u64)| {
            if models[place].len() > 1 { format!("{name} ({})", count(*times)) } else { name.clone() }
        };
        models.get(place).map(|names| names.iter().map(named).collect::<Vec<_>>().join(", ")).unwrap_or_default()
    };
    for (place, times) in tally.time_quantiles().iter().enumerate() {
        let name = NODES.get(place).copied().unwrap_or("whole assessment");
        let times = match times {
            None => [(); 6].map(|()| words::nothing()),
            Some((times, sum)) => [times.mean, times.median, times.p90, times.p99, times.most, *sum].map(milliseconds),
        };
        let model = if place < 3 { model(place) } else { String::new() };
        table.row([name.to_owned(), model].into_iter().chain(times).chain([count(tokens[place])]));
    }
    section.tables.push(table);
    let unknown = tally.cost_unknown;
    let cost = if unknown > 0 {
        format!(
            "{} plus the cost of {}",
            words::dollars(tally.cost_usd),
            of(unknown, "record with an unknown price", "records with unknown prices")
        )
    } else {
        words::dollars(tally.cost_usd)
    };
    section
        .notes
        .push(format!("cost: {cost}; {} per sample", words::dollars(tally.cost_usd / tally.records.max(1) as f64)));
    section.notes.push(format!("{} with more than one plan", of(tally.replanned, "record", "records")));
    if let Some((first, last)) = tally.written {
        let span = last.duration_since(first).as_secs_f64() * 1000.0;
        section.notes.push(format!("written between {first:.0} and {last:.0} ({})", milliseconds(span)));
    }
    let versions: Vec<&str> = tally.versions.keys().map(String::as_str).collect();
    if !versions.is_empty() {
        section.notes.push(format!("agenticiqa {}", versions.join(", ")));
    }
    section
}

/// The tools that ran and the distortions that were found.
pub(super) fn evidence(run: &Run) -> Option<Section> {
    let tally = &run.tally;
    if tally.tools.is_empty() && tally.distortions.is_empty() {
        return None;
    }
    let mut section = Section::new(run.number, "evidence", "Tools and distortions");
    if !tally.tools.is_empty() {
        let mut table =
            Table::new("Tools", &["tool", "runs", "cached", "failed", "mean score", "mean time"]).numeric(1..);
        for (name, tool) in &tally.tools {
            let (sum, scored) = tool.scores;
            let measured = tool.runs - tool.cached;
            table.row([
                name.clone(),
                count(tool.runs),
                count(tool.cached),
                count(tool.failed),
                words::score((scored > 0).then(|| sum / scored as f64)),
                if measured > 0 { milliseconds(1000.0 * tool.seconds / measured as f64) } else { words::nothing() },
            ]);
        }
        section.tables.push(table);
    }
    if !tally.distortions.is_empty() {
        let headings: Vec<&str> = ["distortion"].into_iter().chain(Severity::names()).collect();
        let mut table = Table::new("Detected distortions by severity", &headings).numeric(1..);
        for (distortion, counts) in &tally.distortions {
            table.row([distortion.name().to_owned()].into_iter().chain(counts.iter().map(|number| count(*number))));
        }
        section.tables.push(table);
    }
    Some(section)
}
