//! Writes what was decided, so that it can be continued or undone at any moment.
//!
//! Before anything changes, the whole plan is on disk: each step with the state before and after it, and a
//! copy of each sidecar that will be edited. A step is done only if its files are as the plan found them,
//! and undone only if they are as the plan left them. So it does not matter when a run is killed: the next
//! one looks at the files and does what is left, or puts back what was done. Nothing is deleted that the
//! plan did not create, and nothing is overwritten.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::sidecar::{self, Mark, Refusal};

/// One change of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Step {
    /// Creates a folder.
    Folder {
        /// The folder.
        path: Name,
    },
    /// Writes a sidecar.
    Sidecar {
        /// The sidecar.
        path: Name,
        /// What is written.
        mark: Mark,
        /// The digest before; none if there is no file.
        before: Option<String>,
        /// The digest afterwards.
        after: String,
    },
    /// Moves a file.
    Move {
        /// Where it is.
        from: Name,
        /// Where it goes.
        to: Name,
        /// Size and time of the file; none if an earlier step writes it.
        seal: Option<Seal>,
    },
    /// Creates a link.
    Link {
        /// The link.
        path: Name,
        /// Where it points.
        target: Name,
    },
}

/// A path. It is stored as text if it is text, or else as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(pub PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredName {
    Text(String),
    Bytes(Vec<u8>),
}

impl Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = match self.0.to_str() {
            Some(text) => StoredName::Text(text.to_owned()),
            None => StoredName::Bytes(self.0.as_os_str().as_encoded_bytes().to_vec()),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match StoredName::deserialize(deserializer)? {
            StoredName::Text(text) => Ok(Self(text.into())),
            #[cfg(unix)]
            StoredName::Bytes(bytes) => {
                Ok(Self(PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))))
            }
            #[cfg(not(unix))]
            StoredName::Bytes(_) => Err(serde::de::Error::custom("a path that this system cannot have")),
        }
    }
}

/// Size and time of a file, by which it is recognized after a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    size: u64,
    modified: u64,
}

impl Seal {
    /// Returns the seal of a file, not of what a link points to.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self { size: metadata.len(), modified: modified.as_nanos() as u64 })
    }
}

/// Why a step was left out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A file is not as the plan found or left it.
    #[error("{}: {what}; it was left as it is", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What is different.
        what: &'static str,
    },
    /// A sidecar cannot be edited.
    #[error("{}: {refusal}; it was left as it is", path.display())]
    Sidecar {
        /// The sidecar.
        path: PathBuf,
        /// Why.
        refusal: Refusal,
    },
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
}

/// Why a run cannot start, continue or be undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log cannot be written or read; nothing was changed by this call.
    #[error("{}: the undo log cannot be used: {error}", path.display())]
    Log {
        /// The file or folder of the log.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// Another run works on the same folder.
    #[error("{}: another run is working on this folder", .0.display())]
    Busy(PathBuf),
    /// Nothing was applied to the folder, or everything is undone.
    #[error("{}: there is nothing to undo", .0.display())]
    NothingToUndo(PathBuf),
}

/// A moment at which a run may be killed; for progress bars and for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// A copy of a sidecar is being kept.
    Backup,
    /// The plan is complete on disk.
    Planned,
    /// A step is about to begin.
    Before(usize),
    /// A step is half done: a new file exists next to the old one.
    Within(usize),
    /// A step is done.
    After(usize),
    /// All steps are done, but the log does not say so yet.
    Ending,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Steps that were done or were done already.
    pub done: usize,
    /// Steps that were left out.
    pub problems: Vec<Problem>,
}

/// The log of the runs that were applied to one folder.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    photos: PathBuf,
    _lock: File,
}

/// How often, and how long apart, the lock is tried.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

const PLAN: &str = "plan.jsonl";
const DONE: &str = "done";
const UNDONE: &str = "undone";
/// The last line of a complete plan.
const COMPLETE: &str = "{\"complete\":true}";

impl Journal {
    /// Opens the log of a folder of photos; logs are kept below `state`.
    pub fn open(state: &Path, photos: &Path) -> Result<Self, Error> {
        let photos = photos.canonicalize().map_err(|error| Error::Log { path: photos.to_owned(), error })?;
        let id = hex(&Sha256::digest(photos.as_os_str().as_encoded_bytes()));
        let folder = state.join(&id[..24]);
        let failed = |error| Error::Log { path: folder.clone(), error };
        fs::create_dir_all(&folder).map_err(failed)?;
        let lock = File::options().create(true).append(true).open(folder.join("lock")).map_err(failed)?;
        // A process that is being started holds the files of its parent for a moment.
        for attempt in 0..ATTEMPTS {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { folder, photos, _lock: lock }),
                Err(fs::TryLockError::WouldBlock) if attempt + 1 < ATTEMPTS => std::thread::sleep(PAUSE),
                Err(fs::TryLockError::WouldBlock) => break,
                Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Err(Error::Busy(photos))
    }

