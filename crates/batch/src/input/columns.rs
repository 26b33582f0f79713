//! Reads Parquet: one sample per row, with fields as columns. Supports Snappy, gzip, LZ4 and no
//! compression.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Row;
use parquet::record::reader::RowIter;
use serde_json::{Map, Value};

use super::{Item, unreadable};
use crate::{Error, PathRules, Sample};

/// Opens the rows of a file.
pub fn read(path: &Path, paths: PathRules) -> Result<Rows, Error> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    let reader = guarded(path, || SerializedFileReader::new(file))?;
    let schema = reader.metadata().file_metadata().schema();
    let columns: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
    for required in ["sample_id", "query", "image_path"] {
        if !columns.contains(&required) {
            let found = columns.join(", ");
            return Err(unreadable(path, format!("there is no column {required}: there are {found}")));
        }
    }
    let rows = RowIter::from_file_into(Box::new(reader));
    Ok(Rows { path: path.to_owned(), rows, row: 0, paths })
}

/// The rows of a file, in order.
pub struct Rows {
    path: PathBuf,
    rows: RowIter<'static>,
    row: u64,
    paths: PathRules,
}

impl Iterator for Rows {
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.row += 1;
        let rows = &mut self.rows;
        match guarded(&self.path, || rows.next().transpose()) {
            Ok(row) => row.map(|row| Ok(Sample::read(self.row, fields(&row), &self.paths))),
            Err(error) => Some(Err(error)),
        }
    }
}

/// Converts a panic of the crate `parquet` on unknown types into an error.
fn guarded<T>(path: &Path, read: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| match error.to_string() {
            reason if reason.contains("Disabled feature") => {
                unreadable(path, "its compression is not supported: write it with Snappy, gzip, LZ4 or none")
            }
            reason => unreadable(path, reason),
        }),
        Err(_) => Err(unreadable(path, "it has a column of a type that cannot be read: leave the column out")),
    }
}

/// Returns the fields of a row. Empty fields are omitted.
fn fields(row: &Row) -> Map<String, Value> {
    let columns = row.get_column_iter().map(|(name, field)| (name.clone(), field.to_json_value()));
    columns.filter(|(_, value)| !value.is_null()).collect()
}
