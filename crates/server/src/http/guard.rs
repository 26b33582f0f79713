//! Access checks: `Host`, `Origin` and the token.
//!
//! Unknown host names are refused because a web page could point its own name at this machine (DNS
//! rebinding).

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Problem;
use crate::http::drain::drain;

/// Passes a request on, or returns an error response.
pub async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match refused(&app, request.method(), request.uri(), request.headers()) {
        Some(problem) => {
            drain(request.into_body()).await;
            problem.into_response()
        }
        None => next.run(request).await,
    }
}

fn refused(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Problem> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).or_else(|| uri.authority().map(|authority| authority.as_str())).unwrap_or_default();
    if !is_own_name(app, host) {
        let message = format!("unknown host name {host:?}: add it to server.host_names in pipeline.yaml");
        return Some(Problem::new(StatusCode::MISDIRECTED_REQUEST, "HostError", message));
    }
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let origin = text(header::ORIGIN);
    let foreign = origin.is_some_and(|origin| !is_same_origin(origin, host) && !is_named(app, origin));
    if foreign && !reads {
        let message =
            "requests from other origins are not allowed: add the origin to server.cors_origins in pipeline.yaml";
        return Some(Problem::new(StatusCode::FORBIDDEN, "OriginError", message));
    }
    // CORS preflight requests carry no token.
    if *method != Method::OPTIONS && !is_open(uri.path()) {
        let shown = text(header::AUTHORIZATION).unwrap_or_default();
        if app.token.as_ref().is_some_and(|token| !token.is_shown_by(shown)) {
            let message = "missing or invalid token: send `Authorization: Bearer TOKEN`";
            return Some(Problem::new(StatusCode::UNAUTHORIZED, "TokenError", message));
        }
    }
    None
}

/// Returns whether a path needs no token: the page, its files, the API documentation and the health
/// check.
fn is_open(path: &str) -> bool {
    matches!(path, "/" | "/health" | "/docs" | "/openapi.json" | "/favicon.ico")
        || path.starts_with("/assets/")
        || path.starts_with("/docs/")
}

/// Returns whether `host` is an IP address, localhost or a configured name.
fn is_own_name(app: &App, host: &str) -> bool {
    let name = host_name(host);
    let server = &app.settings.pipeline.server;
    name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.eq_ignore_ascii_case(&server.host)
        || server.host_names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Returns the host name without the port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_same_origin(origin: &str, host: &str) -> bool {
    origin.split_once("://").is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(host))
}

fn is_named(app: &App, origin: &str) -> bool {
    app.settings.pipeline.server.cors_origins.iter().any(|named| named == origin || named == "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_ports() {
        assert_eq!(host_name("localhost:8000"), "localhost");
        assert_eq!(host_name("[::1]:8000"), "[::1]");
        assert_eq!(host_name("[::1]"), "[::1]");
        assert_eq!(host_name("example.org"), "example.org");
    }

    #[test]
    fn only_the_same_host_and_port_is_the_same_origin() {
        assert!(is_same_origin("http://localhost:8000", "localhost:8000"));
        assert!(!is_same_origin("http://localhost:9000", "localhost:8000"));
        assert!(!is_same_origin("null", "localhost:8000"));
        assert!(!is_same_origin("http://evil.example", "localhost:8000"));
    }
}
