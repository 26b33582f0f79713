//! `POST /pictures` and `GET /pictures/{id}`: images that clients send, as sent, as decoded, and small.

use std::sync::Arc;

use agenticiqa::imaging;
use agenticiqa::metrics::Image;
use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::in_time;
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::http::query::{Checked, Named};
use crate::pictures::{Kept, media_type};
use crate::sources::{LoadedImage, RequestImage};

/// The longest side of an image that is sent as decoded.
const LARGEST_VIEW: usize = 4096;

/// `?max=`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewQuery {
    /// The longer side is made no longer than this.
    #[schemars(range(min = 1, max = 4096))]
    pub max: Option<usize>,
}

/// `?size=`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThumbnailQuery {
    /// The longer side.
    #[schemars(range(min = 16, max = 1024))]
    pub size: Option<usize>,
}

impl ViewQuery {
    /// The longer side.
    pub fn longest(&self) -> Result<usize, Problem> {
        match self.max {
            None => Ok(LARGEST_VIEW),
            Some(longest @ 1..=LARGEST_VIEW) => Ok(longest),
            Some(_) => Err(Problem::invalid(format!("max must be from 1 to {LARGEST_VIEW}"))),
        }
    }
}

impl ThumbnailQuery {
    /// The longer side.
    pub fn longest(&self) -> Result<usize, Problem> {
        match self.size {
            None => Ok(256),
            Some(size @ 16..=1024) => Ok(size),
            Some(_) => Err(Problem::invalid("size must be from 16 to 1024")),
        }
    }
}

/// Keeps an image.
pub async fn send(State(app): State<Arc<App>>, request: Request) -> Result<(StatusCode, Json<Kept>), Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let image = form.picture("image", None, None)?;
    let image = image.ok_or_else(|| Problem::invalid("image is missing: send a form with a file as `image`"))?;
    form.finish()?;
    if let Some(field) = form.fields.keys().next() {
        return Err(Problem::invalid(format!("unknown field `{field}`: only `image` is expected")));
    }
    let kept = specimen(&app, image, |specimen| {
        Ok(Kept::of(&specimen.source.digest, &specimen.name, &specimen.source.picture))
    });
    Ok((StatusCode::CREATED, Json(in_time(&app, kept).await?)))
}

/// The bytes as they were sent.
pub async fn original(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if is_known(&headers, &id) && app.pictures.about_of(&id).is_some() {
        return Ok((StatusCode::NOT_MODIFIED, caching(&id)).into_response());
    }
    let etag = id.clone();
    let work = specimen(&app, RequestImage::Id(id), |specimen| {
        Ok((specimen.source.bytes.to_vec(), specimen.source.picture.format))
    });
    let (bytes, format) = in_time(&app, work).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type(format))),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("inline")),
    ];
    Ok((headers, caching(&etag), bytes).into_response())
}

/// The image as it was decoded: turned, in sRGB, as PNG.
pub async fn view(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    Checked(Query(query)): Checked<ViewQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    shown(&app, id, query.longest()?, &headers).await
}

/// The image made small.
pub async fn thumbnail(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    Checked(Query(query)): Checked<ThumbnailQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    shown(&app, id, query.longest()?, &headers).await
}

async fn shown(app: &Arc<App>, id: String, longest: usize, headers: &HeaderMap) -> Result<Response, Problem> {
    let tag = format!("{id}-{longest}");
    if is_known(headers, &tag) && app.pictures.about_of(&id).is_some() {
        return Ok((StatusCode::NOT_MODIFIED, caching(&tag)).into_response());
    }
    let png = in_time(
        app,
        specimen(app, RequestImage::Id(id), move |specimen| small_png(&specimen.source.picture.image, longest)),
    );
    Ok(([(header::CONTENT_TYPE, "image/png")], caching(&tag), png.await?).into_response())
}

/// An image with its longer side at most `longest`, as a PNG file.
pub fn small_png(image: &Image, longest: usize) -> Result<Vec<u8>, Problem> {
    let small = imaging::shrink(image, longest).map_err(Problem::internal)?;
    imaging::encode_png(&small).map_err(Problem::internal)
}

/// Does something with an image away from the threads of the runtime.
pub async fn specimen<T: Send + 'static>(
    app: &Arc<App>,
    given: RequestImage,
    then: impl FnOnce(&LoadedImage) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let turn = app.views.enter().await?;
    let app = Arc::clone(app);
    let work = move || {
        let _turn = turn;
        then(&app.open_picture("image", given, true)?)
    };
    tokio::task::spawn_blocking(work).await?
}

/// Images are named by their content: what a client has of them stays good.
pub fn caching(tag: &str) -> [(header::HeaderName, String); 2] {
    [(header::CACHE_CONTROL, "private, max-age=86400".to_owned()), (header::ETAG, format!("\"{tag}\""))]
}

/// Whether the client has this already.
pub fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_matches('"') == tag))
}
