//! What photos can be ranked by besides a study: a tool, or the answer to a question.

use agenticiqa_agent::events::EventLog;
use agenticiqa_agent::state::{AssessmentRecord, FinalStatus, GLOBAL};
use agenticiqa_agent::{Agent, Input, Request};
use agenticiqa_tools::{Part, Source, Tool};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::survey::{Failure, Task};

/// Measures photos with a tool.
#[derive(Debug)]
pub struct ByTool<'a>(pub &'a Tool);

/// What a tool measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The score on the tool's own scale.
    pub raw: f64,
    /// The score from 1 to 5, if the tool has one.
    pub score: Option<f64>,
    /// The 90% interval of the score.
    pub interval: Option<[f64; 2]>,
}

impl Task for ByTool<'_> {
    type Output = Measured;

    fn key(&self) -> String {
        format!("tool {} {}", self.0.name(), self.0.fingerprint())
    }

    fn measure(&self, source: &Source) -> Result<Measured, Failure> {
        let part = Part::new(source.picture.image.clone(), None).with_files(source.path.clone(), None);
        let run = part.measure(self.0, false);
        match (run.raw_score, run.error) {
            (Some(raw), _) => Ok(Measured {
                raw,
                score: run.normalized_score,
                interval: run.interval.and_then(|interval| self.0.scale().normalize_interval(interval)),
            }),
            (None, error) => {
                let reason = error.map(|failure| failure.message().to_owned());
                Err(Failure::Measure(reason.unwrap_or_else(|| format!("{} returned no score", self.0.name()))))
            }
        }
    }
}

/// Asks a question about each photo.
#[derive(Debug)]
pub struct ByAnswer<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The question.
    pub query: &'a str,
}

/// The answer about a photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The answer.
    pub answer: String,
    /// From 1 (yes) over 0.5 (neither) to 0 (no).
    pub agrees: f64,
    /// The score from 1 to 5 of what was asked about.
    pub score: Option<f64>,
}

impl Answered {
    fn of(record: &AssessmentRecord) -> Option<Self> {
        let result = record.summarizer_result.as_ref()?;
        let answer = result.final_answer.to_string();
        let parts = record.executor_evidence.as_ref().and_then(|evidence| evidence.score_parts.as_ref());
        // The score of an object is what its faults leave of a clean one.
        let left = parts.into_iter().flatten().find(|(object, _)| object.as_str() != GLOBAL).map(|(_, parts)| {
            let lost: f64 = parts.costs.iter().map(|cost| cost.cost).sum();
            (parts.clean - lost).clamp(1.0, 5.0)
        });
        let score = left.or(result.quality_score.map(|score| score.value()));
        Some(Self { agrees: agreement(&answer), answer, score })
    }
}

/// Returns how much the first words of an answer agree. English and Chinese answers begin with one of these.
fn agreement(answer: &str) -> f64 {
    const BEGINNINGS: [(&str, f64); 10] = [
        ("probably not", 0.25),
        ("probably", 0.75),
        ("yes", 1.0),
        ("no", 0.0),
        ("很可能不是", 0.25),
        ("很可能是", 0.75),
        ("是", 1.0),
        ("不是", 0.0),
        ("否", 0.0),
        ("不", 0.0),
    ];
    let answer = answer.to_lowercase();
    let begins = |word: &str| {
        let rest = answer.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    BEGINNINGS.iter().find(|(word, _)| begins(word)).map_or(0.5, |(_, agrees)| *agrees)
}

impl Task for ByAnswer<'_> {
    type Output = Answered;

    fn key(&self) -> String {
        let backends = self.agent.backends();
        format!("answer {} {} {} {}", backends.planner, backends.executor, backends.summarizer, self.query)
    }

    fn measure(&self, source: &Source) -> Result<Answered, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::Measure(error.to_string());
        let name = source.path.as_ref().map_or_else(|| "photo".to_owned(), |path| path.display().to_string());
        let image = Input::Source(name, Arc::new(source.clone()));
        let request = Request { query: self.query.to_owned(), ..Request::new(image) };
        // Each worker is a thread of its own, so it may wait.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(&error))?;
        let record =
            runtime.block_on(self.agent.assess(request, EventLog::default())).map_err(|error| failed(&error))?;
        if record.metadata.final_status == FinalStatus::Error {
            let details = record.metadata.error_details.unwrap_or_default();
            return Err(Failure::Measure(details.into_iter().next().unwrap_or_else(|| "no answer".to_owned())));
        }
        Answered::of(&record).ok_or_else(|| Failure::Measure("no answer".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::agreement;

    #[test]
    fn yes_and_no_are_told_apart_from_other_answers() {
        let agreed =
            ["Yes. It is.", "No, blurred", "Probably. It", "Probably not. It", "是。清晰", "不是。"].map(agreement);
        assert_eq!(agreed, [1.0, 0.0, 0.75, 0.25, 1.0, 0.0]);
        assert_eq!(["The image is noisy.", "Nothing is wrong", "Cannot tell.", ""].map(agreement), [0.5; 4]);
    }
}
