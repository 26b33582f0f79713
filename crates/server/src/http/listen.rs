//! Accepts a limited number of connections, applies timeouts and shuts down gracefully.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use crate::app::{App, StartError};

/// The maximum time for receiving request headers, and for an idle connection.
const HEAD: Duration = Duration::from_secs(10);
/// The maximum time for running requests after the shutdown has started.
const FAREWELL: Duration = Duration::from_secs(30);
/// The delay after a failed accept, usually caused by a lack of file handles.
const PAUSE: Duration = Duration::from_millis(50);
/// The maximum size of request headers in bytes.
const LARGEST_HEAD: usize = 64 << 10;
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// The HTTP server, bound to an address.
#[derive(Debug)]
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
}

impl Server {
    /// Binds the host and port of the settings.
    pub async fn bind(app: Arc<App>) -> Result<Self, StartError> {
        let server = &app.settings.pipeline.server;
        let address = (server.host.as_str(), server.port);
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| StartError::Listen { address: format!("{}:{}", server.host, server.port), error })?;
        Ok(Self { app, listener })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until [`App::end`] is called, then finishes running requests and jobs.
    pub async fn run(self, router: Router) {
        let Self { app, listener } = self;
        app.resume_jobs();
        let places = Arc::new(Semaphore::new(app.limits.connections.min(file_handles())));
        let mut connections = JoinSet::new();
        let ending = app.ending();
        tokio::pin!(ending);
        loop {
            let accepted = tokio::select! {
                () = &mut ending => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                app.telemetry.refused.fetch_add(1, Ordering::Relaxed);
                refuse(stream);
                continue;
            };
            let (app, router) = (Arc::clone(&app), router.clone());
            connections.spawn(async move {
                serve(&app, stream, router).await;
                drop(place);
            });
        }
        drop(listener);
        let finished = tokio::time::timeout(FAREWELL, async { while connections.join_next().await.is_some() {} });
        if finished.await.is_err() {
            tracing::warn!("closed {} connections that did not finish in time", connections.len());
        }
        app.jobs.finished().await;
    }
}

/// Raises the limit of open files as far as allowed and returns the number of possible connections.
/// Some file handles are reserved for other uses.
#[cfg(unix)]
fn file_handles() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    // A limit that cannot be raised stays as it is.
    let _ = setrlimit(Resource::Nofile, raised);
    let current = getrlimit(Resource::Nofile).current;
    current
        .and_then(|files| usize::try_from(files).ok())
        .map_or(Semaphore::MAX_PERMITS, |files| files.saturating_sub(256).max(16))
}

#[cfg(not(unix))]
fn file_handles() -> usize {
    Semaphore::MAX_PERMITS
}

/// Sends a 503 response if that is possible without waiting.
fn refuse(stream: TcpStream) {
    drop(stream.try_write(FULL));
}

async fn serve(app: &Arc<App>, stream: TcpStream, router: Router) {
    app.telemetry.connections.fetch_add(1, Ordering::Relaxed);
    // Responses are small or streamed, so Nagle's algorithm only adds latency.
    drop(stream.set_nodelay(true));
    let service =
        TowerToHyperService::new(router.map_request(|request: hyper::Request<_>| request.map(axum::body::Body::new)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let served = tokio::select! {
        served = &mut connection => served,
        () = app.ending() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!("connection closed: {error}");
    }
    app.telemetry.connections.fetch_sub(1, Ordering::Relaxed);
}
