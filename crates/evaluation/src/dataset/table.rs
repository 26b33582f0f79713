//! Reads score files: CSV and spreadsheets as tables with named columns, MATLAB files as numbers
//! and names.

use std::path::Path;

use agenticiqa_metrics::mat::{self, Value};
use calamine::{Data, Reader};

use super::Error;
use super::files::{number, read_text};

/// The rows of a table, each with its row number in the file.
pub(super) type Rows = Vec<(usize, Vec<String>)>;

/// Reads all rows of a CSV or TSV file, or of a sheet of a workbook; the first sheet if `sheet`
/// does not exist.
pub(super) fn rows(path: &Path, sheet: Option<&str>) -> Result<Rows, Error> {
    let extension = path.extension().map(|own| own.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "xlsx" | "xls" | "xlsm" | "ods" => sheet_rows(path, sheet),
        _ => csv_rows(path),
    }
}

fn csv_rows(path: &Path) -> Result<Rows, Error> {
    let text = read_text(path)?;
    let first = text.lines().next().unwrap_or_default();
    let delimiter = [b'\t', b';'].into_iter().find(|mark| first.contains(char::from(*mark))).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Error::file(path, error))?;
        let line = record.position().map_or(0, |position| position.line() as usize);
        rows.push((line, record.iter().map(str::to_owned).collect()));
    }
    Ok(rows)
}

fn sheet_rows(path: &Path, sheet: Option<&str>) -> Result<Rows, Error> {
    let failed = |error: calamine::Error| Error::file(path, format!("not a workbook: {error}"));
    let mut workbook = calamine::open_workbook_auto(path).map_err(failed)?;
    let names = workbook.sheet_names();
    let name = sheet.and_then(|wanted| names.iter().find(|name| name.as_str() == wanted)).or(names.first());
    let name = name.ok_or_else(|| Error::file(path, "it has no sheet"))?.clone();
    let range = workbook.worksheet_range(&name).map_err(failed)?;
    let first = range.start().map_or(0, |(row, _)| row as usize);
    let text = |cell: &Data| match cell {
        Data::Empty | Data::Error(_) => String::new(),
        Data::Float(value) => value.to_string(),
        other => other.to_string().trim().to_owned(),
    };
    Ok(range.rows().enumerate().map(|(index, row)| (first + index + 1, row.iter().map(text).collect())).collect())
}

/// A table with named columns.
pub(super) struct Table<'a> {
    path: &'a Path,
    columns: Vec<String>,
    rows: Rows,
}

impl<'a> Table<'a> {
    /// Reads a table whose heading, near the top, contains all of `wanted`.
    pub fn read(path: &'a Path, sheet: Option<&str>, wanted: &[&str]) -> Result<Self, Error> {
        let rows = rows(path, sheet)?;
        let has = |row: &[String], name: &str| row.iter().any(|cell| cell.trim().eq_ignore_ascii_case(name));
        let heading = rows.iter().position(|(_, row)| wanted.iter().all(|name| has(row, name)));
        let heading = heading.ok_or_else(|| {
            Error::file(path, format!("no row names the columns {}: is it the published file?", wanted.join(", ")))
        })?;
        let columns = rows[heading].1.iter().map(|name| name.trim().to_lowercase()).collect();
        let filled = |(_, row): &(usize, Vec<String>)| row.iter().any(|cell| !cell.is_empty());
        let rows: Rows = rows.into_iter().skip(heading + 1).filter(filled).collect();
        if rows.is_empty() {
            return Err(Error::file(path, "there are no rows below the heading"));
        }
        Ok(Self { path, columns, rows })
    }

    /// Returns the rows below the heading.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, cells)| Row { table: self, line: *line, cells })
    }

    /// Returns whether a column exists.
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own.eq_ignore_ascii_case(column))
    }
}

/// A row of a table.
pub(super) struct Row<'a> {
    table: &'a Table<'a>,
    line: usize,
    cells: &'a [String],
}

impl Row<'_> {
    /// Returns the text of a column; empty if the row is too short.
    pub fn text(&self, column: &str) -> &str {
        let index = self.table.columns.iter().position(|own| own.eq_ignore_ascii_case(column));
        index.and_then(|index| self.cells.get(index)).map_or("", |cell| cell.trim())
    }

    /// Returns the number in a column.
    pub fn number(&self, column: &str) -> Result<f64, Error> {
        number(self.text(column)).map_err(|reason| self.error(format!("{column}: {reason}")))
    }

    /// Returns the text of a column that must not be empty.
    pub fn name(&self, column: &str) -> Result<&str, Error> {
        match self.text(column) {
            "" => Err(self.error(format!("{column} is empty"))),
            text => Ok(text),
        }
    }

    /// Creates an error that names the row.
    pub fn error(&self, reason: impl ToString) -> Error {
        Error::line(self.table.path, self.line, reason)
    }
}

/// Returns the numbers of a MATLAB variable.
pub(super) fn mat_numbers(path: &Path, variable: &str) -> Result<Vec<f64>, Error> {
    match mat_variable(path, variable)? {
        Value::Numbers(numbers) => Ok(numbers.data),
        _ => Err(Error::file(path, format!("{variable} holds no numbers"))),
    }
}

/// Returns the names in a MATLAB variable: cells of text or rows of characters.
pub(super) fn mat_names(path: &Path, variable: &str) -> Result<Vec<String>, Error> {
    fn gather(value: Value, names: &mut Vec<String>) {
        match value {
            Value::Text(rows) => names.extend(rows),
            Value::Cells(cells) => cells.into_iter().for_each(|cell| gather(cell, names)),
            Value::Numbers(_) | Value::Other => {}
        }
    }
    let mut names = Vec::new();
    gather(mat_variable(path, variable)?, &mut names);
    if names.is_empty() {
        return Err(Error::file(path, format!("{variable} holds no names")));
    }
    Ok(names)
}

fn mat_variable(path: &Path, variable: &str) -> Result<Value, Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::file(path, error))?;
    let variables = mat::variables(&bytes)
        .map_err(|reason| Error::file(path, format!("{reason}; MATLAB's `save -v7` writes files that can be read")))?;
    let names: Vec<String> = variables.iter().map(|(name, _)| name.clone()).collect();
    let found = variables.into_iter().find(|(name, _)| name == variable).map(|(_, value)| value);
    found.ok_or_else(|| Error::file(path, format!("there is no {variable} in it, only {}", names.join(", "))))
}
