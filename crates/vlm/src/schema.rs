//! Removes unsupported keywords from JSON Schemas.

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
