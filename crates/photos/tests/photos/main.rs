//! Tests of the crate as its users see it. One module per topic.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers outside `#[test]` functions are test code too

mod cached;
mod kill;
mod readers;
mod scenes;
mod writing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agenticiqa_photos::{Decision, Photo};

/// Returns a decision about a file.
pub fn photo(path: &Path, decision: Decision, score: f64) -> Photo {
    Photo {
        image_path: path.display().to_string(),
        group: Some(1),
        decision,
        score: Some(score),
        reason: "sharper <bird>: 4.1 & 2.8".to_owned(),
        path: path.to_owned(),
        subject: None,
        failed: false,
    }
}

/// Returns every file, link and folder below a folder, with its content.
pub fn snapshot(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            all.extend(snapshot(&path));
            all.insert(path, "folder".to_owned());
        } else if kind.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            all.insert(path, format!("link to {}", target.display()));
        } else {
            let content = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            all.insert(path, content);
        }
    }
    all
}
