//! Turns decisions into steps: sidecars, moves and links.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use crate::cull::Photo;
use crate::decide::Decision;
use crate::journal::{Name, Problem, Seal, Step, digest};
use crate::sidecar::{self, Mark};

/// What to write.
#[derive(Debug, Clone, Default)]
pub struct Actions {
    /// Whether ratings are written to sidecars.
    pub xmp: bool,
    /// Where rejected photos go.
    pub move_rejects: Option<PathBuf>,
    /// Where kept photos are linked.
    pub link_keepers: Option<PathBuf>,
}

/// What would be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// What cannot be done.
    pub problems: Vec<Problem>,
    /// Sidecars whose rating was given by a person and stays: the sidecar, and the rating.
    pub kept: Vec<(PathBuf, String)>,
}

/// Plans what `actions` say for the photos of a folder.
pub fn plan(folder: &Path, photos: &[Photo], actions: &Actions) -> Plan {
    let mut planner = Planner { plan: Plan::default(), folders: BTreeSet::new(), sidecars: HashMap::new() };
    let judged: Vec<&Photo> = photos.iter().filter(|photo| !photo.failed).collect();
    let stems = stems(photos);
    if actions.xmp {
        judged.iter().for_each(|photo| planner.mark(photo, &stems));
    }
    if let Some(target) = &actions.link_keepers {
        let kept = judged.iter().filter(|photo| photo.decision == Decision::Keep);
        kept.for_each(|photo| planner.link(folder, photo, target));
    }
    if let Some(target) = &actions.move_rejects {
        let rejected: Vec<&&Photo> = judged.iter().filter(|photo| photo.decision == Decision::Reject).collect();
        let leaving: BTreeSet<&Path> = rejected.iter().map(|photo| photo.path.as_path()).collect();
        for photo in &rejected {
            planner.relocate(folder, photo, target, &stems, &leaving);
        }
    }
    planner.plan
}

/// Photos by their path without extension, which share a sidecar.
type Stems = HashMap<PathBuf, Vec<PathBuf>>;

fn stems(photos: &[Photo]) -> Stems {
    let mut stems = Stems::new();
    for photo in photos {
        stems.entry(photo.path.with_extension("")).or_default().push(photo.path.clone());
    }
    stems
}

/// Returns the sidecar of a photo: `photo.jpg.xmp` if it exists, or if another photo of the folder has the
/// same name without its extension and is no raw file of it; else `photo.xmp`.
fn sidecar_of(photo: &Path, stems: &Stems) -> PathBuf {
    let mut long = photo.as_os_str().to_owned();
    long.push(".xmp");
    let long = PathBuf::from(long);
    let rendered =
        stems.get(&photo.with_extension("")).map_or(0, |all| all.iter().filter(|p| !crate::cull::is_raw(p)).count());
    if rendered > 1 || fs::symlink_metadata(&long).is_ok() { long } else { photo.with_extension("xmp") }
}

struct Planner {
    plan: Plan,
    folders: BTreeSet<PathBuf>,
    /// Sidecars that are planned already, with the digest that they will have.
    sidecars: HashMap<PathBuf, String>,
}

