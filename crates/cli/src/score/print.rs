//! Prints scores as a table, JSON lines or CSV.

use std::io::{self, Stdout, Write};
use std::path::Path;

use agenticiqa::scoring::{Row, Scored, Scorer};
use comfy_table::{Cell, CellAlignment};

use crate::arguments::Format;
use crate::exit::Stop;
use crate::table;
use crate::terminal::{self, Safe, shown};

const COLUMNS: [&str; 12] = [
    "image_path",
    "reference_path",
    "region",
    "tool",
    "type",
    "lower_is_better",
    "raw_score",
    "normalized_score",
    "execution_time",
    "error",
    "interval_low",
    "interval_high",
];

/// Prints the scores of each image at once, so that a stopped run keeps its results.
pub enum Printer {
    Text { reference: Option<String>, units: Vec<(String, &'static str)> },
    Json,
    Csv { writer: Box<csv::Writer<Safe<Stdout>>>, header: bool },
}

impl Printer {
    /// Creates a printer for the rows of `scorer`.
    pub fn new(format: Format, scorer: &Scorer<'_>) -> Self {
        match format {
            Format::Text => {
                let unit = |tool: &agenticiqa::tools::Tool| tool.info().map_or("", |info| info.unit);
                let units = scorer.tools().iter().map(|tool| (tool.name().to_owned(), unit(tool))).collect();
                Self::Text { reference: scorer.reference().map(|(path, _)| path.to_owned()), units }
            }
            Format::Json => Self::Json,
            Format::Csv => {
                Self::Csv { writer: Box::new(csv::Writer::from_writer(terminal::shared_stdout())), header: false }
            }
        }
    }

    /// Prints the rows of one image.
    pub fn print(&mut self, path: &Path, scored: &Scored) -> Result<(), Stop> {
        match self {
            Self::Text { reference, units } => text(path, scored, reference.as_deref(), units),
            Self::Json => {
                let mut out = terminal::stdout();
                for row in &scored.rows {
                    serde_json::to_writer(&mut out, row)?;
                    out.write_all(b"\n")?;
                }
                Ok(out.flush()?)
            }
            Self::Csv { writer, header } => {
                if !std::mem::replace(header, true) {
                    writer.write_record(COLUMNS)?;
                }
                for row in &scored.rows {
                    writer.write_record(fields(row))?;
                }
                Ok(writer.flush()?)
            }
        }
    }

    /// Ends the output.
    pub fn finish(self) -> Result<(), Stop> {
        match self {
            Self::Csv { mut writer, .. } => Ok(writer.flush()?),
            Self::Text { .. } | Self::Json => Ok(io::stdout().flush()?),
        }
    }
}

fn fields(row: &Row) -> [String; 12] {
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        row.image_path.clone(),
        optional(&row.reference_path),
        optional(&row.region),
        row.tool.clone(),
        row.tool_type.to_string(),
        row.lower_is_better.map(|lower| lower.to_string()).unwrap_or_default(),
        number(row.raw_score),
        number(row.normalized_score),
        format!("{:.6}", row.execution_time),
        optional(&row.error),
        number(row.interval.map(|[low, _]| low)),
        number(row.interval.map(|[_, high]| high)),
    ]
}

fn text(path: &Path, scored: &Scored, reference: Option<&str>, units: &[(String, &str)]) -> Result<(), Stop> {
    let Ok(picture) = &scored.picture else { return Ok(()) };
    let mut out = terminal::stdout();
    let (width, height) = (picture.image.width(), picture.image.height());
    write!(out, "{} ({width}x{height} {})", shown(path.display()), picture.format)?;
    if let Some(reference) = reference {
        write!(out, " compared with {}", shown(reference))?;
    }
    writeln!(out)?;
    for note in &picture.notes {
        writeln!(out, "  {note}")?;
    }
    let regions = scored.rows.iter().any(|row| row.region.is_some());
    let mut headings = vec!["tool", "raw score", "1 (bad) to 5 (excellent)", "better", "ms"];
    if regions {
        headings.insert(0, "region");
    }
    let mut table = table::new(&headings);
    for row in &scored.rows {
        let unit = units.iter().find(|(tool, _)| *tool == row.tool).map_or("", |(_, unit)| unit);
        let mut cells = cells(row, unit);
        if regions {
            cells.insert(0, Cell::new(row.region.as_deref().unwrap_or_default()));
        }
        table.add_row(cells);
    }
    writeln!(out, "{table}")?;
    for row in scored.rows.iter().filter(|row| row.map_path.is_some()) {
        writeln!(out, "  heat map of {}: {}", row.tool, row.map_path.as_deref().unwrap_or_default())?;
    }
    Ok(out.flush()?)
}

fn cells(row: &Row, unit: &str) -> Vec<Cell> {
    let score = match (row.raw_score, &row.error) {
        (Some(score), _) => Cell::new(format!("{} {unit}", table::number(score)).trim_end()),
        (None, error) => Cell::new(error.as_deref().unwrap_or("no score")),
    };
    vec![
        Cell::new(&row.tool),
        score,
        Cell::new(row.normalized_score.map(|score| table::bar_with(score, row.interval)).unwrap_or_default()),
        Cell::new(table::direction(row.lower_is_better)),
        Cell::new(format!("{:.1}", row.execution_time * 1e3)).set_alignment(CellAlignment::Right),
    ]
}