    /// Finishes a run that was killed. Returns nothing if there is none.
    pub fn finish(&self, watch: &dyn Fn(Moment)) -> Result<Option<Outcome>, Error> {
        match self.runs()?.into_iter().rev().find(|run| !run.is_undone()) {
            Some(run) if !run.is_done() => match run.plan()? {
                Some(steps) => run.apply(&steps, watch).map(Some),
                // The plan is not complete, so nothing was changed.
                None => run.mark(UNDONE).map(|()| None),
            },
            _ => Ok(None),
        }
    }

    /// Writes the plan, then does it.
    pub fn apply(&self, steps: &[Step], watch: &dyn Fn(Moment)) -> Result<Outcome, Error> {
        if steps.is_empty() {
            return Ok(Outcome::default());
        }
        let number = self.runs()?.last().map_or(1, |run| run.number + 1);
        let run = Run { number, folder: self.folder.join(format!("{number:06}")) };
        let failed = |error| Error::Log { path: run.folder.clone(), error };
        fs::create_dir(&run.folder).map_err(failed)?;
        let written = || -> io::Result<()> {
            for (index, step) in steps.iter().enumerate() {
                if let Step::Sidecar { path, before: Some(_), .. } = step {
                    watch(Moment::Backup);
                    flushed(&run.backup(index), &fs::read(&path.0)?)?;
                }
            }
            let mut plan = BufWriter::new(File::create_new(run.folder.join(PLAN))?);
            writeln!(plan, "{}", serde_json::json!({"version": 1, "folder": Name(self.photos.clone())}))?;
            for step in steps {
                serde_json::to_writer(&mut plan, step)?;
                plan.write_all(b"\n")?;
            }
            writeln!(plan, "{COMPLETE}")?;
            plan.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            sync_folder(&run.folder);
            sync_folder(&self.folder);
            Ok(())
        };
        written().map_err(failed)?;
        watch(Moment::Planned);
        run.apply(steps, watch)
    }

    /// Undoes the last run that is not undone yet, last step first. If a step cannot be undone because
    /// someone changed its file, that file stays, and the others are undone.
    pub fn undo(&self, watch: &dyn Fn(Moment)) -> Result<Outcome, Error> {
        let nothing = || Error::NothingToUndo(self.photos.clone());
        loop {
            let run = self.runs()?.into_iter().rev().find(|run| !run.is_undone()).ok_or_else(nothing)?;
            match run.plan()? {
                Some(steps) => return run.undo(&steps, watch),
                None => run.mark(UNDONE)?,
            }
        }
    }

    fn runs(&self) -> Result<Vec<Run>, Error> {
        let failed = |error| Error::Log { path: self.folder.clone(), error };
        let mut runs = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
                runs.push(Run { number, folder: entry.path() });
            }
        }
        runs.sort_by_key(|run| run.number);
        Ok(runs)
    }
}

/// One run in the log.
#[derive(Debug)]
struct Run {
    number: u64,
    folder: PathBuf,
}

impl Run {
    fn is_done(&self) -> bool {
        self.folder.join(DONE).exists()
    }

    fn is_undone(&self) -> bool {
        self.folder.join(UNDONE).exists()
    }

    fn mark(&self, name: &str) -> Result<(), Error> {
        let failed = |error| Error::Log { path: self.folder.clone(), error };
        File::create(self.folder.join(name)).and_then(|file| file.sync_all()).map_err(failed)
    }

    fn backup(&self, index: usize) -> PathBuf {
        self.folder.join(format!("before-{index}"))
    }

