//! Self-test of tools (`tools check`): runs a tool on a built-in image pair and compares the
//! result with the recorded score.

use std::collections::BTreeMap;

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Pair};

use super::{Error, Failure, Tool, ToolInput};

const REFERENCE: &[u8] = include_bytes!("../iqa_tools/sample/reference.png");
const DISTORTED: &[u8] = include_bytes!("../iqa_tools/sample/distorted.jpg");
const RECORDED: &str = include_str!("../iqa_tools/sample/scores.json");
/// Maximum relative difference between two equal scores.
const TOLERANCE: f64 = 1e-4;

/// The built-in image pair: a photo and the same photo compressed as JPEG, with the recorded
/// scores.
#[derive(Debug, Clone)]
pub struct SamplePair {
    reference: Image,
    distorted: Image,
    recorded: BTreeMap<String, f64>,
}

/// Result of a tool on the built-in pair.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckOutcome {
    /// The score equals the recorded score.
    Passed {
        /// The score.
        score: f64,
    },
    /// The score differs from the recorded score.
    Differs {
        /// The measured score.
        score: f64,
        /// The recorded score.
        recorded: f64,
    },
    /// The tool returned a score, and there is no recorded score.
    Unrecorded {
        /// The measured score.
        score: f64,
    },
    /// The tool failed.
    Failed(Failure),
    /// The tool cannot run on this machine.
    Unavailable {
        /// The reason, and how to fix it.
        reason: String,
    },
}

impl CheckOutcome {
    /// Returns whether a tool that should work does not.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Differs { .. } | Self::Failed(_))
    }
}

impl SamplePair {
    /// Decodes the built-in pair.
    pub fn load() -> Result<Self, Error> {
        let decode = |bytes: &[u8]| {
            let picture = Decoder::default().decode(bytes);
            picture
                .map(|picture| picture.image)
                .map_err(|error| Error::Model { path: "built-in sample".to_owned(), reason: error.to_string() })
        };
        let recorded = serde_json::from_str(RECORDED)
            .map_err(|error| Error::Metadata { file: "scores.json".to_owned(), reason: error.to_string() })?;
        Ok(Self { reference: decode(REFERENCE)?, distorted: decode(DISTORTED)?, recorded })
    }

    /// Runs a tool on the pair and compares its score.
    pub fn check(&self, tool: &Tool) -> CheckOutcome {
        if let Some(reason) = tool.availability().reason() {
            return CheckOutcome::Unavailable { reason: reason.to_owned() };
        }
        let pair = match Pair::new(&self.reference, &self.distorted) {
            Ok(pair) => pair,
            Err(error) => return CheckOutcome::Failed(error.into()),
        };
        let pair = if tool.needs_reference() { pair } else { Pair::single(&self.distorted) };
        // The entry of the tool takes precedence: a user's tool may have the name of a recorded
        // one.
        let recorded = tool.metadata().check.or_else(|| self.recorded.get(tool.name()).copied());
        match (tool.raw_score(&ToolInput::new(pair)), recorded) {
            (Err(failure), _) => match tool.availability().reason() {
                // The run itself can reveal a missing part, such as weights that cannot be
                // downloaded.
                Some(reason) => CheckOutcome::Unavailable { reason: reason.to_owned() },
                None => CheckOutcome::Failed(failure),
            },
            (Ok(score), Some(recorded)) if is_same(score, recorded) => CheckOutcome::Passed { score },
            (Ok(score), Some(recorded)) => CheckOutcome::Differs { score, recorded },
            (Ok(score), None) => CheckOutcome::Unrecorded { score },
        }
    }
}

fn is_same(score: f64, recorded: f64) -> bool {
    (score - recorded).abs() <= TOLERANCE * recorded.abs().max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    /// `UPDATE_DOCS=1` adds missing scores to `scores.json`. It never replaces a score that differs.
    #[test]
    fn every_available_tool_gives_its_recorded_score() {
        let sample = SamplePair::load().unwrap();
        let update = std::env::var_os("UPDATE_DOCS").is_some();
        let mut missing = Vec::new();
        for tool in Registry::builtin().unwrap().iter().filter(|tool| tool.availability().is_available()) {
            match sample.check(tool) {
                CheckOutcome::Passed { .. } => {}
                CheckOutcome::Unrecorded { score } if update => missing.push((tool.name().to_owned(), score)),
                outcome => panic!("{}: {outcome:?}: scripts/update-docs records missing scores", tool.name()),
            }
        }
        if !missing.is_empty() {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("iqa_tools/sample/scores.json");
            std::fs::write(path, with_scores(RECORDED, &missing)).unwrap();
        }
    }

    /// Adds scores at the end. The existing lines stay as they are written.
    fn with_scores(json: &str, scores: &[(String, f64)]) -> String {
        let lines: String = scores.iter().map(|(name, score)| format!(",\n  \"{name}\": {score:?}")).collect();
        format!("{}{lines}\n}}\n", json.trim_end().trim_end_matches('}').trim_end())
    }

    #[test]
    fn missing_scores_are_added_at_the_end() {
        let recorded = "{\n  \"PSNR\": 28.5,\n  \"SSIM\": 0.10\n}\n";
        let more = with_scores(recorded, &[("New".to_owned(), 1.0), ("Newer".to_owned(), 1e-7)]);
        assert_eq!(more, "{\n  \"PSNR\": 28.5,\n  \"SSIM\": 0.10,\n  \"New\": 1.0,\n  \"Newer\": 1e-7\n}\n");
        assert_eq!(serde_json::from_str::<BTreeMap<String, f64>>(&more).unwrap().len(), 4);
    }

    #[test]
    fn another_score_is_noticed() {
        let mut sample = SamplePair::load().unwrap();
        sample.recorded.insert("PSNR".to_owned(), 1.0);
        let registry = Registry::builtin().unwrap();
        assert!(matches!(sample.check(registry.get("PSNR").unwrap()), CheckOutcome::Differs { recorded: 1.0, .. }));
    }
}
