//! Connections: a bounded number, each with limits of time, and an end that lets running work finish.

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

/// How long the head of a request may take, and a connection without any may stay.
const HEAD: Duration = Duration::from_secs(10);
/// How long running work may take after the service was asked to end.
const FAREWELL: Duration = Duration::from_secs(30);
/// How long to wait after a connection could not be taken: most often there are no file handles left.
const PAUSE: Duration = Duration::from_millis(50);
/// The largest head of a request.
const LARGEST_HEAD: usize = 64 << 10;
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// The service, listening.
#[derive(Debug)]
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
}

impl Server {
    /// Listens where the settings say.
    pub async fn bind(app: Arc<App>) -> Result<Self, StartError> {
        let server = &app.settings.pipeline.server;
        let address = (server.host.as_str(), server.port);
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| StartError::Listen { address: format!("{}:{}", server.host, server.port), error })?;
        Ok(Self { app, listener })
    }

    /// Where it listens.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until [`App::end`] is called; then no further connection is taken, and what runs is finished.
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
                    tracing::warn!("a connection cannot be taken: {error}");
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
            tracing::warn!("{} connections were cut off", connections.len());
        }
        app.jobs.finished().await;
    }
}

/// How many connections the system lets this process have: as many files as it may open, some of them kept for other uses.
/// The limit is raised as far as that is allowed.
#[cfg(unix)]
fn file_handles() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    // What cannot be raised stays as it is.
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

/// Says that there is no place, if that can be said without waiting.
fn refuse(stream: TcpStream) {
    drop(stream.try_write(FULL));
}

async fn serve(app: &Arc<App>, stream: TcpStream, router: Router) {
    app.telemetry.connections.fetch_add(1, Ordering::Relaxed);
    // Answers are small or streamed: nothing is gained by waiting for more.
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
        tracing::debug!("a connection ended: {error}");
    }
    app.telemetry.connections.fetch_sub(1, Ordering::Relaxed);
}
