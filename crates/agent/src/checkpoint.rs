//! Checkpoints: the state after each node on disk, so that a killed assessment goes on from its last good node.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::events::Node;
use crate::state::AgenticIqaState;
use agenticiqa_imaging::files::write_atomically;

/// The state after a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The node that has ended.
    pub node: Node,
    /// The state that it left.
    pub state: AgenticIqaState,
}

/// A folder of checkpoints, `{timestamp}_{sample_id}.json` each.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// The checkpoints in `folder`, which is made when the first is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Writes the state after `node`.
    pub fn write(&self, node: Node, state: &AgenticIqaState) -> io::Result<PathBuf> {
        let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%S%.9fZ");
        let path = self.folder.join(format!("{stamp}_{}", file_name(state.sample_id.as_str())));
        let json = serde_json::to_vec_pretty(&Checkpoint { node, state: state.clone() })?;
        write_atomically(&path, &json)?;
        Ok(path)
    }

    /// The newest good checkpoint of a sample; damaged ones are passed over, with a warning.
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
    read.inspect_err(|error| tracing::warn!("{}: the checkpoint is passed over: {error}", path.display())).ok()
}

/// The sample's part of the file name: what a file system may not take is replaced.
fn file_name(sample_id: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.' | '_') { c } else { '-' };
    let name: String = sample_id.chars().map(plain).take(100).collect();
    format!("{name}.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Text;

    fn state(id: &str) -> AgenticIqaState {
        let text = |text: &str| Text::new(text).unwrap();
        AgenticIqaState::new(text(id), text("Is it sharp?"), text("a.png"))
    }

    #[test]
    fn the_newest_good_checkpoint_of_the_sample_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path().join("deep"));
        assert_eq!(checkpoints.latest("a").unwrap(), None);
        checkpoints.write(Node::Planner, &state("a")).unwrap();
        let mut later = state("a");
        later.iteration_count = 1;
        let newest = checkpoints.write(Node::Executor, &later).unwrap();
        checkpoints.write(Node::Planner, &state("b/../a")).unwrap();
        assert_eq!(checkpoints.latest("a").unwrap().unwrap().node, Node::Executor);
        std::fs::write(newest, "{\"node\": \"exec").unwrap();
        assert_eq!(checkpoints.latest("a").unwrap().unwrap().node, Node::Planner);
        assert_eq!(checkpoints.latest("b/../a").unwrap().unwrap().state.sample_id.as_str(), "b/../a");
    }
}
