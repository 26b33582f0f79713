//! Extractors for query and path parameters that return errors in the format of the API.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::Problem;

/// Query parameters.
#[derive(Debug)]
pub struct Checked<T>(pub Query<T>);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Checked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(Self).map_err(|error| Problem::invalid(format!("query string: {}", error.body_text())))
    }
}

/// Path parameters.
#[derive(Debug)]
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(name)| Self(name)).map_err(|error| Problem::not_found(error.body_text()))
    }
}
