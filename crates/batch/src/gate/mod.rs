//! Quality gates: fail if a score is below a limit or has dropped since an earlier run.

mod baseline;
mod junit;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use baseline::Baseline;
pub use junit::write as write_junit;

use agenticiqa_agent::state::{AssessmentRecord, FinalStatus};
use agenticiqa_tools::scoring::Row;

/// The maximum number of failures to keep.
const SHOWN: usize = 100;
/// Scores that differ by less than this are equal.
const ROUNDING: f64 = 1e-9;

/// The reason why a gate cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("{path}: the scores cannot be read: {reason}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A line contains no score.
    #[error("{path}, line {line}: neither an assessment record nor a row of scores: {reason}")]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// The limit is not a valid score.
    #[error("{0}: a score from 1 to 5 is needed")]
    Limit(f64),
    /// The maximum drop is not a valid difference.
    #[error("{0}: a difference from 0 to 4 is needed")]
    Drop(f64),
}

/// An item with a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The name, which is the same in every run.
    pub name: String,
    /// The score from 1 to 5.
    pub score: Option<f64>,
    /// The reason why there is no score.
    pub error: Option<String>,
    /// The duration in seconds.
    pub seconds: f64,
}

impl Case {
    /// Creates a case from a record.
    pub fn of_record(record: &AssessmentRecord) -> Self {
        let metadata = &record.metadata;
        let failed = metadata.final_status == FinalStatus::Error;
        let details = || metadata.error_details.clone().unwrap_or_default().join("; ");
        Self {
            name: record.sample_id.to_string(),
            score: record.summarizer_result.as_ref().and_then(|result| result.quality_score).map(|score| score.value()),
            error: failed.then(details),
            seconds: metadata.execution_time_ms / 1000.0,
        }
    }

    /// Creates a case from a tool score. Returns nothing for plain measurements, which have no 1 to
    /// 5 scale.
    pub fn of_row(row: &Row) -> Option<Self> {
        let name = row_name(&row.image_path, row.region.as_deref(), &row.tool);
        let case = Self { name, score: row.normalized_score, error: row.error.clone(), seconds: row.execution_time };
        (case.score.is_some() || case.error.is_some()).then_some(case)
    }
}

fn row_name(image: &str, region: Option<&str>, tool: &str) -> String {
    match region {
        Some(region) => format!("{image} {region} {tool}"),
        None => format!("{image} {tool}"),
    }
}

/// The fields of a line of records or scores that a gate reads.
#[derive(Debug, Deserialize)]
struct Line {
    sample_id: Option<String>,
    summarizer_result: Option<Conclusion>,
    metadata: Option<Metadata>,
    image_path: Option<String>,
    region: Option<String>,
    tool: Option<String>,
    normalized_score: Option<f64>,
    error: Option<String>,
    execution_time: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Conclusion {
    quality_score: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    final_status: FinalStatus,
    error_details: Option<Vec<String>>,
    execution_time_ms: f64,
}

impl Line {
    fn case(self) -> Result<Option<Case>, String> {
        match (self.sample_id, self.metadata, self.image_path, self.tool) {
            (Some(name), Some(metadata), _, _) => {
                let failed = metadata.final_status == FinalStatus::Error;
                Ok(Some(Case {
                    name,
                    score: self.summarizer_result.and_then(|result| result.quality_score),
                    error: failed.then(|| metadata.error_details.unwrap_or_default().join("; ")),
                    seconds: metadata.execution_time_ms / 1000.0,
                }))
            }
            (_, _, Some(image), Some(tool)) => {
                let name = row_name(&image, self.region.as_deref(), &tool);
                let (score, seconds) = (self.normalized_score, self.execution_time.unwrap_or_default());
                let case = Case { name, score, error: self.error, seconds };
                Ok((case.score.is_some() || case.error.is_some()).then_some(case))
            }
            _ => Err("sample_id and metadata, or image_path and tool, are missing".to_owned()),
        }
    }
}

/// Reads the cases of a file of records or scores.
pub fn cases(path: &Path) -> Result<impl Iterator<Item = Result<Case, Error>> + use<>, Error> {
    let unreadable = |path: &Path, reason: String| Error::File { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| unreadable(path, error.to_string()))?;
    let path = path.to_owned();
    let lines = BufReader::with_capacity(1 << 16, file).lines().zip(1..);
    Ok(lines.filter_map(move |(text, line)| {
        let text = match text {
            Ok(text) => text,
            Err(error) => return Some(Err(unreadable(&path, error.to_string()))),
        };
        if text.trim().is_empty() {
            return None;
        }
        let read = serde_json::from_str::<Line>(&text).map_err(|error| error.to_string()).and_then(Line::case);
        read.map_err(|reason| Error::Line { path: path.clone(), line, reason }).transpose()
    }))
}

/// A violation of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Violation {
    /// The score is below the limit.
    Below {
        /// The score.
        score: f64,
        /// The limit.
        limit: f64,
    },
    /// The score has dropped.
    Dropped {
        /// The earlier score.
        before: f64,
        /// The current score.
        score: f64,
    },
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Below { score, limit } => write!(f, "{score:.2} is below {limit}"),
            Self::Dropped { before, score } => {
                write!(f, "dropped by {:.2}, from {before:.2} to {score:.2}", before - score)
            }
        }
    }
}

