//! `/pictures`: uploaded images, as sent, decoded, and as thumbnails.

use std::sync::Arc;

use agenticiqa::language::Language;
use agenticiqa::metrics::Image;
use agenticiqa::suggestions::{Suggestion, suggestions};
use agenticiqa::{analysis, imaging, regions};
use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::in_time;
use crate::answers::{SuggestedQuestion, SuggestedQuestions};
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::http::query::{Checked, Named};
use crate::pictures::{Kept, media_type};
use crate::sources::{LoadedImage, RequestImage};

/// The maximum length of the longer side of a decoded image.
const LARGEST_VIEW: usize = 4096;

/// Query parameters of `GET /pictures/{id}/view`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewQuery {
    /// Maximum length of the longer side in pixels (default: 4096).
    #[schemars(range(min = 1, max = 4096))]
    pub max: Option<usize>,
}

/// Query parameters of `GET /pictures/{id}/thumbnail`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThumbnailQuery {
    /// Length of the longer side in pixels (default: 256).
    #[schemars(range(min = 16, max = 1024))]
    pub size: Option<usize>,
}

impl ViewQuery {
    /// Returns the maximum length of the longer side.
    pub fn longest(&self) -> Result<usize, Problem> {
        match self.max {
            None => Ok(LARGEST_VIEW),
            Some(longest @ 1..=LARGEST_VIEW) => Ok(longest),
            Some(_) => Err(Problem::invalid(format!("max must be from 1 to {LARGEST_VIEW}"))),
        }
    }
}

impl ThumbnailQuery {
    /// Returns the maximum length of the longer side.
    pub fn longest(&self) -> Result<usize, Problem> {
        match self.size {
            None => Ok(256),
            Some(size @ 16..=1024) => Ok(size),
            Some(_) => Err(Problem::invalid("size must be from 16 to 1024")),
        }
    }
}

/// `POST /pictures`
pub async fn send(State(app): State<Arc<App>>, request: Request) -> Result<(StatusCode, Json<Kept>), Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let image = form.picture("image", None, None)?;
    let image = image.ok_or_else(|| Problem::invalid("image is missing: send a form with an `image` file"))?;
    form.finish()?;
    if let Some(field) = form.fields.keys().next() {
        return Err(Problem::invalid(format!("unknown field `{field}`: only `image` is expected")));
    }
    let kept =
        with_image(&app, image, |loaded| Ok(Kept::of(&loaded.source.digest, &loaded.name, &loaded.source.picture)));
    Ok((StatusCode::CREATED, Json(in_time(&app, kept).await?)))
}

/// `GET /pictures/{id}`
pub async fn original(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if is_known(&headers, &id) && app.pictures.about_of(&id).is_some() {
        return Ok((StatusCode::NOT_MODIFIED, caching(&id)).into_response());
    }
    let etag = id.clone();
    let work = with_image(&app, RequestImage::Id(id), |loaded| {
        Ok((loaded.source.bytes.to_vec(), loaded.source.picture.format))
    });
    let (bytes, format) = in_time(&app, work).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type(format))),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("inline")),
    ];
    Ok((headers, caching(&etag), bytes).into_response())
}

/// `GET /pictures/{id}/view`: the decoded image as PNG, upright and in sRGB.
pub async fn view(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    Checked(Query(query)): Checked<ViewQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    shown(&app, id, query.longest()?, &headers).await
}

/// `GET /pictures/{id}/thumbnail`
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
        with_image(app, RequestImage::Id(id), move |loaded| small_png(&loaded.source.picture.image, longest)),
    );
    Ok(([(header::CONTENT_TYPE, "image/png")], caching(&tag), png.await?).into_response())
}

/// `GET /pictures/{id}/questions`: what is worth asking about an image.
pub async fn questions(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
) -> Result<Json<SuggestedQuestions>, Problem> {
    let work = with_image(&app, RequestImage::Id(id), |loaded| {
        let image = &loaded.source.picture.image;
        // An image that is too small to be examined suggests nothing.
        let Ok(examination) = analysis::examine(image, None) else {
            return Ok(SuggestedQuestions { questions: Vec::new() });
        };
        let found = regions::list(image).map_err(Problem::internal)?;
        let all = suggestions(&examination, &found, image.width() * image.height());
        let written =
            |one: &Suggestion| SuggestedQuestion { en: one.text(Language::English), zh: one.text(Language::Chinese) };
        Ok(SuggestedQuestions { questions: all.iter().map(written).collect() })
    });
    in_time(&app, work).await.map(Json)
}

/// Encodes an image as PNG, with its longer side reduced to at most `longest`.
pub fn small_png(image: &Image, longest: usize) -> Result<Vec<u8>, Problem> {
    let small = imaging::shrink(image, longest).map_err(Problem::internal)?;
    imaging::encode_png(&small).map_err(Problem::internal)
}

/// Loads an image and runs `then` on it, on a blocking thread.
pub async fn with_image<T: Send + 'static>(
    app: &Arc<App>,
    image: RequestImage,
    then: impl FnOnce(&LoadedImage) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let turn = app.views.enter().await?;
    let app = Arc::clone(app);
    let work = move || {
        let _turn = turn;
        then(&app.open_picture("image", image, true)?)
    };
    tokio::task::spawn_blocking(work).await?
}

/// Returns caching headers. Images are identified by content, so cached copies stay valid.
pub fn caching(tag: &str) -> [(header::HeaderName, String); 2] {
    [(header::CACHE_CONTROL, "private, max-age=86400".to_owned()), (header::ETAG, format!("\"{tag}\""))]
}

/// Returns whether the client already has the version `tag`.
pub fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_matches('"') == tag))
}
