//! `agenticiqa cull`: groups photos of the same scene and proposes which to keep.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use agenticiqa::config::Settings;
use agenticiqa::photos::journal::{self, Journal, Moment, Outcome, Step};
use agenticiqa::photos::{self, Actions, Culled, Decision, Options, Photo, Plan};

use super::{Live, cache, find, report, survey};
use crate::arguments::{Cull, CullFormat};
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal::{self, shown, tell};

/// Culls the folder: prints the decisions, and writes what was asked for with `--apply`.
pub fn run(arguments: &Cull, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    let folder = &arguments.folder;
    if !folder.is_dir() {
        let problem = if folder.exists() { "this is not a folder" } else { "no such folder" };
        let stop = Stop::bad_input(format!("{}: {problem}", shown(folder.display())));
        return Err(stop.with(Some("name the folder with the photos; `rank` takes files and patterns".into())));
    }
    if arguments.undo {
        return undo(folder, settings, quiet);
    }
    let actions = Actions {
        xmp: arguments.xmp,
        move_rejects: arguments.move_rejects.clone(),
        link_keepers: arguments.link_keepers.clone(),
    };
    let writes = actions.xmp || actions.move_rejects.is_some() || actions.link_keepers.is_some();
    if arguments.apply && !writes {
        let stop = Stop::bad_input("--apply: there is nothing to write");
        return Err(stop.with(Some("add --xmp, --move-rejects DIR or --link-keepers DIR".into())));
    }
    let mut finished = Exit::Done;
    let journal = if arguments.apply { Some(journal(folder, settings)?) } else { None };
    if let Some(journal) = &journal
        && let Some(outcome) = journal.finish(&|_| ()).map_err(log_error)?
    {
        finished = outcome_of(&outcome);
        if !quiet {
            tell!("An earlier run was stopped while it wrote: its {} steps are complete now.", outcome.done);
        }
    }
    let (mut paths, found) = find(&[folder.display().to_string()])?;
    let apart = [&actions.move_rejects, &actions.link_keepers];
    let apart: Vec<PathBuf> = apart.into_iter().flatten().filter_map(|path| std::path::absolute(path).ok()).collect();
    paths.retain(|path| !std::path::absolute(path).is_ok_and(|path| apart.iter().any(|apart| path.starts_with(apart))));
    let (cache, stop) = (cache(arguments.measuring, settings), AtomicBool::new(false));
    let survey = survey(arguments.limits, settings, cache.as_ref(), &stop);
    let options = Options { reject_below: arguments.reject_below, ..Options::default() };
    let live = Live::new(quiet);
    let mut culled = photos::cull(&survey, &paths, &options, &|progress| live.show(progress)).map_err(Stop::failed)?;
    live.finish();
    let exit = report(&culled.failed).max(found).max(finished);
    if let Some(path) = &arguments.decisions {
        let decisions = decisions(path)?;
        for unknown in culled.decide(&decisions) {
            tell!("note: {}: {} is not in the folder", path.display(), shown(unknown));
        }
    }
    match arguments.format {
        CullFormat::Text => text(&culled)?,
        CullFormat::Json => json(&culled.photos)?,
        CullFormat::Csv => csv(&culled.photos)?,
        CullFormat::Html => {
            let mut out = io::BufWriter::new(terminal::stdout());
            photos::html::review(&mut out, &culled, folder, &survey.decoder)?;
            out.flush()?;
        }
    }
    if !writes {
        return Ok(exit);
    }
    let plan = photos::plan(folder, &culled.photos, &actions);
    announce(&plan, quiet);
    let planned = problems(&plan.problems);
    let Some(journal) = journal else {
        if !quiet {
            tell!("Nothing was written: this was a dry run. Add --apply to do it.");
        }
        return Ok(exit.max(planned));
    };
    let outcome = journal.apply(&plan.steps, &|_: Moment| ()).map_err(log_error)?;
    if !quiet {
        let undo = format!("agenticiqa cull {} --undo", quoted(folder));
        tell!("{} done. To put everything back: {undo}", counts(&plan.steps));
    }
    Ok(exit.max(planned).max(outcome_of(&outcome)))
}

fn journal(folder: &Path, settings: &Settings) -> Result<Journal, Stop> {
    let Some(state) = &settings.data_folder else {
        let stop = Stop::bad_input("there is no folder for the undo log");
        return Err(stop.with(Some("set HOME, or tools.data_dir in pipeline.yaml".into())));
    };
    Journal::open(&state.join("cull"), folder).map_err(log_error)
}

fn log_error(error: journal::Error) -> Stop {
    let advice = match &error {
        journal::Error::Log { .. } => Some("nothing was changed; make the folder of the log writable"),
        journal::Error::Busy(_) => Some("wait until the other run has ended"),
        _ => None,
    };
    Stop::bad_input(&error).with(advice.map(str::to_owned))
}

fn undo(folder: &Path, settings: &Settings, quiet: bool) -> Result<Exit, Stop> {
    let outcome = journal(folder, settings)?.undo(&|_| ()).map_err(log_error)?;
    if !quiet {
        tell!("{} of {} steps undone.", outcome.done, outcome.done + outcome.problems.len());
    }
    Ok(outcome_of(&outcome))
}

fn outcome_of(outcome: &Outcome) -> Exit {
    problems(&outcome.problems)
}

