//! For programs that reach this one over the network: "streamable HTTP" at `/mcp`, behind the checks of all calls (`Host`, token).

use std::sync::{Arc, LazyLock, Once};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::BytesMut;
use futures_util::StreamExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{Access, Service};
use crate::app::{App, Limits};
use crate::error::Problem;

/// Kilobytes of messages in memory at a time, over all clients.
const BUDGET: usize = 512 << 10;
static MEMORY: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(BUDGET)));

/// Clients at a time that keep a session; those of newer versions of the protocol keep none.
const MOST_SESSIONS: usize = 1024;
/// A session that is not used for so long is closed; a client of it starts another.
const IDLE: Duration = Duration::from_secs(30 * 60);
const SESSION: &str = "mcp-session-id";

/// All that requests to `/mcp` share.
struct Endpoint {
    app: Arc<App>,
    service: StreamableHttpService<Service, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    end: CancellationToken,
    watch: Once,
}

/// The route.
pub fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let sessions = Arc::new(sessions);
    let end = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        // The guard of all calls checks it, by the names of the settings.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(app.limits.body)
        .with_cancellation_token(end.clone());
    let for_service = Arc::clone(app);
    let make = move || Ok(Service::new(Arc::clone(&for_service), Access::Server));
    let service = StreamableHttpService::new(make, Arc::clone(&sessions), config);
    let endpoint = Arc::new(Endpoint { app: Arc::clone(app), service, sessions, end, watch: Once::new() });
    let answer = move |request: Request| {
        let endpoint = Arc::clone(&endpoint);
        async move { endpoint.answer(request).await }
    };
    Router::new().route("/mcp", any(answer))
}

impl Endpoint {
    async fn answer(&self, request: Request) -> Response {
        self.watch_for_end();
        if is_foreign(&self.app, request.headers()) {
            let message = "pages of other sites may not call this server: name them in server.cors_origins";
            return Problem::new(StatusCode::FORBIDDEN, "OriginError", message).into_response();
        }
        let closes = request.method() == Method::DELETE;
        match self.received(request).await {
            Ok(request) => {
                let mut response = self.service.handle(request).await.into_response();
                // A session is closed at once; some clients take "accepted" for a failure.
                if closes && response.status() == StatusCode::ACCEPTED {
                    *response.status_mut() = StatusCode::NO_CONTENT;
                }
                response
            }
            Err(problem) => problem.into_response(),
        }
    }

    /// Streams close when the service ends.
    fn watch_for_end(&self) {
        self.watch.call_once(|| {
            let (app, end) = (Arc::clone(&self.app), self.end.clone());
            tokio::spawn(async move {
                app.ending().await;
                end.cancel();
            });
        });
    }

    /// The request with its whole body, which is counted for as long as the call lasts.
    async fn received(&self, request: Request) -> Result<Request, Problem> {
        if request.method() != Method::POST {
            return Ok(request);
        }
        let (mut parts, body) = request.into_parts();
        let begins = !parts.headers.contains_key(SESSION);
        if begins && self.sessions.sessions.read().await.len() >= MOST_SESSIONS {
            return Err(Problem::busy(format!("{MOST_SESSIONS} clients have a session: try again later"), 60));
        }
        let limits = &self.app.limits;
        let slow = |_| {
            let message = format!("the request was not sent within {:?}", limits.read_timeout);
            Problem::new(StatusCode::REQUEST_TIMEOUT, "TimeoutError", message)
        };
        let (body, held) = tokio::time::timeout(limits.read_timeout, read(body, limits)).await.map_err(slow)??;
        // What belongs to the request lives as long as the call that it makes.
        parts.extensions.insert(Arc::new(held));
        Ok(Request::from_parts(parts, Body::from(body)))
    }
}

/// What a body takes of the memory for all.
type Held = Vec<OwnedSemaphorePermit>;

async fn read(body: Body, limits: &Limits) -> Result<(bytes::Bytes, Held), Problem> {
    let (mut whole, mut held, mut stream) = (BytesMut::new(), Held::new(), body.into_data_stream());
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Problem::invalid("the body ended before it was complete"))?;
        if whole.len() + chunk.len() > limits.body {
            let message = format!("the request is larger than the {} bytes that this server accepts", limits.body);
            return Err(Problem::too_large(message));
        }
        let kilobytes = u32::try_from(chunk.len().div_ceil(1024)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&MEMORY).try_acquire_many_owned(kilobytes);
        held.push(permit.map_err(|_| Problem::busy("too much is being sent at the moment: try again", 2))?);
        whole.extend_from_slice(&chunk);
    }
    Ok((whole.freeze(), held))
}

/// Whether a page of another site calls, whatever the method: streams are opened by GET.
fn is_foreign(app: &App, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let (Some(origin), host) = (text(header::ORIGIN), text(header::HOST).unwrap_or_default()) else { return false };
    let own = origin.split_once("://").is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(host));
    let named = |one: &String| one == origin || one == "*";
    !own && !app.settings.pipeline.server.cors_origins.iter().any(named)
}
