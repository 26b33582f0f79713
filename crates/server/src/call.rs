//! One endpoint of the API: path, handler and description.
//!
//! The router and the OpenAPI description are generated from the same list, so they cannot
//! disagree.

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, post};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::app::App;

/// A function that generates the JSON schema of a type.
pub type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// The request body.
#[derive(Debug, Clone, Copy)]
pub struct Carries {
    /// The schema of the JSON body, if JSON is accepted.
    pub json: Option<MakeSchema>,
    /// The file fields of the form: name, and whether the field may be repeated.
    pub files: &'static [(&'static str, bool)],
}

/// The body of a successful response.
#[derive(Debug, Clone, Copy)]
pub enum Gives {
    /// JSON.
    Json(MakeSchema),
    /// A file of these media types.
    File(&'static [&'static str]),
    /// JSON or a file, depending on the request.
    Either(MakeSchema, &'static [&'static str]),
    /// No body.
    Nothing,
}

/// One endpoint of the API.
#[derive(Debug)]
pub struct Call {
    /// The HTTP method in lowercase.
    pub method: &'static str,
    /// The path, with parameters in braces.
    pub path: &'static str,
    /// The handler.
    pub route: MethodRouter<Arc<App>>,
    /// A one-line summary.
    pub summary: &'static str,
    /// The schema of the query parameters.
    pub query: Option<MakeSchema>,
    /// The request body.
    pub carries: Option<Carries>,
    /// The status code of a successful response.
    pub status: u16,
    /// The body of a successful response.
    pub gives: Gives,
    /// Error statuses specific to this endpoint.
    pub problems: &'static [u16],
}

impl Call {
    fn new(method: &'static str, path: &'static str, route: MethodRouter<Arc<App>>, summary: &'static str) -> Self {
        let (query, carries, gives) = (None, None, Gives::Nothing);
        Self { method, path, route, summary, query, carries, status: 200, gives, problems: &[] }
    }

    /// Creates a `GET` endpoint.
    pub fn get<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Self {
        Self::new("get", path, get(handler), summary)
    }

    /// Creates a `POST` endpoint.
    pub fn post<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Self {
        Self::new("post", path, post(handler), summary)
    }

    /// Creates a `DELETE` endpoint.
    pub fn delete<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Self {
        Self::new("delete", path, delete(handler), summary)
    }

    /// Sets the type of the query parameters.
    pub fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(|generator| T::json_schema(generator)), ..self }
    }

    /// Accepts JSON, or a form with the same fields and these files.
    pub fn body<T: JsonSchema>(self, files: &'static [(&'static str, bool)]) -> Self {
        Self { carries: Some(Carries { json: Some(|generator| generator.subschema_for::<T>()), files }), ..self }
    }

    /// Accepts a form with these files and no other fields.
    pub fn form(self, files: &'static [(&'static str, bool)]) -> Self {
        Self { carries: Some(Carries { json: None, files }), ..self }
    }

    /// Sets a JSON response.
    pub fn json<T: JsonSchema>(self) -> Self {
        Self { gives: Gives::Json(|generator| generator.subschema_for::<T>()), ..self }
    }

    /// Sets a file response with these media types.
    pub fn file(self, kinds: &'static [&'static str]) -> Self {
        Self { gives: Gives::File(kinds), ..self }
    }

    /// Sets a response that is JSON or a file.
    pub fn either<T: JsonSchema>(self, kinds: &'static [&'static str]) -> Self {
        Self { gives: Gives::Either(|generator| generator.subschema_for::<T>(), kinds), ..self }
    }

    /// Sets the status code of a successful response.
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Sets the error statuses.
    pub fn problems(self, problems: &'static [u16]) -> Self {
        Self { problems, ..self }
    }
}
