//! Extracts JSON from the text of models: surrounding prose, code fences, trailing commas.

use serde_json::Value;

/// The maximum number of braces that start no object. Limits the work on malformed text.
const STRAY_BRACES: usize = 100;

/// Returns every outermost JSON object in `text`, in order.
pub fn objects(text: &str) -> Vec<Value> {
    let (mut found, mut rest, mut stray) = (Vec::new(), text, 0);
    while let Some(open) = rest.find('{').filter(|_| stray <= STRAY_BRACES) {
        let from = &rest[open..];
        let object = end_of_object(from).and_then(|end| Some((end, parse(&from[..end])?)));
        rest = match object {
            Some((end, value)) => {
                found.push(value);
                &from[end..]
            }
            // A brace in prose, not an object. An object may follow.
            None => {
                stray += 1;
                &from[1..]
            }
        };
    }
    found
}

/// The maximum depth at which an object is looked for inside another.
const DEPTH: usize = 3;
/// The maximum number of objects inside another.
const INNER: usize = 20;

/// Returns the objects inside an object, also those that were written into its texts.
pub fn inner_objects(outer: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    collect_inner(outer, DEPTH, &mut found);
    found
}

fn collect_inner(value: &Value, depth: usize, found: &mut Vec<Value>) {
    if depth == 0 || found.len() >= INNER {
        return;
    }
    let mut add = |object: Value| {
        found.push(object.clone());
        collect_inner(&object, depth - 1, found);
    };
    let Value::Object(fields) = value else { return };
    for field in fields.values() {
        match field {
            Value::Object(_) => add(field.clone()),
            Value::String(text) if text.contains('{') => objects(text).into_iter().for_each(&mut add),
            _ => {}
        }
    }
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_trailing_commas(text))).ok()
}

/// Returns the end of the object at the start of `text`. Braces inside strings do not count.
fn end_of_object(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' if !in_string => depth += 1,
            '}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Removes trailing commas: `[1, 2,]` and `{"a": 1,}`.
fn without_trailing_commas(text: &str) -> String {
    let (mut clean, mut in_string, mut escaped) = (String::with_capacity(text.len()), false, false);
    for (index, c) in text.char_indices() {
        let closes = || text[index + 1..].trim_start().starts_with(['}', ']']);
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ',' if !in_string && closes() => continue,
            _ => {}
        }
        clean.push(c);
    }
    clean
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_found_in_prose_fences_and_with_trailing_commas() {
        assert_eq!(objects("Sure! ```json\n{\"a\": [1, 2,],}\n``` Hope it helps {smile}"), [json!({"a": [1, 2]})]);
        assert_eq!(objects("The set {x, y} is {\"b\": \"}, {\"}"), [json!({"b": "}, {"})]);
        assert_eq!(
            objects("{\"a\": \"\\\"}\"} and {\"c\": {\"d\": 1}}"),
            [json!({"a": "\"}"}), json!({"c": {"d": 1}})]
        );
        assert_eq!(objects("{\"text\": \"a, }\",}"), [json!({"text": "a, }"})]);
    }

    #[test]
    fn an_object_inside_the_text_of_another_is_found() {
        let text = r#"Sure: {"note": "as asked: {\"final_answer\": \"B\", \"deep\": {\"a\": 1}} done", "list": [1]}"#;
        let outer = objects(text);
        assert_eq!(inner_objects(&outer[0]), [json!({"final_answer": "B", "deep": {"a": 1}}), json!({"a": 1})]);
        let mut nested = json!({"x": 1});
        for _ in 0..8 {
            nested = json!({"inner": nested.to_string()});
        }
        assert_eq!(inner_objects(&nested).len(), DEPTH);
    }

    #[test]
    fn half_an_object_is_none() {
        assert!(objects("{\"final_answer\": \"B\", \"quality_re").is_empty());
        assert!(objects("no object at all").is_empty());
        assert!(objects(&"{".repeat(10_000)).is_empty());
    }
}
