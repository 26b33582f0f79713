//! What requests ask for, as JSON or as fields of a form. The interface for other programs (MCP) takes the same types.

use std::collections::BTreeMap;

use agenticiqa::metrics::Region;
use agenticiqa::scoring::{NamedRegion, Selection};
use agenticiqa::state::{AnswerForm, RegionBox, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;

/// Entries of a list; more are refused.
const MOST: usize = 64;

/// Parts of an image, by name.
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
    /// As the agent takes them.
    pub fn boxes(&self) -> Result<Vec<RegionBox>, Problem> {
        let boxes = match self {
            Self::List(boxes) => boxes.clone(),
            Self::ByName(places) => places.iter().map(|(name, place)| named(name, *place)).collect::<Result<_, _>>()?,
        };
        if boxes.len() > MOST {
            return Err(Problem::invalid(format!("regions: at most {MOST} are taken")));
        }
        Ok(boxes)
    }
}

fn named(name: &str, [x, y, width, height]: [usize; 4]) -> Result<RegionBox, Problem> {
    let name = Text::new(name).map_err(|error| Problem::invalid(format!("regions: {error}")))?;
    Ok(RegionBox { name, x, y, width, height })
}

/// One part of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected [x, y, width, height] or {\"x\", \"y\", \"width\", \"height\"}")]
pub enum OneRegion {
    /// Left, top, width, height.
    Corners([usize; 4]),
    /// With or without a name.
    Box {
        /// The name; it does not matter here.
        #[serde(default)]
        name: Option<String>,
        /// Left edge.
        x: usize,
        /// Top edge.
        y: usize,
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
}

impl OneRegion {
    /// The rectangle.
    pub fn region(&self) -> Region {
        match *self {
            Self::Corners([x, y, width, height]) | Self::Box { x, y, width, height, .. } => {
                Region { x, y, width, height }
            }
        }
    }
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Told from the question.
    #[default]
    Auto,
    /// A level A to E and a score.
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

/// `POST /assess`: a question about an image.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"query": "Is it blurry?", "image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg"}]))]
pub struct AssessRequest {
    /// The question, in English or Chinese.
    #[schemars(length(min = 1, max = 20000))]
    pub query: String,
    /// The image: a file below an allowed folder.
    pub image_path: Option<String>,
    /// The image: one that was sent before.
    pub image_id: Option<String>,
    /// The undistorted image to compare with, of the same size: a file below an allowed folder.
    pub reference_path: Option<String>,
    /// The undistorted image: one that was sent before.
    pub reference_id: Option<String>,
    /// Answers to choose from.
    #[serde(default)]
    #[schemars(length(max = 26))]
    pub options: Vec<String>,
    /// Where what the question is about is in the image.
    pub regions: Option<Regions>,
    /// How often a new plan may be made when evidence is missing.
    #[schemars(range(max = 5))]
    pub max_replan_iterations: Option<u32>,
    /// Tools that must be run.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The form of the answer.
    #[serde(default)]
    pub answer: Form,
    /// Who thinks: `builtin`, or `provider.model`.
    pub backend: Option<String>,
    /// The name of the sample in the record.
    pub sample_id: Option<String>,
}

impl AssessRequest {
    /// What types cannot tell.
    pub fn check(&self, longest_query: usize) -> Result<(), Problem> {
        check_query(&self.query, longest_query)?;
        if self.options.len() > 26 {
            return Err(Problem::invalid("options: at most 26 are taken, one a letter"));
        }
        check_tools(&self.tools)?;
        check_replans(self.max_replan_iterations)
    }
}

/// `POST /score`: what the tools say of an image.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg", "tools": ["SSIM", "PSNR"]}]))]
pub struct ScoreRequest {
    /// The image: a file below an allowed folder.
    pub image_path: Option<String>,
    /// The image: one that was sent before.
    pub image_id: Option<String>,
    /// The undistorted image to compare with, of the same size: a file below an allowed folder.
    pub reference_path: Option<String>,
    /// The undistorted image: one that was sent before.
    pub reference_id: Option<String>,
    /// The tools to run; a sensible few by default.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Run every tool that can run here.
    #[serde(default)]
    pub all: bool,
    /// The parts to score instead of the whole image.
    pub regions: Option<Regions>,
}

impl ScoreRequest {
    /// Which tools run.
    pub fn selection(&self) -> Result<Selection, Problem> {
        check_tools(&self.tools)?;
        match (self.all, self.tools.is_empty()) {
            (true, true) => Ok(Selection::All),
            (true, false) => Err(Problem::invalid("give tools or all, not both")),
            (false, true) => Ok(Selection::Default),
            (false, false) => Ok(Selection::Named(self.tools.clone())),
        }
    }

