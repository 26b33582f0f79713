//! `report`: the command line.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Limits;

/// `report`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// Records that `batch` wrote; repeatable, each file is a run, and the first is compared with the others
    #[arg(long, short, required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub input: Vec<PathBuf>,

    /// The folder for report.html and report.md
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// The title [default: the names of the files]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// How many cases of each kind are shown: wrong answers, far from opinion, tools that disagree, lowest, highest
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub cases: usize,

    /// Figures for each value of this field; repeatable [default: metadata.distortion, where samples have it]
    #[arg(long, short, value_name = "FIELD")]
    pub group_by: Vec<String>,

    /// Where relative paths of images start [default: here, or beside the records where the file is there]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// No images and heat maps: a small page, at once
    #[arg(long)]
    pub no_pictures: bool,

    /// How often samples are drawn for intervals; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub resamples: usize,

    /// What is drawn by lot: intervals, points of large runs, wrong answers that are shown
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    #[command(flatten)]
    pub limits: Limits,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa report --input records.jsonl --output report/
  agenticiqa report -i gpt4o.jsonl -i builtin.jsonl -o report/ --title \"GPT-4o against the built-in analyst\"
  agenticiqa report -i records.jsonl -o report/ --group-by metadata.level --cases 10

report.html is one file that opens with no network: images, charts and styles are inside. report.md has the same facts.
Where records have mos or answer, figures stand beside the paper's, with intervals. Lines that are no records are counted
and named. Exit codes: 0 written, 1 the report cannot be written, 2 bad usage, or a file without records.";
