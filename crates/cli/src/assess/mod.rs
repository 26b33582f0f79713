//! `agenticiqa assess`: one question about one image, through the agent.

mod live;
mod print;

use std::io::{self, Write};
use std::path::Path;

use agenticiqa::agent::{Agent, Input, Request};
use agenticiqa::checkpoint::Checkpoints;
use agenticiqa::config::{Environment, Settings};
use agenticiqa::gate::Case;
use agenticiqa::imaging::Decoder;
use agenticiqa::scoring::{self, NamedRegion, Scorer, Selection};
use agenticiqa::setup;
use agenticiqa::state::{self, AssessmentRecord, FinalStatus, RegionBox, Text};
use agenticiqa::vlm::Traffic;

use crate::arguments::{AnswerForm, Assess, RecordFormat};
use crate::exit::{Exit, Stop};
use crate::gate::Check;
use crate::maps;

/// Answers the question and prints the record.
pub fn run(arguments: &Assess, settings: &Settings, environment: &Environment, quiet: bool) -> Result<Exit, Stop> {
    let check = Check::new(&arguments.gate, "agenticiqa assess")?;
    let registry = crate::registry(settings, &arguments.models.models)?;
    let traffic = Traffic { recording: crate::recording(&arguments.recording), ..setup::traffic(settings) };
    let mut agent = setup::agent_with(settings, environment, registry, traffic)?;
    if let Some(max_pixels) = arguments.limits.max_pixels {
        agent.options.decoder = Decoder { max_pixels };
    }
    if let Some(folder) = &arguments.checkpoints {
        agent.options.checkpoints = Some(Checkpoints::new(folder));
        agent.options.resume = arguments.resume;
    }
    let live = live::Live::new(quiet || arguments.format == RecordFormat::Json);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let record = runtime.block_on(agent.assess(request(arguments)?, live.events()));
    // A tool that is still at work after its time is not waited for.
    runtime.shutdown_background();
    let record = record?;
    live.finish();
    let maps = match &arguments.map {
        Some(folder) => write_maps(arguments, &agent, &record, folder)?,
        None => Vec::new(),
    };
    match arguments.format {
        RecordFormat::Json => {
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, &record)?;
            writeln!(out)?;
        }
        RecordFormat::Text => print::record(&record, &agent.registry, &maps)?,
    }
    outcome(&record, &check)
}

fn request(arguments: &Assess) -> Result<Request, Stop> {
    let regions = arguments.regions.iter().map(|NamedRegion { name, region }| {
        let name = Text::new(name).map_err(Stop::bad_input)?;
        Ok(RegionBox { name, x: region.x, y: region.y, width: region.width, height: region.height })
    });
    let default = Request::new(Input::Path(arguments.image.clone()));
    Ok(Request {
        query: arguments.query.clone().unwrap_or_else(|| default.query.clone()),
        options: arguments.options.clone(),
        reference: arguments.reference.clone().map(Input::Path),
        regions: regions.collect::<Result<_, Stop>>()?,
        tools: arguments.tools.clone(),
        form: match arguments.answer {
            AnswerForm::Auto => None,
            AnswerForm::Score => Some(state::AnswerForm::Score),
            AnswerForm::Choice => Some(state::AnswerForm::Choice),
            AnswerForm::Text => Some(state::AnswerForm::Text),
        },
        ..default
    })
}

/// Heat maps of the tools that ran, on the regions that they were run on.
fn write_maps(
    arguments: &Assess,
    agent: &Agent,
    record: &AssessmentRecord,
    folder: &Path,
) -> Result<Vec<String>, Stop> {
    let mut folder = maps::Folder::create(folder)?;
    let mut written = Vec::new();
    let logs = record.executor_evidence.iter().flat_map(|evidence| &evidence.tool_logs);
    let logs: Vec<_> = logs.filter(|log| log.error.is_none()).collect();
    let mapped = |tool: &str| agent.registry.get(tool).is_ok_and(|tool| tool.has_map());
    let regions = std::iter::once(None).chain(record.regions.iter().map(Some));
    for place in regions {
        let corners = place.map(|place| [place.x, place.y, place.width, place.height]);
        let tools = logs.iter().filter(|log| log.region == corners).map(|log| log.tool_name.to_string());
        let tools: Vec<String> = tools.filter(|tool| mapped(tool)).collect();
        if tools.is_empty() {
            continue;
        }
        let request = scoring::Request {
            reference: arguments.reference.clone(),
            selection: Selection::Named(tools),
            regions: place.map(named).into_iter().collect(),
            maps: true,
        };
        let mut scored = Scorer::new(&agent.registry, agent.options.decoder, request)?.score(&arguments.image);
        folder.write(&mut scored.rows)?;
        written.extend(scored.rows.into_iter().filter_map(|row| row.map_path));
    }
    Ok(written)
}

fn named(place: &RegionBox) -> NamedRegion {
    let RegionBox { name, x, y, width, height } = place;
    let region = agenticiqa::metrics::Region { x: *x, y: *y, width: *width, height: *height };
    NamedRegion { name: name.to_string(), region }
}

/// The exit code: no answer is a failure, a score that the gate refuses is not met.
fn outcome(record: &AssessmentRecord, check: &Check<'_>) -> Result<Exit, Stop> {
    let gate = check.run(|| Ok(std::iter::once(Ok(Case::of_record(record)))))?;
    if record.metadata.final_status == FinalStatus::Error {
        let details = record.metadata.error_details.clone().unwrap_or_default().join("; ");
        return Err(Stop::failed(format!("no answer: {details}")));
    }
    Ok(gate)
}
