//! Culls a folder: groups its photos by scene, and proposes which to keep.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use agenticiqa_agent::language::Language;
use serde::Serialize;

use crate::decide::{self, Decision, Merits};
use crate::group::{self, Shot};
use crate::similar::{self, Unusable};
use crate::study::Studies;
use crate::survey::{Failure, Progress, Survey};
use crate::words;

/// Extensions of raw files. A raw file next to another image of the same name is the same photo.
pub(crate) const RAW: [&str; 9] = ["dng", "nef", "cr2", "cr3", "arw", "orf", "raf", "rw2", "pef"];

/// How to cull.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// Photos whose interval ends below this score are rejected, even alone.
    pub reject_below: Option<f64>,
    /// The language of the reasons.
    pub language: Language,
}

/// What is proposed for one photo.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Photo {
    /// The path of the photo.
    pub image_path: String,
    /// The number of the group, from 1; none if the photo cannot be used.
    pub group: Option<usize>,
    /// What to do with it.
    pub decision: Decision,
    /// Its score from 1 to 5.
    pub score: Option<f64>,
    /// Why.
    pub reason: String,
    /// The path as the system knows it.
    #[serde(skip)]
    pub path: PathBuf,
    /// The place of the subject as shares of width and height: left, top, width, height.
    #[serde(skip)]
    pub subject: Option<[f64; 4]>,
    /// Whether the photo cannot be used; the reason says why.
    #[serde(skip)]
    pub failed: bool,
}

/// What is proposed for a folder.
#[derive(Debug)]
pub struct Culled {
    /// The photos, group by group; those that cannot be used come last.
    pub photos: Vec<Photo>,
    /// Photos that cannot be used, with the reason.
    pub failed: Vec<(PathBuf, Failure)>,
}

/// A photo as it is kept in memory.
struct Known {
    shot: Shot,
    merits: Merits,
    interval: [f64; 2],
}

/// Groups photos and decides about each.
pub fn cull(
    survey: &Survey<'_>,
    paths: &[PathBuf],
    options: &Options,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<Culled, Unusable> {
    let (scenes, better) = (similar::Model::builtin()?, decide::Model::builtin()?);
    let companions = companions(paths);
    let alone: Vec<PathBuf> = paths.iter().filter(|path| !companions.contains_key(*path)).cloned().collect();
    let keep = |_: &Path, digest: agenticiqa_tools::Digest, study: crate::Study| Known {
        merits: Merits::of(&study),
        interval: study.interval,
        shot: Shot {
            shape: study.width as f64 / study.height.max(1) as f64,
            signature: study.signature,
            taken: study.taken,
            digest: digest.0,
        },
    };
    let (mut known, mut shots, mut of, mut failed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (path, result) in alone.iter().zip(survey.run(&alone, &Studies, &keep, watch)) {
        match result {
            Ok(Known { shot, merits, interval }) => {
                shots.push(shot);
                known.push((merits, interval));
                of.push(path);
            }
            Err(failure) => failed.push((path.clone(), failure)),
        }
    }
    let mut photos = Vec::with_capacity(paths.len());
    for (number, members) in group::groups(&shots, scenes).into_iter().enumerate() {
        let merits: Vec<&Merits> = members.iter().map(|index| &known[*index].0).collect();
        let digests: Vec<[u8; 32]> = members.iter().map(|index| shots[*index].digest).collect();
        let (best, decisions) = decide::decide(&merits, &digests, better);
        for (place, index) in members.iter().copied().enumerate() {
            let case =
                words::Case { merits: &merits, digests: &digests, best, place, decisions: &decisions, model: better };
            let high = known[index].1[1];
            let (decision, reason) = match options.reject_below.filter(|least| high < *least) {
                Some(least) => (Decision::Reject, words::too_low(merits[place].fault, high, least, options.language)),
                None => (decisions[place], words::reason(&case, &name(of[members[best]]), options.language)),
            };
            photos.push(Photo {
                image_path: of[index].display().to_string(),
                group: Some(number + 1),
                decision,
                score: Some(merits[place].score),
                reason,
                path: of[index].clone(),
                subject: merits[place].subject.as_ref().map(|subject| subject.place),
                failed: false,
            });
        }
    }
    photos.extend(failed.iter().map(|(path, failure)| Photo {
        image_path: path.display().to_string(),
        group: None,
        decision: Decision::Unsure,
        score: None,
        reason: words::unusable(&failure.to_string(), options.language),
        path: path.clone(),
        subject: None,
        failed: true,
    }));
    Ok(Culled { photos: with_companions(photos, &companions, options.language), failed })
}

impl Culled {
    /// Replaces decisions by those of a person: paths as they are printed, and what was decided. Returns the
    /// paths that are not in the folder.
    pub fn decide<'a>(&mut self, decisions: &'a [(String, Decision)]) -> Vec<&'a str> {
        let mut by_path: HashMap<&str, Decision> = decisions.iter().map(|(path, one)| (path.as_str(), *one)).collect();
        for photo in self.photos.iter_mut().filter(|photo| !photo.failed) {
            if let Some(decision) = by_path.remove(photo.image_path.as_str())
                && decision != photo.decision
            {
                photo.decision = decision;
                photo.reason = "decided by a person".to_owned();
            }
        }
        by_path.into_keys().collect()
    }
}

/// Returns raw files whose photo is also there in another format, with that file.
fn companions(paths: &[PathBuf]) -> HashMap<PathBuf, PathBuf> {
    let rendered: HashMap<PathBuf, &PathBuf> =
        paths.iter().filter(|path| !is_raw(path)).map(|path| (path.with_extension(""), path)).collect();
    let raw = paths.iter().filter(|path| is_raw(path));
    raw.filter_map(|path| Some((path.clone(), (*rendered.get(&path.with_extension(""))?).clone()))).collect()
}

pub(crate) fn is_raw(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| RAW.contains(&extension.as_str()))
}

/// Adds raw files after the photo that they go with.
fn with_companions(photos: Vec<Photo>, companions: &HashMap<PathBuf, PathBuf>, language: Language) -> Vec<Photo> {
    let mut raw: HashMap<&PathBuf, Vec<&PathBuf>> = HashMap::new();
    companions.iter().for_each(|(companion, photo)| raw.entry(photo).or_default().push(companion));
    let mut all = Vec::with_capacity(photos.len() + companions.len());
    for photo in photos {
        let mut with = raw.get(&photo.path).cloned().unwrap_or_default();
        with.sort();
        let reason = words::goes_with(&name(&photo.path), language);
        let companion = |path: &&PathBuf| Photo {
            image_path: path.display().to_string(),
            path: (*path).clone(),
            reason: reason.clone(),
            ..photo.clone()
        };
        let with: Vec<Photo> = with.iter().map(companion).collect();
        all.push(photo);
        all.extend(with);
    }
    all
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
