//! `POST /map`: heat maps.

use std::sync::Arc;

use agenticiqa::imaging;
use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{in_time, pictures};
use crate::answers::MapValues;
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::http::query::Checked;
use crate::requests::MapRequest;
use crate::work::Mapped;

/// The format of a heat map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MapFormat {
    /// A color image.
    #[default]
    Png,
    /// JSON with the values as a grayscale image.
    Json,
    /// The image with the map drawn over it and a legend.
    Overlay,
}

/// Query parameters of `POST /map`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapQuery {
    /// Format of the heat map.
    #[serde(default)]
    pub format: MapFormat,
}

/// `POST /map`
pub async fn map(
    State(app): State<Arc<App>>,
    Checked(Query(query)): Checked<MapQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let mut request: MapRequest = form.parse()?;
    let image = (request.image_path.take(), request.image_id.take());
    let reference = (request.reference_path.take(), request.reference_id.take());
    let (image, reference) = pictures(&mut form, image, reference)?;
    let work = async {
        let mapped = app.map(request, image, reference).await?;
        tokio::task::spawn_blocking(move || draw(&mapped, query.format)).await?
    };
    in_time(&app, work).await
}

fn draw(mapped: &Mapped, format: MapFormat) -> Result<Response, Problem> {
    let (width, height) = (mapped.image.width(), mapped.image.height());
    let (best, worst) = (mapped.map.best, mapped.map.worst);
    let (low, high, meaning) = (best.min(worst), best.max(worst), mapped.meaning());
    if format == MapFormat::Json {
        let values = imaging::map_values(&mapped.map, width, height).map_err(Problem::internal)?;
        let (lower_is_better, values_png) = (best < worst, STANDARD.encode(values));
        return Ok(Json(MapValues { width, height, low, high, meaning, lower_is_better, values_png }).into_response());
    }
    let png = match format {
        MapFormat::Overlay => mapped.overlay()?,
        _ => imaging::color_map(&mapped.map, width, height).map_err(Problem::internal)?,
    };
    let text = |text: String| HeaderValue::try_from(text).map_err(Problem::internal);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("image/png")),
        (HeaderName::from_static("x-map-low"), text(low.to_string())?),
        (HeaderName::from_static("x-map-high"), text(high.to_string())?),
        (HeaderName::from_static("x-map-meaning"), text(meaning)?),
    ];
    Ok((headers, png).into_response())
}
