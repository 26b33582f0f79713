//! The command line.

mod batch;
mod evaluate;
mod report;
mod serve;
mod shared;
mod tools;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use agenticiqa::scoring::NamedRegion;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use tracing::level_filters::LevelFilter;

pub use batch::Batch;
pub use evaluate::{
    BootstrapArguments, Calibrate, Dataset, DatasetCommand, Eval, EvalCommand, EvalCorrelation, EvalMcq, Prepare,
    ScoringArguments, Validate,
};
pub use report::Report;
pub use serve::Serve;
pub use shared::{Gates, Recordings};
pub use tools::{Install, ListFormat, Tools, ToolsCommand};

/// Image quality assessment: ask about an image in plain words, get an answer, a score from 1 to 5, and the evidence.
#[derive(Debug, Parser)]
#[command(name = "agenticiqa", version, after_help = EXAMPLES, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// A folder with model_backends.yaml and pipeline.yaml, or one such file [default: ./configs, ~/.config/agenticiqa]
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub config: Option<PathBuf>,

    /// How much to log on stderr: off, error, warn, info, debug or trace [default: warn]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log_level: Option<LevelFilter>,

    /// The form of log lines [default: text]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// No progress bar, no notes, only errors on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// How many threads to use [default: all cores]
    #[arg(long, global = true, value_name = "N", env = "AGENTICIQA_THREADS")]
    pub threads: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa assess photo.jpg                                how good is it, and why
  agenticiqa assess photo.jpg --query \"Is it too dark?\"      a question in plain words
  agenticiqa score photo.jpg                                 the tools alone
  agenticiqa score coded.png --reference original.png        against the original
  agenticiqa score *.jpg --tool BRISQUE --format csv         one tool, many images
  agenticiqa score coded.png -r original.png --map maps/     heat maps of where the damage is
  agenticiqa batch -i samples.jsonl -o records.jsonl         many assessments, resumable
  agenticiqa serve                                           a page and an HTTP API on this machine
  agenticiqa mcp                                             tools for programs with a language model
  agenticiqa tools list                                      every tool, its scale, and what can run here
  agenticiqa tools install                                   what can be installed, its size and license
  agenticiqa dataset prepare TID2013 --root D --output M     a manifest of a public dataset
  agenticiqa eval correlation M --tool SSIM --tool FSIM      SRCC, PLCC, KRCC with intervals
  agenticiqa report -i records.jsonl -o report/              a page with figures, charts and cases

Exit codes: 0 done, 1 the work failed, 2 bad usage or bad input, 3 a quality gate was not met.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer a question about an image: plan, evidence, conclusion
    Assess(Box<Assess>),
    /// Assess many images, resumable
    Batch(Box<Batch>),
    /// Score images with the tools alone
    Score(Score),
    /// List, describe, check or install the tools
    Tools(Tools),
    /// Make and check manifests of public datasets
    Dataset(Dataset),
    /// Compare scores and answers with people's
    Eval(Eval),
    /// A page about a run: figures, charts, cases with images and heat maps, errors, time and cost
    Report(Report),
    /// Fit the scale of tools to people's opinions
    Calibrate(Calibrate),
    /// The HTTP API and the page
    Serve(Serve),
    /// Tools for language models: a Model Context Protocol server on stdin and stdout
    Mcp(crate::mcp::Mcp),
    /// What is configured, what is missing, what to do about it
    Doctor(Doctor),
    /// The agent graph as a Mermaid diagram
    Graph {
        /// The JSON Schemas of all models instead
        #[arg(long)]
        schemas: bool,
    },
    /// Print the manual page
    Man,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `assess`
#[derive(Debug, Args)]
#[command(after_help = ASSESS_EXAMPLES)]
pub struct Assess {
    /// The image: JPEG, PNG, BMP, TIFF, WebP, GIF or AVIF, told apart by content
    #[arg(value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub image: PathBuf,

    /// The undistorted image to compare with, of the same size
    #[arg(long, short, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub reference: Option<PathBuf>,

    /// The question, in English or Chinese [default: Assess the overall quality of this image.]
    #[arg(long, short = 'Q', value_name = "TEXT")]
    pub query: Option<String>,

    /// An answer to choose from; repeatable
    #[arg(long = "option", short = 'o', value_name = "TEXT")]
    pub options: Vec<String>,

    /// Where something that the question is about is; repeatable
    #[arg(long = "region", value_name = "NAME=x,y,w,h")]
    pub regions: Vec<NamedRegion>,

    /// A tool that must be run; repeatable
    #[arg(long = "tool", short, value_name = "NAME")]
    pub tools: Vec<String>,

    #[command(flatten)]
    pub thinking: Thinking,

    /// The form of the answer
    #[arg(long, value_name = "FORM", default_value = "auto")]
    pub answer: AnswerForm,

    /// How to print the result
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,

    /// Write a heat map for each tool that ran and has one into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub map: Option<PathBuf>,

