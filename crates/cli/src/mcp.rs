//! `agenticiqa mcp`: a Model Context Protocol server on standard input and output, for programs that work with language models.

use std::path::{Path, PathBuf};

use agenticiqa::config::{Environment, Settings};
use agenticiqa_server::mcp::{Access, stdio};
use agenticiqa_server::{App, Reload};
use clap::{Args, ValueHint};

use crate::arguments::{Models, Thinking};
use crate::batch::signals;
use crate::exit::{Exit, Stop};

/// `mcp`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Mcp {
    /// A folder below which images may be named; repeatable [default: the client's folders, else the working folder]
    #[arg(long = "allow-root", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub allow_roots: Vec<PathBuf>,

    #[command(flatten)]
    pub thinking: Thinking,

    #[command(flatten)]
    pub models: Models,
}

const EXAMPLES: &str = "\
Examples:
  claude mcp add agenticiqa -- agenticiqa mcp                    for Claude Code; it announces its folders
  agenticiqa mcp --allow-root ~/Pictures --allow-root /data      only pictures below these folders

The program that starts it talks to it over standard input and output; logs go to stderr. Pictures may be named below the folders
of --allow-root (or server.allow_roots in pipeline.yaml), else below those that the client announces, else below the working
folder. docs/mcp.md has the configuration of common clients; `agenticiqa serve` offers the same at http://127.0.0.1:8000/mcp.";

/// Serves until the client goes.
pub fn run(
    arguments: &Mcp,
    mut settings: Settings,
    environment: &Environment,
    config: Option<&Path>,
) -> Result<Exit, Stop> {
    let registry = crate::registry(&settings, &arguments.models.models)?;
    // Several may run at a time, each for its own client: what is kept is kept for one of them, and not after it.
    let data = tempfile::Builder::new().prefix("agenticiqa-mcp-").tempdir()?;
    let server = &mut settings.pipeline.server;
    server.data_dir = Some(data.path().to_owned());
    server.kept_picture_bytes = 1;
    server.kept_assessments = 1;
    server.allow_roots.extend(arguments.allow_roots.iter().cloned());
    let access = if server.allow_roots.is_empty() { Access::of_client() } else { Access::Server };
    let reload = Reload { config: config.map(Path::to_owned), overrides: crate::overrides(&arguments.thinking) };
    let app = App::new(settings, environment.clone(), registry, reload)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let ending = app.clone();
        tokio::spawn(async move {
            signals::asked().await;
            ending.end();
        });
        stdio::serve(app, access).await
    });
    // Standard input is read by a thread that nothing can wake.
    runtime.shutdown_background();
    served.map(|()| Exit::Done).map_err(Stop::failed)
}
