//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use agenticiqa::scoring::NamedRegion;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use tracing::level_filters::LevelFilter;

/// Image quality assessment: scores on a calibrated scale, with maps of where the damage is.
#[derive(Debug, Parser)]
#[command(name = "agenticiqa", version, after_help = EXAMPLES, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// How much to log on stderr: off, error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub log_level: LevelFilter,

    /// The form of log lines
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// No progress bar, no notes, only errors on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// How many threads to use [default: all cores]
    #[arg(long, global = true, value_name = "N", env = "AGENTICIQA_THREADS")]
    pub threads: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa score photo.jpg                                 a first opinion, no reference needed
  agenticiqa score coded.png --reference original.png        against the original
  agenticiqa score *.jpg --tool BRISQUE --format csv         one tool, many pictures
  agenticiqa score coded.png -r original.png --map maps/     heat maps of where the damage is
  agenticiqa tools list                                      every tool, its scale, and what can run here

Exit codes: 0 done, 1 the work failed, 2 bad usage or bad input.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Score pictures with the tools alone
    Score(Score),
    /// List, describe or check the tools
    Tools(Tools),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `score`
#[derive(Debug, Args)]
#[command(after_help = SCORE_EXAMPLES)]
pub struct Score {
    /// The pictures: JPEG, PNG, BMP, TIFF, WebP, GIF or AVIF, told apart by content
    #[arg(required = true, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub images: Vec<PathBuf>,

    /// The undistorted picture to compare with, of the same size
    #[arg(long, short, value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub reference: Option<PathBuf>,

    /// A tool to run, by name in any spelling; repeatable
    #[arg(long = "tool", short, value_name = "NAME", conflicts_with = "all")]
    pub tools: Vec<String>,

    /// Run every tool that can run here
    #[arg(long)]
    pub all: bool,

    /// Score this part instead of the whole picture; repeatable
    #[arg(long = "region", value_name = "NAME=x,y,w,h")]
    pub regions: Vec<NamedRegion>,

    /// How to print the scores
    #[arg(long, default_value = "text")]
    pub format: Format,

    /// Write a heat map for each tool that has one into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub map: Option<PathBuf>,

    #[command(flatten)]
    pub models: Models,

    /// Refuse pictures of more than this many pixels, before they are decoded
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    pub max_pixels: u64,
}

const SCORE_EXAMPLES: &str = "\
Examples:
  agenticiqa score coded.jpg -r original.png
  agenticiqa score photo.jpg --tool NIQE --tool Noise --format json
  agenticiqa score coded.jpg -r original.png --tool SSIM --region face=120,40,200,200 --map maps/

JSON: one object a line. The score of identical pictures in PSNR is infinite and written as the number 1e999.";

/// `tools`
#[derive(Debug, Args)]
pub struct Tools {
    #[command(subcommand)]
    pub command: Option<ToolsCommand>,
}

/// What to do with the tools.
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// Every tool: type, direction, scale, strengths, whether it can run here
    List {
        /// Only tools that can run here
        #[arg(long)]
        available: bool,
        #[command(flatten)]
        models: Models,
    },
    /// All that is known of one tool
    Show {
        /// The tool's name, in any spelling
        name: String,
        #[command(flatten)]
        models: Models,
    },
    /// Run every tool on a built-in picture and compare with the recorded score
    Check {
        #[command(flatten)]
        models: Models,
    },
}

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
