//! The calls of the interface, one file a thing.

pub mod about;
pub mod assess;
pub mod assessments;
pub mod jobs;
mod jobs_export;
pub mod map;
pub mod pictures;
pub mod score;

use std::future::Future;
use std::time::Duration;

use axum::http::StatusCode;

use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::sources::RequestImage;

/// Image and reference of a request, by what its fields say.
type Fields = (Option<String>, Option<String>);

/// Image and reference of a request; the image must be there.
fn pictures(
    form: &mut Form,
    image: Fields,
    reference: Fields,
) -> Result<(RequestImage, Option<RequestImage>), Problem> {
    let image = form.picture("image", image.0, image.1)?;
    let reference = form.picture("reference", reference.0, reference.1)?;
    form.finish()?;
    let missing = || Problem::invalid("image is missing: send it as a file, or name it by image_path or image_id");
    Ok((image.ok_or_else(missing)?, reference))
}

/// Work that must end in time.
async fn in_time<T>(app: &App, work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    within(app.limits.timeout, work).await
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => {
            let message = format!("no answer within {limit:?}: ask for less, or raise server.timeout_seconds");
            Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, "TimeoutError", message))
        }
    }
}
