//! `agenticiqa assess`: answers a question about an image with the agent.

mod live;
mod opinions;
mod parts;
mod print;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use agenticiqa::agent::{Assessment, Input, Request};
use agenticiqa::checkpoint::Checkpoints;
use agenticiqa::config::{Environment, Settings};
use agenticiqa::gate::Case;
use agenticiqa::imaging::{Note, encode_png_exact};
use agenticiqa::repair::{self, Effort};
use agenticiqa::setup;
use agenticiqa::state::{self, AssessmentRecord, FinalStatus, GLOBAL, RegionBox};
use agenticiqa::vlm::Traffic;

use crate::arguments::{AnswerForm, Assess, RecordFormat};
use crate::exit::{Exit, Stop};
use crate::gate::Check;
use crate::maps::{self, Written};
use crate::terminal;

/// Answers the question and prints the record.
pub fn run(arguments: &Assess, settings: &Settings, environment: &Environment, quiet: bool) -> Result<Exit, Stop> {
    let check = Check::new(&arguments.gate, "agenticiqa assess")?;
    let registry = crate::registry(settings, &arguments.models.models)?;
    let traffic = Traffic { recording: crate::recording(&arguments.recording), ..setup::traffic(settings) };
    let second = arguments.second_opinion.as_ref();
    let second = second.map(|backend| setup::second_opinion(settings, environment, backend, traffic.clone()));
    let second = second.transpose()?;
    let mut agent = setup::agent_with(settings, environment, registry, traffic)?;
    agent.options.decoder = arguments.limits.decoder(settings);
    if let Some(folder) = &arguments.checkpoints {
        agent.options.checkpoints = Some(Checkpoints::new(folder));
        agent.options.resume = arguments.resume;
    }
    let live = live::Live::new(quiet || arguments.format == RecordFormat::Json);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let request = Request { second_opinion: second, ..request(arguments)? };
    let assessment = runtime.block_on(agent.assess_with_inputs(request, live.events()));
    // Does not wait for tools that run longer than their time limit.
    runtime.shutdown_background();
    let assessment = assessment?;
    let record = &assessment.record;
    live.finish();
    let maps = match &arguments.map {
        Some(folder) => write_maps(&assessment, folder)?,
        None => Vec::new(),
    };
    if let Some(path) = &arguments.save_fixed {
        save_fixed(&assessment, path)?;
    }
    match arguments.format {
        RecordFormat::Json => {
            let mut out = terminal::stdout();
            serde_json::to_writer(&mut out, record)?;
            writeln!(out)?;
        }
        RecordFormat::Text => print::record(record, &agent.registry, &maps)?,
    }
    outcome(record, &check)
}

fn request(arguments: &Assess) -> Result<Request, Stop> {
    let default = Request::new(Input::Path(arguments.image.clone()));
    Ok(Request {
        query: arguments.query.clone().unwrap_or_else(|| default.query.clone()),
        options: arguments.options.clone(),
        reference: arguments.reference.clone().map(Input::Path),
        regions: arguments.regions.clone(),
        maps: arguments.map.is_some(),
        what_if: match () {
            () if arguments.no_what_if => None,
            () if arguments.what_if || arguments.save_fixed.is_some() => Some(Effort::Full),
            () => Some(Effort::Quick),
        },
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

/// Writes the image with the edits that raise its score together. The file must be new: an input is
/// never overwritten.
fn save_fixed(assessment: &Assessment, path: &Path) -> Result<(), Stop> {
    let image = &assessment.inputs.part(None).map_err(Stop::failed)?.image;
    let evidence = assessment.record.executor_evidence.as_ref();
    let tried = evidence.and_then(|evidence| evidence.what_if.as_ref()?.get(GLOBAL));
    let mended = tried.map(|tried| repair::mended(image, tried)).transpose().map_err(Stop::failed)?.flatten();
    let Some((fixed, edits, score)) = mended else {
        let refusal = tried.and_then(|tried| tried.refusal);
        let why = refusal.map_or("no edit raises the score".to_owned(), |refusal| {
            format!("no edit was tried ({})", parts::reason(refusal))
        });
        let mut out = terminal::stderr();
        writeln!(out, "note: {} was not written: {why}", path.display())?;
        return Ok(());
    };
    let bytes = encode_png_exact(&fixed).map_err(Stop::failed)?;
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
            Stop::bad_input(format!("{}: the fixed image cannot be written: {error}", path.display()))
        })?;
    file.write_all(&bytes).map_err(|error| Stop::failed(format!("{}: {error}", path.display())))?;
    let edits: Vec<String> = edits.iter().map(|edit| parts::edit(edit.operation, edit.amount)).collect();
    let list = edits.join(", ");
    let mut out = terminal::stderr();
    writeln!(
        out,
        "{}: {list}; the score becomes {score:.1}. Written as sRGB with {} bits per channel, without metadata.",
        path.display(),
        fixed.bit_depth()
    )?;
    // What decoding changed is not in the fixed image either: alpha, a color profile, CMYK.
    for note in assessment.inputs.image().picture.notes.iter().filter(|note| **note != Note::SixteenBits) {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

/// Writes the heat maps of the tools that ran, for the whole image and then region by region, and the
/// image with the boxes of the regions.
fn write_maps(assessment: &Assessment, folder: &Path) -> Result<Vec<Written>, Stop> {
    let Assessment { record, inputs } = assessment;
    let mut folder = maps::Folder::create(folder)?;
    let mut written = Vec::new();
    let logs: Vec<_> = record.executor_evidence.iter().flat_map(|evidence| &evidence.tool_logs).collect();
    for place in std::iter::once(None).chain(record.regions.iter().filter(|one| one.is_place()).map(Some)) {
        let region = place.map(RegionBox::region);
        let part = inputs.part(region).map_err(Stop::failed)?;
        let corners = place.map(|place| [place.x, place.y, place.width, place.height]);
        let mut mapped = BTreeSet::new();
        for log in logs.iter().filter(|log| log.region == corners && mapped.insert(log.tool_name.as_str())) {
            let Some(found) = inputs.map(log.tool_name.as_str(), region) else { continue };
            let heat_map = maps::HeatMap {
                image_path: record.image_path.as_str(),
                region: place.map(|place| place.name.as_str()),
                tool: &found.tool,
                raw_score: log.raw_score.map(|score| score.0),
                image: &part.image,
                map: &found.map,
            };
            written.push(Written { what: "heat map", path: folder.write(&heat_map)? });
        }
    }
    let answer = record.summarizer_result.as_ref().map_or("", |result| result.final_answer.as_str());
    let named: Vec<_> = state::drawn(&record.regions, answer)
        .into_iter()
        .map(|place| (place.name.to_string(), place.region()))
        .collect();
    if !named.is_empty() {
        let image = &inputs.image().picture.image;
        let path = folder.write_boxes(record.image_path.as_str(), image, &named)?;
        written.push(Written { what: "regions", path });
    }
    Ok(written)
}

/// Returns the exit code: an error if there is no answer, else the result of the gate.
fn outcome(record: &AssessmentRecord, check: &Check<'_>) -> Result<Exit, Stop> {
    let gate = check.run(|| Ok(std::iter::once(Ok(Case::of_record(record)))))?;
    if record.metadata.final_status == FinalStatus::Error {
        let details = record.metadata.error_details.clone().unwrap_or_default().join("; ");
        return Err(Stop::failed(format!("no answer: {details}")));
    }
    Ok(gate)
}
