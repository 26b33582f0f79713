//! `serve`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{Models, Thinking};

/// `serve`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// The address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub host: Option<String>,

    /// The port; 0 for any that is free [default: 8000]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// A folder below which requests may name files; repeatable
    #[arg(long = "allow-root", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub allow_roots: Vec<PathBuf>,

    /// Where images, assessments and jobs are kept [default: the user's data folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,

    #[command(flatten)]
    pub thinking: Thinking,

    #[command(flatten)]
    pub models: Models,
}

const EXAMPLES: &str = "\
Examples:
  agenticiqa serve                                           the page at http://127.0.0.1:8000
  agenticiqa serve --allow-root ~/photos                     requests may name files below ~/photos
  agenticiqa serve --host 0.0.0.0 --port 80                  for other machines; set AGENTICIQA_TOKEN first
  curl -F image=@photo.jpg -F query=\"Is it blurry?\" http://127.0.0.1:8000/assess

With AGENTICIQA_TOKEN set (in the environment or .env) every call of the API must show it as `Authorization: Bearer TOKEN`.
Limits and other settings are in the section `server` of pipeline.yaml; docs/server.md tells of all calls.";
