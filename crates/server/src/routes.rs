//! Every route of the interface, and what stands in front of all of them.

use std::sync::Arc;

use agenticiqa::state::{AssessmentRecord, ByNode};
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::routing::get;
use axum::{Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::answers::{About, Answer, BackendEntry, Health, MapValues, Scores, ToolEntries};
use crate::api::assessments::{AssessmentList, ListQuery};
use crate::api::jobs::{Created, JobList};
use crate::api::map::MapQuery;
use crate::api::pictures::{ThumbnailQuery, ViewQuery};
use crate::api::{about, assess, assessments, jobs, map, pictures, score};
use crate::app::App;
use crate::call::Call;
use crate::error::Problem;
use crate::http::{guard, observe};
use crate::jobs::{JobView, Results, ResultsQuery};
use crate::pictures::Kept;
use crate::requests::{AssessRequest, JobRequest, MapRequest, ScoreRequest};
use crate::{mcp, openapi, page};

/// The files of a request about one image.
const PAIR: &[(&str, bool)] = &[("image", false), ("reference", false)];
/// The problems of requests with images.
const OF_PICTURES: &[u16] = &[400, 404, 408, 413, 415, 422, 429, 504];
/// The problems of requests that name one thing.
const OF_ONE: &[u16] = &[404, 422];

/// Every call of the interface.
pub fn calls() -> Vec<Call> {
    let mut calls = vec![
        Call::get("/", about::root, "The page for people, a few facts for programs").either::<About>(&["text/html"]),
        Call::get("/health", about::health, "That the service lives").json::<Health>(),
        Call::get("/metrics", about::prometheus, "What is counted, for Prometheus").file(&["text/plain"]),
        Call::get("/docs", openapi::docs, "This description, for people").file(&["text/html"]),
        Call::get("/openapi.json", openapi::openapi, "This description").json::<serde_json::Value>(),
        Call::get("/tools", about::tools, "The tools, and what can run here").json::<ToolEntries>(),
        Call::get("/backends", about::backends, "Who thinks").json::<ByNode<BackendEntry>>(),
        Call::post("/assess", assess::assess, "Answer a question about an image")
            .body::<AssessRequest>(PAIR)
            .json::<Answer>()
            .problems(&[400, 404, 408, 413, 415, 422, 429, 503, 504]),
        Call::post("/assess-path", assess::assess_path, "The same, by the name that JSON callers know")
            .body::<AssessRequest>(PAIR)
            .json::<Answer>()
            .problems(&[400, 404, 408, 413, 415, 422, 429, 503, 504]),
        Call::post(
            "/assess/stream",
            assess::assess_stream,
            "The same, as server-sent events: `started`, every step, `answer` or `error`",
        )
        .body::<AssessRequest>(PAIR)
        .file(&["text/event-stream"])
        .problems(OF_PICTURES),
        Call::get("/assessments", assessments::list, "What was asked before, newest first")
            .query::<ListQuery>()
            .json::<AssessmentList>()
            .problems(&[422]),
        Call::get("/assessments/{id}", assessments::show, "One answer again").json::<Answer>().problems(&[404]),
        Call::post("/score", score::score, "What the tools say of an image")
            .body::<ScoreRequest>(PAIR)
            .json::<Scores>()
            .problems(OF_PICTURES),
        Call::post("/map", map::map, "Where a tool sees damage")
            .query::<MapQuery>()
            .body::<MapRequest>(PAIR)
            .either::<MapValues>(&["image/png"])
            .problems(OF_PICTURES),
    ];
    calls.extend(picture_calls());
    calls.extend(job_calls());
    calls
}

fn picture_calls() -> [Call; 4] {
    [
        Call::post("/pictures", pictures::send, "Keep an image")
            .form(&[("image", false)])
            .status(201)
            .json::<Kept>()
            .problems(OF_PICTURES),
        Call::get("/pictures/{id}", pictures::original, "An image as it was sent").file(&["image/*"]).problems(OF_ONE),
        Call::get("/pictures/{id}/view", pictures::view, "An image as it was decoded: turned, in sRGB")
            .query::<ViewQuery>()
            .file(&["image/png"])
            .problems(OF_ONE),
        Call::get("/pictures/{id}/thumbnail", pictures::thumbnail, "An image made small")
            .query::<ThumbnailQuery>()
            .file(&["image/png"])
            .problems(OF_ONE),
    ]
}

fn job_calls() -> [Call; 12] {
    [
        Call::post("/jobs", jobs::create, "Assess many images in the background")
            .body::<JobRequest>(&[("image", true)])
            .status(202)
            .json::<Created>()
            .problems(OF_PICTURES),
        Call::get("/jobs", jobs::list, "All jobs, newest first").json::<JobList>(),
        Call::get("/jobs/{id}", jobs::show, "How a job is").json::<JobView>().problems(&[404]),
        Call::delete("/jobs/{id}", jobs::remove, "Remove a job with its records and images")
            .status(204)
            .problems(&[404]),
        Call::get("/jobs/{id}/events", jobs::events, "How a job goes on, as server-sent events: `progress`, `end`")
            .file(&["text/event-stream"])
            .problems(&[404]),
        Call::post("/jobs/{id}/stop", jobs::stop, "Stop a job after what is running")
            .json::<JobView>()
            .problems(&[404]),
        Call::post("/jobs/{id}/resume", jobs::resume, "Go on with a job; failed samples are tried again")
            .json::<JobView>()
            .problems(&[404]),
        Call::get("/jobs/{id}/results", jobs::results, "Results, filtered, sorted and paged")
            .query::<ResultsQuery>()
            .json::<Results>()
            .problems(OF_ONE),
        Call::get("/jobs/{id}/results/{sample_id}", jobs::sample, "The record of one sample")
            .json::<AssessmentRecord>()
            .problems(&[404]),
        Call::get("/jobs/{id}/export", jobs::export, "Results as a file, filtered and sorted")
            .query::<ResultsQuery>()
            .file(&["text/csv", "application/x-ndjson"])
            .problems(OF_ONE),
        Call::get("/jobs/{id}/thumbnails/{sample_id}", jobs::thumbnail, "A small image of a sample")
            .query::<ThumbnailQuery>()
            .file(&["image/png"])
            .problems(&[400, 404, 413, 422]),
        Call::get("/jobs/{id}/pictures/{sample_id}/view", jobs::view, "The image of a sample as it was decoded")
            .query::<ViewQuery>()
            .file(&["image/png"])
            .problems(&[400, 404, 413, 422]),
    ]
}

/// The whole interface.
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

/// Puts limits, checks and notes in front of routes; the last one added is the first to see a request.
pub fn guarded(routes: Router<Arc<App>>, app: &Arc<App>) -> Router<Arc<App>> {
    routes
        .layer(DefaultBodyLimit::max(app.limits.body))
        .layer(CatchPanicLayer::custom(failed))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard::check))
        .layer(cors(app))
        .layer(middleware::from_fn_with_state(Arc::clone(app), observe::observe))
}

async fn no_route() -> Problem {
    Problem::not_found("there is nothing of this name: GET /docs lists what there is")
}

async fn no_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "MethodError", "this call has another method: GET /docs lists them")
}

/// A panic ends one request, not the connection.
fn failed(panic: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    let text =
        panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    let problem = Problem::internal(format!("a handler panicked: {}", text.unwrap_or_default()));
    axum::response::IntoResponse::into_response(problem)
}

/// Pages of other origins may call only where the settings name them.
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
