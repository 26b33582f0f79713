//! `agenticiqa serve`: the web page and the HTTP API, until Ctrl-C.

use std::net::IpAddr;
use std::path::Path;

use agenticiqa::config::{Environment, Settings};
use agenticiqa_server::{App, Reload, Server, StartError, router};

use crate::advice::Advice;
use crate::arguments::Serve;
use crate::batch::signals::{self, Signals};
use crate::exit::{Exit, Stop};
use crate::terminal::tell;

/// Serves until the process gets Ctrl-C or SIGTERM.
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
    let overrides = crate::overrides(&arguments.backends);
    let reload = Reload { config: config.map(Path::to_owned), overrides };
    let app = App::new(settings, environment.clone(), registry, reload)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served: Result<(), Stop> = runtime.block_on(async {
        let server = Server::bind(app.clone()).await?;
        let address = server.address()?;
        let mut signals = Signals::listen();
        if !quiet {
            tell!("listening on http://{address} (Ctrl-C to stop)");
            if open {
                tell!("warning: {address} is open to other machines; set AGENTICIQA_TOKEN to require a token");
            }
        }
        let ending = app.clone();
        tokio::spawn(async move {
            signals.asked().await;
            if !quiet {
                tell!("finishing the running requests; press Ctrl-C again to stop at once");
            }
            ending.end();
            signals.asked().await;
            std::process::exit(signals::INTERRUPTED);
        });
        server.run(router(&app)).await;
        Ok(())
    });
    // Does not wait for tools that run longer than their time limit.
    runtime.shutdown_background();
    served.map(|()| Exit::Done)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl From<StartError> for Stop {
    fn from(error: StartError) -> Self {
        let stop = match error {
            StartError::Data { .. } | StartError::Listen { .. } => Self::failed(&error),
            _ => Self::bad_input(&error),
        };
        stop.with(error.advice())
    }
}