    /// The parts to score.
    pub fn named_regions(&self) -> Result<Vec<NamedRegion>, Problem> {
        let boxes = self.regions.as_ref().map_or(Ok(Vec::new()), Regions::boxes)?;
        let named = |RegionBox { name, x, y, width, height }| NamedRegion {
            name: name.to_string(),
            region: Region { x, y, width, height },
        };
        Ok(boxes.into_iter().map(named).collect())
    }
}

/// `POST /map`: where a tool sees damage.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"image_path": "osprey-blurred.jpg", "reference_path": "osprey.jpg", "tool": "SSIM"}]))]
pub struct MapRequest {
    /// The image: a file below an allowed folder.
    pub image_path: Option<String>,
    /// The image: one that was sent before.
    pub image_id: Option<String>,
    /// The undistorted image to compare with, of the same size: a file below an allowed folder.
    pub reference_path: Option<String>,
    /// The undistorted image: one that was sent before.
    pub reference_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The part of the image to look at.
    pub region: Option<OneRegion>,
}

/// `POST /jobs`: many assessments in the background.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"folder": ".", "query": "Rate its quality."}]))]
pub struct JobRequest {
    /// What to call it.
    #[schemars(length(max = 200))]
    pub name: Option<String>,
    /// A folder of images below an allowed folder.
    pub folder: Option<String>,
    /// Whether folders below it are looked into too; they are by default.
    pub recursive: Option<bool>,
    /// A manifest (JSON Lines, CSV or Parquet) below an allowed folder.
    pub manifest: Option<String>,
    /// The question for all images of a folder.
    #[schemars(length(min = 1, max = 20000))]
    pub query: Option<String>,
    /// Answers to choose from, for all images of a folder.
    #[serde(default)]
    #[schemars(length(max = 26))]
    pub options: Vec<String>,
    /// A folder of undistorted images that have the names of those of `folder`.
    pub reference_folder: Option<String>,
    /// Tools that every image must be measured with.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Who thinks: `builtin`, or `provider.model`.
    pub backend: Option<String>,
    /// How often a new plan may be made when evidence is missing.
    #[schemars(range(max = 5))]
    pub max_replan_iterations: Option<u32>,
    /// Images at a time.
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: Option<u32>,
}

impl JobRequest {
    /// What types cannot tell.
    pub fn check(&self, longest_query: usize) -> Result<(), Problem> {
        if let Some(query) = &self.query {
            check_query(query, longest_query)?;
        }
        if self.name.as_ref().is_some_and(|name| name.chars().count() > 200) {
            return Err(Problem::invalid("name: at most 200 characters are taken"));
        }
        if self.options.len() > 26 {
            return Err(Problem::invalid("options: at most 26 are taken, one a letter"));
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
        return Err(Problem::invalid("query is empty: ask something, such as \"Is it blurry?\""));
    }
    if query.chars().count() > longest {
        return Err(Problem::invalid(format!("query: more than {longest} characters are not taken")));
    }
    Ok(())
}

fn check_tools(tools: &[String]) -> Result<(), Problem> {
    if tools.len() > MOST { Err(Problem::invalid(format!("tools: at most {MOST} are taken"))) } else { Ok(()) }
}

fn check_replans(replans: Option<u32>) -> Result<(), Problem> {
    match replans {
        Some(6..) => Err(Problem::invalid("max_replan_iterations must be from 0 to 5")),
        _ => Ok(()),
    }
}
