//! The elements of a report for both HTML and Markdown: facts, tables, charts, notes.

use std::ops::RangeFrom;

use serde::Serialize;

/// A label and its value.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Fact {
    pub label: String,
    pub value: String,
    /// Additional information.
    pub hint: String,
    /// `good`, `warn`, `bad` or empty.
    pub tone: &'static str,
}

impl Fact {
    pub fn new(label: &str, value: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { label: label.to_owned(), value: value.into(), hint: hint.into(), tone: "" }
    }

    pub fn toned(self, tone: &'static str) -> Self {
        Self { tone, ..self }
    }
}

/// A row of a table.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TableRow {
    pub cells: Vec<String>,
    /// Whether the row is secondary, such as published results.
    pub quiet: bool,
}

/// A table.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Table {
    pub caption: String,
    pub headings: Vec<String>,
    /// Which columns are numeric.
    pub numeric: Vec<bool>,
    pub rows: Vec<TableRow>,
}

impl Table {
    pub fn new<T: AsRef<str>>(caption: impl Into<String>, headings: &[T]) -> Self {
        let headings: Vec<String> = headings.iter().map(|heading| heading.as_ref().to_owned()).collect();
        Self { caption: caption.into(), numeric: vec![false; headings.len()], headings, rows: Vec::new() }
    }

    /// Marks the columns from this one on as numeric.
    pub fn numeric(mut self, columns: RangeFrom<usize>) -> Self {
        self.numeric[columns].fill(true);
        self
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(TableRow { cells: cells.into_iter().map(Into::into).collect(), quiet: false });
    }

    pub fn quiet_row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(TableRow { cells: cells.into_iter().map(Into::into).collect(), quiet: true });
    }
}

/// A chart.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Chart {
    /// The caption.
    pub caption: String,
    /// The SVG for the HTML page. All text in it is escaped.
    pub svg: String,
    /// The lines of text for Markdown, if the chart can be shown as text.
    pub text: Vec<String>,
}

/// A section of the report.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Section {
    pub id: String,
    pub title: String,
    pub lead: String,
    pub facts: Vec<Fact>,
    pub charts: Vec<Chart>,
    pub tables: Vec<Table>,
    pub notes: Vec<String>,
}

impl Section {
    pub fn new(run: usize, id: &str, title: &str) -> Self {
        Self { id: format!("{id}-{run}"), title: title.to_owned(), ..Self::default() }
    }
}
