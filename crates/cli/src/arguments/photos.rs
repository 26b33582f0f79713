//! Arguments of `rank` and `cull`.

use std::path::PathBuf;

use agenticiqa::photos::{By, Top};
use clap::{Args, ValueEnum, ValueHint};

use super::{Backends, Limits, Models};

/// Arguments of `rank`.
#[derive(Debug, Args)]
#[command(after_help = RANK_EXAMPLES)]
pub struct Rank {
    /// Folders, files or quoted patterns, e.g. 'photos/**/*.jpg'
    #[arg(required = true, value_name = "FOLDER|GLOB", value_hint = ValueHint::AnyPath)]
    pub images: Vec<String>,

    /// Rank by an axis (lighting, exposure, sharpness, noise, contrast, colorfulness, cast, compression,
    /// haze) or by a tool, e.g. BRISQUE; tool:Noise is the tool [default: the overall score]
    #[arg(long, value_name = "AXIS|TOOL", conflicts_with = "query")]
    pub by: Option<By>,

    /// Rank by the answer to this question: yes before no, then by the score of what it asks about
    #[arg(long, short = 'Q', value_name = "TEXT")]
    pub query: Option<String>,

    /// Show only the best ones: a number, or a share such as 10%
    #[arg(long, value_name = "N|P%")]
    pub top: Option<Top>,

    /// Show the worst ones first
    #[arg(long)]
    pub worst: bool,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: RankFormat,

    #[command(flatten)]
    pub backends: Backends,

    #[command(flatten)]
    pub models: Models,

    #[command(flatten)]
    pub measuring: Measuring,

    #[command(flatten)]
    pub limits: Limits,
}

const RANK_EXAMPLES: &str = "\
Examples:
  agenticiqa rank photos/                                    best first
  agenticiqa rank photos/ --worst --top 10%                  the worst tenth
  agenticiqa rank 'photos/**/*.jpg' --by sharpness           sharpest first
  agenticiqa rank photos/ --query \"Is the face sharp?\"       by the answer
  agenticiqa rank photos/ --format html > photos.html        a page with thumbnails

Photos whose 90% intervals overlap that of the best photo of a rank share its rank.";

/// What is kept of a run.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Measuring {
    /// Use what earlier runs measured, and continue a run that was stopped (the default)
    #[arg(long, overrides_with = "no_cache")]
    pub resume: bool,

    /// Measure every photo again, and keep nothing
    #[arg(long, overrides_with = "resume")]
    pub no_cache: bool,
}

/// Output formats of `rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RankFormat {
    /// Table
    Text,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a header
    Csv,
    /// A page with thumbnails that needs no other file
    Html,
}

/// Output formats of `cull`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CullFormat {
    /// Tables of groups
    Text,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a header
    Csv,
    /// A page to look through the groups with the keyboard and to change decisions
    Html,
}

/// Arguments of `cull`.
#[derive(Debug, Args)]
#[command(after_help = CULL_EXAMPLES)]
pub struct Cull {
    /// Folder of photos
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,

    /// Output format
    #[arg(long, default_value = "text")]
    pub format: CullFormat,

    /// Use the decisions of this CSV file with image_path and decision, as the page of --format html exports it
    #[arg(long, value_name = "CSV", value_hint = ValueHint::FilePath)]
    pub decisions: Option<PathBuf>,

    /// Also reject photos, even alone, whose score is below this with its whole interval, e.g. 2.0
    #[arg(long, value_name = "SCORE")]
    pub reject_below: Option<f64>,

    /// Write ratings to XMP sidecars (photo.xmp): 1 to 5 stars for kept photos, -1 for rejected ones
    #[arg(long)]
    pub xmp: bool,

    /// Move rejected photos, with their sidecars, to this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub move_rejects: Option<PathBuf>,

    /// Link kept photos in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub link_keepers: Option<PathBuf>,

    /// Do it. Without this, nothing is written
    #[arg(long)]
    pub apply: bool,

    /// Undo the last run that was applied to this folder
    #[arg(long, conflicts_with_all = ["apply", "xmp", "move_rejects", "link_keepers"])]
    pub undo: bool,

    #[command(flatten)]
    pub measuring: Measuring,

    #[command(flatten)]
    pub limits: Limits,
}

const CULL_EXAMPLES: &str = "\
Examples:
  agenticiqa cull photos/                                    groups, and which photo to keep
  agenticiqa cull photos/ --format csv > decisions.csv
  agenticiqa cull photos/ --format html > review.html        look through the groups, export decisions.csv
  agenticiqa cull photos/ --decisions decisions.csv --xmp --apply
  agenticiqa cull photos/ --xmp                              show what would be written
  agenticiqa cull photos/ --xmp --apply                      write stars for Lightroom, digiKam, darktable
  agenticiqa cull photos/ --move-rejects rejects/ --apply
  agenticiqa cull photos/ --undo                             put everything back

Nothing is ever deleted or overwritten. A rating that a person gave is kept.";
