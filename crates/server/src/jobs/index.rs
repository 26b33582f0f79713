//! The records of a job as rows that can be sorted and filtered; the records themselves stay in their file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use agenticiqa::state::{AssessmentRecord, FinalStatus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answers::detected;

/// A distortion of an image.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Finding {
    /// The category.
    pub name: String,
    /// How bad it is, where that was judged.
    pub severity: Option<String>,
}

/// What is known of one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the sample.
    pub sample_id: String,
    /// The image.
    pub image_path: String,
    /// The score from 1 to 5.
    pub score: Option<f64>,
    /// The level next to it.
    pub level: Option<&'static str>,
    /// The scores that nine of ten mean opinions are expected among.
    pub interval: Option<[f64; 2]>,
    /// The answer.
    pub answer: Option<String>,
    /// What was found.
    pub distortions: Vec<Finding>,
    /// The scores of the tools, from 1 to 5.
    pub tools: BTreeMap<String, f64>,
    /// `success`, `partial` or `error`.
    pub status: &'static str,
    /// Why there is no answer.
    pub error: Option<String>,
    /// Milliseconds.
    pub ms: f64,
    /// Where its record is in the file.
    pub offset: u64,
    /// How long its record is.
    pub length: usize,
}

/// The rows of a file that grows.
#[derive(Debug, Default)]
pub struct Index {
    /// The rows, in the order of the file.
    pub rows: Vec<Row>,
    read: u64,
}

impl Index {
    /// Reads what has been added since the last time; a file that has become shorter is read anew.
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
            // A line without an end is still being written.
            if size == 0 || line.last() != Some(&b'\n') {
                return Ok(());
            }
            match serde_json::from_slice::<AssessmentRecord>(&line) {
                Ok(record) => self.rows.push(row(&record, self.read, size)),
                Err(error) => tracing::warn!("{}: a line is no record: {error}", path.display()),
            }
            self.read += size as u64;
        }
    }

    /// The row of a sample.
    pub fn find(&self, sample_id: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.sample_id == sample_id)
    }
}

/// The record of a row, as it was written.
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