    /// Returns the steps, or nothing if the plan was not written to its end.
    fn plan(&self) -> Result<Option<Vec<Step>>, Error> {
        let path = self.folder.join(PLAN);
        let failed = |error: io::Error| Error::Log { path: path.clone(), error };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut steps = Vec::new();
        for line in BufReader::new(file).lines().skip(1) {
            let line = line.map_err(failed)?;
            if line == COMPLETE {
                return Ok(Some(steps));
            }
            match serde_json::from_str(&line) {
                Ok(step) => steps.push(step),
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    fn apply(&self, steps: &[Step], watch: &dyn Fn(Moment)) -> Result<Outcome, Error> {
        let (mut outcome, moves) = (Outcome::default(), moves(steps));
        for (index, step) in steps.iter().enumerate() {
            watch(Moment::Before(index));
            match step.apply(&|| watch(Moment::Within(index)), &moves) {
                Ok(()) => outcome.done += 1,
                Err(problem) => outcome.problems.push(problem),
            }
            watch(Moment::After(index));
        }
        watch(Moment::Ending);
        self.mark(DONE)?;
        Ok(outcome)
    }

    fn undo(&self, steps: &[Step], watch: &dyn Fn(Moment)) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        for (index, step) in steps.iter().enumerate().rev() {
            watch(Moment::Before(index));
            match step.undo(&self.backup(index), &|| watch(Moment::Within(index))) {
                Ok(()) => outcome.done += 1,
                Err(problem) => outcome.problems.push(problem),
            }
            watch(Moment::After(index));
        }
        watch(Moment::Ending);
        self.mark(UNDONE)?;
        Ok(outcome)
    }
}

impl Step {
    /// Does the step, or nothing if it is done. `moves` has where other steps move files to.
    fn apply(&self, within: &dyn Fn(), moves: &HashMap<&Path, &Path>) -> Result<(), Problem> {
        match self {
            Self::Folder { path: Name(path) } => fs::create_dir_all(path).map_err(|error| io_problem(path, error)),
            Self::Sidecar { path: Name(path), mark, before, after } => {
                let now = content(path)?;
                let digest = now.as_deref().map(digest);
                if digest.as_ref() == Some(after) {
                    return remove_temporary(path);
                }
                if digest != *before || now.is_none() {
                    // A run that was killed later has moved it already.
                    let there = moves.get(path.as_path()).map(|there| content(there)).transpose()?.flatten();
                    if there.as_deref().map(self::digest).as_ref() == Some(after) {
                        return Ok(());
                    }
                }
                if digest != *before {
                    return Err(changed(path, "the sidecar changed in the meantime"));
                }
                let merged = match &now {
                    None => sidecar::create(mark),
                    Some(now) => {
                        let refused = |refusal| Problem::Sidecar { path: path.clone(), refusal };
                        sidecar::merge(now, mark).map_err(refused)?.content
                    }
                };
                replace(path, &merged, now.is_none(), within)
            }
            Self::Move { from: Name(from), to: Name(to), seal } => relocate(from, to, *seal, within),
            Self::Link { path: Name(path), target: Name(target) } => match fs::read_link(path) {
                Ok(found) if found == *target => Ok(()),
                _ if fs::symlink_metadata(path).is_ok() => Err(changed(path, "there is another file")),
                _ => link(target, path).map_err(|error| io_problem(path, error)),
            },
        }
    }

    /// Undoes the step, or nothing if it was not done.
    fn undo(&self, backup: &Path, within: &dyn Fn()) -> Result<(), Problem> {
        match self {
            // A folder with other files stays.
            Self::Folder { path: Name(path) } => {
                let _ = fs::remove_dir(path);
                Ok(())
            }
            Self::Sidecar { path: Name(path), before, after, .. } => {
                let digest = content(path)?.as_deref().map(digest);
                if digest == *before {
                    return remove_temporary(path);
                }
                if digest.as_ref() != Some(after) {
                    return Err(changed(path, "the sidecar was changed afterwards"));
                }
                match before {
                    None => {
                        remove_temporary(path)?;
                        fs::remove_file(path).map_err(|error| io_problem(path, error))
                    }
                    Some(_) => {
                        let old = fs::read(backup).map_err(|error| io_problem(backup, error))?;
                        replace(path, &old, false, within)
                    }
                }
            }
            Self::Move { from: Name(from), to: Name(to), seal } => match (exists(from), exists(to)) {
                (true, false) => Ok(()),
                // It was killed between linking and removing, or was never done because the target existed.
                (true, true) if same_file(from, to) => fs::remove_file(to).map_err(|error| io_problem(to, error)),
                (true, true) => Ok(()),
                (false, true) => relocate(to, from, *seal, within),
                // A file that an earlier step created is removed when that step is undone.
                (false, false) if seal.is_none() => Ok(()),
                (false, false) => Err(changed(from, "the file is gone from both places")),
            },
            Self::Link { path: Name(path), target: Name(target) } => match fs::read_link(path) {
                Ok(found) if found == *target => fs::remove_file(path).map_err(|error| io_problem(path, error)),
                _ => Ok(()),
            },
        }
    }
}

/// Returns where each file that is moved goes.
fn moves(steps: &[Step]) -> HashMap<&Path, &Path> {
    let mut moves = HashMap::new();
    for step in steps {
        if let Step::Move { from, to, .. } = step {
            moves.insert(from.0.as_path(), to.0.as_path());
        }
    }
    moves
}

/// Moves a file without ever overwriting one.
fn relocate(from: &Path, to: &Path, seal: Option<Seal>, within: &dyn Fn()) -> Result<(), Problem> {
    let failed = |error| io_problem(from, error);
    match (exists(from), exists(to)) {
        (false, true) => return Ok(()),
        (false, false) => return Err(changed(from, "the file is gone")),
        (true, true) if same_file(from, to) => return fs::remove_file(from).map_err(failed),
        (true, true) => return Err(changed(to, "there is another file of this name")),
        (true, false) => {}
    }
    if let Some(seal) = seal
        && Seal::of(from).map_err(failed)? != seal
    {
        return Err(changed(from, "the file changed in the meantime"));
    }
    // A second name, then the first one is removed: at no moment is there none, and a file that
    // appears at the target in between is not replaced.
    match fs::hard_link(from, to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(changed(to, "there is another file of this name"));
        }
        Err(_) => copy(from, to).map_err(|error| io_problem(to, error))?,
    }
    if let Some(folder) = to.parent() {
        sync_folder(folder);
    }
    within();
    fs::remove_file(from).map_err(failed)
}

/// Copies a file to another file system, with its time and permissions, and compares the copy.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let temporary = temporary(to);
    // Left over from a run that was killed.
    let _ = fs::remove_file(&temporary);
    fs::copy(from, &temporary)?;
    let file = File::options().write(true).open(&temporary)?;
    file.set_modified(fs::metadata(from)?.modified()?)?;
    file.sync_all()?;
    let digests = [from, temporary.as_path()].map(crate::survey::digest_of);
    if digests[0].is_none() || digests[0] != digests[1] {
        fs::remove_file(&temporary)?;
        return Err(io::Error::other("the copy is not equal to the file"));
    }
    into_place(&temporary, to)
}

