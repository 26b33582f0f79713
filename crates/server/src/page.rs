//! The web page and its files. They are embedded in the program; debug builds read them from disk.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};

use crate::error::Problem;
use crate::http::query::Named;

/// The files of the page.
#[derive(Embed)]
#[folder = "web"]
#[include = "index.html"]
#[include = "favicon.ico"]
#[include = "assets/*"]
struct Web;

/// `GET /assets/{path}`
pub async fn asset(Named(path): Named<String>, headers: HeaderMap) -> Result<Response, Problem> {
    file(&format!("assets/{path}"), &headers)
}

/// `GET /favicon.ico`: browsers request this path on their own.
pub async fn icon(headers: HeaderMap) -> Result<Response, Problem> {
    file("favicon.ico", &headers).or_else(|_| file("assets/icon.svg", &headers))
}

/// Returns a file of the page, or 304 if the client has the current version.
pub fn file(path: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let missing = || Problem::not_found(format!("{path} not found"));
    if path.split('/').any(|part| part == ".." || part.contains(['\\', '\0'])) {
        return Err(missing());
    }
    let EmbeddedFile { data, metadata } = Web::get(path).ok_or_else(missing)?;
    let tag: String = metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let etag = HeaderValue::try_from(&tag).map_err(Problem::internal)?;
    let caching = [(header::ETAG, etag), (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))];
    // Compressed responses carry a weak tag.
    if known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)) {
        return Ok((StatusCode::NOT_MODIFIED, caching).into_response());
    }
    Ok(([(header::CONTENT_TYPE, media_type(path))], caching, data.into_owned()).into_response())
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
