//! Reads the lines of a file of records with their offsets, so that they can be read again.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::dataset::{Error, without_place};

/// The maximum length of a line in bytes, to limit memory.
const LONGEST_LINE: usize = 16 << 20;
/// The maximum number of invalid lines to keep.
const NAMED: usize = 20;

/// Lines that are not records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broken {
    /// The number of lines.
    pub count: u64,
    /// The first lines: line number and reason.
    pub first: Vec<(u64, String)>,
}

impl Broken {
    /// Adds a line.
    pub(super) fn add(&mut self, line: u64, reason: impl Into<String>) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push((line, reason.into()));
        }
    }
}

/// A line.
#[derive(Debug)]
pub(super) struct Line {
    /// The line number, counted from 1.
    pub number: u64,
    /// The byte offset.
    pub offset: u64,
    /// The JSON object, or the reason why it is invalid; `None` for a blank line.
    pub object: Option<Result<Map<String, Value>, String>>,
}

/// The lines of a file, in order.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    buffer: Vec<u8>,
    number: u64,
    offset: u64,
}

impl Lines {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| Error::file(path, error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(Error::file(path, "it is a folder"));
        }
        let file = BufReader::with_capacity(1 << 16, file);
        Ok(Self { path: path.to_owned(), file, buffer: Vec::new(), number: 0, offset: 0 })
    }

    /// The number of bytes read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next line, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<Line>, Error> {
        let offset = self.offset;
        let Some(whole) = self.fill().map_err(|error| Error::file(&self.path, error))? else { return Ok(None) };
        self.number += 1;
        let text = if self.number == 1 {
            self.buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.buffer)
        } else {
            &self.buffer
        };
        let object = match whole {
            false => Some(Err(format!("it is longer than {} MB: is this JSON Lines?", LONGEST_LINE >> 20))),
            true if text.trim_ascii().is_empty() => None,
            true => Some(parse(text)),
        };
        Ok(Some(Line { number: self.number, offset, object }))
    }

    /// Reads a line into the buffer and returns whether all of it fits.
    fn fill(&mut self) -> std::io::Result<Option<bool>> {
        self.buffer.clear();
        let mut read = (&mut self.file).take(LONGEST_LINE as u64).read_until(b'\n', &mut self.buffer)? as u64;
        let whole = self.buffer.len() < LONGEST_LINE || self.buffer.ends_with(b"\n");
        if !whole {
            read += skip_line(&mut self.file)?;
        }
        self.offset += read;
        Ok((read > 0).then_some(whole))
    }
}

/// Skips the rest of a line.
fn skip_line(file: &mut impl BufRead) -> std::io::Result<u64> {
    let mut passed = 0;
    loop {
        let part = file.fill_buf()?;
        let end = part.iter().position(|byte| *byte == b'\n').map(|place| place + 1);
        let length = end.unwrap_or(part.len());
        file.consume(length);
        passed += length as u64;
        if end.is_some() || length == 0 {
            return Ok(passed);
        }
    }
}

fn parse(text: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(format!("it is not valid JSON: {} at column {}", without_place(&error), error.column())),
    }
}

/// Returns the objects of the lines at these offsets, in the same order.
pub(super) fn read_again(path: &Path, offsets: &[u64]) -> Result<Vec<Map<String, Value>>, Error> {
    let mut file = BufReader::new(File::open(path).map_err(|error| Error::file(path, error))?);
    let mut read = |offset: u64| -> Result<Map<String, Value>, Error> {
        file.seek(SeekFrom::Start(offset)).map_err(|error| Error::file(path, error))?;
        let mut bytes = Vec::new();
        (&mut file)
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut bytes)
            .map_err(|error| Error::file(path, error))?;
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        parse(text).map_err(|_| Error::file(path, "it changed while it was read: make the report again"))
    };
    offsets.iter().map(|offset| read(*offset)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_places_and_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(LONGEST_LINE));
        let text = format!("\u{feff}{{\"a\": 1}}\n\n[1]\n{{\"a\": \n{long}\n\u{1}\n{{\"a\": 2}}");
        std::fs::write(&path, &text).unwrap();
        let mut lines = Lines::open(&path).unwrap();
        let (mut good, mut wrong) = (Vec::new(), Vec::new());
        while let Some(line) = lines.next().unwrap() {
            match line.object {
                Some(Ok(_)) => good.push((line.number, line.offset)),
                Some(Err(reason)) => wrong.push((line.number, reason)),
                None => assert_eq!(line.number, 2),
            }
        }
        assert_eq!(lines.offset(), text.len() as u64);
        assert_eq!(good.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 7]);
        let reasons: Vec<_> = wrong.iter().map(|(number, reason)| (*number, reason.as_str())).collect();
        assert_eq!(reasons[0], (3, "it is not a JSON object"));
        assert!(reasons[1].1.starts_with("it is not valid JSON: EOF while parsing a value"), "{reasons:?}");
        assert_eq!(reasons[2], (5, "it is longer than 16 MB: is this JSON Lines?"));
        assert_eq!(reasons[3].0, 6);
        let offsets: Vec<u64> = good.iter().rev().map(|(_, offset)| *offset).collect();
        let again = read_again(&path, &offsets).unwrap();
        assert_eq!(again.iter().map(|object| &object["a"]).collect::<Vec<_>>(), [2, 1]);
        std::fs::write(&path, "{}").unwrap();
        assert!(read_again(&path, &[1]).unwrap_err().to_string().contains("it changed while it was read"));
    }
}
