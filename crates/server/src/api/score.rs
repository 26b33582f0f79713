//! `POST /score`: scores of the tools, without a question.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};

use super::{in_time, pictures};
use crate::answers::Scores;
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::requests::ScoreRequest;

/// `POST /score`
pub async fn score(State(app): State<Arc<App>>, request: Request) -> Result<Json<Scores>, Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let mut request: ScoreRequest = form.parse()?;
    let image = (request.image_path.take(), request.image_id.take());
    let reference = (request.reference_path.take(), request.reference_id.take());
    let (image, reference) = pictures(&mut form, image, reference)?;
    in_time(&app, app.score(request, image, reference)).await.map(Json)
}
