//! The endpoints of the HTTP API and the middleware around them.

use std::sync::Arc;

use agenticiqa::state::{AssessmentRecord, ByNode};
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::routing::get;
use axum::{Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::answers::{About, Answer, BackendEntry, FoundRegions, Health, MapValues, Scores, ToolEntries, WhatIfAnswer};
use crate::api::assessments::{AssessmentList, ListQuery};
use crate::api::jobs::{Created, JobList};
use crate::api::map::MapQuery;
use crate::api::pictures::{ThumbnailQuery, ViewQuery};
use crate::api::what_if::WhatIfQuery;
use crate::api::{about, assess, assessments, jobs, map, pictures, regions, score, what_if};
use crate::app::App;
use crate::call::Call;
use crate::error::Problem;
use crate::http::drain::drain;
use crate::http::{guard, observe};
use crate::jobs::{JobView, Results, ResultsQuery};
use crate::pictures::Kept;
use crate::requests::{AssessRequest, JobRequest, MapRequest, RegionsRequest, ScoreRequest, WhatIfRequest};
use crate::{mcp, openapi, page};

/// The file fields of a request about one image.
const PAIR: &[(&str, bool)] = &[("image", false), ("reference", false)];
/// Error statuses of requests that contain images.
const OF_PICTURES: &[u16] = &[400, 404, 408, 413, 415, 422, 429, 504];
/// Error statuses of requests for one resource.
const OF_ONE: &[u16] = &[404, 422];

/// Returns all endpoints of the API.
pub fn calls() -> Vec<Call> {
    let mut calls = vec![
        Call::get("/", about::root, "Web page for browsers, service information for other clients").either::<About>(&["text/html"]),
        Call::get("/health", about::health, "Health check").json::<Health>(),
        Call::get("/metrics", about::prometheus, "Prometheus metrics").file(&["text/plain"]),
        Call::get("/docs", openapi::docs, "API documentation").file(&["text/html"]),
        Call::get("/openapi.json", openapi::openapi, "OpenAPI description").json::<serde_json::Value>(),
        Call::get("/tools", about::tools, "List tools and their availability").json::<ToolEntries>(),
        Call::get("/backends", about::backends, "List the backend of each role").json::<ByNode<BackendEntry>>(),
        Call::post("/assess", assess::assess, "Answer a question about an image")
            .body::<AssessRequest>(PAIR)
            .json::<Answer>()
            .problems(&[400, 404, 408, 413, 415, 422, 429, 503, 504]),
        Call::post("/assess-path", assess::assess_path, "Alias of `POST /assess`")
            .body::<AssessRequest>(PAIR)
            .json::<Answer>()
            .problems(&[400, 404, 408, 413, 415, 422, 429, 503, 504]),
        Call::post(
            "/assess/stream",
            assess::assess_stream,
            "Answer a question and stream progress as server-sent events: `started`, each step, then `answer` or `error`",
        )
        .body::<AssessRequest>(PAIR)
        .file(&["text/event-stream"])
        .problems(OF_PICTURES),
        Call::get("/assessments", assessments::list, "List stored assessments, newest first")
            .query::<ListQuery>()
            .json::<AssessmentList>()
            .problems(&[422]),
        Call::get("/assessments/{id}", assessments::show, "Get a stored assessment").json::<Answer>().problems(&[404]),
        Call::post("/score", score::score, "Score an image with the tools")
            .body::<ScoreRequest>(PAIR)
            .json::<Scores>()
            .problems(OF_PICTURES),
        Call::post("/regions", regions::regions, "Find objects and other parts of an image")
            .body::<RegionsRequest>(&[("image", false)])
            .json::<FoundRegions>()
            .problems(OF_PICTURES),
        Call::post("/map", map::map, "Heat map of a tool")
            .query::<MapQuery>()
            .body::<MapRequest>(PAIR)
            .either::<MapValues>(&["image/png"])
            .problems(OF_PICTURES),
        Call::post("/what-if", what_if::what_if, "Try edits that could mend the faults of an image")
            .query::<WhatIfQuery>()
            .body::<WhatIfRequest>(&[("image", false)])
            .either::<WhatIfAnswer>(&["image/png"])
            .problems(OF_PICTURES),
    ];
    calls.extend(picture_calls());
    calls.extend(job_calls());
    calls
}

fn picture_calls() -> [Call; 4] {
    [
        Call::post("/pictures", pictures::send, "Upload an image")
            .form(&[("image", false)])
            .status(201)
            .json::<Kept>()
            .problems(OF_PICTURES),
        Call::get("/pictures/{id}", pictures::original, "Download an uploaded image")
            .file(&["image/*"])
            .problems(OF_ONE),
        Call::get("/pictures/{id}/view", pictures::view, "Get the decoded image as PNG: upright, in sRGB")
            .query::<ViewQuery>()
            .file(&["image/png"])
            .problems(OF_ONE),
        Call::get("/pictures/{id}/thumbnail", pictures::thumbnail, "Thumbnail of an image")
            .query::<ThumbnailQuery>()
            .file(&["image/png"])
            .problems(OF_ONE),
    ]
}

fn job_calls() -> [Call; 12] {
    [
        Call::post("/jobs", jobs::create, "Create a job that assesses many images in the background")
            .body::<JobRequest>(&[("image", true)])
            .status(202)
            .json::<Created>()
            .problems(OF_PICTURES),
        Call::get("/jobs", jobs::list, "List jobs, newest first").json::<JobList>(),
        Call::get("/jobs/{id}", jobs::show, "Job status").json::<JobView>().problems(&[404]),
        Call::delete("/jobs/{id}", jobs::remove, "Delete a job, its records and its images")
            .status(204)
            .problems(&[404]),
        Call::get(
            "/jobs/{id}/events",
            jobs::events,
            "Stream job progress as server-sent events: `progress`, then `end`",
        )
        .file(&["text/event-stream"])
        .problems(&[404]),
        Call::post("/jobs/{id}/stop", jobs::stop, "Stop a job at once; resume it later")
            .json::<JobView>()
            .problems(&[404]),
        Call::post("/jobs/{id}/resume", jobs::resume, "Resume a job and retry failed samples")
            .json::<JobView>()
            .problems(&[404]),
        Call::get("/jobs/{id}/results", jobs::results, "List job results with filters, sorting and paging")
            .query::<ResultsQuery>()
            .json::<Results>()
            .problems(OF_ONE),
        Call::get("/jobs/{id}/results/{sample_id}", jobs::sample, "Get the record of one sample")
            .json::<AssessmentRecord>()
            .problems(&[404]),
        Call::get(
            "/jobs/{id}/export",
            jobs::export,
            "Download job results as CSV or JSON Lines, with filters and sorting",
        )
        .query::<ResultsQuery>()
        .file(&["text/csv", "application/x-ndjson"])
        .problems(OF_ONE),
        Call::get("/jobs/{id}/thumbnails/{sample_id}", jobs::thumbnail, "Thumbnail of a sample")
            .query::<ThumbnailQuery>()
            .file(&["image/png"])
            .problems(&[400, 404, 413, 422]),
        Call::get("/jobs/{id}/pictures/{sample_id}/view", jobs::view, "Get the decoded image of a sample as PNG")
            .query::<ViewQuery>()
            .file(&["image/png"])
            .problems(&[400, 404, 413, 422]),
    ]
}

/// Builds the router of the whole API, including the page, `/docs` and `/mcp`.
pub fn router(app: &Arc<App>) -> Router {
    let routes = calls().into_iter().fold(Router::new(), |routes, call| routes.route(call.path, call.route));
    let routes = routes
        .route("/assets/{*path}", get(page::asset))
        .route("/favicon.ico", get(page::icon))
        .route("/docs/docs.js", get(openapi::script))
        .route("/docs/docs.css", get(openapi::style))
        .merge(mcp::http::routes(app))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method);
    guarded(routes, app).with_state(Arc::clone(app))
}