fn problems(problems: &[journal::Problem]) -> Exit {
    problems.iter().for_each(|problem| tell!("error: {}", shown(problem)));
    if problems.is_empty() { Exit::Done } else { Exit::Failed }
}

/// Says what will be written.
fn announce(plan: &Plan, quiet: bool) {
    if quiet {
        return;
    }
    for (path, rating) in &plan.kept {
        tell!("{}: has a rating of {rating} already, which stays", shown(path.display()));
    }
    let show = |one: &Path| shown(one.display());
    for step in &plan.steps {
        match step {
            Step::Folder { path } => tell!("create {}", show(&path.0)),
            Step::Sidecar { path, mark, before, .. } => {
                let how = if before.is_some() { "edit" } else { "write" };
                tell!("{how} {}: rating {}, label {}", show(&path.0), mark.rating, mark.label);
            }
            Step::Move { from, to, .. } => tell!("move {} to {}", show(&from.0), show(&to.0)),
            Step::Link { path, target } => tell!("link {} to {}", show(&path.0), show(&target.0)),
        }
    }
    tell!("{}.", counts(&plan.steps));
}

fn counts(steps: &[Step]) -> String {
    let count = |wanted: fn(&Step) -> bool| steps.iter().filter(|step| wanted(step)).count();
    let sidecars = count(|step| matches!(step, Step::Sidecar { .. }));
    let moves = count(|step| matches!(step, Step::Move { .. }));
    let links = count(|step| matches!(step, Step::Link { .. }));
    format!("{sidecars} sidecars, {moves} moves, {links} links")
}

/// Quotes a path for a shell, if it needs that.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let safe = |c: char| c.is_alphanumeric() || "/._-+,".contains(c);
    if text.chars().all(safe) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Reads the decisions of a CSV file.
fn decisions(path: &Path) -> Result<Vec<(String, Decision)>, Stop> {
    let failed = |reason: String| Stop::bad_input(format!("{}: {reason}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(|error| failed(error.to_string()))?;
    let headers = reader.headers().map_err(|error| failed(error.to_string()))?.clone();
    let column = |name: &str| {
        let place = headers.iter().position(|header| header == name);
        place.ok_or_else(|| failed(format!("there is no column {name}")))
    };
    let (image_path, decision) = (column("image_path")?, column("decision")?);
    let mut all = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| failed(error.to_string()))?;
        let of = |place: usize| record.get(place).unwrap_or_default();
        let decision = of(decision).parse().map_err(|reason| failed(format!("line {}: {reason}", index + 2)))?;
        all.push((of(image_path).to_owned(), decision));
    }
    Ok(all)
}

fn json(photos: &[Photo]) -> Result<(), Stop> {
    let mut out = io::BufWriter::new(terminal::stdout());
    for photo in photos {
        serde_json::to_writer(&mut out, photo)?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

fn csv(photos: &[Photo]) -> Result<(), Stop> {
    let mut writer = csv::Writer::from_writer(terminal::stdout());
    writer.write_record(["image_path", "group", "decision", "score", "reason"])?;
    for photo in photos {
        writer.write_record([
            photo.image_path.clone(),
            photo.group.map(|group| group.to_string()).unwrap_or_default(),
            photo.decision.name().to_owned(),
            photo.score.map(|score| score.to_string()).unwrap_or_default(),
            photo.reason.clone(),
        ])?;
    }
    Ok(writer.flush()?)
}

/// Prints the groups with several photos one by one, then counts the others.
fn text(culled: &Culled) -> Result<(), Stop> {
    let mut groups: BTreeMap<usize, Vec<&Photo>> = BTreeMap::new();
    for photo in &culled.photos {
        if let Some(group) = photo.group {
            groups.entry(group).or_default().push(photo);
        }
    }
    let mut out = io::BufWriter::new(terminal::stdout());
    let (mut alone, mut several) = (0, 0);
    for (number, photos) in &groups {
        if let [photo] = photos[..]
            && photo.decision == Decision::Keep
        {
            alone += 1;
            continue;
        }
        several += 1;
        writeln!(out, "Group {number}: {} photos", photos.len())?;
        let mut listed = table::new(&["decision", "score", "image", "why"]);
        for photo in photos {
            let score = photo.score.map(|score| format!("{score:.2}")).unwrap_or_default();
            listed.add_row([photo.decision.name(), &score, &shown(&photo.image_path), &shown(&photo.reason)]);
        }
        writeln!(out, "{listed}\n")?;
    }
    let count = |decision: Decision| culled.photos.iter().filter(|p| p.decision == decision && !p.failed).count();
    let (keep, reject, unsure) = (count(Decision::Keep), count(Decision::Reject), count(Decision::Unsure));
    let groups = if several == 1 { "1 group".to_owned() } else { format!("{several} groups") };
    let kept = if alone == 1 { "1 photo is".to_owned() } else { format!("{alone} photos are") };
    writeln!(out, "{} photos in {groups}; {kept} alone and kept.", culled.photos.len() - alone)?;
    writeln!(out, "keep {keep}, reject {reject}, unsure {unsure}")?;
    if !culled.failed.is_empty() {
        writeln!(out, "{} photos could not be judged.", culled.failed.len())?;
    }
    Ok(out.flush()?)
}
