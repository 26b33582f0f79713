//! The command line.

mod batch;
mod evaluate;
mod photos;
mod regions;
mod report;
mod serve;
mod shared;
mod tools;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use agenticiqa::config::{Backend, Settings};
use agenticiqa::imaging::Decoder;
use agenticiqa::state::RegionBox;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use tracing::level_filters::LevelFilter;

pub use batch::Batch;
pub use evaluate::{
    BootstrapArguments, Calibrate, Dataset, DatasetCommand, Eval, EvalCommand, EvalCorrelation, EvalMcq, EvalRuns,
    Prepare, ScoringArguments, Validate,
};
pub use photos::{Cull, CullFormat, Measuring, Rank, RankFormat};
pub use regions::{Regions, RegionsFormat};
pub use report::Report;
pub use serve::Serve;
pub use shared::{Gates, Recordings};
pub use tools::{Install, ListFormat, Tools, ToolsCommand};

/// Assess image quality: ask a question about an image, get an answer, a score from 1 to 5 and the
/// evidence.
#[derive(Debug, Parser)]
#[command(name = "agenticiqa", version, after_help = EXAMPLES, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// Folder with model_backends.yaml and pipeline.yaml, or one of these files [default:
    /// ./configs, then ~/.config/agenticiqa]
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub config: Option<PathBuf>,

    /// Log level on stderr: off, error, warn, info, debug or trace [default: warn]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log_level: Option<LevelFilter>,

    /// Format of log lines [default: text]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// Hide progress bars and notes; print only errors on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Number of CPU threads, at most 1024 [default: all cores]
    #[arg(long, global = true, value_name = "N", env = "AGENTICIQA_THREADS", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,

    /// Let ./configs and .env name programs and servers, and remember it for this folder
    /// [AGENTICIQA_TRUST=1 does so for one run]
    #[arg(long, global = true)]
    pub trust_folder: bool,
}

/// Reads a number of threads. More than a thousand take minutes to start and do not help.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.trim().parse::<NonZeroUsize>().map_err(|_| "write a number from 1 to 1024".to_owned())?;
    if number.get() <= 1024 { Ok(number) } else { Err("at most 1024 threads are allowed".to_owned()) }
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa assess photo.jpg                                overall quality, with reasons
  agenticiqa assess photo.jpg --query \"Is it too dark?\"      answer a question
  agenticiqa score photo.jpg                                 default metrics
  agenticiqa score coded.png --reference original.png        compare with a reference image
  agenticiqa score *.jpg --tool BRISQUE --format csv         one metric, many images
  agenticiqa score coded.png -r original.png --map maps/     heat maps of the damage
  agenticiqa regions photo.jpg --overlay found.png           what is where in the image
  agenticiqa rank photos/ --top 10%                          the best photos of a folder
  agenticiqa cull photos/                                    similar photos, and which to keep
  agenticiqa batch -i samples.jsonl -o records.jsonl         assess many images
  agenticiqa serve                                           web page and HTTP API
  agenticiqa mcp                                             MCP server for language models
  agenticiqa tools list                                      all tools and their status
  agenticiqa tools install                                   what can be installed
  agenticiqa dataset prepare TID2013 --root D --output M     manifest of a public dataset
  agenticiqa eval correlation M --tool SSIM --tool FSIM      SRCC, PLCC, KRCC with intervals
  agenticiqa report -i records.jsonl -o report/              HTML and Markdown report

Exit codes: 0 success, 1 failure, 2 bad usage or bad input, 3 a quality gate was not met.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer a question about an image, with a score and the evidence
    Assess(Box<Assess>),
    /// Assess many images; can be stopped and resumed
    Batch(Box<Batch>),
    /// Score images with quality metrics
    Score(Score),
    /// Find objects, the subject, the sky and other parts of an image
    Regions(Regions),
    /// Rank photos, best first
    Rank(Box<Rank>),
    /// Group photos of the same scene and propose which to keep; writes nothing without --apply
    Cull(Cull),
    /// List, describe, check, install or remove tools
    Tools(Tools),
    /// Prepare and validate manifests of public datasets
    Dataset(Dataset),
    /// Evaluate scores against human opinions, and answers against the correct ones
    Eval(Eval),
    /// Write an HTML and Markdown report about the records of `batch`
    Report(Report),
    /// Fit the 1-5 scale of tools to human opinion scores
    Calibrate(Calibrate),
    /// Start the web page and the HTTP API
    Serve(Serve),
    /// Start a Model Context Protocol (MCP) server on stdin and stdout
    Mcp(crate::mcp::Mcp),
    /// Show what is configured, what is missing and how to fix it
    Doctor(Doctor),
    /// Print the agent graph as a Mermaid diagram
    Graph {
        /// Print the JSON Schemas of the record and its parts instead
        #[arg(long)]
        schemas: bool,
    },
    /// Print the manual page
    Man,
    /// Print a shell completion script
    Completions {
        /// Shell to write the script for
        shell: Shell,
    },
}