impl Planner {
    fn mark(&mut self, photo: &Photo, stems: &Stems) {
        let path = sidecar_of(&photo.path, stems);
        // A raw file shares the sidecar of its photo.
        if self.sidecars.contains_key(&path) {
            return;
        }
        let (rating, label) = match photo.decision {
            Decision::Keep => (photo.score.map_or(0, |score| score.round().clamp(1.0, 5.0) as i8), "Green"),
            Decision::Reject => (-1, "Red"),
            Decision::Unsure => (0, "Yellow"),
        };
        let description = format!("AgenticIQA: {}. {}", photo.decision.name(), photo.reason);
        let mark = Mark { rating, label: label.to_owned(), description };
        let existing = match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_file() => {
                return self.plan.problems.push(Problem::Changed { path, what: "the sidecar is not a file" });
            }
            Ok(_) => match fs::read(&path) {
                Ok(content) => Some(content),
                Err(error) => return self.plan.problems.push(Problem::Io { path, error }),
            },
            Err(_) => None,
        };
        let (before, after) = match &existing {
            None => (None, sidecar::create(&mark)),
            Some(content) => match sidecar::merge(content, &mark) {
                Ok(merged) => {
                    if let Some(rating) = merged.kept {
                        self.plan.kept.push((path.clone(), rating));
                    }
                    (Some(content), merged.content)
                }
                Err(refusal) => return self.plan.problems.push(Problem::Sidecar { path, refusal }),
            },
        };
        if before == Some(&after) {
            return;
        }
        let after = digest(&after);
        self.sidecars.insert(path.clone(), after.clone());
        self.plan.steps.push(Step::Sidecar { path: Name(path), mark, before: before.map(|old| digest(old)), after });
    }

    fn link(&mut self, folder: &Path, photo: &Photo, target: &Path) {
        let Some(path) = self.target(folder, &photo.path, target) else { return };
        let Ok(original) = std::path::absolute(&photo.path) else { return };
        match fs::symlink_metadata(&path) {
            Ok(_) if fs::read_link(&path).ok().as_ref() == Some(&original) => {}
            Ok(_) => self.plan.problems.push(Problem::Changed { path, what: "there is another file of this name" }),
            Err(_) => self.plan.steps.push(Step::Link { path: Name(path), target: Name(original) }),
        }
    }

    fn relocate(&mut self, folder: &Path, photo: &Photo, target: &Path, stems: &Stems, leaving: &BTreeSet<&Path>) {
        let path = &photo.path;
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                let what = "it is a link, and links are not moved";
                return self.plan.problems.push(Problem::Changed { path: path.clone(), what });
            }
            Ok(_) => {}
            Err(error) => return self.plan.problems.push(Problem::Io { path: path.clone(), error }),
        }
        self.transfer(folder, path, target);
        // A sidecar that a photo which stays also uses stays with it.
        let of_stem = stems.get(&path.with_extension("")).map_or(&[][..], Vec::as_slice);
        let shared = of_stem.iter().any(|other| !leaving.contains(other.as_path()));
        let mut long = path.as_os_str().to_owned();
        long.push(".xmp");
        let long = PathBuf::from(long);
        let short = path.with_extension("xmp");
        let sidecars = [Some(long), (!shared).then_some(short)];
        for sidecar in sidecars.into_iter().flatten() {
            let planned =
                self.plan.steps.iter().any(|step| matches!(step, Step::Move { from, .. } if from.0 == sidecar));
            if !planned && (self.sidecars.contains_key(&sidecar) || sidecar.is_file()) {
                self.transfer(folder, &sidecar, target);
            }
        }
    }

    fn transfer(&mut self, folder: &Path, from: &Path, target: &Path) {
        let Some(to) = self.target(folder, from, target) else { return };
        if fs::symlink_metadata(&to).is_ok() {
            return self.plan.problems.push(Problem::Changed { path: to, what: "there is another file of this name" });
        }
        let seal = if self.sidecars.contains_key(from) { None } else { Seal::of(from).ok() };
        self.plan.steps.push(Step::Move { from: Name(from.to_owned()), to: Name(to), seal });
    }

    /// Returns where a file goes: to the same place below the target as below the folder.
    fn target(&mut self, folder: &Path, path: &Path, target: &Path) -> Option<PathBuf> {
        let relative = path.strip_prefix(folder).ok().or_else(|| path.file_name().map(Path::new))?;
        let to = std::path::absolute(target.join(relative)).ok()?;
        // Outermost first, so that they can be removed one by one.
        let missing: Vec<PathBuf> =
            to.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        for folder in missing.into_iter().rev() {
            if self.folders.insert(folder.clone()) {
                self.plan.steps.push(Step::Folder { path: Name(folder) });
            }
        }
        Some(to)
    }
}
