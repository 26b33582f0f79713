//! `POST /what-if`: edits that could mend the faults of an image, and the image that they make.

use std::sync::Arc;

use agenticiqa::imaging;
use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{in_time, pictures};
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::http::query::Checked;
use crate::requests::WhatIfRequest;

/// The format of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhatIfFormat {
    /// JSON with the edits and their gains.
    #[default]
    Json,
    /// The mended image.
    Png,
}

/// Query parameters of `POST /what-if`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhatIfQuery {
    /// Format of the answer.
    #[serde(default)]
    pub format: WhatIfFormat,
}

/// `POST /what-if`
pub async fn what_if(
    State(app): State<Arc<App>>,
    Checked(Query(query)): Checked<WhatIfQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let mut request: WhatIfRequest = form.parse()?;
    let image = (request.image_path.take(), request.image_id.take());
    let (image, _) = pictures(&mut form, image, (None, None))?;
    let work = async {
        let (answer, mended) = app.what_if(request, image).await?;
        if query.format == WhatIfFormat::Json {
            return Ok(Json(answer).into_response());
        }
        let nothing = || Problem::invalid("no edit raises the score: send `edits` to apply them anyway");
        let mended = mended.ok_or_else(nothing)?;
        let png = tokio::task::spawn_blocking(move || imaging::encode_png_exact(&mended)).await?;
        let kind = HeaderValue::from_static("image/png");
        Ok(([(header::CONTENT_TYPE, kind)], png.map_err(Problem::internal)?).into_response())
    };
    in_time(&app, work).await
}
