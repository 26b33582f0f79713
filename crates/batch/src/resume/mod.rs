//! What is done already: the samples of the input, the records of the output, and the output made ready to go on.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Error, Flaw, Input, Item, Output, PathRules, Sample, Sink};
use agenticiqa_agent::state::{ByNode, FinalStatus};
use agenticiqa_imaging::files::beside;

/// What to do with an output that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Refuse to touch it.
    Refuse,
    /// Begin anew.
    Overwrite,
    /// Keep its good records, try failed samples again, add what is missing.
    Resume,
}

/// What a sample of the input has to do with the others and with the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is to be worked on.
    Open,
    /// The output has a good record of it.
    Done,
    /// A line before has the same name.
    Repeated {
        /// That line.
        first: u32,
    },
    /// It was not there when the input was read first.
    Changed,
}

/// One line of the input, as small as can be: there may be millions.
#[derive(Debug)]
struct Entry {
    line: u32,
    position: u32,
    question: u32,
    done: bool,
}

/// The samples of an input by name, and which of them are done.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: HashMap<[u8; 16], Entry>,
    total: u64,
    done: u64,
}

impl Ledger {
    /// Reads the whole input once.
    pub fn read(input: &Input, paths: &PathRules) -> Result<Self, Error> {
        let mut ledger = Self::default();
        for item in input.items(paths)? {
            let item = item?;
            ledger.total += 1;
            let (name, line, question) = match &item {
                Ok(sample) => (sample.sample_id.clone(), sample.line, question(sample)),
                Err(flaw) => (flaw_name(input, flaw), flaw.line, 0),
            };
            // A repeated name leaves the first entry as it is: that is how the second is told.
            if let Slot::Vacant(slot) = ledger.entries.entry(key(&name)) {
                let (line, position) = (saturated(line), saturated(ledger.total));
                slot.insert(Entry { line, position, question, done: false });
            }
        }
        Ok(ledger)
    }

    /// How many lines the input has, blank ones aside.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many of them have a good record.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// What is to be done with a sample.
    pub fn standing(&self, sample: &Sample) -> Standing {
        match self.entries.get(&key(&sample.sample_id)) {
            None => Standing::Changed,
            Some(entry) if entry.line != saturated(sample.line) => Standing::Repeated { first: entry.line },
            Some(entry) if entry.done => Standing::Done,
            Some(_) => Standing::Open,
        }
    }
}

/// The name of the record of a line that has none of its own, or that of another line.
pub(super) fn flaw_name(input: &Input, flaw: &Flaw) -> String {
    format!("{}:{}", input.name(), flaw.line)
}

/// A line as it is to be worked on: a repeated name makes it a flaw.
pub(super) fn judge(ledger: &Ledger, item: Item) -> Option<Item> {
    let sample = match item {
        Ok(sample) => sample,
        Err(flaw) => return Some(Err(flaw)),
    };
    let refused = |message: String| Some(Err(Flaw { sample_id: None, ..Flaw::of(&sample, message) }));
    match ledger.standing(&sample) {
        Standing::Open => Some(Ok(sample)),
        Standing::Done => None,
        Standing::Repeated { first } => refused(format!(
            "sample_id {:?} is that of line {first} already: give every line its own",
            sample.sample_id
        )),
        Standing::Changed => refused("the input was changed while it was read".to_owned()),
    }
}

fn key(name: &str) -> [u8; 16] {
    let digest = Sha256::digest(name.as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn question(sample: &Sample) -> u32 {
    let reference = sample.reference_path.as_ref().map(|path| path.display().to_string());
    hash(&sample.query, &sample.image_path.display().to_string(), reference.as_deref())
}

fn hash(query: &str, image: &str, reference: Option<&str>) -> u32 {
    let mut hasher = DefaultHasher::new();
    (query.trim(), image.trim(), reference.map(str::trim)).hash(&mut hasher);
    hasher.finish() as u32
}

/// As much of a record as has to be known.
#[derive(Debug, Deserialize)]
struct Head {
    sample_id: String,
    query: String,
    image_path: String,
    reference_path: Option<String>,
    metadata: Status,
}

#[derive(Debug, Deserialize)]
struct Status {
    final_status: FinalStatus,
    #[serde(default)]
    tokens_used: ByNode<u64>,
    #[serde(default)]
    cost_usd: Option<f64>,
}

/// What an output had to say.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Found {
    /// Good records of samples that the input has.
    pub records: u64,
    /// The tokens that these took.
    pub tokens: u64,
    /// What they cost in US dollars, if that is known of all.
    pub cost_usd: Option<f64>,
    /// Records of samples that the input does not have; they stay.
    pub foreign: u64,
    /// Failed records that were taken out, their samples to be tried again.
    pub failed: u64,
    /// Bytes of a torn last line that were cut off.
    pub torn: u64,
}

/// Opens the output for this process alone, and makes it ready: with [`Existing::Resume`] a torn last line is cut off, failed
/// records of the samples in `range` are taken out, and the ledger learns what is done.
pub fn open(
    path: &Path,
    existing: Existing,
    ledger: &mut Ledger,
    range: &RangeInclusive<u64>,
) -> Result<(Output, Found), Error> {
    let failed = |error| Error::Open { path: path.to_owned(), error };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
    lock(&file, path)?;
    let length = file.metadata().map_err(failed)?.len();
    match existing {
        Existing::Refuse if length > 0 => return Err(Error::OutputExists(path.to_owned())),
        Existing::Overwrite if length > 0 => file.cut(0).map_err(failed)?,
        Existing::Resume if length > 0 => return take_up(path, file, ledger, range),
        _ => {}
    }
    Ok((Output::new(file, 0), Found::default()))
}

/// As [`open`], but only to see what there is: nothing is changed.
pub fn look(path: &Path, existing: Existing, ledger: &mut Ledger) -> Result<Found, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::default()),
        Err(error) => return Err(Error::Open { path: path.to_owned(), error }),
    };
    let length = file.metadata().map_err(|error| Error::Open { path: path.to_owned(), error })?.len();
    match existing {
        Existing::Refuse if length > 0 => Err(Error::OutputExists(path.to_owned())),
        Existing::Resume if length > 0 => {
            let all = 1..=u64::MAX;
            let mut scan = Scan::new(path, ledger, &all);
            scan.read(&file)?;
            Ok(scan.found)
        }
        _ => Ok(Found::default()),
    }
}

