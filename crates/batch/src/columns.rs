//! Writes records as Parquet: common fields as columns, and the full record as JSON.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use agenticiqa_imaging::files::temporary_for;

/// The maximum number of records in memory.
const ROWS: usize = 2000;

/// The columns and the JSON pointers to their values.
const COLUMNS: [(&str, Kind, &str); 17] = [
    ("sample_id", Kind::Text, "/sample_id"),
    ("query", Kind::Text, "/query"),
    ("image_path", Kind::Text, "/image_path"),
    ("reference_path", Kind::Text, "/reference_path"),
    ("final_answer", Kind::Text, "/summarizer_result/final_answer"),
    ("answer_form", Kind::Text, "/summarizer_result/answer_form"),
    ("quality_score", Kind::Number, "/summarizer_result/quality_score"),
    ("quality_level", Kind::Text, "/summarizer_result/quality_level"),
    ("quality_reasoning", Kind::Text, "/summarizer_result/quality_reasoning"),
    ("final_status", Kind::Text, "/metadata/final_status"),
    ("error_type", Kind::Text, "/metadata/error_type"),
    ("execution_time_ms", Kind::Number, "/metadata/execution_time_ms"),
    ("iteration_count", Kind::Number, "/metadata/iteration_count"),
    ("cost_usd", Kind::Number, "/metadata/cost_usd"),
    ("timestamp", Kind::Text, "/metadata/timestamp"),
    ("mos", Kind::Number, "/input/mos"),
    ("record", Kind::Record, ""),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Record,
}

/// Converts the records in `lines` to a Parquet file. The file appears only when it is complete.
pub fn convert(lines: &Path, output: &Path) -> io::Result<()> {
    let fresh = temporary_for(output)?;
    let fields: Vec<String> = COLUMNS.iter().map(|(name, kind, _)| field(name, *kind)).collect();
    let schema = parse_message_type(&format!("message record {{ {} }}", fields.concat())).map_err(io::Error::other)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(fresh.reopen()?, Arc::new(schema), Arc::new(properties))?;
    let mut reader = BufReader::with_capacity(1 << 16, File::open(lines)?).lines();
    loop {
        let group: Vec<String> = reader.by_ref().take(ROWS).collect::<io::Result<_>>()?;
        if group.is_empty() {
            break;
        }
        write_group(&mut writer, &group)?;
    }
    writer.close()?;
    fresh.as_file().sync_all()?;
    fresh.persist(output).map_err(|error| error.error)?;
    Ok(())
}

fn field(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Text => format!("optional binary {name} (UTF8); "),
        Kind::Record => format!("required binary {name} (UTF8); "),
        Kind::Number => format!("optional double {name}; "),
    }
}

fn write_group(writer: &mut SerializedFileWriter<File>, lines: &[String]) -> io::Result<()> {
    let records: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    let mut group = writer.next_row_group()?;
    for (_, kind, pointer) in COLUMNS {
        let Some(mut column) = group.next_column()? else { break };
        let found = || records.iter().map(|record| record.pointer(pointer));
        match (column.untyped(), kind) {
            (ColumnWriter::ByteArrayColumnWriter(texts), Kind::Record) => {
                let values: Vec<ByteArray> =
                    lines.iter().map(|line| ByteArray::from(line.as_bytes().to_vec())).collect();
                texts.write_batch(&values, None, None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(texts), _) => {
                let cells: Vec<Option<ByteArray>> = found()
                    .map(|value| value?.as_str().map(|text| ByteArray::from(text.as_bytes().to_vec())))
                    .collect();
                let (values, levels) = optional(cells);
                texts.write_batch(&values, Some(&levels), None)?;
            }
            (ColumnWriter::DoubleColumnWriter(numbers), _) => {
                let (values, levels) = optional(found().map(|value| value?.as_f64()).collect());
                numbers.write_batch(&values, Some(&levels), None)?;
            }
            _ => return Err(io::Error::other("the schema does not fit the columns")),
        }
        column.close()?;
    }
    group.close()?;
    Ok(())
}

/// Splits optional cells into the values and the definition levels.
fn optional<T>(cells: Vec<Option<T>>) -> (Vec<T>, Vec<i16>) {
    let levels = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    (cells.into_iter().flatten().collect(), levels)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{agent, folder, records};
    use super::super::{Existing, Input, StopSignal};

    #[tokio::test]
    async fn an_output_becomes_an_input_again() {
        let (place, mut batch) = folder(7);
        batch.output = place.path().join("records.parquet");
        let run = batch.run(std::sync::Arc::new(agent()), &StopSignal::default(), &|_| ()).await.unwrap();
        assert_eq!(run.written(), 7);
        let lines = records(&batch.lines());
        let input = Input::file(&batch.output);
        let samples: Vec<_> = input.items(&batch.paths).unwrap().map(|item| item.unwrap().unwrap()).collect();
        assert_eq!(samples.len(), 7);
        for (sample, line) in samples.iter().zip(&lines) {
            assert_eq!(line["sample_id"], sample.sample_id);
            assert_eq!(
                line["summarizer_result"]["quality_score"],
                sample.input.get("quality_score").cloned().unwrap_or_default()
            );
            assert_eq!(line["metadata"]["final_status"], sample.input["final_status"]);
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(sample.input["record"].as_str().unwrap()).unwrap(),
                *line
            );
        }
        batch.existing = Existing::Refuse;
        assert!(batch.run(std::sync::Arc::new(agent()), &StopSignal::default(), &|_| ()).await.is_err());
    }

    #[test]
    fn what_is_no_parquet_is_an_error_of_the_file() {
        let (place, batch) = folder(0);
        let path = place.path().join("wrong.parquet");
        std::fs::write(&path, "PAR1 not really PAR1").unwrap();
        let error = Input::file(&path).items(&batch.paths).err().unwrap().to_string();
        assert!(error.contains("wrong.parquet: the input cannot be read"), "{error}");
    }
}
