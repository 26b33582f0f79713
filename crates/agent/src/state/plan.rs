//! The output of the planner: the type of the question, its scope, and the steps to run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Distortion, GLOBAL, Invalid, OneOrMany, Text};

/// The type of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum QueryType {
    /// About visual distortions and technical quality.
    #[serde(rename = "IQA")]
    Iqa,
    /// About emotion, style, beauty or appeal.
    Other,
}

/// Whether the question names the distortions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DistortionSource {
    /// The question names a distortion or a visual attribute.
    #[serde(alias = "Explict")]
    Explicit,
    /// The distortions have to be detected.
    Inferred,
}

/// Whether there is a reference image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReferenceMode {
    /// The image is compared with a reference.
    #[serde(rename = "Full-Reference", alias = "Full-reference")]
    FullReference,
    /// There is no reference.
    #[serde(rename = "No-Reference", alias = "No-reference")]
    NoReference,
}

/// The objects or regions that the question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryScope {
    /// The whole image.
    Global,
    /// Named objects or regions; never empty.
    Objects(Vec<Text>),
}

impl QueryScope {
    /// Creates a scope from object names without duplicates. Without names, or if one of them is
    /// "Global", the scope is the whole image.
    pub fn from_names<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Self {
        let mut objects: Vec<Text> = Vec::new();
        for object in names.into_iter().filter_map(|name| Text::new(name).ok()) {
            if object.as_str().eq_ignore_ascii_case(GLOBAL) {
                return Self::Global;
            }
            if !objects.contains(&object) {
                objects.push(object);
            }
        }
        if objects.is_empty() { Self::Global } else { Self::Objects(objects) }
    }

    /// Returns the names of the objects, or "Global" for the whole image.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Global => vec![GLOBAL],
            Self::Objects(objects) => objects.iter().map(Text::as_str).collect(),
        }
    }
}

impl Serialize for QueryScope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Global => serializer.serialize_str(GLOBAL),
            Self::Objects(objects) => objects.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for QueryScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "query_scope must be \"Global\" or a list of object names")]
        enum Written {
            Name(String),
            Names(Vec<String>),
        }
        let names = match Written::deserialize(deserializer)? {
            Written::Name(name) => vec![name],
            Written::Names(names) => names,
        };
        if names.iter().any(|name| name.trim().is_empty()) || names.is_empty() {
            let invalid = Invalid::new("query_scope", "\"Global\" or a list of object names", format!("{names:?}"));
            return Err(serde::de::Error::custom(invalid));
        }
        Ok(Self::from_names(names))
    }
}

impl JsonSchema for QueryScope {
    fn schema_name() -> Cow<'static, str> {
        "QueryScope".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let name = json_schema!({"type": "string", "minLength": 1});
        json_schema!({"anyOf": [{"const": GLOBAL}, {"type": "array", "items": name, "minItems": 1}]})
    }
}

/// The steps that the executor runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanControlFlags {
    /// Detect the distortions.
    pub distortion_detection: bool,
    /// Judge the severity of the distortions.
    pub distortion_analysis: bool,
    /// Select tools for the distortions.
    pub tool_selection: bool,
    /// Run the tools.
    #[serde(alias = "tool_execute")]
    pub tool_execution: bool,
}

impl PlanControlFlags {
    /// No step, for questions that are not about technical quality.
    pub const NONE: Self =
        Self { distortion_detection: false, distortion_analysis: false, tool_selection: false, tool_execution: false };

    /// Applies the rules of the paper: a step is not needed for what the question already names.
    pub fn by_rule(query_type: QueryType, names_distortion: bool, names_region: bool, names_tool: bool) -> Self {
        if query_type == QueryType::Other {
            return Self::NONE;
        }
        Self {
            distortion_detection: !names_distortion,
            distortion_analysis: true,
            tool_selection: !names_tool && !names_region,
            tool_execution: names_tool || !names_region,
        }
    }
}

/// The output of the planner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannerOutput {
    /// The type of the question.
    pub query_type: QueryType,
    /// The objects or regions that the question is about.
    pub query_scope: QueryScope,
    /// Whether the question names the distortions.
    pub distortion_source: DistortionSource,
    /// The distortions that the question names, for each object.
    #[serde(default)]
    pub distortions: Option<BTreeMap<Text, Vec<Distortion>>>,
    /// Whether there is a reference image.
    pub reference_mode: ReferenceMode,
    /// The tool or tools that must run.
    #[serde(default)]
    pub required_tool: Option<OneOrMany<Text>>,
    /// The steps that the executor runs.
    pub plan: PlanControlFlags,
}

impl PlannerOutput {
    /// Returns the names of the tools that must run.
    pub fn required_tools(&self) -> Vec<&str> {
        self.required_tool.iter().flat_map(OneOrMany::as_slice).map(Text::as_str).collect()
    }

    /// Returns the distortions to examine: the detected ones, else those of the question, else all.
    pub(crate) fn candidates(
        &self,
        detected: Option<BTreeMap<Text, Vec<Distortion>>>,
    ) -> BTreeMap<Text, Vec<Distortion>> {
        let mut distortions = detected.or_else(|| self.distortions.clone()).unwrap_or_default();
        distortions.retain(|_, list| !list.is_empty());
        let scope: Vec<Text> = match &self.query_scope {
            QueryScope::Objects(objects) => objects.clone(),
            QueryScope::Global => Text::new(GLOBAL).into_iter().collect(),
        };
        if distortions.is_empty() {
            return scope.into_iter().map(|object| (object, Distortion::ALL.to_vec())).collect();
        }
        // Distortions of the whole image also apply to objects without distortions of their own.
        if let Some(everywhere) = distortions.get(GLOBAL).cloned() {
            for object in scope {
                distortions.entry(object).or_insert_with(|| everywhere.clone());
            }
            if matches!(self.query_scope, QueryScope::Objects(_)) {
                distortions.remove(GLOBAL);
            }
        }
        distortions
    }
}
