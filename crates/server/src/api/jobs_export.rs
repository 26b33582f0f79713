//! Exports job results as CSV or JSON Lines, streamed to the client.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use same_file::Handle;
use tokio::sync::mpsc::{self, Sender};

use crate::jobs::{ExportFormat, Finding, Row, record};

/// The maximum number of chunks waiting to be sent.
const AHEAD: usize = 16;
/// The number of rows in a chunk.
const ROWS: usize = 256;

/// Returns the media type and the file extension of a format.
pub fn kind(format: ExportFormat) -> (&'static str, &'static str) {
    match format {
        ExportFormat::Csv => ("text/csv; charset=utf-8", "csv"),
        ExportFormat::Jsonl => ("application/x-ndjson", "jsonl"),
    }
}

/// Streams the rows in chunks. Writing pauses while the client does not read.
pub fn lines(
    file: Option<Arc<Handle>>,
    rows: Vec<Row>,
    format: ExportFormat,
) -> impl Stream<Item = Result<Bytes, io::Error>> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        let written = match format {
            ExportFormat::Csv => table(&rows, &sender),
            ExportFormat::Jsonl => file.map_or(Ok(()), |file| all_records(&file, &rows, &sender)),
        };
        if let Err(error) = written {
            // Sending fails only after the client has disconnected.
            drop(sender.blocking_send(Err(error)));
        }
    });
    // Fused, because the stream may be polled again after its end.
    stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) }).fuse()
}

type Pieces = Sender<Result<Bytes, io::Error>>;

fn send(pieces: &Pieces, piece: Vec<u8>) -> io::Result<()> {
    pieces.blocking_send(Ok(piece.into())).map_err(|_| io::ErrorKind::BrokenPipe.into())
}

fn all_records(file: &Handle, rows: &[Row], pieces: &Pieces) -> io::Result<()> {
    for rows in rows.chunks(ROWS) {
        let mut piece = Vec::new();
        for row in rows {
            piece.extend(record(file, row)?);
            piece.push(b'\n');
        }
        send(pieces, piece)?;
    }
    Ok(())
}

fn table(rows: &[Row], pieces: &Pieces) -> io::Result<()> {
    let tools: BTreeSet<&String> = rows.iter().flat_map(|row| row.tools.keys()).collect();
    let fixed = ["sample_id", "image_path", "status", "score", "level", "interval_low", "interval_high", "answer"];
    let mut header: Vec<&str> = fixed.to_vec();
    header.extend(["distortions", "milliseconds", "error"]);
    header.extend(tools.iter().map(|tool| tool.as_str()));
    let written =
        |writer: csv::Writer<Vec<u8>>| writer.into_inner().map_err(|error| io::Error::other(error.to_string()));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header)?;
    for rows in rows.chunks(ROWS) {
        for row in rows {
            writer.write_record(cells(row, &tools))?;
        }
        send(pieces, written(std::mem::replace(&mut writer, csv::Writer::from_writer(Vec::new())))?)?;
    }
    send(pieces, written(writer)?)
}

fn cells(row: &Row, tools: &BTreeSet<&String>) -> Vec<String> {
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let finding = |Finding { name, severity }: &Finding| match severity {
        Some(severity) => format!("{name}:{severity}"),
        None => name.clone(),
    };
    let mut cells = vec![
        row.sample_id.clone(),
        row.image_path.clone(),
        row.status.to_owned(),
        number(row.score),
        row.level.unwrap_or_default().to_owned(),
        number(row.interval.map(|[low, _]| low)),
        number(row.interval.map(|[_, high]| high)),
        row.answer.clone().unwrap_or_default(),
        row.distortions.iter().map(finding).collect::<Vec<_>>().join(";"),
        format!("{:.1}", row.ms),
        row.error.clone().unwrap_or_default(),
    ];
    cells.extend(tools.iter().map(|tool| number(row.tools.get(*tool).copied())));
    cells
}
