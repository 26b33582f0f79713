//! The page and its files, which are part of the program (read from disk where it was built for development).

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

/// `/assets/...`
pub async fn asset(Named(path): Named<String>, headers: HeaderMap) -> Result<Response, Problem> {
    file(&format!("assets/{path}"), &headers)
}

/// Browsers ask for it by themselves; the page's own icon serves.
pub async fn icon(headers: HeaderMap) -> Result<Response, Problem> {
    file("favicon.ico", &headers).or_else(|_| file("assets/icon.svg", &headers))
}

/// A file of the page.
pub fn file(path: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let missing = || Problem::not_found(format!("there is no {path}"));
    if path.split('/').any(|part| part == ".." || part.contains(['\\', '\0'])) {
        return Err(missing());
    }
    let EmbeddedFile { data, metadata } = Web::get(path).ok_or_else(missing)?;
    let tag: String = metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let etag = HeaderValue::try_from(&tag).map_err(Problem::internal)?;
    let caching = [(header::ETAG, etag), (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))];
    // A compressed answer has a weak tag.
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
