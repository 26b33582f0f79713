//! What a report says, in pieces that a page and Markdown both have: facts, tables, charts, notes.

use std::ops::RangeFrom;

use serde::Serialize;

/// A label and its value.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Fact {
    pub label: String,
    pub value: String,
    /// What else is to be known of it.
    pub hint: String,
    /// `good`, `warn`, `bad` or nothing.
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
    /// Whether it is of others: the paper's figures.
    pub quiet: bool,
}

/// A table.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Table {
    pub caption: String,
    pub headings: Vec<String>,
    /// Columns of numbers.
    pub numeric: Vec<bool>,
    pub rows: Vec<TableRow>,
}

impl Table {
    pub fn new<T: AsRef<str>>(caption: impl Into<String>, headings: &[T]) -> Self {
        let headings: Vec<String> = headings.iter().map(|heading| heading.as_ref().to_owned()).collect();
        Self { caption: caption.into(), numeric: vec![false; headings.len()], headings, rows: Vec::new() }
    }

    /// The same table with numbers from this column on.
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

/// An image of numbers.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Chart {
    /// What it shows.
    pub caption: String,
    /// For the page; all text in it is escaped.
    pub svg: String,
    /// For Markdown: lines of text, if it can be told so.
    pub text: Vec<String>,
}

/// A part of the report.
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
