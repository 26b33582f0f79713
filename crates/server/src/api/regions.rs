//! `POST /regions`: what is where in an image.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};

use super::in_time;
use crate::answers::FoundRegions;
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::requests::RegionsRequest;

/// `POST /regions`
pub async fn regions(State(app): State<Arc<App>>, request: Request) -> Result<Json<FoundRegions>, Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let mut request: RegionsRequest = form.parse()?;
    let image = form.picture("image", request.image_path.take(), request.image_id.take())?;
    form.finish()?;
    let missing = || Problem::invalid("image is missing: upload it as `image`, or set image_path or image_id");
    in_time(&app, app.regions(request, image.ok_or_else(missing)?)).await.map(Json)
}
