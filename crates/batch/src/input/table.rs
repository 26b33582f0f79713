//! Reads CSV and TSV with a header. Numbers are parsed, and empty cells are omitted.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};
use serde_json::{Map, Number, Value};

use super::{Item, unreadable};
use crate::{Error, Flaw, PathRules, Sample};

/// Fields that are always text.
const TEXTS: [&str; 4] = ["sample_id", "query", "image_path", "reference_path"];

/// Opens the rows of a file.
pub fn read(path: &Path, paths: PathRules) -> Result<Rows, Error> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    let tabs = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let mut builder = ReaderBuilder::new();
    builder.trim(Trim::All).delimiter(if tabs { b'\t' } else { b',' });
    let mut reader = builder.from_reader(file);
    let header = reader.headers().map_err(|error| unreadable(path, error))?.clone();
    let header: Vec<String> = header.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
    for required in ["sample_id", "query", "image_path"] {
        if !header.iter().any(|name| name == required) {
            let found = header.join(", ");
            return Err(unreadable(path, format!("the header has no column {required}: it has {found}")));
        }
    }
    Ok(Rows { path: path.to_owned(), reader, header, paths })
}

/// The rows of a file, in order.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    reader: Reader<File>,
    header: Vec<String>,
    paths: PathRules,
}

impl Iterator for Rows {
    type Item = Result<Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(false) => None,
            Ok(true) => {
                let line = record.position().map_or(0, csv::Position::line);
                Some(Ok(Sample::read(line, self.fields(&record), &self.paths)))
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                match error.kind() {
                    ErrorKind::UnequalLengths { expected_len, len, .. } => {
                        let message = format!("the row has {len} cells and the header {expected_len}");
                        Some(Ok(Err(Flaw::new(line, message))))
                    }
                    ErrorKind::Utf8 { .. } => Some(Ok(Err(Flaw::new(line, "the row is not UTF-8")))),
                    _ => Some(Err(unreadable(&self.path, error))),
                }
            }
        }
    }
}

impl Rows {
    fn fields(&self, record: &StringRecord) -> Map<String, Value> {
        let cells = self.header.iter().zip(record).filter(|(_, cell)| !cell.is_empty());
        cells.map(|(name, cell)| (name.clone(), value(name, cell))).collect()
    }
}

fn value(name: &str, cell: &str) -> Value {
    if TEXTS.contains(&name) {
        return Value::from(cell);
    }
    if let Ok(whole) = cell.parse::<i64>() {
        return Value::from(whole);
    }
    match cell.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(number) => Value::Number(number),
        // Lists and objects are written as JSON.
        None if cell.starts_with(['[', '{']) => serde_json::from_str(cell).unwrap_or_else(|_| Value::from(cell)),
        None => Value::from(cell),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(name: &str, text: &str) -> Result<Vec<Item>, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path, PathRules::new(None, None))?.collect()
    }

    #[test]
    fn cells_become_what_they_look_like() {
        let text = "sample_id,query,image_path,reference_path,options,mos,metadata\n\
                    1,\"Which, and why?\",a.png,,Blur|Noise,3.25,\"{\"\"level\"\": 2}\"\n\
                    2,Rate it.,b.png,r.png\n\
                    3,Rate it.,c.png,r.png,,,\n";
        let items = rows("input.csv", text).unwrap();
        let first = items[0].as_ref().unwrap();
        assert_eq!((first.sample_id.as_str(), first.query.as_str(), first.line), ("1", "Which, and why?", 2));
        assert_eq!((first.reference_path.clone(), first.options.len()), (None, 2));
        assert_eq!(Value::Object(first.input.clone()), json!({"mos": 3.25, "metadata": {"level": 2}}));
        let flaw = items[1].as_ref().unwrap_err();
        assert_eq!((flaw.line, flaw.message.as_str()), (3, "the row has 4 cells and the header 7"));
        let third = items[2].as_ref().unwrap();
        assert_eq!((third.line, third.input.len()), (4, 0));
    }

    #[test]
    fn tabs_separate_and_missing_columns_are_told() {
        let items = rows("input.tsv", "sample_id\tquery\timage_path\nx\tRate, please.\ta.png\n").unwrap();
        assert_eq!(items[0].as_ref().unwrap().query, "Rate, please.");
        let error = rows("input.csv", "id,query,image_path\n").unwrap_err().to_string();
        assert!(error.contains("no column sample_id: it has id, query, image_path"), "{error}");
    }
}
