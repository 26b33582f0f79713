//! Prints two conclusions side by side, what a model and a measurement disagree about, and the calls to
//! models.

use std::io::Write;

use agenticiqa::state::{
    AssessmentRecord, Claim, Disagreement, ExecutorOutput, GLOBAL, Metadata, ModelCall, SummarizerOutput, View,
};
use comfy_table::{Cell, CellAlignment};

use crate::exit::Stop;
use crate::table;

/// Prints the conclusions of both backends side by side, if there are two.
pub fn print(out: &mut impl Write, record: &AssessmentRecord, heading: &str) -> Result<(), Stop> {
    let (Some(first), Some(second)) = (&record.summarizer_result, &record.second_opinion) else { return Ok(()) };
    let mut table = table::new(&["", record.metadata.backends.summarizer.as_str(), second.backend.as_str()]);
    match &second.result {
        Some(other) => {
            table.add_row(["answer", &answer(first, record), &answer(other, record)]);
            table.add_row(["score", &score(first), &score(other)]);
            table.add_row(["reasons", first.quality_reasoning.as_str(), other.quality_reasoning.as_str()]);
        }
        None => {
            let error = second.error.as_ref().map_or("no answer", |error| error.as_str());
            table.add_row(["answer", &answer(first, record), error]);
        }
    }
    let same = match second.agrees {
        Some(true) => " (they agree)",
        Some(false) => " (they disagree)",
        None => "",
    };
    writeln!(out, "\n{heading}{same}\n{table}")?;
    Ok(())
}

fn answer(result: &SummarizerOutput, record: &AssessmentRecord) -> String {
    let letter = result.final_answer.as_str();
    let option = record.options.iter().find(|option| option.letter.to_string() == letter);
    match (option, result.quality_level) {
        (Some(option), _) => format!("{letter}. {}", option.text),
        (None, Some(level)) if letter.len() == 1 => format!("{letter}. {}", level.name()),
        _ => letter.to_owned(),
    }
}

fn score(result: &SummarizerOutput) -> String {
    result.quality_score.map_or_else(|| "none".to_owned(), |score| format!("{:.2} of 5", score.value()))
}

/// Prints what a model and a measurement disagree about, both sides next to each other.
pub fn disagreements(out: &mut impl Write, record: &AssessmentRecord, heading: &str) -> Result<(), Stop> {
    let of_evidence = record.executor_evidence.iter().flat_map(|evidence: &ExecutorOutput| &evidence.disagreements);
    let of_result = record.summarizer_result.iter().flat_map(|result| &result.disagreements);
    let all: Vec<&Disagreement> = of_evidence.chain(of_result).collect();
    if all.is_empty() {
        return Ok(());
    }
    let mut table = table::new(&["about", "the model says", "measured"]);
    for Disagreement { object, about, claimed, measured, .. } in all {
        let place = if object.as_str() == GLOBAL { String::new() } else { format!(" of {object}") };
        table.add_row([format!("{about}{place}"), side(claimed), side(measured)]);
    }
    writeln!(out, "\n{heading}\n{table}")?;
    Ok(())
}

fn side(claim: &Claim) -> String {
    let reason = claim.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{}{reason}", claim.value)
}

/// Prints the calls to models with their tokens and costs, and the views that were sent.
pub fn calls(out: &mut impl Write, metadata: &Metadata, heading: &str) -> Result<(), Stop> {
    if metadata.calls.is_empty() {
        return Ok(());
    }
    let mut table = table::new(&["call", "backend", "images", "tokens in", "out", "USD", "time"]);
    for call in &metadata.calls {
        let ModelCall { task, backend, images, prompt_tokens, completion_tokens, cost_usd, seconds, cached, .. } = call;
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let time = if *cached { "cached".to_owned() } else { format!("{seconds:.1} s") };
        table.add_row(vec![
            Cell::new(task),
            Cell::new(backend),
            right(images.to_string()),
            right(prompt_tokens.to_string()),
            right(completion_tokens.to_string()),
            right(cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("{cost:.4}"))),
            right(time),
        ]);
    }
    writeln!(out, "\n{heading}\n{table}")?;
    for View { shows, x, y, width, height, stops, bytes, .. } in metadata.views.iter().flat_map(|views| &views.sent) {
        let kind = stops.map_or_else(|| "crop at 100 %".to_owned(), |stops| format!("brightened by {stops:+.1} EV"));
        writeln!(out, "view {x},{y},{width},{height}: {kind}, {shows} ({} kB)", bytes.div_ceil(1000))?;
    }
    Ok(())
}
