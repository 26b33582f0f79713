//! Arguments of `tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::Models;

/// Arguments of `tools`.
#[derive(Debug, Args)]
pub struct Tools {
    #[command(subcommand)]
    pub command: Option<ToolsCommand>,
}

/// Subcommands of `tools`.
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// List all tools with type, scale, strengths and status
    List {
        /// List only tools that are ready
        #[arg(long)]
        available: bool,
        /// Output format
        #[arg(long, default_value = "text")]
        format: ListFormat,
        #[command(flatten)]
        models: Models,
    },
    /// Show the details of a tool, and what it needs to run
    Show {
        /// Name of the tool, e.g. SSIM
        name: String,
        #[command(flatten)]
        models: Models,
    },
    /// Run tools on a built-in image, compare with the recorded scores and report what is missing
    Check {
        /// Tools to check [default: all]
        names: Vec<String>,
        #[command(flatten)]
        models: Models,
    },
    /// Download, verify and convert the files of tools; without a name, list what can be installed
    Install(Install),
    /// Remove the installed files of tools
    Remove {
        /// Tools to remove
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// Arguments of `tools install`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Install {
    /// Tools to install, e.g. LPIPS, or onnxruntime
    pub names: Vec<String>,

    /// Install all tools that can be downloaded
    #[arg(long, conflicts_with = "names")]
    pub all: bool,

    /// Use this file, or the files in this folder, instead of the network; may be repeated
    #[arg(long, value_name = "DIR|FILE", value_hint = ValueHint::AnyPath)]
    pub from: Vec<PathBuf>,

    /// Reinstall tools that are already installed
    #[arg(long)]
    pub force: bool,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa tools install                                   list what can be installed
  agenticiqa tools install LPIPS DISTS
  agenticiqa tools install LPIPS --from ~/Downloads          use a downloaded file
  agenticiqa tools install ILNIQE --from templateModel.mat
  agenticiqa tools install onnxruntime                       library that runs learned tools faster

Files go to the user's data folder (shown by `agenticiqa doctor`, changed with AGENTICIQA_DATA_DIR).
An interrupted download continues where it stopped. AGENTICIQA_PYPI_MIRROR sets a server to use
instead of https://files.pythonhosted.org.";

/// Output formats of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Table
    Text,
    /// Markdown table of docs/tools.md, independent of what is installed
    Markdown,
}
