//! The execution log: one line per sample, for monitoring long runs.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use agenticiqa_agent::state::{AssessmentRecord, ByNode, FinalStatus};

/// The path and the rotation of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// The current file. Older files have the suffixes `.1`, `.2` and so on.
    pub path: PathBuf,
    /// The size in bytes above which the file is rotated.
    pub max_bytes: u64,
    /// The number of rotated files to keep.
    pub kept: u32,
}

impl LogFile {
    /// Creates a log with at most 10 MB per file and five rotated files.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), max_bytes: 10 << 20, kept: 5 }
    }
}

/// A line of the log.
#[derive(Debug, Serialize)]
struct Line<'a> {
    timestamp: Timestamp,
    sample_id: &'a str,
    final_status: FinalStatus,
    error_type: Option<&'a str>,
    execution_time_ms: f64,
    node_times_ms: &'a ByNode<f64>,
    backends: &'a ByNode<String>,
    iteration_count: u32,
    replan_reasons: Vec<&'a str>,
    tokens_used: &'a ByNode<u64>,
    cost_usd: Option<f64>,
    error_details: Option<&'a Vec<String>>,
}

impl<'a> Line<'a> {
    fn of(record: &'a AssessmentRecord) -> Self {
        let metadata = &record.metadata;
        Self {
            timestamp: metadata.timestamp,
            sample_id: record.sample_id.as_str(),
            final_status: metadata.final_status,
            error_type: metadata.error_type.as_deref(),
            execution_time_ms: metadata.execution_time_ms,
            node_times_ms: &metadata.node_times_ms,
            backends: &metadata.backends,
            iteration_count: metadata.iteration_count,
            replan_reasons: metadata.replan_history.iter().map(|replan| replan.reason.as_str()).collect(),
            tokens_used: &metadata.tokens_used,
            cost_usd: metadata.cost_usd,
            error_details: metadata.error_details.as_ref(),
        }
    }
}

/// The log of a run. A write failure is reported once as a warning and does not end the run.
#[derive(Debug)]
pub struct ExecutionLog {
    to: LogFile,
    open: Option<(File, u64)>,
    warned: bool,
}

impl ExecutionLog {
    /// Creates a log that appends to the file.
    pub fn new(to: LogFile) -> Self {
        Self { to, open: None, warned: false }
    }

    /// Writes a line about a sample.
    pub fn append(&mut self, record: &AssessmentRecord) {
        if let Err(error) = self.write(record)
            && !std::mem::replace(&mut self.warned, true)
        {
            tracing::warn!("{}: the execution log cannot be written: {error}", self.to.path.display());
        }
    }

    fn write(&mut self, record: &AssessmentRecord) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line::of(record))?;
        line.push(b'\n');
        let (mut file, mut length) = match self.open.take() {
            Some(open) => open,
            None => open(&self.to.path)?,
        };
        if length > 0 && length + line.len() as u64 > self.to.max_bytes {
            drop(file);
            rotate(&self.to.path, self.to.kept)?;
            (file, length) = open(&self.to.path)?;
        }
        file.write_all(&line)?;
        self.open = Some((file, length + line.len() as u64));
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Renames every file to the next number and deletes the last.
fn rotate(path: &Path, kept: u32) -> io::Result<()> {
    if kept == 0 {
        return std::fs::remove_file(path);
    }
    for number in (1..kept).rev() {
        let from = numbered(path, number);
        if from.exists() {
            std::fs::rename(from, numbered(path, number + 1))?;
        }
    }
    std::fs::rename(path, numbered(path, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Known;
    use crate::{Flaw, Output};

    fn record(name: &str) -> AssessmentRecord {
        let agent = crate::testing::agent();
        Known::of_flaw(&Flaw::new(3, ""), name.to_owned()).record(
            &agent,
            "InputError",
            "nothing there",
            Default::default(),
        )
    }

    #[test]
    fn files_are_put_aside_by_size_and_no_line_is_split() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.log");
        let mut log = ExecutionLog::new(LogFile { path: path.clone(), max_bytes: 1500, kept: 2 });
        for number in 0..30 {
            log.append(&record(&format!("sample-{number:02}")));
        }
        let lines = |path: &Path| -> Vec<serde_json::Value> {
            let text = std::fs::read_to_string(path).unwrap();
            assert!(text.len() <= 1500 && text.ends_with('\n'));
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let mut all = lines(&numbered(&path, 2));
        all.extend(lines(&numbered(&path, 1)));
        all.extend(lines(&path));
        assert!(!numbered(&path, 3).exists());
        let first = 30 - all.len();
        assert!(first > 0 && all.len() > 4, "{first}");
        for (number, line) in (first..30).zip(&all) {
            assert_eq!(line["sample_id"], format!("sample-{number:02}"));
            assert_eq!((&line["final_status"], &line["error_type"]), (&"error".into(), &"InputError".into()));
            for field in ["timestamp", "node_times_ms", "backends", "iteration_count", "tokens_used", "cost_usd"] {
                assert!(line.get(field).is_some(), "{field}");
            }
        }
    }

    #[test]
    fn a_log_that_cannot_be_written_ends_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = ExecutionLog::new(LogFile::new(folder.path()));
        log.append(&record("a"));
        log.append(&record("b"));
        assert!(log.warned);
        let mut output = Output::new(tempfile::tempfile().unwrap(), 0);
        output.append(&record("a")).unwrap();
    }
}