/// Arguments of `assess`.
#[derive(Debug, Args)]
#[command(after_help = ASSESS_EXAMPLES)]
pub struct Assess {
    /// Image file: JPEG, PNG, BMP, TIFF, WebP, GIF or AVIF, detected by content
    #[arg(value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub image: PathBuf,

    /// Reference image of the same size to compare with
    #[arg(long, short, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub reference: Option<PathBuf>,

    /// Question about the image, in English or Chinese [default: Assess the overall quality of this
    /// image.]
    #[arg(long, short = 'Q', value_name = "TEXT")]
    pub query: Option<String>,

    /// Answer option of a multiple-choice question, e.g. Blur; may be repeated
    #[arg(long = "option", short = 'o', value_name = "TEXT")]
    pub options: Vec<String>,

    /// Bounding box of an object in the question, NAME=x,y,w,h in pixels; may be repeated
    #[arg(long = "region", value_name = "NAME=x,y,w,h")]
    pub regions: Vec<RegionBox>,

    /// Tool that must run, e.g. NIQE; may be repeated
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    #[command(flatten)]
    pub backends: Backends,

    /// Form of the answer
    #[arg(long, value_name = "FORM", default_value = "auto")]
    pub answer: AnswerForm,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,

    /// Write the heat maps of the tools that ran, and the image with the boxes of its regions, into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub map: Option<PathBuf>,

    /// Try all edits that could mend the faults, and report what they gain [default: without a reference, those that add less than 0.3 s]
    #[arg(long, overrides_with = "no_what_if")]
    pub what_if: bool,

    /// Do not try edits
    #[arg(long, overrides_with = "what_if")]
    pub no_what_if: bool,

    /// Write the image with the best edits to this new PNG file
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::FilePath, conflicts_with = "no_what_if")]
    pub save_fixed: Option<PathBuf>,

    /// Ask a second backend for a conclusion from the same evidence, e.g. openai.gpt-4o, and print both
    #[arg(long, value_name = "BACKEND")]
    pub second_opinion: Option<Backend>,

    #[command(flatten)]
    pub recording: Recordings,

    /// Save the state after each step in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub checkpoints: Option<PathBuf>,

    /// Continue from the last checkpoint, if question, options, images, regions and tools are the
    /// same; otherwise start over
    #[arg(long, requires = "checkpoints")]
    pub resume: bool,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,

    // Last, because its help heading applies to every option after it.
    #[command(flatten)]
    pub gate: Gates,
}

/// Backends of the three roles, and settings of the agent.
#[derive(Debug, Clone, Default, Args)]
pub struct Backends {
    /// Backend of all roles: builtin, or PROVIDER.MODEL, e.g. openai.gpt-4o or ollama.qwen2.5vl:7b
    /// [default: builtin]
    #[arg(long, short, value_name = "BACKEND")]
    pub backend: Option<String>,

    /// Planner backend [default: --backend]
    #[arg(long, value_name = "BACKEND")]
    pub planner_backend: Option<String>,

    /// Executor backend [default: --backend]
    #[arg(long, value_name = "BACKEND")]
    pub executor_backend: Option<String>,

    /// Summarizer backend [default: --backend]
    #[arg(long, value_name = "BACKEND")]
    pub summarizer_backend: Option<String>,

    /// Override a setting of the configuration, e.g. summarizer.temperature=0.2; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub backend_override: Vec<Assignment>,

    /// Maximum number of new plans when evidence is missing, 0 to 5 [default: 2]
    #[arg(long, value_name = "N")]
    pub max_replan: Option<u32>,
}

const ASSESS_EXAMPLES: &str = "\
Examples:
  agenticiqa assess photo.jpg
  agenticiqa assess photo.jpg --query \"Is the face sharp?\" --region face=120,40,200,200
  agenticiqa assess coded.jpg -r original.png -Q \"What is wrong?\" -o Blur -o Noise -o \"JPEG blocks\"
  agenticiqa assess render.png --fail-under 3.5              exit code 3 if the score is below 3.5
  agenticiqa assess photo.jpg --backend openai.gpt-4o        needs OPENAI_API_KEY
  agenticiqa assess photo.jpg --format json | jq .summarizer_result

The default backend, builtin, needs no API key and no network.";