    #[command(flatten)]
    pub gate: Gates,

    #[command(flatten)]
    pub recording: Recordings,

    /// Keep the state after each step in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub checkpoints: Option<PathBuf>,

    /// Go on from the last checkpoint of the same image and question
    #[arg(long, requires = "checkpoints")]
    pub resume: bool,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,
}

/// Who thinks, and how.
#[derive(Debug, Clone, Default, Args)]
pub struct Thinking {
    /// Who thinks: builtin, or provider.model such as openai.gpt-4o or ollama.qwen2.5vl:7b
    #[arg(long, short, value_name = "BACKEND")]
    pub backend: Option<String>,

    /// Who plans, if someone else
    #[arg(long, value_name = "BACKEND")]
    pub planner_backend: Option<String>,

    /// Who gathers the evidence, if someone else
    #[arg(long, value_name = "BACKEND")]
    pub executor_backend: Option<String>,

    /// Who concludes, if someone else
    #[arg(long, value_name = "BACKEND")]
    pub summarizer_backend: Option<String>,

    /// Any other setting, such as summarizer.temperature=0.2; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub backend_override: Vec<Assignment>,

    /// How often a new plan may be made when evidence is missing, 0 to 5 [default: 2]
    #[arg(long, value_name = "N")]
    pub max_replan: Option<u32>,
}

const ASSESS_EXAMPLES: &str = "\
Examples:
  agenticiqa assess photo.jpg
  agenticiqa assess photo.jpg --query \"Is the face sharp?\" --region face=120,40,200,200
  agenticiqa assess coded.jpg -r original.png --query \"What is wrong with it?\" -o Blur -o Noise -o \"JPEG blocks\"
  agenticiqa assess render.png --fail-under 3.5              a gate: exit code 3 below 3.5
  agenticiqa assess photo.jpg --backend openai.gpt-4o        a model thinks (OPENAI_API_KEY)
  agenticiqa assess photo.jpg --format json | jq .summarizer_result

No key, no network: the built-in analyst measures and answers unless a backend is named.";

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
    /// Told from the question
    Auto,
    /// A level A to E and a score
    Score,
    /// One of the options
    Choice,
    /// A sentence
    Text,
}

/// How a record is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordFormat {
    /// For people
    Text,
    /// The whole record, one JSON object
    Json,
}

/// `doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Call the server of each configured model: does it answer, and does it list the model? (costs nothing; a word is
    /// asked for where there is no list)
    #[arg(long)]
    pub check_api: bool,

    /// Show every setting, also those that nobody changed
    #[arg(long)]
    pub all: bool,

    /// How to print the findings
    #[arg(long, default_value = "text")]
    pub format: RecordFormat,
}

/// `score`
#[derive(Debug, Args)]
#[command(after_help = SCORE_EXAMPLES)]
pub struct Score {
    /// The images: JPEG, PNG, BMP, TIFF, WebP, GIF or AVIF, told apart by content
    #[arg(required = true, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub images: Vec<PathBuf>,

    /// The undistorted image to compare with, of the same size
    #[arg(long, short, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub reference: Option<PathBuf>,

    /// A tool to run, by name in any spelling; repeatable
    #[arg(long = "tool", short, value_name = "NAME", conflicts_with = "all")]
    pub tools: Vec<String>,

    /// Run every tool that can run here
    #[arg(long)]
    pub all: bool,

    /// Score this part instead of the whole image; repeatable
    #[arg(long = "region", value_name = "NAME=x,y,w,h")]
    pub regions: Vec<NamedRegion>,

    /// How to print the scores
    #[arg(long, default_value = "text")]
    pub format: Format,

    /// Write a heat map for each tool that has one into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub map: Option<PathBuf>,

    #[command(flatten)]
    pub gate: Gates,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub limits: Limits,
}

/// What is too large.
#[derive(Debug, Clone, Copy, Args)]
pub struct Limits {
    /// Refuse images of more than this many pixels, before they are decoded [default: 1000000000]
    #[arg(long, value_name = "N")]
    pub max_pixels: Option<u64>,
}

const SCORE_EXAMPLES: &str = "\
Examples:
  agenticiqa score coded.jpg -r original.png
  agenticiqa score photo.jpg --tool NIQE --tool Noise --format json
  agenticiqa score render.png -r golden.png --baseline before.jsonl --format json > now.jsonl    a gate: exit code 3
  agenticiqa score coded.jpg -r original.png --tool SSIM --region face=120,40,200,200 --map maps/

JSON: one object a line. The score of identical pictures in PSNR is infinite and written as the number 1e999.";

/// Model files that tools need and the program does not carry.
#[derive(Debug, Clone, Default, Args)]
pub struct Models {
    /// The model file of a tool, such as ILNIQE=templateModel.mat; repeatable
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

/// How scores are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Text,
    /// One JSON object a line
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}
