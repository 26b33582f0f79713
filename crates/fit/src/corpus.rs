//! The photos: which there are, and which are kept for testing.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::samples::{Content, hash};

/// Of ten photos so many are kept for testing.
const TEST_TENTHS: u64 = 3;
/// Names of photos that are no clean natural photos: really blurred, drawn, of the sky at night, of the inside of an eye.
const LEFT_OUT: [&str; 5] = ["clock_motion", "abstract-spiral", "hubble_deep_field", "retina", "saturnian-profile"];

/// A line of a manifest.
#[derive(Deserialize)]
struct Entry {
    image_path: PathBuf,
    mos: f64,
}

/// All photos below the folders; of a folder with a manifest the `best`.
pub fn collect(folders: &[PathBuf], best: usize) -> Result<Vec<Content>, Error> {
    let mut contents = Vec::new();
    for folder in folders {
        let manifest = folder.join("manifest.jsonl");
        let paths = if manifest.exists() { best_of(folder, &manifest, best)? } else { below(folder)? };
        contents.extend(paths.into_iter().filter_map(content));
    }
    contents.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(contents)
}

fn content(path: PathBuf) -> Option<Content> {
    let name = path.file_stem()?.to_str()?.to_owned();
    let picture = path.extension().is_some_and(|extension| ["jpg", "png"].iter().any(|known| extension == *known));
    if !picture || LEFT_OUT.contains(&name.as_str()) {
        return None;
    }
    let test = hash(&name) % 10 < TEST_TENTHS;
    Some(Content { path, name, test })
}

fn best_of(folder: &Path, manifest: &Path, best: usize) -> Result<Vec<PathBuf>, Error> {
    let text = fs::read_to_string(manifest).map_err(|error| Error::file(manifest, error))?;
    let mut entries: Vec<Entry> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    entries.sort_by(|a, b| b.mos.total_cmp(&a.mos).then_with(|| a.image_path.cmp(&b.image_path)));
    Ok(entries.into_iter().take(best).map(|entry| folder.join(entry.image_path)).collect())
}

fn below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::file(folder, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            paths.extend(below(&path)?);
        } else {
            paths.push(path);
        }
    }
    Ok(paths)
}
