//! `dataset`, `eval` and `calibrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{Format, Limits, Models, RecordFormat};

/// `dataset`
#[derive(Debug, Args)]
pub struct Dataset {
    #[command(subcommand)]
    pub command: DatasetCommand,
}

/// What to do with datasets.
#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    /// Every dataset that can be read, and the files that it is published in
    List,
    /// Make a manifest of a public dataset that was downloaded and unpacked
    Prepare(Prepare),
    /// Check a manifest: fields, paths, ranges, duplicates, splits
    Validate(Validate),
}

/// `dataset prepare`
#[derive(Debug, Args)]
#[command(after_help = PREPARE_EXAMPLES)]
pub struct Prepare {
    /// The dataset, in any spelling; `dataset list` names them
    pub name: String,

    /// The folder with its files, at any depth
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: PathBuf,

    /// The manifest to write: JSON Lines with absolute paths
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Leave out images that have scores but are not there
    #[arg(long)]
    pub skip_missing: bool,

    /// The share of scenes for training, where the dataset has no splits of its own
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    pub train_share: f64,

    /// The share of scenes for validation; the rest is for testing
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub validation_share: f64,
}

const PREPARE_EXAMPLES: &str = "\
Examples:
  agenticiqa dataset prepare TID2013 --root ~/data/tid2013 --output tid2013.jsonl
  agenticiqa dataset prepare kadid10k --root ~/data/kadid10k --output kadid.jsonl --skip-missing

All pictures of one scene (one reference, one prompt) are in the same split, the same on every machine.";

/// `dataset validate`
#[derive(Debug, Args)]
pub struct Validate {
    /// The manifest
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub manifest: PathBuf,

    /// Do not look whether images are there
    #[arg(long)]
    pub no_paths: bool,

    /// How to print the findings
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,
}

/// `eval`
#[derive(Debug, Args)]
pub struct Eval {
    #[command(subcommand)]
    pub command: EvalCommand,
}

/// What to evaluate.
#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Scores against opinions: SRCC, PLCC, KRCC, RMSE, outliers, with bootstrap intervals
    Correlation(Box<EvalCorrelation>),
    /// Answers to multiple-choice questions: accuracy with intervals, confusion matrix
    Mcq(EvalMcq),
}

/// The file that is evaluated, by place or by name.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct EvalInput {
    /// Assessments that `batch` wrote, or a manifest (with --tool)
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// The same by name
    #[arg(long, alias = "manifest", value_name = "FILE", value_hint = ValueHint::FilePath)]
    input: Option<PathBuf>,
}

impl EvalInput {
    /// The file.
    pub fn path(&self) -> PathBuf {
        self.file.clone().or_else(|| self.input.clone()).unwrap_or_default()
    }
}

/// `eval correlation`
#[derive(Debug, Args)]
#[command(after_help = CORRELATION_EXAMPLES)]
pub struct EvalCorrelation {
    #[command(flatten)]
    pub input: EvalInput,

    /// Score the manifest with this tool, now; repeatable
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    /// Figures for each value of this field, such as metadata.distortion; repeatable
    #[arg(long, short, value_name = "FIELD")]
    pub group_by: Vec<String>,

    /// Only samples of this split
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,

    /// Where the score of a line is, as a dotted path [default: summarizer_result.quality_score]
    #[arg(long, value_name = "FIELD", conflicts_with = "tools")]
    pub score: Option<String>,

    /// Another run over the same samples: is the difference significant?
    #[arg(long, value_name = "FILE", conflicts_with = "tools", value_hint = ValueHint::FilePath)]
    pub compare: Option<PathBuf>,

    /// The dataset whose published figures stand beside ours [default: told from the file]
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<String>,

    /// Write scatter plots and plots by group into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub plots: Option<PathBuf>,

    /// How to print the figures
    #[arg(long, default_value = "text")]
    pub format: Format,

    #[command(flatten)]
    pub bootstrap: BootstrapArguments,

    #[command(flatten)]
    pub scoring: ScoringArguments,
}

const CORRELATION_EXAMPLES: &str = "\
Examples:
  agenticiqa eval correlation results.jsonl
  agenticiqa eval correlation results.jsonl --group-by metadata.distortion --plots plots/
  agenticiqa eval correlation new.jsonl --compare old.jsonl
  agenticiqa eval correlation tid2013.jsonl --tool SSIM --tool FSIM --tool GMSD --split test

Scores and opinions are turned so that higher is better: 1 is full agreement. Samples without opinion, without score or
with an infinite score are left out, counted and shown. Equal values share the mean of their ranks.";

/// `eval mcq`
#[derive(Debug, Args)]
pub struct EvalMcq {
    #[command(flatten)]
    pub input: EvalInput,

    /// Accuracy for each value of this field too; repeatable
    #[arg(long, short, value_name = "FIELD")]
    pub group_by: Vec<String>,

    /// Only samples of this split
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,

    /// How to print the figures
    #[arg(long, default_value = "text")]
    pub format: Format,

    /// The confidence of intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub confidence: f64,
}

/// How intervals are drawn.
#[derive(Debug, Clone, Copy, Args)]
pub struct BootstrapArguments {
    /// How often samples are drawn for intervals; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub resamples: usize,

    /// The confidence of intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub confidence: f64,

    /// What the draws are made of: the same seed gives the same intervals
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// How tools score a manifest.
#[derive(Debug, Clone, Args)]
pub struct ScoringArguments {
    /// Keep the scores of tools in this folder, and take known ones from it [default: cache.disk of the configuration]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cache: Option<PathBuf>,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,
}

/// `calibrate`
#[derive(Debug, Args)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub struct Calibrate {
    /// Images with opinions: a manifest with mos and mos_range
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub manifest: PathBuf,

    /// A tool to calibrate; repeatable [default: every tool that can run on the manifest]
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    /// The tool list to write
    #[arg(long, short, value_name = "FILE", default_value = "tools.json", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Replace the file if it is there
    #[arg(long)]
    pub force: bool,

    /// Only samples of this split
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,

    /// How to print the parameters
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,

    #[command(flatten)]
    pub scoring: ScoringArguments,
}

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  agenticiqa calibrate --manifest kadid.jsonl --tool SSIM --tool GMSD --split train --output my/tools.json

To score with the new list, name it in pipeline.yaml: `tools: {metadata: my/tools.json}`.
Fits the five-parameter logistic of the field, one that never turns, to the opinions on 1 (bad) to 5 (excellent).";
