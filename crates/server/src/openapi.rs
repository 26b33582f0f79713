//! The OpenAPI 3.1 description, generated from the endpoint list and the request and response
//! types.

use std::sync::LazyLock;

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::call::{Call, Carries, Gives};
use crate::error::ErrorBody;
use crate::routes::calls;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| document(&calls()));

/// `GET /openapi.json`
pub async fn openapi() -> Json<&'static Value> {
    Json(&DOCUMENT)
}

const PAGE: &str = include_str!("docs/index.html");
const SCRIPT: &str = include_str!("docs/docs.js");
const STYLE: &str = include_str!("docs/docs.css");

/// `GET /docs`: the API documentation as a web page.
pub async fn docs() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE).into_response()
}

/// `GET /docs/docs.js`
pub async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

/// `GET /docs/docs.css`
pub async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

/// Separate schemas for requests and responses: a field can be optional in a request and always
/// present in a response.
struct Schemas {
    taken: SchemaGenerator,
    given: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings =
            || SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/components/schemas".into());
        Self {
            taken: settings().for_deserialize().into_generator(),
            given: settings().for_serialize().into_generator(),
        }
    }

    /// Returns all referenced schemas. Where a request and a response schema share a name, they
    /// differ only in required fields; the response schema is stricter and wins.
    fn definitions(mut self) -> Map<String, Value> {
        let mut definitions = self.taken.take_definitions(true);
        definitions.extend(self.given.take_definitions(true));
        definitions
    }
}

fn document(calls: &[Call]) -> Value {
    let mut schemas = Schemas::new();
    let problem = schemas.given.subschema_for::<ErrorBody>();
    let mut paths = Map::new();
    for call in calls {
        let operation = operation(call, &mut schemas, &problem);
        let path = paths.entry(call.path.replace("{*", "{")).or_insert_with(|| json!({}));
        path[call.method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "AgenticIQA",
            "version": env!("CARGO_PKG_VERSION"),
            "description": env!("CARGO_PKG_DESCRIPTION"),
            "license": {"name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE")},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas.definitions(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "The value of AGENTICIQA_TOKEN, if the server was started with one"}},
        },
    })
}

fn operation(call: &Call, schemas: &mut Schemas, problem: &Schema) -> Value {
    let id: Vec<&str> = call.path.split(['/', '{', '}', '*', '-', '.']).filter(|part| !part.is_empty()).collect();
    let id = if id.is_empty() { "root".to_owned() } else { id.join("_") };
    let mut operation = json!({
        "operationId": format!("{}_{id}", call.method),
        "summary": call.summary,
        "parameters": parameters(call, schemas),
        "responses": responses(call, schemas, problem),
    });
    if let Some(carries) = &call.carries {
        operation["requestBody"] = json!({"required": true, "content": content(carries, schemas)});
    }
    operation
}

fn parameters(call: &Call, schemas: &mut Schemas) -> Vec<Value> {
    let names = call.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let mut parameters: Vec<Value> = names
        .map(|name| {
            let name = name.trim_start_matches('*');
            json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}})
        })
        .collect();
    let query = call.query.map(|make| make(&mut schemas.taken));
    let fields = query.as_ref().and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    for (name, schema) in fields.into_iter().flatten() {
        let mut schema = schema.clone();
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        parameters.push(json!({"name": name, "in": "query", "required": false, "description": about, "schema": without_null(schema)}));
    }
    parameters
}

/// Removes `null` from a query parameter: an absent parameter is left out of the URL.
fn without_null(mut schema: Value) -> Value {
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            schema["type"] = kind.clone();
        }
    }
    if let Some(kinds) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind["type"] != "null");
    }
    schema
}

fn content(carries: &Carries, schemas: &mut Schemas) -> Value {
    let mut content = json!({});
    let mut form = json!({"type": "object", "properties": {}, "required": []});
    if let Some(make) = carries.json {
        let schema = make(&mut schemas.taken);
        // The form has the JSON fields and, in addition, the files.
        let name =
            schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let whole = schemas.taken.definitions().get(name).cloned().unwrap_or_default();
        form["properties"] = whole["properties"].clone();
        form["required"] = whole.get("required").cloned().unwrap_or_else(|| json!([]));
        content["application/json"] = json!({"schema": schema});
    }
    for (name, several) in carries.files {
        let file = json!({"type": "string", "format": "binary", "description": "Image file"});
        form["properties"][*name] = if *several { json!({"type": "array", "items": file}) } else { file };
    }
    if carries.json.is_none() {
        form["required"] = carries.files.iter().map(|(name, _)| *name).collect();
    }
    if !carries.files.is_empty() {
        content["multipart/form-data"] = json!({"schema": form});
    }
    content
}

fn responses(call: &Call, schemas: &mut Schemas, problem: &Schema) -> Value {
    let files =
        |kinds: &[&str]| kinds.iter().map(|kind| ((*kind).to_owned(), json!({}))).collect::<Map<String, Value>>();
    let content = match call.gives {
        Gives::Nothing => Map::new(),
        Gives::File(kinds) => files(kinds),
        Gives::Json(make) => {
            Map::from_iter([("application/json".to_owned(), json!({"schema": make(&mut schemas.given)}))])
        }
        Gives::Either(make, kinds) => {
            let mut content = files(kinds);
            content.insert("application/json".to_owned(), json!({"schema": make(&mut schemas.given)}));
            content
        }
    };
    let mut good = json!({"description": "Success"});
    if !content.is_empty() {
        good["content"] = Value::Object(content);
    }
    let mut responses = Map::from_iter([(call.status.to_string(), good)]);
    // Any endpoint can return these.
    for status in call.problems.iter().chain(&[401, 403, 421, 500]) {
        let about = axum::http::StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
        let body = json!({"description": about, "content": {"application/json": {"schema": problem}}});
        responses.insert(status.to_string(), body);
    }
    Value::Object(responses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_call_has_a_name_of_its_own() {
        let document = document(&calls());
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50);
        for reference in found {
            let path = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(path).is_some(), "{reference}");
        }
        let operations =
            document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let mut ids: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), count), (calls().len(), calls().len()));
    }

    #[test]
    fn requests_say_what_they_need() {
        let document = document(&calls());
        let assess = &document["components"]["schemas"]["AssessRequest"];
        assert_eq!(assess["required"], json!(["query"]));
        let form = &document["paths"]["/assess"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"];
        assert_eq!(form["properties"]["image"]["format"], "binary");
        let limit = &document["paths"]["/assessments"]["get"]["parameters"];
        assert!(limit.as_array().unwrap().iter().any(|parameter| parameter["name"] == "before"));
    }
}
