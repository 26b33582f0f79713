//! Logs and counts every request, assigns a request ID and sets the security headers.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;
use crate::store::new_id;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Allows resources from this server only, and no inline scripts or styles.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; style-src 'self'; script-src 'self'; \
                      connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const FOR_BROWSERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Logs and counts a request. Query strings and headers are not logged, because they may contain
/// secrets.
pub async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = given_id(request.headers()).unwrap_or_else(new_id);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let path = request.uri().path().chars().take(200).collect::<String>();
    let mut response = next.run(request).await;
    let (status, elapsed) = (response.status().as_u16(), start.elapsed());
    app.telemetry.request(method.as_str(), &route, status, elapsed);
    let milliseconds = elapsed.as_secs_f64() * 1e3;
    tracing::info!(%method, path = %path.escape_debug(), status, ms = %format_args!("{milliseconds:.1}"), request_id = %id, "request");
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(REQUEST_ID, id);
    }
    for (name, value) in FOR_BROWSERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Allowed origins may also embed the responses.
    if app.settings.pipeline.server.cors_origins.is_empty() {
        let name = HeaderName::from_static("cross-origin-resource-policy");
        headers.insert(name, HeaderValue::from_static("same-origin"));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Returns the `X-Request-Id` of the client, if it is safe to log.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!id.is_empty() && id.len() <= 64 && id.bytes().all(plain)).then(|| id.to_owned())
}
