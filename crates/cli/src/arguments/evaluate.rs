//! Arguments of `dataset`, `eval` and `calibrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{Format, Limits, Models, RecordFormat};

/// Arguments of `dataset`.
#[derive(Debug, Args)]
pub struct Dataset {
    #[command(subcommand)]
    pub command: DatasetCommand,
}

/// Subcommands of `dataset`.
#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    /// List the supported datasets and their files
    List,
    /// Write the manifest of a dataset that you have downloaded and unpacked
    Prepare(Prepare),
    /// Check a manifest: fields, paths, ranges, duplicates and splits
    Validate(Validate),
}

/// Arguments of `dataset prepare`.
#[derive(Debug, Args)]
#[command(after_help = PREPARE_EXAMPLES)]
pub struct Prepare {
    /// Name of the dataset, e.g. TID2013 (see `dataset list`)
    pub name: String,

    /// Folder with the files of the dataset, at any depth
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: PathBuf,

    /// Manifest to write: JSON Lines with absolute paths
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Skip images that have scores but do not exist
    #[arg(long)]
    pub skip_missing: bool,

    /// Share of scenes for training, if the dataset defines no splits
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    pub train_share: f64,

    /// Share of scenes for validation; the remaining scenes are for testing
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub validation_share: f64,
}

const PREPARE_EXAMPLES: &str = "\
Examples:
  agenticiqa dataset prepare TID2013 --root ~/data/tid2013 --output tid2013.jsonl
  agenticiqa dataset prepare kadid10k --root ~/data/kadid10k --output kadid.jsonl --skip-missing

All images of a scene (one reference, one prompt) are in the same split, on every machine.";

/// Arguments of `dataset validate`.
#[derive(Debug, Args)]
pub struct Validate {
    /// Manifest to check
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub manifest: PathBuf,

    /// Do not check that the images exist
    #[arg(long)]
    pub no_paths: bool,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,
}

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub struct Eval {
    #[command(subcommand)]
    pub command: EvalCommand,
}

/// Subcommands of `eval`.
#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Correlate scores with human opinions: SRCC, PLCC, KRCC, RMSE, outliers, bootstrap intervals
    Correlation(Box<EvalCorrelation>),
    /// Evaluate answers to multiple-choice questions: accuracy with intervals, confusion matrix
    Mcq(EvalMcq),
    /// Compare two runs on the same samples, such as both modes: agreement, answers, tokens and cost
    Runs(EvalRuns),
    /// Count the questions of a file that the built-in analyst understands
    Understanding(EvalUnderstanding),
}

/// File to evaluate: a positional argument or `--input`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct EvalInput {
    /// Records of `batch`, or a manifest together with --tool
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// Same as FILE
    #[arg(long, alias = "manifest", value_name = "FILE", value_hint = ValueHint::FilePath)]
    input: Option<PathBuf>,
}

impl EvalInput {
    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.file.clone().or_else(|| self.input.clone()).unwrap_or_default()
    }
}

/// Arguments of `eval correlation`.
#[derive(Debug, Args)]
#[command(after_help = CORRELATION_EXAMPLES)]
pub struct EvalCorrelation {
    #[command(flatten)]
    pub input: EvalInput,

    /// Score the manifest with this tool first, e.g. SSIM; may be repeated
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    /// Also evaluate each value of this field, e.g. metadata.distortion; may be repeated
    #[arg(long, short, value_name = "FIELD")]
    pub group_by: Vec<String>,

    /// Use only samples of this split, e.g. test
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,

    /// Field with the score, as a dotted path [default: summarizer_result.quality_score]
    #[arg(long, value_name = "FIELD", conflicts_with = "tools")]
    pub score: Option<String>,

    /// Records of another run on the same samples; tests whether the difference is significant
    #[arg(long, value_name = "FILE", conflicts_with = "tools", value_hint = ValueHint::FilePath)]
    pub compare: Option<PathBuf>,

    /// Dataset whose published results are printed for comparison [default: taken from the file]
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<String>,

    /// Write scatter plots and group plots as SVG and PNG into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub plots: Option<PathBuf>,

    /// Output format
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

Scores and opinions are oriented so that higher is better; 1 is perfect correlation. Samples
without opinion, without score or with an infinite score are skipped and counted. Ties share their
mean rank.";

/// Arguments of `eval mcq`.
#[derive(Debug, Args)]
pub struct EvalMcq {
    #[command(flatten)]
    pub input: EvalInput,

    /// Also report the accuracy for each value of this field; may be repeated
    #[arg(long, short, value_name = "FIELD")]
    pub group_by: Vec<String>,

    /// Use only samples of this split, e.g. test
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: Format,

    /// Confidence level of intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub confidence: f64,
}

/// Arguments of `eval runs`.
#[derive(Debug, Args)]
#[command(after_help = RUNS_EXAMPLES)]
pub struct EvalRuns {
    /// Records of the first run
    #[arg(value_name = "FIRST", value_hint = ValueHint::FilePath)]
    pub first: PathBuf,

    /// Records of the second run
    #[arg(value_name = "SECOND", value_hint = ValueHint::FilePath)]
    pub second: PathBuf,

    /// Use only samples of this split, e.g. test
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,

    #[command(flatten)]
    pub bootstrap: BootstrapArguments,
}

const RUNS_EXAMPLES: &str = "\
Example:
  agenticiqa batch --input samples.jsonl --output grounded.jsonl --backend openai.gpt-4o
  agenticiqa batch --input samples.jsonl --output paper.jsonl --backend openai.gpt-4o --backend-override pipeline.mode=paper
  agenticiqa eval runs grounded.jsonl paper.jsonl

Scores are compared if the samples have mos, answers if they have answer.";

/// Arguments of `eval understanding`.
#[derive(Debug, Args)]
#[command(after_help = UNDERSTANDING_EXAMPLES)]
pub struct EvalUnderstanding {
    /// Questions, one a line: plain text, or JSON objects with `question` and `options`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,
}

const UNDERSTANDING_EXAMPLES: &str = "\
Example:
  agenticiqa eval understanding questions.txt

Prints the share of understood questions by form and axis, and the words that are not known. No image
is needed.";

/// Settings of bootstrap intervals.
#[derive(Debug, Clone, Copy, Args)]
pub struct BootstrapArguments {
    /// Number of bootstrap resamples for intervals; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub resamples: usize,

    /// Confidence level of intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub confidence: f64,

    /// Random seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// Settings for scoring a manifest with tools.
#[derive(Debug, Clone, Args)]
pub struct ScoringArguments {
    /// Cache tool scores in this folder [default: cache.disk of pipeline.yaml]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cache: Option<PathBuf>,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,
}

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub struct Calibrate {
    /// Manifest of images with mos and mos_range
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub manifest: PathBuf,

    /// Tool to calibrate; may be repeated [default: all tools that can run on the manifest]
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    /// Tool list to write
    #[arg(long, short, value_name = "FILE", default_value = "tools.json", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Replace an existing file
    #[arg(long)]
    pub force: bool,

    /// Use only samples of this split, e.g. test
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,

    #[command(flatten)]
    pub scoring: ScoringArguments,
}

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  agenticiqa calibrate --manifest kadid.jsonl --tool SSIM --split train --output my/tools.json

Fits a monotonic five-parameter logistic function to the opinions on the scale from 1 (bad) to 5
(excellent). To use the new list, set `tools: {metadata: my/tools.json}` in pipeline.yaml.";
