//! Sources of samples: JSON Lines, CSV, Parquet, or a list of images with one question.

#[cfg(feature = "parquet")]
mod columns;
mod lines;
mod pictures;
mod table;

use std::path::{Path, PathBuf};

use super::{Error, Flaw, PathRules, Sample};

pub use pictures::{Found, Pictures};

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
        Ok(match self {
            Self::Lines(path) => Box::new(lines::read(path, paths)?),
            Self::Table(path) => Box::new(table::read(path, paths)?),
            #[cfg(feature = "parquet")]
            Self::Columns(path) => Box::new(columns::read(path, paths)?),
            #[cfg(not(feature = "parquet"))]
            Self::Columns(path) => return Err(Error::NoParquet(path.clone())),
            Self::Pictures(pictures) => Box::new(pictures.clone().items().map(|sample| Ok(Ok(sample)))),
        })
    }
}

fn unreadable(path: &Path, reason: impl ToString) -> Error {
    Error::Input { path: path.to_owned(), reason: reason.to_string() }
}
