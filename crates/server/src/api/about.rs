//! Information about the server: `/`, `/health`, `/metrics`, `/tools` and `/backends`.

use std::sync::Arc;

use agenticiqa::config::Role;
use agenticiqa::state::ByNode;
use agenticiqa::tools::Tool;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use crate::answers::{About, BackendEntry, Health, ToolEntries, ToolEntry};
use crate::app::App;
use crate::error::Problem;
use crate::{page, telemetry};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `GET /`: the page for browsers, JSON for other clients.
pub async fn root(headers: HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accept.contains("text/html") {
        let mut response = page::file("index.html", &headers).into_response();
        response.headers_mut().insert(header::VARY, header::HeaderValue::from_static("accept"));
        return response;
    }
    let about = About {
        name: "AgenticIQA".to_owned(),
        version: VERSION.to_owned(),
        description: env!("CARGO_PKG_DESCRIPTION").to_owned(),
        docs_url: "/docs".to_owned(),
        health_check: "/health".to_owned(),
    };
    ([(header::VARY, "accept")], Json(about)).into_response()
}

/// `GET /health`
pub async fn health() -> Json<Health> {
    let timestamp = Timestamp::now().to_string();
    Json(Health { status: "healthy".to_owned(), version: VERSION.to_owned(), timestamp })
}

/// `GET /metrics`
pub async fn prometheus(State(app): State<Arc<App>>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], telemetry::render(&app)).into_response()
}

/// `GET /tools`
pub async fn tools(State(app): State<Arc<App>>) -> Result<Json<ToolEntries>, Problem> {
    // Checking availability reads the file system.
    let work = move || ToolEntries { tools: app.registry().iter().map(tool).collect() };
    Ok(Json(tokio::task::spawn_blocking(work).await?))
}

/// Returns the list entry of a tool.
pub fn tool(tool: &Tool) -> ToolEntry {
    let metadata = tool.metadata();
    let range = tool.info().map(|info| info.range).or(metadata.range).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let finite = |end: f64| end.is_finite().then_some(end);
    let availability = tool.availability();
    ToolEntry {
        name: tool.name().to_owned(),
        tool_type: metadata.tool_type.to_string(),
        lower_is_better: metadata.lower_is_better,
        range: [finite(range.0), finite(range.1)],
        description: tool.description().to_owned(),
        strengths: metadata.strengths.clone(),
        available: availability.is_available(),
        reason: availability.reason().map(str::to_owned),
        has_map: tool.has_map(),
    }
}

/// `GET /backends`
pub async fn backends(State(app): State<Arc<App>>) -> Json<ByNode<BackendEntry>> {
    let models = &app.settings.models;
    Json(ByNode {
        planner: backend(&app, &models.planner),
        executor: backend(&app, &models.executor),
        summarizer: backend(&app, &models.summarizer),
    })
}

fn backend(app: &App, role: &Role) -> BackendEntry {
    let models = &app.settings.models;
    let missing = || {
        let provider = role.backend.provider()?;
        Some(format!("no API key for {}: set {}", provider.name(), models.key_variables(provider).join(" or ")))
    };
    let lacks_key = models.lacks_key(&role.backend, models.base_url(role), &app.environment);
    let problem = lacks_key.then(missing).flatten();
    let kind = if role.backend.is_builtin() { "builtin" } else { "model" };
    BackendEntry { name: role.backend.to_string(), kind: kind.to_owned(), ready: problem.is_none(), problem }
}
