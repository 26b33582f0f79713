//! Collects the photos and splits off those for testing.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::samples::{Content, hash};

/// Number of photos in ten that are kept for testing.
const TEST_TENTHS: u64 = 3;
/// Files that are not clean modern photos: one truly blurred photo, drawings, a planet, the night
/// sky, the inside of an eye, and prints of the 19th and early 20th century with grain, fading and
/// sepia.
const LEFT_OUT: [&str; 17] = [
    "clock_motion",
    "abstract-spiral",
    "ocean-waves",
    "valley-midnight",
    "waves-midnight",
    "saturnian-profile",
    "hubble_deep_field",
    "retina",
    "acanthus-mollis",
    "airplane-from-above",
    "allium-oreophilum",
    "black-canyon",
    "dust-bowl-home",
    "french-alpine-landscape",
    "locomotion-house-cat",
    "march-pastoral",
    "nagasaki-boats",
];

/// A line of a manifest.
#[derive(Deserialize)]
pub struct Entry {
    pub image_path: PathBuf,
    pub mos: f64,
}

/// Collects the photos below the folders. Of a folder with a manifest it takes the `best` photos
/// to distort, and the next ones up to `clean` as clean images only.
pub fn collect(folders: &[PathBuf], best: usize, clean: usize) -> Result<Vec<Content>, Error> {
    let mut contents = Vec::new();
    for folder in folders {
        let manifest = folder.join("manifest.jsonl");
        if manifest.exists() {
            let paths = best_of(folder, &manifest, best.max(clean))?;
            contents
                .extend(paths.into_iter().enumerate().filter_map(|(rank, path)| content(path, rank >= best, false)));
        } else {
            contents.extend(below(folder)?.into_iter().filter_map(|path| content(path, false, true)));
        }
    }
    contents.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(contents)
}

/// Returns whether a photo of this name is kept for testing.
pub fn tested(name: &str) -> bool {
    hash(name) % 10 < TEST_TENTHS
}

fn content(path: PathBuf, only_clean: bool, elsewhere: bool) -> Option<Content> {
    let name = path.file_stem()?.to_str()?.to_owned();
    let picture = path.extension().is_some_and(|extension| ["jpg", "png"].iter().any(|known| extension == *known));
    if !picture || LEFT_OUT.contains(&name.as_str()) {
        return None;
    }
    let test = tested(&name);
    Some(Content { path, name, test, only_clean, elsewhere })
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
