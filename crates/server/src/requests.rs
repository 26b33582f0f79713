//! Request types of the HTTP API, read from JSON or form fields. The MCP tools use the same types.

use std::collections::BTreeMap;

use agenticiqa::metrics::Region;
use agenticiqa::repair::{Edit, Operation};
use agenticiqa::scoring::Selection;
use agenticiqa::state::{AnswerForm, MAX_REPLAN_ITERATIONS, RegionBox, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;

/// The maximum number of list entries.
const MOST: usize = 64;

/// Named regions of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected {\"name\": [x, y, width, height]} or [{\"name\", \"x\", \"y\", \"width\", \"height\"}]"
)]
pub enum Regions {
    /// `{"face": [120, 40, 200, 200]}`: left, top, width, height.
    ByName(BTreeMap<String, [usize; 4]>),
    /// `[{"name": "face", "x": 120, "y": 40, "width": 200, "height": 200}]`.
    List(Vec<RegionBox>),
}

impl Regions {
    /// Converts the regions to the type that the agent uses.
    pub fn boxes(&self) -> Result<Vec<RegionBox>, Problem> {
        let boxes = match self {
            Self::List(boxes) => boxes.clone(),
            Self::ByName(places) => places.iter().map(|(name, place)| named(name, *place)).collect::<Result<_, _>>()?,
        };
        if boxes.len() > MOST {
            return Err(Problem::invalid(format!("regions: at most {MOST} are allowed")));
        }
        Ok(boxes)
    }
}

fn named(name: &str, [x, y, width, height]: [usize; 4]) -> Result<RegionBox, Problem> {
    let name = Text::new(name).map_err(|error| Problem::invalid(format!("regions: {error}")))?;
    Ok(RegionBox::given(name, Region { x, y, width, height }))
}

/// One region of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected [x, y, width, height] or {\"x\", \"y\", \"width\", \"height\"}")]
pub enum OneRegion {
    /// Left, top, width, height.
    Corners([usize; 4]),
    /// An object with an optional name.
    Box {
        /// Ignored.
        #[serde(default)]
        name: Option<String>,
        /// Left edge in pixels.
        x: usize,
        /// Top edge in pixels.
        y: usize,
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
}

impl OneRegion {
    /// Returns the rectangle.
    pub fn region(&self) -> Region {
        match *self {
            Self::Corners([x, y, width, height]) | Self::Box { x, y, width, height, .. } => {
                Region { x, y, width, height }
            }
        }
    }
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Derived from the question.
    #[default]
    Auto,
    /// A quality level from A to E with a score.
    Score,
    /// One of the options.
    Choice,
    /// A sentence.
    Text,
}

impl From<Form> for Option<AnswerForm> {
    fn from(form: Form) -> Self {
        match form {
            Form::Auto => None,
            Form::Score => Some(AnswerForm::Score),
            Form::Choice => Some(AnswerForm::Choice),
            Form::Text => Some(AnswerForm::Text),
        }
    }
}

/// Request of `POST /assess`: a question about an image.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"query": "Is it blurry?", "image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg"}]))]
pub struct AssessRequest {
    /// The question, in English or Chinese.
    #[schemars(length(min = 1, max = 20000))]
    pub query: String,
    /// Image: path of a file in an allowed folder.
    pub image_path: Option<String>,
    /// Image: ID of an uploaded image.
    pub image_id: Option<String>,
    /// Reference image of the same size: path of a file in an allowed folder.
    pub reference_path: Option<String>,
    /// Reference image: ID of an uploaded image.
    pub reference_id: Option<String>,
    /// Answer options for a multiple-choice question.
    #[serde(default)]
    #[schemars(length(max = 26))]
    pub options: Vec<String>,
    /// Bounding boxes of objects in the question.
    pub regions: Option<Regions>,
    /// Maximum number of replans when evidence is missing.
    #[schemars(range(max = 5))]
    pub max_replan_iterations: Option<u32>,
    /// Tools to run; no other tools run then. Default: selected automatically.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The form of the answer.
    #[serde(default)]
    pub answer: Form,
    /// Backend: `builtin` or `provider.model`.
    pub backend: Option<String>,
    /// A second backend that concludes from the same evidence; both conclusions are in the record.
    #[serde(default)]
    pub second_opinion: Option<String>,
    /// Sample ID for the record.
    pub sample_id: Option<String>,
}

impl AssessRequest {
    /// Checks limits that the types do not express.
    pub fn check(&self, longest_query: usize) -> Result<(), Problem> {
        check_query(&self.query, longest_query)?;
        if self.options.len() > 26 {
            return Err(Problem::invalid("options: at most 26 are allowed, one per letter"));
        }
        check_tools(&self.tools)?;
        check_replans(self.max_replan_iterations)
    }
}

/// Request of `POST /score`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg", "tools": ["SSIM", "PSNR"]}]))]
pub struct ScoreRequest {
    /// Image: path of a file in an allowed folder.
    pub image_path: Option<String>,
    /// Image: ID of an uploaded image.
    pub image_id: Option<String>,
    /// Reference image of the same size: path of a file in an allowed folder.
    pub reference_path: Option<String>,
    /// Reference image: ID of an uploaded image.
    pub reference_id: Option<String>,
    /// Tools to run; a default selection if empty.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Run every available tool.
    #[serde(default)]
    pub all: bool,
    /// Regions to score instead of the whole image.
    pub regions: Option<Regions>,
}

impl ScoreRequest {
    /// Returns the selection of tools.
    pub fn selection(&self) -> Result<Selection, Problem> {
        check_tools(&self.tools)?;
        match (self.all, self.tools.is_empty()) {
            (true, true) => Ok(Selection::All),
            (true, false) => Err(Problem::invalid("set `tools` or `all`, not both")),
            (false, true) => Ok(Selection::Default),
            (false, false) => Ok(Selection::Named(self.tools.clone())),
        }
    }

