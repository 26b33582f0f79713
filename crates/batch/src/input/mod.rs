//! Sources of samples: JSON Lines, CSV, Parquet, or a list of images with one question.

#[cfg(feature = "parquet")]
mod columns;
mod lines;
mod pictures;
mod table;

use std::path::{Path, PathBuf};

use super::{Error, Flaw, PathRules, Sample};

pub use pictures::Pictures;

/// A sample, or the reason why a line is invalid.
pub type Item = Result<Sample, Flaw>;

/// The lines of an input, in order. An error means that the file cannot be read further.
pub type Items = Box<dyn Iterator<Item = Result<Item, Error>> + Send>;

/// An input, which can be read several times.
#[derive(Debug, Clone)]
pub enum Input {
    /// JSON Lines, one sample per line.
    Lines(PathBuf),
    /// Comma- or tab-separated values with a header.
    Table(PathBuf),
    /// Parquet; requires the feature `parquet`.
    Columns(PathBuf),
    /// Images with one question.
    Pictures(Pictures),
}

impl Input {
    /// Selects the format of a file by its extension: `.csv`, `.tsv`, `.parquet`, otherwise JSON
    /// Lines.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("csv" | "tsv") => Self::Table(path),
            Some("parquet") => Self::Columns(path),
            _ => Self::Lines(path),
        }
    }

    /// The path of the file, if the input is a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Lines(path) | Self::Table(path) | Self::Columns(path) => Some(path),
            Self::Pictures(_) => None,
        }
    }

    /// The base name for lines without a sample ID.
    pub fn name(&self) -> String {
        let name = self.path().and_then(Path::file_name);
        name.map_or_else(|| "pictures".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Opens the lines from the start.
    pub fn items(&self, paths: &PathRules) -> Result<Items, Error> {
        let paths = paths.clone();
        let items: Items = match self {
            Self::Lines(path) => Box::new(lines::read(path, paths)?),
            Self::Table(path) => Box::new(table::read(path, paths)?),
            #[cfg(feature = "parquet")]
            Self::Columns(path) => Box::new(columns::read(path, paths)?),
            #[cfg(not(feature = "parquet"))]
            Self::Columns(path) => return Err(Error::NoParquet(path.clone())),
            Self::Pictures(pictures) => Box::new(pictures.clone().items().map(|sample| Ok(Ok(sample)))),
        };
        Ok(Box::new(Sensible {
            items,
            name: self.path().unwrap_or(Path::new("pictures")).to_owned(),
            strange: Some(0),
        }))
    }
}

/// The number of lines at the start of which at least one must look like a sample.
const FIRST_LINES: u32 = 20;

/// The lines of an input, up to the point where it is clear that it is something else: a program or
/// an image read as a manifest would become thousands of error records.
struct Sensible {
    items: Items,
    name: PathBuf,
    /// How many lines so far have none of the fields of a sample; `None` after the first that has.
    strange: Option<u32>,
}

impl Iterator for Sensible {
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.items.next()?;
        if let Some(strange) = &mut self.strange {
            match &item {
                Ok(Err(Flaw { sample_id: None, query: None, image_path: None, .. })) => *strange += 1,
                _ => self.strange = None,
            }
        }
        if self.strange == Some(FIRST_LINES) {
            self.strange = None;
            let reason = format!("none of the first {FIRST_LINES} lines is a sample: is this JSON Lines or a table?");
            return Some(Err(unreadable(&self.name, reason)));
        }
        Some(item)
    }
}

fn unreadable(path: &Path, reason: impl ToString) -> Error {
    Error::Input { path: path.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_manifest_is_refused_after_its_first_lines() {
        let folder = tempfile::tempdir().unwrap();
        let paths = PathRules::new(None, None);
        let items = |text: &[u8]| -> Result<Vec<Item>, Error> {
            let path = folder.path().join("input.jsonl");
            std::fs::write(&path, text).unwrap();
            Input::file(path).items(&paths)?.collect()
        };
        let message = items(&b"not a sample\n".repeat(5000)).unwrap_err().to_string();
        assert!(message.contains("none of the first 20 lines is a sample"), "{message}");
        // A program has zeros in its first bytes.
        let message = items(b"\x7fELF\x02\x01\x01\0\0\0\n\n").unwrap_err().to_string();
        assert!(message.contains("not text"), "{message}");
        assert_eq!(items(&b"not a sample\n".repeat(19)).unwrap().len(), 19);
        let one = [&br#"{"sample_id": "a"}"#[..], b"\n", &b"not a sample\n".repeat(30)].concat();
        assert_eq!(items(&one).unwrap().len(), 31);
    }
}