fn lock(file: &File, path: &Path) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::OutputInUse(path.to_owned())),
        Err(TryLockError::Error(error)) => {
            // Some network folders have no locks; that is no reason not to work there.
            tracing::debug!("{}: the file cannot be locked: {error}", path.display());
            Ok(())
        }
    }
}

fn take_up(
    path: &Path,
    mut file: File,
    ledger: &mut Ledger,
    range: &RangeInclusive<u64>,
) -> Result<(Output, Found), Error> {
    let failed = |error| Error::Open { path: path.to_owned(), error };
    let mut scan = Scan::new(path, ledger, range);
    scan.read(&file)?;
    let Scan { kept, whole, unended, found, .. } = scan;
    file.cut(whole).map_err(failed)?;
    if unended {
        file.write_all(b"\n").map_err(failed)?;
    }
    if kept.iter().all(|kept| *kept) {
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        return Ok((Output::new(file, length), found));
    }
    let (file, length) = without_dropped(path, &file, &kept).map_err(failed)?;
    Ok((Output::new(file, length), found))
}

/// Writes the lines that stay beside the output and moves them into its place: a crash leaves one or the other.
fn without_dropped(path: &Path, file: &File, kept: &[bool]) -> io::Result<(File, u64)> {
    let mut fresh = BufWriter::with_capacity(1 << 16, beside(path)?);
    let mut reader = BufReader::with_capacity(1 << 16, file);
    reader.seek(SeekFrom::Start(0))?;
    let (mut line, mut length) = (Vec::new(), 0);
    for stays in kept {
        line.clear();
        reader.read_until(b'\n', &mut line)?;
        if *stays {
            fresh.write_all(&line)?;
            length += line.len() as u64;
        }
    }
    let fresh = fresh.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Nobody else has heard of this file yet: it is ours from the moment that it takes the output's place.
    let _ = fresh.as_file().try_lock();
    fresh.as_file().sync_all()?;
    let file = fresh.persist(path).map_err(|error| error.error)?;
    Ok((file, length))
}

/// One walk over the output.
struct Scan<'a> {
    path: &'a Path,
    ledger: &'a mut Ledger,
    range: &'a RangeInclusive<u64>,
    kept: Vec<bool>,
    whole: u64,
    unended: bool,
    found: Found,
}

impl<'a> Scan<'a> {
    fn new(path: &'a Path, ledger: &'a mut Ledger, range: &'a RangeInclusive<u64>) -> Self {
        let found = Found { cost_usd: Some(0.0), ..Found::default() };
        Self { path, ledger, range, kept: Vec::new(), whole: 0, unended: false, found }
    }

    fn read(&mut self, file: &File) -> Result<(), Error> {
        let failed = |error| Error::Open { path: self.path.to_owned(), error };
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(failed)? as u64;
            if length == 0 {
                return Ok(());
            }
            let ended = line.ends_with(b"\n");
            match serde_json::from_slice::<Head>(&line) {
                Ok(head) => {
                    let stays = self.judge(&head)?;
                    self.kept.push(stays);
                    self.unended = !ended;
                }
                Err(_) if !ended && is_torn_record(&line) => {
                    self.found.torn = length;
                    return Ok(());
                }
                Err(error) => return Err(self.not_a_record(&error)),
            }
            self.whole += length;
        }
    }

    fn not_a_record(&self, error: &serde_json::Error) -> Error {
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
        Error::NotARecord { path: self.path.to_owned(), line: self.kept.len() as u64 + 1, reason }
    }

    /// Whether a record stays.
    fn judge(&mut self, head: &Head) -> Result<bool, Error> {
        let good = head.metadata.final_status != FinalStatus::Error;
        let Some(entry) = self.ledger.entries.get_mut(&key(&head.sample_id)) else {
            // A failed line that has been taken out of the input, or a record that is not ours to judge.
            self.found.foreign += u64::from(good);
            return Ok(good);
        };
        if !good {
            let again = self.range.contains(&u64::from(entry.position));
            self.found.failed += u64::from(again);
            return Ok(!again);
        }
        if hash(&head.query, &head.image_path, head.reference_path.as_deref()) != entry.question {
            return Err(Error::AnotherQuestion {
                path: self.path.to_owned(),
                line: self.kept.len() as u64 + 1,
                sample_id: head.sample_id.clone(),
                input_line: u64::from(entry.line),
            });
        }
        let first = !std::mem::replace(&mut entry.done, true);
        if first {
            let tokens = &head.metadata.tokens_used;
            self.ledger.done += 1;
            self.found.records += 1;
            self.found.tokens += tokens.planner + tokens.executor + tokens.summarizer;
            self.found.cost_usd = self.found.cost_usd.zip(head.metadata.cost_usd).map(|(sum, cost)| sum + cost);
        }
        Ok(first)
    }
}

/// Whether these are the first bytes of a record: only then may they be cut off.
fn is_torn_record(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"sample_id\":";
    let common = line.len().min(BEGINNING.len());
    line[..common] == BEGINNING[..common]
}

#[cfg(test)]
mod tests;
