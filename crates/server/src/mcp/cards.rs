//! Descriptions of the MCP tools: name, purpose, input schema and output schema.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::arguments::{AssessArguments, CompareArguments, ListArguments, RegionsArguments, ScoreArguments};
use super::results::{AssessResult, CompareResult, ListResult, RegionsResult, ScoreResult};

pub const ASSESS: &str = "assess_image";
pub const SCORE: &str = "score_image";
pub const COMPARE: &str = "compare_images";
pub const REGIONS: &str = "find_regions";
pub const LIST: &str = "list_tools";
/// The names of all tools.
pub const NAMES: [&str; 5] = [ASSESS, SCORE, COMPARE, REGIONS, LIST];

const ASSESS_PURPOSE: &str = "\
Answer a question about the quality of one image, with evidence. Detects distortions, runs suitable metrics, and returns an answer \
in words, a score from 1 to 5 with its 90% prediction interval, the reasoning, and all measurements. Use it for questions such as \
\"Is this sharp enough to print?\", \"What is wrong with this photo?\", \"Is the face in focus?\" (with `regions`), or multiple choice \
(with `options`). For numbers only, use score_image, which is faster. To find the best of several images, use compare_images.";

const SCORE_PURPOSE: &str = "\
Score one image with image quality metrics (SSIM, PSNR, VIF, BRISQUE, NIQE, blur, noise, ...), without a question. Use it for \
numbers, for a specific metric, for regions of an image (`regions`), and for a heat map of the damage (`map`). With a `reference` (the \
undistorted original), the image is compared with it; without one, the image is scored alone.";

const COMPARE_PURPOSE: &str = "\
Compare images: which is better and by how much, or what processing (compression, resizing, denoising) did to an original given as \
`reference`. Returns the scores of all images, a ranking, whether the prediction intervals overlap (if they do, the order is \
uncertain), and heat maps of the differences. Heat maps need images of the same size.";

const REGIONS_PURPOSE: &str = "\
Find where things are in one image, without a model: the main subject, the background, the sky, the ground, positions such as \
\"upper left\", the darkest or sharpest part, and objects that the built-in detector knows. Returns boxes in pixels with their origin \
and probability. Use it to choose `regions` for the other tools. A name that is not found has the origin \"whole image\".";

const LIST_PURPOSE: &str = "\
List the metrics that the other tools can run. Returns for each metric its strengths, whether it needs a reference, the direction \
and range of its scores, and whether it has a heat map. Use it to choose a metric or to look up its name.";

/// Returns the descriptions of all tools.
pub fn all() -> Vec<Tool> {
    static CARDS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        vec![
            card::<AssessArguments, AssessResult>(ASSESS, "Assess an image", ASSESS_PURPOSE),
            card::<ScoreArguments, ScoreResult>(SCORE, "Score an image", SCORE_PURPOSE),
            card::<CompareArguments, CompareResult>(COMPARE, "Compare images", COMPARE_PURPOSE),
            card::<RegionsArguments, RegionsResult>(REGIONS, "Find regions of an image", REGIONS_PURPOSE),
            card::<ListArguments, ListResult>(LIST, "List metrics", LIST_PURPOSE),
        ]
    });
    CARDS.clone()
}

fn card<A: JsonSchema, R: JsonSchema>(name: &'static str, title: &str, purpose: &'static str) -> Tool {
    let mut arguments = schema::<A>();
    without_null(&mut arguments);
    let mut tool = Tool::new(name, purpose, object(arguments));
    tool.title = Some(title.to_owned());
    tool.output_schema = Some(object(schema::<R>()));
    let annotations = ToolAnnotations::with_title(title).read_only(true).destructive(false);
    tool.annotations = Some(annotations.idempotent(true).open_world(false));
    tool
}

/// Returns the schema of a type without Rust-specific format names, which strict clients warn
/// about.
fn schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    remove_formats(&mut schema);
    schema
}

fn object(schema: Value) -> Arc<JsonObject> {
    let Value::Object(mut schema) = schema else { return Arc::default() };
    schema.remove("title");
    schema.remove("description");
    Arc::new(schema)
}

fn remove_formats(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let own = |format: &str| format.starts_with("uint") || format.starts_with("int") || format == "double";
            if fields.get("format").and_then(Value::as_str).is_some_and(own) {
                fields.remove("format");
            }
            fields.values_mut().for_each(remove_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_formats),
        _ => {}
    }
}

/// Removes `null` from the types of optional arguments, because some clients cannot read such
/// types.
fn without_null(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Array(kinds)) = fields.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    fields.insert("type".to_owned(), kind);
                }
            }
            if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(choice)] = choices.as_slice() {
                    let choice = choice.clone();
                    fields.remove("anyOf");
                    fields.extend(choice);
                }
            }
            fields.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_is_described_and_of_one_kind() {
        for tool in all() {
            let schema = Value::Object(tool.input_schema.as_ref().clone());
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false);
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["description"].as_str().is_some_and(|text| text.len() > 20), "{}.{name}", tool.name);
                assert!(
                    property["type"].is_string() || property["$ref"].is_string(),
                    "{}.{name}: {property}",
                    tool.name
                );
            }
            let text = schema.to_string();
            assert!(!text.contains("null") && !text.contains("uint"), "{text}");
            assert_eq!(tool.output_schema.unwrap()["type"], "object");
        }
    }

    #[test]
    fn only_what_must_be_given_is_required() {
        let required = |name: &str| {
            let tool = all().into_iter().find(|tool| tool.name == name).unwrap();
            tool.input_schema.get("required").cloned().unwrap_or(Value::Array(Vec::new()))
        };
        assert_eq!(required(ASSESS), serde_json::json!(["image", "query"]));
        assert_eq!(required(SCORE), serde_json::json!(["image"]));
        assert_eq!(required(COMPARE), serde_json::json!(["images"]));
        assert_eq!(required(REGIONS), serde_json::json!(["image"]));
        assert_eq!(required(LIST), serde_json::json!([]));
    }
}
