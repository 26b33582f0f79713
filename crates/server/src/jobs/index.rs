//! An index of the records of a job for sorting and filtering. The records stay in their file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use agenticiqa::state::{AssessmentRecord, FinalStatus};
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
    read: u64,
}

impl Index {
    /// Reads new records. A file that has become shorter is read again from the start.
    pub fn refresh(&mut self, path: &Path) -> io::Result<()> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length < self.read {
            *self = Self::default();
        }
        if length == self.read {
            return Ok(());
        }
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
}

/// Reads the record of a row from the file.
pub fn record(path: &Path, row: &Row) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
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
