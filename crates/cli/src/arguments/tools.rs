//! `tools` and what comes after it.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::Models;

/// `tools`
#[derive(Debug, Args)]
pub struct Tools {
    #[command(subcommand)]
    pub command: Option<ToolsCommand>,
}

/// What to do with the tools.
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// Every tool: type, direction, scale, strengths, what runs it, whether it can run here
    List {
        /// Only tools that can run here
        #[arg(long)]
        available: bool,
        /// How to print the list
        #[arg(long, default_value = "text")]
        format: ListFormat,
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
    /// Run tools on a built-in image and compare with the recorded scores; say what the others are missing
    Check {
        /// Only these tools [default: all]
        names: Vec<String>,
        #[command(flatten)]
        models: Models,
    },
    /// Download the files that tools need, checked and converted; without a name, list what there is
    Install(Install),
    /// Remove the installed files of tools
    Remove {
        /// The names of the tools
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// `tools install`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Install {
    /// The names of the tools, in any spelling, or onnxruntime
    pub names: Vec<String>,

    /// Every tool that can be downloaded
    #[arg(long, conflicts_with = "names")]
    pub all: bool,

    /// Take the published or the converted files from here, and nothing from the network; repeatable
    #[arg(long, value_name = "DIR|FILE", value_hint = ValueHint::AnyPath)]
    pub from: Vec<PathBuf>,

    /// Install again what is installed
    #[arg(long)]
    pub force: bool,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa tools install                                   what can be installed, its size and license
  agenticiqa tools install LPIPS DISTS
  agenticiqa tools install LPIPS --from ~/Downloads          no network: the file of PyPI is there
  agenticiqa tools install ILNIQE --from templateModel.mat
  agenticiqa tools install onnxruntime                       the library that runs learned tools faster

Files go to the user's data folder (`agenticiqa doctor` names it; AGENTICIQA_DATA_DIR changes it). A download that was cut goes on
where it was. AGENTICIQA_PYPI_MIRROR names a server to ask instead of https://files.pythonhosted.org.";

/// How the list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table for people
    Text,
    /// The table of docs/tools.md: what each tool needs, whatever is installed here
    Markdown,
}
