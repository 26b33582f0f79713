//! `agenticiqa-fit measure`: writes the measurements of perception, which `scripts/training` reads.

use std::path::{Path, PathBuf};

use agenticiqa_imaging::Decoder;
use agenticiqa_vision::perception;
use rayon::prelude::*;

use crate::error::Error;

/// Returns one line of JSON per image of a folder, in the order of the names.
pub fn folder(folder: &Path) -> Result<String, Error> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::file(folder, error))?;
    let is_image =
        |path: &PathBuf| path.extension().is_some_and(|kind| ["bmp", "jpg", "png"].iter().any(|known| kind == *known));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_image).collect();
    files.sort();
    let lines = files.par_iter().map(|file| {
        let features = perception::measure(&Decoder::default().open(file)?.image)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        Ok(format!("{}\n", serde_json::json!({"name": name, "measured": features.values()})))
    });
    lines.collect()
}
