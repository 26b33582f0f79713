//! The handlers of the API, one module per resource.

pub mod about;
pub mod assess;
pub mod assessments;
pub mod jobs;
mod jobs_export;
pub mod map;
pub mod pictures;
pub mod regions;
pub mod score;
pub mod what_if;

use std::future::Future;
use std::time::Duration;

use axum::http::StatusCode;

use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::sources::RequestImage;

/// The path and the ID of an image in a request.
type Fields = (Option<String>, Option<String>);

/// Returns the image, which is required, and the reference of a request.
fn pictures(
    form: &mut Form,
    image: Fields,
    reference: Fields,
) -> Result<(RequestImage, Option<RequestImage>), Problem> {
    let image = form.picture("image", image.0, image.1)?;
    let reference = form.picture("reference", reference.0, reference.1)?;
    form.finish()?;
    let missing = || Problem::invalid("image is missing: upload it as `image`, or set image_path or image_id");
    Ok((image.ok_or_else(missing)?, reference))
}

/// Runs work with the configured timeout.
async fn in_time<T>(app: &App, work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    within(app.limits.timeout, work).await
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => {
            let message = format!("no answer within {limit:?}: request less, or raise server.timeout_seconds");
            Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, "TimeoutError", message))
        }
    }
}