/// The conditions that scores must meet.
#[derive(Debug, Default)]
pub struct Gate {
    fail_under: Option<f64>,
    baseline: Option<(Baseline, f64)>,
}

impl Gate {
    /// Creates a gate without conditions.
    pub fn open() -> Self {
        Self::default()
    }

    /// Requires scores of at least `limit`.
    pub fn fail_under(self, limit: f64) -> Result<Self, Error> {
        if (1.0..=5.0).contains(&limit) {
            Ok(Self { fail_under: Some(limit), ..self })
        } else {
            Err(Error::Limit(limit))
        }
    }

    /// Requires that no score is more than `max_drop` below its baseline.
    pub fn against(self, baseline: Baseline, max_drop: f64) -> Result<Self, Error> {
        if (0.0..=4.0).contains(&max_drop) {
            Ok(Self { baseline: Some((baseline, max_drop)), ..self })
        } else {
            Err(Error::Drop(max_drop))
        }
    }

    /// Returns whether there are no conditions.
    pub fn is_open(&self) -> bool {
        self.fail_under.is_none() && self.baseline.is_none()
    }

    /// Returns the violations of a case.
    pub fn violations(&self, case: &Case) -> Vec<Violation> {
        let Some(score) = case.score else { return Vec::new() };
        let below = self.fail_under.filter(|limit| score < limit - ROUNDING);
        let before = self.baseline.as_ref().and_then(|(baseline, max_drop)| {
            baseline.score(&case.name).filter(|before| before - score > max_drop + ROUNDING)
        });
        let below = below.map(|limit| Violation::Below { score, limit });
        below.into_iter().chain(before.map(|before| Violation::Dropped { before, score })).collect()
    }

    /// Checks all cases.
    pub fn check(&self, cases: impl Iterator<Item = Result<Case, Error>>) -> Result<Verdict, Error> {
        let mut verdict = Verdict::default();
        for case in cases {
            let case = case?;
            verdict.cases += 1;
            verdict.seconds += case.seconds;
            verdict.errors += u64::from(case.error.is_some());
            verdict.unscored += u64::from(case.error.is_none() && case.score.is_none());
            if let Some((baseline, _)) = &self.baseline {
                verdict.compared += u64::from(case.score.and(baseline.score(&case.name)).is_some());
            }
            let violations = self.violations(&case);
            if !violations.is_empty() {
                verdict.failures += 1;
                if verdict.shown.len() < SHOWN {
                    verdict.shown.push((case.name, violations));
                }
            }
        }
        verdict.missing =
            self.baseline.as_ref().map_or(0, |(baseline, _)| baseline.len().saturating_sub(verdict.compared));
        Ok(verdict)
    }
}

/// The result of a gate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The number of cases.
    pub cases: u64,
    /// The number of cases that violate the gate.
    pub failures: u64,
    /// The number of cases without a score because of an error.
    pub errors: u64,
    /// The number of cases with an answer but no score.
    pub unscored: u64,
    /// The number of cases with a score in the baseline.
    pub compared: u64,
    /// The number of baseline scores without a case.
    pub missing: u64,
    /// The total duration of all cases in seconds.
    pub seconds: f64,
    /// The first failures.
    pub shown: Vec<(String, Vec<Violation>)>,
}

impl Verdict {
    /// The number of cases with a score.
    pub fn scored(&self) -> u64 {
        self.cases.saturating_sub(self.errors + self.unscored)
    }
}

#[cfg(test)]
mod tests;
