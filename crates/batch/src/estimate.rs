//! A dry run: checks every line and path and estimates calls and cost. Calls no model and writes
//! nothing.

use std::fs::File;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::resume::{self, Existing, Ledger};
use super::{Batch, Error, Item, Sample};
use agenticiqa_agent::state::ByNode;
use agenticiqa_vlm::{BackendName, RateCard, Usage};

/// The maximum number of flaws to keep.
const SHOWN: usize = 20;
/// Calls per sample and role without a replan: one plan; detection, analysis and selection; one
/// conclusion.
const CALLS: [(u64, u64); 3] = [(1, 1), (3, 2), (1, 1)];
/// Typical token counts of a call: the prompt text, one image, and the answer.
const TEXT_TOKENS: u64 = 700;
const PICTURE_TOKENS: u64 = 1000;
const ANSWER_TOKENS: u64 = 200;

/// What a run would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The number of samples in the input.
    pub total: u64,
    /// The number of samples with a good record.
    pub done: u64,
    /// The number of samples that the run would assess.
    pub open: u64,
    /// The number of lines that are invalid or whose images cannot be read.
    pub flawed: u64,
    /// The first flaws, with their line numbers.
    pub flaws: Vec<(u64, String)>,
    /// The number of model calls.
    pub calls: u64,
    /// The number of tokens, input and output.
    pub tokens: u64,
    /// The cost in US dollars; absent if a price is unknown.
    pub cost_usd: Option<f64>,
    /// The number of records that the estimate is based on; 0 means typical values.
    pub from_records: u64,
}

impl Batch {
    /// Checks the input and the output without changing them. `models` are the models of the nodes.
    pub fn estimate(&self, models: &ByNode<Option<BackendName>>, rates: &RateCard) -> Result<Estimate, Error> {
        let mut ledger = Ledger::read(&self.input, &self.paths)?;
        let found = resume::look(&self.lines(), self.existing, &mut ledger)?;
        let mut estimate =
            Estimate { total: ledger.total(), done: ledger.done(), cost_usd: Some(0.0), ..Estimate::default() };
        let (first, last) = (*self.options.sample_range.start(), *self.options.sample_range.end());
        let mut pictures = 0;
        for (item, position) in self.input.items(&self.paths)?.zip(1..) {
            let item = item?;
            let most = self.options.max_samples.unwrap_or(u64::MAX);
            let asked = (first..=last).contains(&position) && estimate.open < most;
            let Some(item) = resume::judge(&ledger, item) else { continue };
            estimate.open += u64::from(asked);
            match checked(item) {
                Ok(sample) => pictures += u64::from(asked) * (1 + u64::from(sample.reference_path.is_some())),
                Err((line, message)) => {
                    estimate.flawed += 1;
                    if estimate.flaws.len() < SHOWN {
                        estimate.flaws.push((line, message));
                    }
                }
            }
        }
        estimate.price(models, rates, pictures);
        if found.records > 0 && self.existing == Existing::Resume {
            let share = estimate.open as f64 / found.records as f64;
            estimate.from_records = found.records;
            estimate.tokens = (found.tokens as f64 * share) as u64;
            estimate.cost_usd = found.cost_usd.map(|cost| cost * share);
        }
        Ok(estimate)
    }
}

impl Estimate {
    fn price(&mut self, models: &ByNode<Option<BackendName>>, rates: &RateCard, pictures: u64) {
        let asked = [&models.planner, &models.executor, &models.summarizer];
        for (name, (calls, with_pictures)) in asked.into_iter().zip(CALLS) {
            let Some(name) = name else { continue };
            let calls = calls * self.open;
            let prompt_tokens = calls * TEXT_TOKENS + with_pictures * pictures * PICTURE_TOKENS;
            let usage = Usage { prompt_tokens, completion_tokens: calls * ANSWER_TOKENS };
            self.calls += calls;
            self.tokens += usage.prompt_tokens + usage.completion_tokens;
            let cost = rates.cost(name.as_str(), usage);
            self.cost_usd = self.cost_usd.zip(cost).map(|(sum, cost)| sum + cost);
        }
    }
}

/// Returns the sample if its image files can be read.
fn checked(item: Item) -> Result<Sample, (u64, String)> {
    let sample = item.map_err(|flaw| (flaw.line, flaw.message))?;
    let paths = std::iter::once(("image_path", &sample.image_path));
    for (field, path) in paths.chain(sample.reference_path.iter().map(|path| ("reference_path", path))) {
        readable(path).map_err(|error| (sample.line, format!("{field} {}: {error}", path.display())))?;
    }
    Ok(sample)
}

fn readable(path: &Path) -> io::Result<()> {
    let metadata = File::open(path)?.metadata()?;
    match (metadata.is_dir(), metadata.len()) {
        (true, _) => Err(io::Error::other("it is a folder")),
        (false, 0) => Err(io::Error::other("the file is empty")),
        _ => Ok(()),
    }
}
