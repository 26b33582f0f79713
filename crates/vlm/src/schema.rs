//! Adapts JSON Schemas to what providers support.

use serde_json::{Map, Value};

/// Keywords whose value maps names to schemas. The names are not keywords.
const NAMED_SCHEMAS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// Keywords whose value is data.
const DATA: [&str; 5] = ["enum", "const", "default", "examples", "required"];

/// Returns the schema without these keywords, at every depth.
pub(super) fn without(schema: &Value, keywords: &[&str]) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !keywords.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), value_without(key, value, keywords))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| without(item, keywords)).collect()),
        other => other.clone(),
    }
}

/// Returns the schema with objects that allow no other properties, as strict answers require.
pub(super) fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut closed: Map<_, _> =
                map.iter().map(|(key, value)| (key.clone(), closed_value(key, value))).collect();
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                closed.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            Value::Object(closed)
        }
        Value::Array(items) => Value::Array(items.iter().map(closed).collect()),
        other => other.clone(),
    }
}

fn closed_value(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(map) if NAMED_SCHEMAS.contains(&key) => {
            Value::Object(map.iter().map(|(name, schema)| (name.clone(), closed(schema))).collect())
        }
        data if DATA.contains(&key) => data.clone(),
        schema => closed(schema),
    }
}

fn value_without(key: &str, value: &Value, keywords: &[&str]) -> Value {
    match value {
        Value::Object(map) if NAMED_SCHEMAS.contains(&key) => {
            let schemas = map.iter().map(|(name, schema)| (name.clone(), without(schema, keywords)));
            Value::Object(schemas.collect::<Map<_, _>>())
        }
        data if DATA.contains(&key) => data.clone(),
        schema => without(schema, keywords),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_allow_nothing_else() {
        let inner = json!({"type": "object", "properties": {"properties": {"type": "string"}}});
        let schema = json!({"type": "object", "properties": {"a": inner}, "additionalProperties": true});
        let closed = closed(&schema);
        assert_eq!(closed["additionalProperties"], true);
        assert_eq!(closed["properties"]["a"]["additionalProperties"], false);
        assert_eq!(closed["properties"]["a"]["properties"], json!({"properties": {"type": "string"}}));
    }

    #[test]
    fn keywords_go_and_names_stay() {
        let schema = json!({
            "type": "object",
            "properties": {
                "maxLength": {"type": "string", "maxLength": 20, "enum": ["maxLength"]},
                "list": {"type": "array", "items": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}},
            },
            "required": ["maxLength", "list"],
            "$defs": {"maxLength": {"maxLength": 1}},
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "maxLength": {"type": "string", "enum": ["maxLength"]},
                "list": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            },
            "required": ["maxLength", "list"],
            "$defs": {"maxLength": {}},
        });
        assert_eq!(without(&schema, &["maxLength"]), expected);
    }
}
