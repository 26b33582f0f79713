//! MCP over streamable HTTP at `/mcp`, with the same checks as all endpoints (`Host`, token).

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
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::check::{self, Verdict};
use super::{Access, Service};
use crate::app::{App, Limits};
use crate::error::Problem;

/// The maximum total size of messages in memory, in kilobytes.
const BUDGET: usize = 512 << 10;
static MEMORY: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(BUDGET)));

/// The maximum number of open sessions. Newer versions of the protocol use no sessions.
const MOST_SESSIONS: usize = 1024;
/// The time after which an unused session is closed.
const IDLE: Duration = Duration::from_secs(30 * 60);
const SESSION: &str = "mcp-session-id";

/// State shared by all requests to `/mcp`.
struct Endpoint {
    app: Arc<App>,
    service: StreamableHttpService<Service, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    end: CancellationToken,
    watch: Once,
}

/// Returns the route `/mcp`.
pub fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let sessions = Arc::new(sessions);
    let end = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        // The middleware of the router checks the host against the settings.
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
            let message =
                "requests from other origins are not allowed: add the origin to server.cors_origins in pipeline.yaml";
            return Problem::new(StatusCode::FORBIDDEN, "OriginError", message).into_response();
        }
        let closes = request.method() == Method::DELETE;
        match self.received(request).await {
            Ok(Err(refused)) => (StatusCode::BAD_REQUEST, axum::Json(refused)).into_response(),
            Ok(Ok(request)) => {
                let mut response = self.service.handle(request).await.into_response();
                // The session is already closed, and some clients treat 202 as a failure.
                if closes && response.status() == StatusCode::ACCEPTED {
                    *response.status_mut() = StatusCode::NO_CONTENT;
                }
                response
            }
            Err(problem) => problem.into_response(),
        }
    }

    /// Closes streams when the shutdown starts.
    fn watch_for_end(&self) {
        self.watch.call_once(|| {
            let (app, end) = (Arc::clone(&self.app), self.end.clone());
            tokio::spawn(async move {
                app.ending().await;
                end.cancel();
            });
        });
    }

    /// Reads the whole body. Its memory is charged until the call ends. A body that is no message is
    /// answered with an error of JSON-RPC.
    async fn received(&self, request: Request) -> Result<Result<Request, Value>, Problem> {
        if request.method() != Method::POST {
            return Ok(Ok(request));
        }
        let (mut parts, body) = request.into_parts();
        let begins = !parts.headers.contains_key(SESSION);
        if begins && self.sessions.sessions.read().await.len() >= MOST_SESSIONS {
            return Err(Problem::busy(format!("{MOST_SESSIONS} sessions are already open: try again later"), 60));
        }
        let limits = &self.app.limits;
        let slow = |_| {
            let message = format!("the request was not received within {:?}", limits.read_timeout);
            Problem::new(StatusCode::REQUEST_TIMEOUT, "TimeoutError", message)
        };
        let (body, held) = tokio::time::timeout(limits.read_timeout, read(body, limits)).await.map_err(slow)??;
        if let Verdict::Refuse(error) = check::judge(&body) {
            return Ok(Err(error));
        }
        // Extensions live as long as the call.
        parts.extensions.insert(Arc::new(held));
        Ok(Ok(Request::from_parts(parts, Body::from(body))))
    }
}

/// The memory charged for a body.
type Held = Vec<OwnedSemaphorePermit>;

async fn read(body: Body, limits: &Limits) -> Result<(bytes::Bytes, Held), Problem> {
    let (mut whole, mut held, mut stream) = (BytesMut::new(), Held::new(), body.into_data_stream());
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Problem::invalid("the body ended before it was complete"))?;
        if whole.len() + chunk.len() > limits.body {
            let message = format!("the request is larger than the limit of {} bytes", limits.body);
            return Err(Problem::too_large(message));
        }
        let kilobytes = u32::try_from(chunk.len().div_ceil(1024)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&MEMORY).try_acquire_many_owned(kilobytes);
        held.push(permit.map_err(|_| Problem::busy("the server is receiving too much data: try again", 2))?);
        whole.extend_from_slice(&chunk);
    }
    Ok((whole.freeze(), held))
}

/// Returns whether the request comes from another origin. All methods are checked, because streams
/// are opened with GET.
fn is_foreign(app: &App, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let (Some(origin), host) = (text(header::ORIGIN), text(header::HOST).unwrap_or_default()) else { return false };
    let own = origin.split_once("://").is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(host));
    let named = |one: &String| one == origin || one == "*";
    !own && !app.settings.pipeline.server.cors_origins.iter().any(named)
}
