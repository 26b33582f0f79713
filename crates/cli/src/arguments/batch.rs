//! Arguments of `batch`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueHint};

use super::{Backends, Gates, Limits, Models, RecordFormat, Recordings};

/// Arguments of `batch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Batch {
    /// Samples as JSON Lines with sample_id, query and image_path (optional: reference_path,
    /// options, regions, mos ...), or CSV or Parquet with these columns
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "images", conflicts_with = "images")]
    pub input: Option<PathBuf>,

    /// Images to assess: a folder, a file or a quoted pattern, e.g. 'photos/**/*.jpg'; may be
    /// repeated
    #[arg(long, value_name = "PATTERN", value_hint = ValueHint::AnyPath)]
    pub images: Vec<String>,

    /// Question about the images of --images [default: Assess the overall quality of this image.]
    #[arg(long, short = 'Q', value_name = "TEXT", requires = "images")]
    pub query: Option<String>,

    /// Answer option of a multiple-choice question about the images of --images; may be repeated
    #[arg(long = "option", value_name = "TEXT", requires = "images")]
    pub options: Vec<String>,

    /// Reference image for all images of --images
    #[arg(long, short, value_name = "IMAGE", value_hint = ValueHint::FilePath, requires = "images")]
    pub reference: Option<PathBuf>,

    /// Folder that relative paths start from [default: the working folder, then the folder of the
    /// input]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// Output file: one JSON record per line, or a Parquet file if the name ends in .parquet
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Continue an existing output: keep good records, retry failed samples, add missing ones
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,

    /// Replace an existing output
    #[arg(long)]
    pub overwrite: bool,

    /// Assess at most N samples in this run
    #[arg(long, value_name = "N")]
    pub max_samples: Option<NonZeroU64>,

    /// Assess only samples A to B of the input, counted from 1, e.g. 1-500 or 501-
    #[arg(long, value_name = "A-B")]
    pub sample_range: Option<SampleRange>,

    /// Maximum number of concurrent model calls (--threads limits CPU work) [default: 8]
    #[arg(long, short = 'j', value_name = "N")]
    pub concurrency: Option<NonZeroUsize>,

    /// Maximum requests per minute to each model (limits of model_backends.yaml also apply)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_minute: Option<u32>,

    /// Maximum tokens per minute for each model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub tokens_per_minute: Option<u32>,

    /// Time limit of one sample, e.g. 90s or 5m; time in queues does not count [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub sample_timeout: Option<Duration>,

    /// Start no more samples after this time, e.g. 30m or 8h [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_time: Option<Duration>,

    /// Start no more samples after spending this many US dollars [default: no limit]
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,

    /// Check every line and path and estimate model calls and cost, without assessing anything
    #[arg(long)]
    pub dry_run: bool,

    /// Tool that must run on every sample, e.g. NIQE; may be repeated
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    /// Try edits that could mend the faults of each image; `report` then says what to fix first
    #[arg(long)]
    pub what_if: bool,

    /// Log file with times, backends, replans, tokens and cost of each sample, or off [default: the
    /// output path plus .log]
    #[arg(long, value_name = "FILE|off")]
    pub execution_log: Option<String>,

    /// Rotate the execution log at this size (to .1, .2 ... .5)
    #[arg(long, value_name = "MB", default_value = "10")]
    pub execution_log_size: NonZeroU64,

    /// Output format of the summary
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,

    #[command(flatten)]
    pub backends: Backends,

    #[command(flatten)]
    pub recording: Recordings,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,

    // Last, because its help heading applies to every option after it.
    #[command(flatten)]
    pub gate: Gates,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa batch --input samples.jsonl --output records.jsonl
  agenticiqa batch --images 'photos/**/*.jpg' --query \"Is it blurry?\" --output records.jsonl
  agenticiqa batch --input samples.csv --output records.jsonl --resume
  agenticiqa batch -i samples.jsonl -o records.jsonl --backend openai.gpt-4o --dry-run
  agenticiqa batch -i samples.jsonl -o records.jsonl --backend openai.gpt-4o -j 32 --max-cost 5
  agenticiqa batch -i samples.jsonl -o now.jsonl --baseline before.jsonl --junit gate.xml

Input line: {\"sample_id\": \"a\", \"query\": \"Rate the quality.\", \"image_path\": \"a.png\", \"mos\": 3.2}
Ctrl-C finishes the running samples and stops; a second Ctrl-C stops at once. --resume continues.
Exit codes: 0 all samples have an answer, 1 some have none or the run was stopped, 2 bad usage or
bad input, 3 a gate was not met.";

/// Range of samples, counted from 1.
#[derive(Debug, Clone)]
pub struct SampleRange(pub RangeInclusive<u64>);

impl FromStr for SampleRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || format!("{text:?} is not a range A-B, e.g. 1-500 or 501- (counted from 1)");
        let (first, last) = text.split_once('-').ok_or_else(malformed)?;
        let first = if first.is_empty() { 1 } else { first.trim().parse().map_err(|_| malformed())? };
        let last = if last.is_empty() { u64::MAX } else { last.trim().parse().map_err(|_| malformed())? };
        if first == 0 || last < first { Err(malformed()) } else { Ok(Self(first..=last)) }
    }
}

/// Parses a duration: seconds, or a number with the unit ms, s, m or h.
fn duration(text: &str) -> Result<Duration, String> {
    let malformed = || format!("{text:?} is not a duration, e.g. 90s, 30m or 8h");
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(malformed()),
    };
    let number: f64 = number.trim().parse().map_err(|_| malformed())?;
    let duration = Duration::try_from_secs_f64(number * seconds).map_err(|_| malformed())?;
    if duration.is_zero() { Err(malformed()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "h", "-3s", "5 days", "0", "1e400"] {
            assert!(duration(bad).unwrap_err().contains("30m"), "{bad}");
        }
    }

    #[test]
    fn ranges_count_from_one() {
        assert_eq!("3-7".parse::<SampleRange>().unwrap().0, 3..=7);
        assert_eq!("3-".parse::<SampleRange>().unwrap().0, 3..=u64::MAX);
        assert_eq!("-7".parse::<SampleRange>().unwrap().0, 1..=7);
        for bad in ["0-3", "7-3", "7", "a-b"] {
            assert!(bad.parse::<SampleRange>().unwrap_err().contains("1-500"), "{bad}");
        }
    }
}
