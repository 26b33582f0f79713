//! Arguments of `regions`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::Limits;

/// Arguments of `regions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Regions {
    /// Image file: JPEG, PNG, BMP, TIFF, WebP, GIF or AVIF, detected by content
    #[arg(value_name = "IMAGE", value_hint = ValueHint::FilePath)]
    pub image: PathBuf,

    /// Look for this name, e.g. "the sky" or "upper left"; may be repeated [default: everything that
    /// can be found]
    #[arg(long = "name", short, value_name = "NAME")]
    pub names: Vec<String>,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RegionsFormat,

    /// Draw the boxes over the image and write this PNG file
    #[arg(long, value_name = "PNG", value_hint = ValueHint::FilePath)]
    pub overlay: Option<PathBuf>,

    #[command(flatten)]
    pub limits: Limits,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa regions photo.jpg
  agenticiqa regions photo.jpg --name \"the sky\" --name bird --format json
  agenticiqa regions photo.jpg --overlay found.png

JSON output is one object per line. A name that is not found has the origin \"whole image\".";

/// Output formats of `regions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RegionsFormat {
    /// Table
    Text,
    /// One JSON object per line
    Json,
}
