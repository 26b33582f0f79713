//! Checks messages before they are read as MCP: what is no request gets the error of JSON-RPC with
//! the ID of the message, or `null` if it has none that can be read.

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Map, Value, json};

/// JSON-RPC: the message is not JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the message is not a request.
const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: the parameters do not fit the method.
const INVALID_PARAMS: i32 = -32602;

/// What to do with a message.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// Pass it on.
    Pass,
    /// Answer with this error.
    Refuse(Value),
    /// Nothing: a blank line, or a notification that cannot be read, which must not be answered.
    Ignore,
}

/// Judges a message.
pub fn judge(message: &[u8]) -> Verdict {
    if message.trim_ascii().is_empty() {
        return Verdict::Ignore;
    }
    let fields = match serde_json::from_slice(message) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Array(_)) => {
            return refuse(Value::Null, INVALID_REQUEST, "batches are not supported: send one message");
        }
        Ok(_) => return refuse(Value::Null, INVALID_REQUEST, "a message must be an object"),
        Err(error) => return refuse(Value::Null, PARSE_ERROR, &format!("the message is not JSON: {error}")),
    };
    let id = fields.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64()).cloned().unwrap_or(Value::Null);
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        return refuse(id, INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    }
    match fields.get("method") {
        Some(Value::String(method)) if fields.contains_key("id") => request(message, &fields, method, id),
        Some(Value::String(_)) => {
            if reads(message).is_ok() {
                Verdict::Pass
            } else {
                Verdict::Ignore
            }
        }
        Some(_) => refuse(id, INVALID_REQUEST, "method must be a text"),
        // An answer to a request of ours.
        None if fields.contains_key("result") || fields.contains_key("error") => {
            if reads(message).is_ok() {
                Verdict::Pass
            } else {
                Verdict::Ignore
            }
        }
        None => refuse(id, INVALID_REQUEST, "method is missing"),
    }
}

/// The error of a message that is longer than `limit` bytes.
pub fn too_long(limit: usize) -> Value {
    error(Value::Null, INVALID_REQUEST, &format!("the message is longer than {limit} bytes"))
}

fn request(message: &[u8], fields: &Map<String, Value>, method: &str, id: Value) -> Verdict {
    if id.is_null() {
        return refuse(id, INVALID_REQUEST, "id must be a text or a whole number");
    }
    let params = fields.get("params");
    if params.is_some_and(|params| !params.is_object()) {
        return refuse(id, INVALID_PARAMS, "params must be an object");
    }
    if method == "tools/call" {
        let of = |name: &str| params.and_then(|params| params.get(name));
        if !of("name").is_some_and(Value::is_string) {
            return refuse(id, INVALID_PARAMS, "params.name must be the name of a tool");
        }
        if of("arguments").is_some_and(|arguments| !arguments.is_object() && !arguments.is_null()) {
            return refuse(id, INVALID_PARAMS, "params.arguments must be an object");
        }
    }
    match reads(message) {
        Ok(()) => Verdict::Pass,
        Err(reason) => refuse(id, INVALID_PARAMS, &format!("{method}: {reason}")),
    }
}

fn reads(message: &[u8]) -> Result<(), String> {
    serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(message).map(drop).map_err(|error| error.to_string())
}

fn refuse(id: Value, code: i32, message: &str) -> Verdict {
    Verdict::Refuse(error(id, code, message))
}

fn error(id: Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_gets_an_error_with_its_id() {
        for (message, id, code) in [
            ("nonsense", json!(null), PARSE_ERROR),
            ("{\"jsonrpc\":", json!(null), PARSE_ERROR),
            ("\u{0}", json!(null), PARSE_ERROR),
            ("\"x\"", json!(null), INVALID_REQUEST),
            ("[]", json!(null), INVALID_REQUEST),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, json!(null), INVALID_REQUEST),
            (r#"{"id":12,"method":"ping"}"#, json!(12), INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a"), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":11}"#, json!(11), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":11,"method":3}"#, json!(11), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, json!(null), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"nam":1}}"#, json!(9), INVALID_PARAMS),
            (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call"}"#, json!(9), INVALID_PARAMS),
            (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}"#, json!(9), INVALID_PARAMS),
        ] {
            let Verdict::Refuse(answer) = judge(message.as_bytes()) else { panic!("{message}") };
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{message}");
            assert_eq!(answer["jsonrpc"], "2.0");
        }
        assert_eq!(judge(b" \r\n"), Verdict::Ignore);
        for good in [
            r#"{"jsonrpc":"2.0","id":15,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"x","method":"unknown/method"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_tools"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#,
        ] {
            assert_eq!(judge(good.as_bytes()), Verdict::Pass, "{good}");
        }
    }
}