/// Gives a temporary file its name, unless there is a file of that name.
fn into_place(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links.
        Err(_) if !exists(path) => fs::rename(temporary, path),
        Err(error) => Err(error),
    }
}

/// Writes a file at once. `new` is a file that must not exist.
fn replace(path: &Path, content: &[u8], new: bool, within: &dyn Fn()) -> Result<(), Problem> {
    let temporary = temporary(path);
    let written = || -> io::Result<()> {
        let _ = fs::remove_file(&temporary);
        flushed(&temporary, content)?;
        if let Ok(metadata) = fs::metadata(path) {
            fs::set_permissions(&temporary, metadata.permissions())?;
        }
        within();
        if new {
            into_place(&temporary, path)?
        } else {
            fs::rename(&temporary, path)?
        }
        if let Some(folder) = path.parent() {
            sync_folder(folder);
        }
        Ok(())
    };
    written().map_err(|error| {
        let _ = fs::remove_file(&temporary);
        io_problem(path, error)
    })
}

/// The name of the file that becomes `path`. It is always the same, so a later run can remove it.
fn temporary(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".agenticiqa-");
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

fn remove_temporary(path: &Path) -> Result<(), Problem> {
    match fs::remove_file(temporary(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_problem(path, error)),
        _ => Ok(()),
    }
}

fn flushed(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Flushes the names in a folder to disk, where the system can do that.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Returns the content of a file, or nothing if there is none. A link is an error: what it points to belongs
/// to somebody else.
fn content(path: &Path) -> Result<Option<Vec<u8>>, Problem> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => fs::read(path).map(Some).map_err(|error| io_problem(path, error)),
        Ok(_) => Err(changed(path, "it is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_problem(path, error)),
    }
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| fs::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    id(one).is_some() && id(one) == id(other) || equal_copies(one, other)
}

#[cfg(not(unix))]
fn same_file(one: &Path, other: &Path) -> bool {
    equal_copies(one, other)
}

/// Whether two files have the same size, time and content, as a copy that was not finished.
fn equal_copies(one: &Path, other: &Path) -> bool {
    let seals = Seal::of(one).ok().zip(Seal::of(other).ok());
    seals.is_some_and(|(one, other)| one == other)
        && crate::survey::digest_of(one).is_some_and(|digest| crate::survey::digest_of(other) == Some(digest))
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    fs::hard_link(target, path)
}

/// Returns the digest of a content as text.
pub(crate) fn digest(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn changed(path: &Path, what: &'static str) -> Problem {
    Problem::Changed { path: path.to_owned(), what }
}

fn io_problem(path: &Path, error: io::Error) -> Problem {
    Problem::Io { path: path.to_owned(), error }
}
