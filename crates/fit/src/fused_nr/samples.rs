//! The images that Fused-NR is fitted to: photos with opinions, and photos distorted at increasing
//! levels.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use agenticiqa_distort::{Kind, LEVELS, distort};
use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Mdsi};
use agenticiqa_vision::fused_nr::{COUNT, measure};
use rayon::prelude::*;
use serde::Deserialize;

use crate::error::Error;
use crate::labels;
use crate::samples::hash;

/// One photo in this many is kept for validation.
const VALIDATION: u64 = 5;
/// Longer side of the photos that are distorted; the distortion levels are meant for it.
const WORKING: usize = 512;

/// A photo with opinions.
#[derive(Debug, Clone)]
pub struct Photo {
    pub path: PathBuf,
    pub name: String,
    /// Mean opinion, 0 to 1.
    pub opinion: f64,
    /// Subset of the dataset.
    pub subset: u64,
    /// Whether it is kept for validation and never fitted to.
    pub validation: bool,
    /// Whether perception was tested on it.
    pub tested: bool,
    pub features: Vec<f32>,
}

/// A photo and its distorted versions.
#[derive(Debug, Clone)]
pub struct Content {
    /// Whether it is kept for validation and never fitted to.
    pub validation: bool,
    /// Whether perception was tested on it.
    pub tested: bool,
    pub features: Vec<f32>,
    pub damaged: Vec<Damaged>,
}

/// A distorted version of a photo.
#[derive(Debug, Clone)]
pub struct Damaged {
    pub kind: Kind,
    pub level: u8,
    /// Visibility of the damage, 0 to 4.
    pub visible: f64,
    pub features: Vec<f32>,
}

#[derive(Deserialize)]
struct Line {
    sample_id: String,
    image_path: PathBuf,
    mos: f64,
    mos_range: [f64; 2],
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    subset: u64,
}

/// Measures the photos of a manifest.
pub fn photos(folder: &Path, cache: &Path) -> Result<Vec<Photo>, Error> {
    let manifest = folder.join("manifest.jsonl");
    let text = fs::read_to_string(&manifest).map_err(|error| Error::file(&manifest, error))?;
    let lines: Vec<Line> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let done = Progress::new(lines.len(), "photos");
    lines
        .into_par_iter()
        .map(|line| {
            let path = folder.join(&line.image_path);
            let features = cached(cache, &line.sample_id, 1, || Ok(vec![(0.0, measure(&open(&path)?)?)]))?;
            done.one();
            let [low, high] = line.mos_range;
            Ok(Photo {
                validation: validation(&line.sample_id),
                tested: tested(&path),
                opinion: (line.mos - low) / (high - low),
                subset: line.metadata.subset,
                features: features.into_iter().next().map(|(_, features)| features).unwrap_or_default(),
                path,
                name: line.sample_id,
            })
        })
        .collect()
}

/// Distorts photos with every kind at every level and measures them.
pub fn contents(paths: &[(PathBuf, String)], cache: &Path) -> Result<Vec<Content>, Error> {
    let done = Progress::new(paths.len(), "photos to distort");
    paths
        .par_iter()
        .map(|(path, name)| {
            let forms = 1 + Kind::ALL.len() * usize::from(LEVELS);
            let rows = cached(cache, &format!("{name}-damaged"), forms, || damage(path, name))?;
            done.one();
            let mut rows = rows.into_iter();
            let features = rows.next().map(|(_, features)| features).unwrap_or_default();
            let given = Kind::ALL.into_iter().flat_map(|kind| (1..=LEVELS).map(move |level| (kind, level)));
            let damaged =
                given.zip(rows).map(|((kind, level), (visible, features))| Damaged { kind, level, visible, features });
            Ok(Content { validation: validation(name), tested: tested(path), features, damaged: damaged.collect() })
        })
        .collect()
}

/// Returns whether a photo is kept for validation, which depends only on its name.
fn validation(name: &str) -> bool {
    (hash(name) / 7).is_multiple_of(VALIDATION)
}

fn tested(path: &Path) -> bool {
    path.file_stem().and_then(|stem| stem.to_str()).is_some_and(crate::corpus::tested)
}

fn damage(path: &Path, name: &str) -> Result<Vec<(f64, Vec<f32>)>, Error> {
    let image = open(path)?;
    let clean = image.shrunk(image.width().max(image.height()).div_ceil(WORKING));
    let mut rows = vec![(0.0, measure(&clean)?)];
    for kind in Kind::ALL {
        for level in 1..=LEVELS {
            let form = distort(&clean, kind, level, hash(name))?;
            let visible = labels::visibility(Mdsi::default().score(&clean, &form)?, level);
            rows.push((visible, measure(&form)?));
        }
    }
    Ok(rows)
}

fn open(path: &Path) -> Result<Image, Error> {
    Ok(Decoder::default().open(path)?.image)
}

/// Returns rows of a number and the features of an image, from the cache or newly measured and
/// stored there.
fn cached(
    cache: &Path,
    name: &str,
    count: usize,
    make: impl FnOnce() -> Result<Vec<(f64, Vec<f32>)>, Error>,
) -> Result<Vec<(f64, Vec<f32>)>, Error> {
    let path = cache.join(format!("{name}.f32"));
    let length = 4 * count * (1 + COUNT);
    if let Ok(bytes) = fs::read(&path)
        && bytes.len() == length
    {
        let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        return Ok(numbers.chunks_exact(1 + COUNT).map(|row| (f64::from(row[0]), row[1..].to_vec())).collect());
    }
    let rows = make()?;
    let numbers =
        rows.iter().flat_map(|(number, features)| std::iter::once(*number as f32).chain(features.iter().copied()));
    let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
    let draft = path.with_extension("draft");
    fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, &path)).map_err(|error| Error::file(&path, error))?;
    // Rounded as in the cache, so that first and later runs give the same result.
    Ok(rows.into_iter().map(|(number, features)| (f64::from(number as f32), features)).collect())
}

/// Prints progress from time to time.
struct Progress {
    done: AtomicUsize,
    all: usize,
    what: &'static str,
}

impl Progress {
    fn new(all: usize, what: &'static str) -> Self {
        Self { done: AtomicUsize::new(0), all, what }
    }

    fn one(&self) {
        use std::io::Write as _;
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(100) || done == self.all {
            let _ = writeln!(std::io::stderr(), "{done} of {} {}", self.all, self.what);
        }
    }
}
