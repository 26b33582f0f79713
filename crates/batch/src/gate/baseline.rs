//! The scores of an earlier run.

use std::collections::HashMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Error, cases};

/// Scores by name. Names are stored as hashes, because a run may have millions.
#[derive(Debug, Default)]
pub struct Baseline {
    scores: HashMap<[u8; 16], f64>,
}

impl Baseline {
    /// Reads the scores from the output of `batch`, `assess --format json` or `score --format
    /// json`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut scores = HashMap::new();
        for case in cases(path)? {
            let case = case?;
            if let Some(score) = case.score {
                scores.insert(key(&case.name), score);
            }
        }
        if scores.is_empty() {
            return Err(Error::File { path: path.to_owned(), reason: "there is no score in it".to_owned() });
        }
        Ok(Self { scores })
    }

    /// Returns the score of a case, if it had one.
    pub fn score(&self, name: &str) -> Option<f64> {
        self.scores.get(&key(name)).copied()
    }

    /// The number of scores.
    pub fn len(&self) -> u64 {
        self.scores.len() as u64
    }

    /// Returns whether there are no scores.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }
}

fn key(name: &str) -> [u8; 16] {
    let mut key = [0; 16];
    key.copy_from_slice(&Sha256::digest(name.as_bytes())[..16]);
    key
}
