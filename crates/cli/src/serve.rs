//! `agenticiqa serve`: the HTTP API and the page, until ctrl-C.

use std::net::IpAddr;
use std::path::Path;

use agenticiqa::config::{Environment, Settings};
use agenticiqa_server::{App, Reload, Server, StartError, router};

use crate::arguments::Serve;
use crate::batch::signals;
use crate::exit::{Exit, Stop};

/// Serves until asked to end.
pub fn run(
    arguments: &Serve,
    mut settings: Settings,
    environment: &Environment,
    config: Option<&Path>,
    quiet: bool,
) -> Result<Exit, Stop> {
    let registry = crate::registry(&settings, &arguments.models.models)?;
    let server = &mut settings.pipeline.server;
    if let Some(host) = &arguments.host {
        server.host.clone_from(host);
    }
    server.port = arguments.port.unwrap_or(server.port);
    server.allow_roots.extend(arguments.allow_roots.iter().cloned());
    server.data_dir = arguments.data.clone().or_else(|| server.data_dir.clone());
    let open = environment.lookup("AGENTICIQA_TOKEN").is_none() && !is_loopback(&server.host);
    let overrides = crate::overrides(&arguments.thinking);
    let reload = Reload { config: config.map(Path::to_owned), overrides };
    let app = App::new(settings, environment.clone(), registry, reload)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served: Result<(), Stop> = runtime.block_on(async {
        let server = Server::bind(app.clone()).await?;
        let address = server.address()?;
        if !quiet {
            eprintln!("listening on http://{address} (ctrl-C ends it)");
            if open {
                eprintln!("anybody who reaches {address} can use it: set AGENTICIQA_TOKEN to ask for a token");
            }
        }
        let ending = app.clone();
        tokio::spawn(async move {
            signals::asked().await;
            if !quiet {
                eprintln!("finishing what is running; once more to stop at once");
            }
            ending.end();
            signals::asked().await;
            std::process::exit(signals::INTERRUPTED);
        });
        server.run(router(&app)).await;
        Ok(())
    });
    // A tool that is still at work after its time is not waited for.
    runtime.shutdown_background();
    served.map(|()| Exit::Done)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl From<StartError> for Stop {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Data { .. } | StartError::Listen { .. } => Self::failed(error),
            _ => Self::bad_input(error),
        }
    }
}
