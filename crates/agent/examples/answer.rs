//! Answers questions from evidence that was recorded before, without reading an image again.
//!
//! Each line of the standard input is an object with `query`, optional `options`, and a `record` of an
//! earlier assessment; each line of the output is the answer. `scripts/training/questions.py` measures
//! with it how often answers agree with labels.

use std::io::{BufRead, Write};

use agenticiqa_agent::fusion::Estimate;
use agenticiqa_agent::language::Language;
use agenticiqa_agent::question::{answer_form, options_given, options_in, question_without_options};
use agenticiqa_agent::reasoner::builtin::conclusion::{Case, Frame, conclude};
use agenticiqa_agent::reasoner::builtin::planner::plan;
use agenticiqa_agent::state::AssessmentRecord;
use agenticiqa_tools::Registry;

#[derive(serde::Deserialize)]
struct Line {
    query: String,
    #[serde(default)]
    options: Vec<String>,
    record: std::path::PathBuf,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::builtin()?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Line { query, options, record } = serde_json::from_str(&line?)?;
        let record: AssessmentRecord = serde_json::from_str(&std::fs::read_to_string(record)?)?;
        let options = if options.is_empty() { options_in(&query) } else { options_given(&options)? };
        let evidence = record.executor_evidence.unwrap_or_default();
        let places = record.regions.iter().filter(|region| region.is_place());
        let placed: Vec<&str> = places.map(|region| region.name.as_str()).collect();
        let reference = record.reference_path.is_some();
        let plan = plan(&query, &options, reference, &placed, &registry, &[], &[]);
        let question = question_without_options(&query);
        let conclusion = conclude(&Case {
            question: &question,
            options: &options,
            form: answer_form(&query, &options, None),
            plan: &plan,
            evidence: &evidence,
            fused: Estimate::of(&evidence, &registry),
            placed: &placed,
            frame: Frame { regions: &record.regions, ..Frame::default() },
            registry: &registry,
            language: Language::of(&question),
        });
        let answer = serde_json::json!({"answer": conclusion.final_answer, "why": conclusion.reasoning});
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
