//! `agenticiqa mcp`: a Model Context Protocol (MCP) server on standard input and output.

use std::path::{Path, PathBuf};

use agenticiqa::config::{Environment, Settings};
use agenticiqa_server::mcp::{Access, stdio};
use agenticiqa_server::{App, Reload};
use clap::{Args, ValueHint};

use crate::arguments::{Backends, Models};
use crate::batch::signals::Signals;
use crate::exit::{Exit, Stop};

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Mcp {
    /// Folder that images may be read from; may be repeated [default: the client's folders, or the
    /// working folder]
    #[arg(long = "allow-root", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub allow_roots: Vec<PathBuf>,

    #[command(flatten)]
    pub backends: Backends,

    #[command(flatten)]
    pub models: Models,
}

const EXAMPLES: &str = "\
Examples:
  claude mcp add agenticiqa -- agenticiqa mcp                    add it to Claude Code
  agenticiqa mcp --allow-root ~/Pictures --allow-root /data      only images in these folders

The MCP client starts this command and talks to it over stdin and stdout; logs go to stderr. The
client may read images from the folders of --allow-root (or server.allow_roots in pipeline.yaml). If
there are none, it may read from the folders that it announces, or else from the working folder.
docs/mcp.md shows how to configure common clients. `agenticiqa serve` has the same tools at
http://127.0.0.1:8000/mcp.";

/// Serves until the client disconnects.
pub fn run(
    arguments: &Mcp,
    mut settings: Settings,
    environment: &Environment,
    config: Option<&Path>,
) -> Result<Exit, Stop> {
    let registry = crate::registry(&settings, &arguments.models.models)?;
    // Several servers may run at once, one per client: each has its own data, removed at the end.
    let data = tempfile::Builder::new().prefix("agenticiqa-mcp-").tempdir()?;
    let server = &mut settings.pipeline.server;
    server.data_dir = Some(data.path().to_owned());
    server.kept_picture_bytes = 1;
    server.kept_assessments = 1;
    server.allow_roots.extend(arguments.allow_roots.iter().cloned());
    let access = if server.allow_roots.is_empty() { Access::of_client() } else { Access::Server };
    let reload = Reload { config: config.map(Path::to_owned), overrides: crate::overrides(&arguments.backends) };
    let app = App::new(settings, environment.clone(), registry, reload)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let ending = app.clone();
        let mut signals = Signals::listen();
        tokio::spawn(async move {
            signals.asked().await;
            ending.end();
        });
        stdio::serve(app, access).await
    });
    // The thread that reads standard input blocks, so the runtime must not wait for it.
    runtime.shutdown_background();
    served.map(|()| Exit::Done).map_err(Stop::failed)
}
