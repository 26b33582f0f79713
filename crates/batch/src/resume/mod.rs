//! Determines which samples are done and prepares the output for appending.

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
use agenticiqa_agent::question::{options_given, options_in};
use agenticiqa_agent::reasoner::Reasoner;
use agenticiqa_agent::reasoner::builtin::Builtin;
use agenticiqa_agent::state::{AnswerOption, ByNode, FinalStatus, Origin, RegionBox};
use agenticiqa_imaging::files::{path_text, temporary_for};

/// What to do with an existing output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Return an error.
    Refuse,
    /// Start over.
    Overwrite,
    /// Keep good records, retry failed samples, and add missing ones.
    Resume,
}

/// The status of a sample of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has to be assessed.
    Open,
    /// The output contains a good record of it.
    Done,
    /// An earlier line has the same ID.
    Repeated {
        /// The number of that line.
        first: u32,
    },
    /// It did not exist when the input was indexed.
    Changed,
}

/// A line of the input, kept small because there may be millions.
#[derive(Debug)]
struct Entry {
    line: u32,
    position: u32,
    question: u32,
    details: u32,
    done: bool,
}

/// The samples of an input by ID, and which of them are done.
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
            let (name, line, question, details) = match &item {
                Ok(sample) => (sample.sample_id.clone(), sample.line, question(sample), details(sample)),
                Err(flaw) => (flaw_name(input, flaw), flaw.line, 0, 0),
            };
            // A repeated ID keeps the first entry, so that the second line can be recognized.
            if let Slot::Vacant(slot) = ledger.entries.entry(key(&name)) {
                let (line, position) = (saturated(line), saturated(ledger.total));
                slot.insert(Entry { line, position, question, details, done: false });
            }
        }
        Ok(ledger)
    }

    /// The number of lines of the input, without blank ones.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of samples with a good record.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Returns the status of a sample.
    pub fn standing(&self, sample: &Sample) -> Standing {
        match self.entries.get(&key(&sample.sample_id)) {
            None => Standing::Changed,
            Some(entry) if entry.line != saturated(sample.line) => Standing::Repeated { first: entry.line },
            Some(entry) if entry.done => Standing::Done,
            Some(_) => Standing::Open,
        }
    }
}

/// Returns the record ID for a line without an ID or with a repeated one.
pub(super) fn flaw_name(input: &Input, flaw: &Flaw) -> String {
    format!("{}:{}", input.name(), flaw.line)
}

/// Returns the line to process. A repeated ID makes it a flaw.
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
    let reference = sample.reference_path.as_deref().map(path_text);
    hash(&sample.query, &path_text(&sample.image_path), reference.as_deref())
}

fn hash(query: &str, image: &str, reference: Option<&str>) -> u32 {
    short((query.trim(), image.trim(), reference.map(str::trim)))
}

/// Hashes the options and regions of a sample as they are in its record.
fn details(sample: &Sample) -> u32 {
    let options = match sample.options.as_slice() {
        [] => options_in(&sample.query),
        // The sample fails if its options are invalid, so there is no good record to compare with.
        given => options_given(given).unwrap_or_default(),
    };
    hash_details(&options, &sample.regions)
}

fn hash_details(options: &[AnswerOption], regions: &[RegionBox]) -> u32 {
    let options: Vec<_> = options.iter().map(|option| (option.letter, option.text.trim())).collect();
    let regions: Vec<_> = regions.iter().map(|one| (one.name.as_str(), one.x, one.y, one.width, one.height)).collect();
    short((options, regions))
}

fn short(value: impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() as u32
}

/// The fields of a record that are needed here.
#[derive(Debug, Deserialize)]
struct Head {
    sample_id: String,
    query: String,
    image_path: String,
    reference_path: Option<String>,
    /// Options and regions are not compared if a record does not have them.
    options: Option<Vec<AnswerOption>>,
    regions: Option<Vec<RegionBox>>,
    metadata: Status,
}

impl Head {
    /// Returns whether the record answers the question of a sample.
    fn answers(&self, entry: &Entry) -> bool {
        let question = hash(&self.query, &self.image_path, self.reference_path.as_deref());
        question == entry.question && self.has_details(entry)
    }

    /// Returns whether options and regions are those of the sample. Regions that were located are not
    /// compared. Records of earlier versions do not say which those are: they come last.
    fn has_details(&self, entry: &Entry) -> bool {
        let (Some(options), Some(regions)) = (&self.options, &self.regions) else { return true };
        let given: Vec<RegionBox> = regions.iter().filter(|one| one.origin == Origin::Given).cloned().collect();
        let located = self.metadata.backends.as_ref().is_some_and(|backends| backends.executor != Builtin.name());
        let fewest = if located { 0 } else { given.len() };
        (fewest..=given.len()).any(|count| hash_details(options, &given[..count]) == entry.details)
    }
}

#[derive(Debug, Deserialize)]
struct Status {
    final_status: FinalStatus,
    #[serde(default)]
    backends: Option<ByNode<String>>,
    #[serde(default)]
    tokens_used: ByNode<u64>,
    #[serde(default)]
    cost_usd: Option<f64>,
}

/// The content of an existing output.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Found {
    /// The number of good records of samples in the input.
    pub records: u64,
    /// The tokens used by these records.
    pub tokens: u64,
    /// Their cost in US dollars, if known for all.
    pub cost_usd: Option<f64>,
    /// The number of records of samples that are not in the input. They are kept.
    pub foreign: u64,
    /// The number of failed records that were removed, so that their samples are retried.
    pub failed: u64,
    /// The size in bytes of a partial last line that was removed.
    pub torn: u64,
}

/// Opens and locks the output. With [`Existing::Resume`], a partial last line and the failed
/// records of samples in `range` are removed, and done samples are marked in the ledger.
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

/// Like [`open`], but changes nothing.
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
            // Some network file systems do not support locks. Continue without.
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

/// Writes the remaining lines to a temporary file and renames it to the output, so that a crash
/// leaves one of the two intact.
fn without_dropped(path: &Path, file: &File, kept: &[bool]) -> io::Result<(File, u64)> {
    let mut fresh = BufWriter::with_capacity(1 << 16, temporary_for(path)?);
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
    // Locks the new file before it replaces the output. No other process knows it yet.
    let _ = fresh.as_file().try_lock();
    fresh.as_file().sync_all()?;
    let file = fresh.persist(path).map_err(|error| error.error)?;
    Ok((file, length))
}

/// A scan of the output.
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

    /// Returns whether a record is kept.
    fn judge(&mut self, head: &Head) -> Result<bool, Error> {
        let good = head.metadata.final_status != FinalStatus::Error;
        let Some(entry) = self.ledger.entries.get_mut(&key(&head.sample_id)) else {
            // The sample is not in the input: keep a good record, drop a failed one.
            self.found.foreign += u64::from(good);
            return Ok(good);
        };
        if !good {
            let again = self.range.contains(&u64::from(entry.position));
            self.found.failed += u64::from(again);
            return Ok(!again);
        }
        if !head.answers(entry) {
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

/// Returns whether these bytes are the beginning of a record. Only then may they be removed.
fn is_torn_record(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"sample_id\":";
    let common = line.len().min(BEGINNING.len());
    line[..common] == BEGINNING[..common]
}

#[cfg(test)]
mod tests;
