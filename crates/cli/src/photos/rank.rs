//! `agenticiqa rank`: photos, best first.

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

use agenticiqa::config::{Environment, Settings};
use agenticiqa::photos::{self, By, Criterion, Ranking, Row, html};
use agenticiqa::setup;

use super::{Live, cache, find, report, survey};
use crate::arguments::{Rank, RankFormat};
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal::{self, shown};

/// Ranks the photos and prints them.
pub fn run(arguments: &Rank, settings: &Settings, environment: &Environment, quiet: bool) -> Result<Exit, Stop> {
    let registry = crate::registry(settings, &arguments.models.models)?;
    let (mut agent, tool);
    let by = match (&arguments.query, &arguments.by) {
        (Some(query), _) => {
            agent = setup::agent(settings, environment, registry)?;
            agent.options.decoder = arguments.limits.decoder(settings);
            Criterion::Answer(&agent, query)
        }
        (None, None | Some(By::Quality)) => Criterion::Quality,
        (None, Some(By::Axis(axis))) => Criterion::Axis(*axis),
        (None, Some(By::Tool(name))) => {
            tool = registry.runnable(name)?.clone();
            if tool.needs_reference() {
                let reason = format!("--by {}: it compares with a reference image", tool.name());
                return Err(Stop::bad_input(reason).with(Some("choose a no-reference tool, see `tools list`".into())));
            }
            Criterion::Tool(&tool)
        }
    };
    let (paths, found) = find(&arguments.images)?;
    let (cache, stop) = (cache(arguments.measuring, settings), AtomicBool::new(false));
    let survey = survey(arguments.limits, settings, cache.as_ref(), &stop);
    let live = Live::new(quiet);
    let mut ranking = photos::rank(&survey, &paths, by, &|progress| live.show(progress));
    live.finish();
    let exit = report(&ranking.failed).max(found);
    let total = ranking.rows.len();
    if arguments.worst {
        ranking.rows.reverse();
    }
    if let Some(top) = arguments.top {
        ranking.rows.truncate(top.of(total));
    }
    let mut out = io::BufWriter::new(terminal::stdout());
    match arguments.format {
        RankFormat::Text => text(&mut out, &ranking, total, arguments)?,
        RankFormat::Json => {
            for row in ranking.rows.iter().cloned().chain(ranking.failures()) {
                serde_json::to_writer(&mut out, &row)?;
                out.write_all(b"\n")?;
            }
        }
        RankFormat::Csv => csv(&mut out, &ranking)?,
        RankFormat::Html => {
            let shown = |row: &Row| paths[row.index].clone();
            html::ranking(&mut out, &ranking, total, &survey.decoder, &shown)?;
        }
    }
    out.flush()?;
    Ok(exit)
}

fn text(out: &mut impl Write, ranking: &Ranking, total: usize, arguments: &Rank) -> Result<(), Stop> {
    let mut listed = table::new(&["rank", "1 (bad) to 5 (excellent)", "percentile", "image", "main reason"]);
    for row in &ranking.rows {
        listed.add_row([
            row.rank.map(|rank| format!("{rank}{}", if row.sharing > 1 { "=" } else { "" })).unwrap_or_default(),
            row.score.map(|score| table::bar_with(score, row.interval)).unwrap_or_else(|| "–".to_owned()),
            row.percentile.map(|percentile| format!("{percentile:.0}")).unwrap_or_default(),
            shown(&row.image_path),
            row.main_reason.as_deref().map(shown).unwrap_or_default(),
        ]);
    }
    writeln!(out, "{listed}")?;
    let shown = ranking.rows.len();
    if shown < total {
        writeln!(out, "{shown} of {total} photos, the {} ones.", if arguments.worst { "worst" } else { "best" })?;
    }
    if ranking.rows.iter().any(|row| row.sharing > 1) {
        let why = if ranking.rows.iter().any(|row| row.interval.is_some()) {
            "their 90% intervals overlap that of the best photo of the rank"
        } else {
            "they are equal"
        };
        writeln!(out, "Photos marked with = share a rank: {why}.")?;
    }
    Ok(())
}

fn csv(out: &mut impl Write, ranking: &Ranking) -> Result<(), Stop> {
    let mut writer = csv::Writer::from_writer(out);
    let columns =
        ["image_path", "score", "interval_low", "interval_high", "rank", "percentile", "main_reason", "error"];
    writer.write_record(columns)?;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for row in ranking.rows.iter().cloned().chain(ranking.failures()) {
        writer.write_record([
            row.image_path,
            number(row.score),
            number(row.interval.map(|[low, _]| low)),
            number(row.interval.map(|[_, high]| high)),
            row.rank.map(|rank| rank.to_string()).unwrap_or_default(),
            number(row.percentile),
            row.main_reason.unwrap_or_default(),
            row.error.unwrap_or_default(),
        ])?;
    }
    Ok(writer.flush()?)
}
