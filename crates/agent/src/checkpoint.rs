//! Saves the state after each node, so that an interrupted assessment can resume.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::state::{AgenticIqaState, AnswerOption, Node, RegionBox, Text};
use agenticiqa_imaging::files::write_atomically;

/// What an assessment was asked. A checkpoint is used only for the same request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The question.
    pub query: String,
    /// The options of a multiple-choice question.
    pub options: Vec<AnswerOption>,
    /// The SHA-256 of the image file.
    pub image_sha256: String,
    /// The SHA-256 of the file of the reference image.
    pub reference_sha256: Option<String>,
    /// The regions of the request, without those that were located later.
    pub regions: Vec<RegionBox>,
    /// The tools of the request.
    pub tools: Vec<Text>,
}

/// The state after a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The node that finished.
    pub node: Node,
    /// What was asked. Files of earlier versions do not have it and are not used.
    #[serde(default)]
    pub asked: Asked,
    /// The state after that node.
    pub state: AgenticIqaState,
}

/// A folder of checkpoint files, named `{timestamp}_{sample_id}.json`.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// Uses `folder` for checkpoints. The folder is created when the first checkpoint is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Writes the state after `node` and returns the path of the file.
    pub fn write(&self, node: Node, asked: &Asked, state: &AgenticIqaState) -> io::Result<PathBuf> {
        let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%S%.9fZ");
        let path = self.folder.join(format!("{stamp}_{}", file_name(state.sample_id.as_str())));
        let json = serde_json::to_vec_pretty(&Checkpoint { node, asked: asked.clone(), state: state.clone() })?;
        write_atomically(&path, &json)?;
        Ok(path)
    }

    /// Returns the newest readable checkpoint of a sample. Damaged files are skipped with a
    /// warning.
    pub fn latest(&self, sample_id: &str) -> io::Result<Option<Checkpoint>> {
        let name = file_name(sample_id);
        let belongs = |path: &PathBuf| {
            let file = path.file_name().and_then(|file| file.to_str());
            file.and_then(|file| file.split_once('_')).is_some_and(|(_, rest)| rest == name)
        };
        let mut paths: Vec<PathBuf> = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries.filter_map(Result::ok).map(|entry| entry.path()).filter(belongs).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        paths.sort();
        Ok(paths.iter().rev().find_map(|path| read(path)).filter(|found| found.state.sample_id.as_str() == sample_id))
    }
}

fn read(path: &Path) -> Option<Checkpoint> {
    let read = std::fs::read(path).and_then(|json| serde_json::from_slice(&json).map_err(io::Error::from));
    read.inspect_err(|error| tracing::warn!("{}: skipping this checkpoint: {error}", path.display())).ok()
}

/// The sample ID as part of a file name: characters that file systems reject are replaced.
fn file_name(sample_id: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.' | '_') { c } else { '-' };
    let name: String = sample_id.chars().map(plain).take(100).collect();
    format!("{name}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(id: &str) -> AgenticIqaState {
        let text = |text: &str| Text::new(text).unwrap();
        AgenticIqaState::new(text(id), text("Is it sharp?"), text("a.png"))
    }

    #[test]
    fn the_newest_good_checkpoint_of_the_sample_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path().join("deep"));
        assert_eq!(checkpoints.latest("a").unwrap(), None);
        let asked = Asked::default();
        checkpoints.write(Node::Planner, &asked, &state("a")).unwrap();
        let mut later = state("a");
        later.iteration_count = 1;
        let newest = checkpoints.write(Node::Executor, &asked, &later).unwrap();
        checkpoints.write(Node::Planner, &asked, &state("b/../a")).unwrap();
        assert_eq!(checkpoints.latest("a").unwrap().unwrap().node, Node::Executor);
        std::fs::write(newest, "{\"node\": \"exec").unwrap();
        assert_eq!(checkpoints.latest("a").unwrap().unwrap().node, Node::Planner);
        assert_eq!(checkpoints.latest("b/../a").unwrap().unwrap().state.sample_id.as_str(), "b/../a");
    }
}
