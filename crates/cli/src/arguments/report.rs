//! Arguments of `report`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Limits;

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// Records of `batch`; may be repeated to compare the first run with the others
    #[arg(long, short, required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub input: Vec<PathBuf>,

    /// Folder for report.html and report.md
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Title of the report [default: the file names]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// Number of cases of each kind: wrong answers, far from opinion, disagreeing tools, lowest,
    /// highest
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub cases: usize,

    /// Also evaluate each value of this field; may be repeated [default: metadata.distortion, if
    /// present]
    #[arg(long, short, value_name = "FIELD")]
    pub group_by: Vec<String>,

    /// Folder that relative image paths start from [default: the working folder, then the folder of
    /// the records]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// Leave out images and heat maps, for a small report that is written fast
    #[arg(long)]
    pub no_pictures: bool,

    /// Number of bootstrap resamples for intervals; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub resamples: usize,

    /// Random seed for intervals, for points of large runs and for the wrong answers shown
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    #[command(flatten)]
    pub limits: Limits,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa report --input records.jsonl --output report/
  agenticiqa report -i gpt4o.jsonl -i builtin.jsonl -o report/ --title \"GPT-4o and builtin\"
  agenticiqa report -i records.jsonl -o report/ --group-by metadata.level --cases 10

report.html is self-contained: images, charts and styles are embedded. report.md has the same
results. If the records have mos or answer, both compare the results with those of the paper. Lines
that are not records are counted and listed.
Exit codes: 0 success, 1 the report cannot be written, 2 bad usage, or a file without records.";
