//! `batch`: the command line of many assessments.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueHint};

use super::{Gates, Limits, Models, RecordFormat, Recordings, Thinking};

/// `batch`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Batch {
    /// The samples: JSON Lines with sample_id, query and image_path (and reference_path, options, regions, mos ...), or
    /// CSV or Parquet with the same columns
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "images", conflicts_with = "images")]
    pub input: Option<PathBuf>,

    /// Images instead of a list of samples: a folder, a file or a quoted pattern; repeatable
    #[arg(long, value_name = "PATTERN", value_hint = ValueHint::AnyPath)]
    pub images: Vec<String>,

    /// The question about the images of --images [default: Assess the overall quality of this image.]
    #[arg(long, short = 'Q', value_name = "TEXT", requires = "images")]
    pub query: Option<String>,

    /// An answer to choose from, for the images of --images; repeatable
    #[arg(long = "option", value_name = "TEXT", requires = "images")]
    pub options: Vec<String>,

    /// What the images of --images are all compared with
    #[arg(long, short, value_name = "IMAGE", value_hint = ValueHint::FilePath, requires = "images")]
    pub reference: Option<PathBuf>,

    /// Where relative paths of the input start [default: here, or beside the input where the file is there]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// The records, one JSON object a line; with .parquet a Parquet file is made of them at the end
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Go on with an output: good records stay, failed samples are tried again, missing ones are added
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,

    /// Replace an output that is there
    #[arg(long)]
    pub overwrite: bool,

    /// Assess at most so many samples in this run
    #[arg(long, value_name = "N")]
    pub max_samples: Option<NonZeroU64>,

    /// Assess only these samples of the input, counted from 1
    #[arg(long, value_name = "A-B")]
    pub sample_range: Option<SampleRange>,

    /// Calls of models at a time (CPU work has --threads) [default: 8]
    #[arg(long, short = 'j', value_name = "N")]
    pub concurrency: Option<NonZeroUsize>,

    /// Requests a minute, for every model (limits of model_backends.yaml hold too)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_minute: Option<u32>,

    /// Tokens a minute, for every model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub tokens_per_minute: Option<u32>,

    /// How long one sample may take, such as 90s or 5m; time in queues does not count
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub sample_timeout: Option<Duration>,

    /// Begin no further sample after this time, such as 30m or 8h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_time: Option<Duration>,

    /// Begin no further sample when this many US dollars are spent
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,

    /// Look at every line and path, count, estimate calls and cost; assess nothing
    #[arg(long)]
    pub dry_run: bool,

    /// A tool that must be run on every sample; repeatable
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    /// One line about each sample: times, backends, replans, tokens, cost [default: the output's name with .log behind it]
    #[arg(long, value_name = "FILE|off")]
    pub execution_log: Option<String>,

    /// A log file that would become larger than this is put aside (.1, .2 ... up to .5)
    #[arg(long, value_name = "MB", default_value = "10")]
    pub execution_log_size: NonZeroU64,

    /// How to print the summary
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,

    #[command(flatten)]
    pub gate: Gates,

    #[command(flatten)]
    pub thinking: Thinking,

    #[command(flatten)]
    pub recording: Recordings,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa batch --input samples.jsonl --output records.jsonl
  agenticiqa batch --images 'photos/**/*.jpg' --query \"Is it blurry?\" --output records.jsonl
  agenticiqa batch --input samples.csv --output records.jsonl --resume
  agenticiqa batch -i samples.jsonl -o records.jsonl --backend openai.gpt-4o --dry-run     what would it cost?
  agenticiqa batch -i samples.jsonl -o records.jsonl --backend openai.gpt-4o -j 32 --max-cost 5 --max-time 8h
  agenticiqa batch -i samples.jsonl -o now.jsonl --baseline before.jsonl --max-drop 0.1 --junit gate.xml

A line of the input: {\"sample_id\": \"a\", \"query\": \"Rate the quality.\", \"image_path\": \"a.png\", \"mos\": 3.2}
Ctrl-C finishes the samples that are running; a second one ends at once. Either way --resume goes on.
Exit codes: 0 every sample has an answer, 1 some have none or the run was stopped, 2 bad usage or bad input,
3 a gate was not met.";

/// The first and the last sample, counted from 1.
#[derive(Debug, Clone)]
pub struct SampleRange(pub RangeInclusive<u64>);

impl FromStr for SampleRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || format!("{text:?} is not A-B, for example 1-500 or 501- (counted from 1)");
        let (first, last) = text.split_once('-').ok_or_else(malformed)?;
        let first = if first.is_empty() { 1 } else { first.trim().parse().map_err(|_| malformed())? };
        let last = if last.is_empty() { u64::MAX } else { last.trim().parse().map_err(|_| malformed())? };
        if first == 0 || last < first { Err(malformed()) } else { Ok(Self(first..=last)) }
    }
}

/// A time: seconds, or a number with s, m or h.
fn duration(text: &str) -> Result<Duration, String> {
    let malformed = || format!("{text:?} is not a time: write 90s, 30m or 8h");
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
