//! One call of the interface: where it is, what answers it, and what is to be known of it. Router and description are both made
//! of these, so that neither can say what the other does not do.

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, post};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::app::App;

/// Makes the schema of a type.
pub type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// What a request carries besides its address.
#[derive(Debug, Clone, Copy)]
pub struct Carries {
    /// The JSON form, if there is one.
    pub json: Option<MakeSchema>,
    /// The files of the form: names, and whether there may be several.
    pub files: &'static [(&'static str, bool)],
}

/// What a call gives.
#[derive(Debug, Clone, Copy)]
pub enum Gives {
    /// JSON.
    Json(MakeSchema),
    /// A file of these media types.
    File(&'static [&'static str]),
    /// JSON or a file, as the request asks.
    Either(MakeSchema, &'static [&'static str]),
    /// Nothing.
    Nothing,
}

/// One call of the interface.
#[derive(Debug)]
pub struct Call {
    /// The method.
    pub method: &'static str,
    /// The address, parts in braces.
    pub path: &'static str,
    /// What answers it.
    pub route: MethodRouter<Arc<App>>,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What the address may say after `?`.
    pub query: Option<MakeSchema>,
    /// What the request carries.
    pub carries: Option<Carries>,
    /// The status of a good answer.
    pub status: u16,
    /// What it gives.
    pub gives: Gives,
    /// The statuses of problems that are its own.
    pub problems: &'static [u16],
}

impl Call {
    fn new(method: &'static str, path: &'static str, route: MethodRouter<Arc<App>>, summary: &'static str) -> Self {
        let (query, carries, gives) = (None, None, Gives::Nothing);
        Self { method, path, route, summary, query, carries, status: 200, gives, problems: &[] }
    }

    /// A call that reads.
    pub fn get<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Self {
        Self::new("get", path, get(handler), summary)
    }

    /// A call that does something.
    pub fn post<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Self {
        Self::new("post", path, post(handler), summary)
    }

    /// A call that removes something.
    pub fn delete<H: Handler<T, Arc<App>>, T: 'static>(path: &'static str, handler: H, summary: &'static str) -> Self {
        Self::new("delete", path, delete(handler), summary)
    }

    /// What the address may say after `?`.
    pub fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(|generator| T::json_schema(generator)), ..self }
    }

    /// A body of JSON, or of a form with these files beside the same fields.
    pub fn body<T: JsonSchema>(self, files: &'static [(&'static str, bool)]) -> Self {
        Self { carries: Some(Carries { json: Some(|generator| generator.subschema_for::<T>()), files }), ..self }
    }

    /// A body of a form with these files alone.
    pub fn form(self, files: &'static [(&'static str, bool)]) -> Self {
        Self { carries: Some(Carries { json: None, files }), ..self }
    }

    /// It gives JSON.
    pub fn json<T: JsonSchema>(self) -> Self {
        Self { gives: Gives::Json(|generator| generator.subschema_for::<T>()), ..self }
    }

    /// It gives a file.
    pub fn file(self, kinds: &'static [&'static str]) -> Self {
        Self { gives: Gives::File(kinds), ..self }
    }

    /// It gives JSON or a file.
    pub fn either<T: JsonSchema>(self, kinds: &'static [&'static str]) -> Self {
        Self { gives: Gives::Either(|generator| generator.subschema_for::<T>(), kinds), ..self }
    }

    /// The status of a good answer.
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The statuses of problems.
    pub fn problems(self, problems: &'static [u16]) -> Self {
        Self { problems, ..self }
    }
}