    /// Returns the regions to score.
    pub fn named_regions(&self) -> Result<Vec<RegionBox>, Problem> {
        self.regions.as_ref().map_or(Ok(Vec::new()), Regions::boxes)
    }
}

/// Request of `POST /regions`: what is where in an image.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"image_path": "osprey.jpg", "names": ["bird", "the sky"]}]))]
pub struct RegionsRequest {
    /// Image: path of a file in an allowed folder.
    pub image_path: Option<String>,
    /// Image: ID of an uploaded image.
    pub image_id: Option<String>,
    /// Names to look for, such as "the sky" or "upper left". Default: everything that can be found.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub names: Vec<String>,
}

impl RegionsRequest {
    /// Checks limits that the types do not express.
    pub fn check(&self) -> Result<(), Problem> {
        if self.names.len() > MOST {
            return Err(Problem::invalid(format!("names: at most {MOST} are allowed")));
        }
        match self.names.iter().position(|name| name.trim().is_empty()) {
            Some(index) => Err(Problem::invalid(format!("names[{index}] is empty"))),
            None => Ok(()),
        }
    }
}

/// Request of `POST /map`: a heat map of local quality.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg", "tool": "SSIM"}]))]
pub struct MapRequest {
    /// Image: path of a file in an allowed folder.
    pub image_path: Option<String>,
    /// Image: ID of an uploaded image.
    pub image_id: Option<String>,
    /// Reference image of the same size: path of a file in an allowed folder.
    pub reference_path: Option<String>,
    /// Reference image: ID of an uploaded image.
    pub reference_id: Option<String>,
    /// Tool name.
    pub tool: String,
    /// Region to map instead of the whole image.
    pub region: Option<OneRegion>,
}

/// Request of `POST /what-if`: what edits would change.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"image_path": "osprey-compressed.jpg"}]))]
pub struct WhatIfRequest {
    /// Image: path of a file in an allowed folder.
    pub image_path: Option<String>,
    /// Image: ID of an uploaded image.
    pub image_id: Option<String>,
    /// Edits to apply in this order. Default: those that raise the score.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub edits: Vec<Edit>,
}

impl WhatIfRequest {
    /// Checks limits that the types do not express.
    pub fn check(&self) -> Result<(), Problem> {
        if self.edits.len() > Operation::ALL.len() {
            return Err(Problem::invalid(format!("edits: at most {} are allowed", Operation::ALL.len())));
        }
        if self.edits.iter().any(|edit| !edit.is_allowed()) {
            return Err(Problem::invalid("edits: an amount is outside of its range"));
        }
        Ok(())
    }
}

/// Request of `POST /jobs`: many assessments in the background.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"folder": ".", "query": "Rate its quality."}]))]
pub struct JobRequest {
    /// Job name.
    #[schemars(length(max = 200))]
    pub name: Option<String>,
    /// Folder of images: path in an allowed folder.
    pub folder: Option<String>,
    /// Whether to include subfolders (default: true).
    pub recursive: Option<bool>,
    /// Manifest (JSON Lines, CSV or Parquet): path in an allowed folder.
    pub manifest: Option<String>,
    /// Question for all images; not allowed with `manifest`.
    #[schemars(length(min = 1, max = 20000))]
    pub query: Option<String>,
    /// Answer options for all images; not allowed with `manifest`.
    #[serde(default)]
    #[schemars(length(max = 26))]
    pub options: Vec<String>,
    /// Folder of reference images with the same names as the images in `folder`.
    pub reference_folder: Option<String>,
    /// Tools to run on every image.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Backend: `builtin` or `provider.model`.
    pub backend: Option<String>,
    /// Maximum number of replans when evidence is missing.
    #[schemars(range(max = 5))]
    pub max_replan_iterations: Option<u32>,
    /// Number of images assessed at the same time.
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: Option<u32>,
}

impl JobRequest {
    /// Checks limits that the types do not express.
    pub fn check(&self, longest_query: usize) -> Result<(), Problem> {
        if let Some(query) = &self.query {
            check_query(query, longest_query)?;
        }
        if self.name.as_ref().is_some_and(|name| name.chars().count() > 200) {
            return Err(Problem::invalid("name: at most 200 characters are allowed"));
        }
        if self.options.len() > 26 {
            return Err(Problem::invalid("options: at most 26 are allowed, one per letter"));
        }
        if self.concurrency.is_some_and(|concurrency| !(1..=64).contains(&concurrency)) {
            return Err(Problem::invalid("concurrency must be from 1 to 64"));
        }
        check_tools(&self.tools)?;
        check_replans(self.max_replan_iterations)
    }
}

fn check_query(query: &str, longest: usize) -> Result<(), Problem> {
    if query.trim().is_empty() {
        return Err(Problem::invalid("query is empty: write a question, such as \"Is it blurry?\""));
    }
    if query.chars().count() > longest {
        return Err(Problem::invalid(format!("query: at most {longest} characters are allowed")));
    }
    Ok(())
}

fn check_tools(tools: &[String]) -> Result<(), Problem> {
    if tools.len() > MOST { Err(Problem::invalid(format!("tools: at most {MOST} are allowed"))) } else { Ok(()) }
}

fn check_replans(replans: Option<u32>) -> Result<(), Problem> {
    if replans.is_some_and(|replans| replans > MAX_REPLAN_ITERATIONS) {
        return Err(Problem::invalid(format!("max_replan_iterations must be from 0 to {MAX_REPLAN_ITERATIONS}")));
    }
    Ok(())
}