/// Adds limits, access checks, logging and metrics to routes.
///
/// The layer added last sees a request first.
pub fn guarded(routes: Router<Arc<App>>, app: &Arc<App>) -> Router<Arc<App>> {
    routes
        .layer(DefaultBodyLimit::max(app.limits.body))
        .layer(CatchPanicLayer::custom(failed))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard::check))
        .layer(cors(app))
        .layer(middleware::from_fn_with_state(Arc::clone(app), observe::observe))
}

async fn no_route(request: Request) -> Problem {
    drain(request.into_body()).await;
    Problem::not_found("no such endpoint: GET /docs lists all endpoints")
}

async fn no_method(request: Request) -> Problem {
    drain(request.into_body()).await;
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "MethodError",
        "method not allowed: GET /docs lists the methods of each endpoint",
    )
}

/// Turns a panic into a 500 response, so that the connection stays open.
fn failed(panic: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    let text =
        panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    let problem = Problem::internal(format!("a handler panicked: {}", text.unwrap_or_default()));
    axum::response::IntoResponse::into_response(problem)
}

/// Allows only the origins in `server.cors_origins`.
fn cors(app: &App) -> CorsLayer {
    let origins = &app.settings.pipeline.server.cors_origins;
    let named = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    let origins = match origins.iter().any(|origin| origin == "*") {
        true => AllowOrigin::any(),
        false => AllowOrigin::list(named),
    };
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION])
}