/// A setting and its value.
#[derive(Debug, Clone)]
pub struct Assignment(pub String, pub String);

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) =
            text.split_once('=').ok_or("expected KEY=VALUE, for example planner.backend=openai.gpt-4o")?;
        Ok(Self(key.trim().to_owned(), value.trim().to_owned()))
    }
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerForm {
    /// Chosen from the question
    Auto,
    /// A level from A to E and a score
    Score,
    /// One of the options
    Choice,
    /// Free text
    Text,
}

/// Output formats of a record or a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordFormat {
    /// Text for reading
    Text,
    /// All fields as JSON
    Json,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Call the server of each configured model and check that it offers the model (free of charge,
    /// except for servers that list no models: these get a one-word prompt)
    #[arg(long)]
    pub check_api: bool,

    /// Show all settings, including unchanged defaults
    #[arg(long)]
    pub all: bool,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,
}

/// Arguments of `score`.
#[derive(Debug, Args)]
#[command(after_help = SCORE_EXAMPLES)]
pub struct Score {
    /// Image files: JPEG, PNG, BMP, TIFF, WebP, GIF or AVIF, detected by content
    #[arg(required = true, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub images: Vec<PathBuf>,

    /// Reference image of the same size to compare with
    #[arg(long, short, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub reference: Option<PathBuf>,

    /// Tool to run, e.g. SSIM (see `tools list`); may be repeated [default: a small set]
    #[arg(long = "tool", short, value_name = "NAME", conflicts_with = "all")]
    pub tools: Vec<String>,

    /// Run all tools that are ready
    #[arg(long)]
    pub all: bool,

    /// Score this region instead of the whole image, NAME=x,y,w,h in pixels; may be repeated
    #[arg(long = "region", value_name = "NAME=x,y,w,h")]
    pub regions: Vec<RegionBox>,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: Format,

    /// Write the heat maps of the tools that have one into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub map: Option<PathBuf>,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,

    // Last, because its help heading applies to every option after it.
    #[command(flatten)]
    pub gate: Gates,
}

/// Limits on the size of images.
#[derive(Debug, Clone, Copy, Args)]
pub struct Limits {
    /// Reject images with more pixels than this, before decoding [default: 1000000000]
    #[arg(long, value_name = "N")]
    pub max_pixels: Option<u64>,

    /// Reject images that take more memory than this, before decoding, such as 500MB or 8GB
    /// [default: half of the free memory, at most 2GB]
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    pub max_memory: Option<u64>,
}

impl Limits {
    /// Returns the decoder with these limits, or those of the settings.
    pub fn decoder(&self, settings: &Settings) -> Decoder {
        let usual = agenticiqa::setup::decoder(settings);
        Decoder {
            max_pixels: self.max_pixels.unwrap_or(usual.max_pixels),
            max_memory: self.max_memory.or(usual.max_memory),
        }
    }
}

/// Reads a size in bytes: a number, or a number and MB or GB.
fn memory_size(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let (number, unit) = match (upper.strip_suffix("GB"), upper.strip_suffix("MB")) {
        (Some(number), _) => (number, 1 << 30),
        (_, Some(number)) => (number, 1 << 20),
        _ => (upper.as_str(), 1),
    };
    let size = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    size.filter(|size| *size > 0).ok_or_else(|| "write a size such as 500MB or 8GB".to_owned())
}

const SCORE_EXAMPLES: &str = "\
Examples:
  agenticiqa score coded.jpg -r original.png
  agenticiqa score photo.jpg --tool NIQE --tool Noise --format json
  agenticiqa score render.png -r golden.png --baseline before.jsonl --format json > now.jsonl
  agenticiqa score coded.jpg -r original.png --tool SSIM --region face=120,40,200,200 --map maps/

JSON output is one object per line. The PSNR of identical images is infinite and written as 1e999.";

/// Model files that are not part of the program.
#[derive(Debug, Clone, Default, Args)]
pub struct Models {
    /// Model file of a tool, e.g. ILNIQE=templateModel.mat; may be repeated
    #[arg(long = "model", value_name = "NAME=PATH")]
    pub models: Vec<ModelFile>,
}

/// A tool and its model file.
#[derive(Debug, Clone)]
pub struct ModelFile {
    /// The tool's name.
    pub tool: String,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for ModelFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((tool, path)) if !tool.is_empty() && !path.is_empty() => {
                Ok(Self { tool: tool.to_owned(), path: path.into() })
            }
            _ => Err("expected NAME=PATH, for example ILNIQE=templateModel.mat".to_owned()),
        }
    }
}

/// Output formats of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Table
    Text,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// Formats of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Plain text
    Text,
    /// One JSON object per line
    Json,
}
