//! Reads JSON Lines: one object per line. Blank lines are skipped.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Item, unreadable};
use crate::{Error, Flaw, PathRules, Sample};

/// The maximum length of a line in bytes, to limit memory.
const LONGEST_LINE: u64 = 16 << 20;

/// Opens the lines of a file.
pub fn read(path: &Path, paths: PathRules) -> Result<Lines, Error> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(unreadable(path, "it is a folder"));
    }
    let mut file = BufReader::with_capacity(1 << 16, file);
    let start = file.fill_buf().map_err(|error| unreadable(path, error))?;
    if start.iter().take(16).any(|byte| *byte == 0) {
        return Err(unreadable(path, "it is not text in UTF-8: is this JSON Lines?"));
    }
    Ok(Lines { path: path.to_owned(), file, line: 0, paths })
}

/// The lines of a file, in order.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    line: u64,
    paths: PathRules,
}

impl Iterator for Lines {
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut bytes = Vec::new();
            match (&mut self.file).take(LONGEST_LINE).read_until(b'\n', &mut bytes) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(unreadable(&self.path, error))),
            }
            self.line += 1;
            if bytes.len() as u64 == LONGEST_LINE && !bytes.ends_with(b"\n") {
                let message =
                    format!("line {} is longer than {} MB: is this JSON Lines?", self.line, LONGEST_LINE >> 20);
                return Some(Err(unreadable(&self.path, message)));
            }
            let text = if self.line == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) } else { &bytes };
            if !text.trim_ascii().is_empty() {
                return Some(Ok(parse(self.line, text, &self.paths)));
            }
        }
    }
}

fn parse(line: u64, text: &[u8], paths: &PathRules) -> Item {
    match serde_json::from_slice(text) {
        Ok(Value::Object(fields)) => Sample::read(line, fields, paths),
        Ok(_) => Err(Flaw::new(
            line,
            "the line is not a JSON object: write {\"sample_id\": ..., \"query\": ..., \"image_path\": ...}",
        )),
        Err(error) => {
            // serde counts lines within one line of text, so its line number is always 1.
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            Err(Flaw::new(line, format!("the line is not valid JSON: {reason} at column {}", error.column())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_lines_bad_lines_and_blank_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input.jsonl");
        let good = r#"{"sample_id": "a", "query": "Rate it.", "image_path": "a.png"}"#;
        let text = format!("\u{feff}{good}\n\n{{\"sample_id\": \n[1]\n\u{0}\n{good}");
        std::fs::write(&path, text).unwrap();
        let items: Vec<Item> = read(&path, PathRules::new(None, None)).unwrap().map(Result::unwrap).collect();
        assert_eq!(items.len(), 5);
        assert_eq!(items[0].as_ref().unwrap().line, 1);
        let flaw = |index: usize| items[index].as_ref().unwrap_err();
        assert_eq!(flaw(1).line, 3);
        assert!(flaw(1).message.starts_with("the line is not valid JSON: EOF while parsing a value at column"));
        assert!(flaw(2).message.starts_with("the line is not a JSON object"));
        assert!(flaw(3).message.starts_with("the line is not valid JSON"));
        assert_eq!(items[4].as_ref().unwrap().line, 6);
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read(&folder.path().join("missing.jsonl"), PathRules::new(None, None)).unwrap_err();
        assert!(missing.to_string().contains("missing.jsonl: the input cannot be read"), "{missing}");
        let of_folder = read(folder.path(), PathRules::new(None, None)).unwrap_err();
        assert!(of_folder.to_string().contains("it is a folder"), "{of_folder}");
    }
}
