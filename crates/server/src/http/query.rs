//! The part of an address after `?`, and parts of its path, with errors in the form of the interface.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::Problem;

/// What the address says after `?`; what is no good is a problem of the usual form.
#[derive(Debug)]
pub struct Checked<T>(pub Query<T>);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Checked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(Self).map_err(|error| Problem::invalid(format!("the query of the address: {}", error.body_text())))
    }
}

/// A part of the path.
#[derive(Debug)]
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(name)| Self(name)).map_err(|error| Problem::not_found(error.body_text()))
    }
}
