//! Arguments of `serve`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{Backends, Models};

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub host: Option<String>,

    /// Port to listen on; 0 picks a free port [default: 8000]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Folder that requests may read files from; may be repeated [default: none]
    #[arg(long = "allow-root", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub allow_roots: Vec<PathBuf>,

    /// Folder for images, assessments and jobs [default: the user's data folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,

    #[command(flatten)]
    pub backends: Backends,

    #[command(flatten)]
    pub models: Models,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa serve                              page at http://127.0.0.1:8000
  agenticiqa serve --allow-root ~/photos        requests may read files in ~/photos
  agenticiqa serve --host 0.0.0.0 --port 80     for other machines; set AGENTICIQA_TOKEN first
  curl -F image=@photo.jpg -F query=\"Is it blurry?\" http://127.0.0.1:8000/assess

If AGENTICIQA_TOKEN is set (in the environment or .env), every API request needs the header
`Authorization: Bearer TOKEN`. Limits and other settings are in the section `server` of
pipeline.yaml; docs/server.md documents the API.";
