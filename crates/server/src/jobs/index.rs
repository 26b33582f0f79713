//! An index of the records of a job for sorting and filtering. The records stay in their file.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use agenticiqa::state::{AssessmentRecord, FinalStatus};
use same_file::Handle;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answers::detected;

/// A detected distortion.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Finding {
    /// Distortion category.
    pub name: String,
    /// Severity, if it was analyzed.
    pub severity: Option<String>,
}

/// The indexed values of one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Sample ID.
    pub sample_id: String,
    /// Path of the image.
    pub image_path: String,
    /// Quality score from 1 to 5.
    pub score: Option<f64>,
    /// Quality level of the score.
    pub level: Option<&'static str>,
    /// 90% prediction interval of the score.
    pub interval: Option<[f64; 2]>,
    /// The answer.
    pub answer: Option<String>,
    /// Detected distortions.
    pub distortions: Vec<Finding>,
    /// Scores from 1 to 5 by tool.
    pub tools: BTreeMap<String, f64>,
    /// `success`, `partial` or `error`.
    pub status: &'static str,
    /// Error message, if the assessment failed.
    pub error: Option<String>,
    /// Execution time in milliseconds.
    pub ms: f64,
    /// Byte offset of the record in the file.
    pub offset: u64,
    /// Length of the record in bytes.
    pub length: usize,
}

/// The rows of a growing file of records.
#[derive(Debug, Default)]
pub struct Index {
    /// The rows in file order.
    pub rows: Vec<Row>,
    /// The file that the rows were read from. It stays readable after a resumed job has replaced it.
    /// Each refresh opens the file again, so its position belongs to one request.
    pub file: Option<Arc<Handle>>,
    read: u64,
}

impl Index {
    /// Reads new records. A file that was replaced or has become shorter is read again from the start.
    pub fn refresh(&mut self, path: &Path) -> io::Result<()> {
        let file = match Handle::from_path(path) {
            Ok(file) => Arc::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let length = file.as_file().metadata()?.len();
        if length < self.read || self.file.as_ref().is_some_and(|known| *known != file) {
            *self = Self::default();
        }
        self.file = Some(Arc::clone(&file));
        let mut file = file.as_file();
        file.seek(SeekFrom::Start(self.read))?;
        let mut lines = BufReader::new(file.take(length - self.read));
        let mut line = Vec::new();
        loop {
            line.clear();
            let size = lines.read_until(b'\n', &mut line)?;
            // A line without a line break is still being written.
            if size == 0 || line.last() != Some(&b'\n') {
                return Ok(());
            }
            match serde_json::from_slice::<AssessmentRecord>(&line) {
                Ok(record) => self.rows.push(row(&record, self.read, size)),
                Err(error) => tracing::warn!("{}: skipped an invalid record: {error}", path.display()),
            }
            self.read += size as u64;
        }
    }

    /// Returns the row of a sample.
    pub fn find(&self, sample_id: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.sample_id == sample_id)
    }

    /// Reads the record of a row.
    pub fn record(&self, row: &Row) -> io::Result<Vec<u8>> {
        record(self.file.as_ref().ok_or(io::ErrorKind::NotFound)?, row)
    }
}

/// Reads the record of a row from the file of its index.
pub fn record(file: &Handle, row: &Row) -> io::Result<Vec<u8>> {
    let mut file = file.as_file();
    file.seek(SeekFrom::Start(row.offset))?;
    let mut line = vec![0; row.length];
    file.read_exact(&mut line)?;
    line.pop();
    Ok(line)
}

fn row(record: &AssessmentRecord, offset: u64, length: usize) -> Row {
    let result = record.summarizer_result.as_ref();
    let metadata = &record.metadata;
    let mut distortions: Vec<Finding> = detected(record)
        .into_iter()
        .map(|found| Finding { name: found.distortion, severity: found.severity })
        .collect();
    distortions.sort();
    distortions.dedup();
    let scores = record.executor_evidence.iter().flat_map(|evidence| evidence.distinct_scores());
    Row {
        sample_id: record.sample_id.to_string(),
        image_path: record.image_path.to_string(),
        score: result.and_then(|result| Some(result.quality_score?.value())),
        level: result.and_then(|result| Some(result.quality_level?.name())),
        interval: result.and_then(|result| result.score_interval).map(|interval| [interval.low(), interval.high()]),
        answer: result.map(|result| result.final_answer.to_string()),
        distortions,
        tools: scores.map(|(tool, score)| (tool.to_owned(), score)).collect(),
        status: match metadata.final_status {
            FinalStatus::Success => "success",
            FinalStatus::Partial => "partial",
            FinalStatus::Error => "error",
        },
        error: metadata
            .error_details
            .as_ref()
            .filter(|_| metadata.final_status == FinalStatus::Error)
            .map(|all| all.join("; ")),
        ms: metadata.execution_time_ms,
        offset,
        length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of the sample `name`.
    fn line(name: &str) -> String {
        let of_nodes = |value: &str| format!(r#"{{"planner":{value},"executor":{value},"summarizer":{value}}}"#);
        let metadata = format!(
            r#"{{"execution_time_ms":1.0,"iteration_count":0,"replan_history":[],"final_status":"success","error_details":null,"timestamp":"2026-01-01T00:00:00Z","version":"0.1.0","backends":{},"tokens_used":{},"cost_usd":null,"node_times_ms":{}}}"#,
            of_nodes(r#""builtin""#),
            of_nodes("0"),
            of_nodes("1.0")
        );
        format!(
            r#"{{"sample_id":"{name}","image_path":"{name}.png","query":"Rate it.","options":[],"reference_path":null,"regions":[],"plan":null,"executor_evidence":null,"summarizer_result":null,"metadata":{metadata}}}"#
        )
    }

    #[test]
    fn a_replaced_file_is_read_anew_and_the_old_one_stays_readable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        std::fs::write(&path, format!("{}\n{}\n", line("failed"), line("kept"))).unwrap();
        let mut index = Index::default();
        index.refresh(&path).unwrap();
        let (rows, old) = (index.rows.clone(), index.file.clone().unwrap());
        assert_eq!(rows.len(), 2);
        // A resumed job drops a record and adds a longer one.
        let fresh = folder.path().join("fresh");
        std::fs::write(&fresh, format!("{}\n{}\n", line("kept"), line("failed before"))).unwrap();
        std::fs::rename(&fresh, &path).unwrap();
        assert_eq!(record(&old, &rows[1]).unwrap(), line("kept").into_bytes());
        index.refresh(&path).unwrap();
        let names: Vec<&str> = index.rows.iter().map(|row| row.sample_id.as_str()).collect();
        assert_eq!(names, ["kept", "failed before"]);
        for row in &index.rows {
            assert_eq!(index.record(row).unwrap(), line(&row.sample_id).into_bytes());
        }
    }
}
