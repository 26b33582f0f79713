//! What the tools take. The words here are what a model reads before it chooses a tool and fills in its arguments.

use agenticiqa::state::RegionBox;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Problem;
use crate::requests::{Regions, ScoreRequest};

/// Arguments of `assess_image`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssessArguments {
    /// The image to ask about: the path of a file (absolute, or relative to an allowed folder), a `file://` URI, or the bytes of
    /// the file in base64 (best as `data:image/png;base64,...`). JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF.
    pub image: String,
    /// The question, in English or Chinese: "How good is this image?", "Is the face in focus?", "Which distortion is worst?".
    #[schemars(length(min = 1, max = 20000))]
    pub query: String,
    /// The undistorted original of the image, of the same size, if there is one; given in the same ways as `image`. The image
    /// is then judged by how far it is from it.
    pub reference: Option<String>,
    /// Answers to choose from; `final_answer` is then the letter of one of them (A is the first).
    #[schemars(length(max = 26))]
    pub options: Option<Vec<String>>,
    /// Where the things that the question is about are; each name should occur in the question.
    #[schemars(length(max = 64))]
    pub regions: Option<Vec<RegionArgument>>,
    /// Names of measuring tools that must be run besides those that are chosen; `list_tools` names them.
    #[schemars(length(max = 64))]
    pub tools: Option<Vec<String>>,
    /// How often a new plan may be made when evidence is missing: 0 to 5, 2 by default.
    #[schemars(range(min = 0, max = 5))]
    pub max_replan_iterations: Option<u32>,
    /// The name of a measuring tool that has a map: a heat map of where it sees damage comes with the answer, as an image.
    pub map: Option<String>,
}

/// Arguments of `score_image`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreArguments {
    /// The image to measure: the path of a file (absolute, or relative to an allowed folder), a `file://` URI, or the bytes of
    /// the file in base64 (best as `data:image/png;base64,...`). JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF.
    pub image: String,
    /// The undistorted original of the image, of the same size; given in the same ways as `image`. Tools of type FR need it.
    pub reference: Option<String>,
    /// Names of the tools to run, such as "SSIM" or "BRISQUE"; a sensible few by default. `list_tools` names them all.
    #[schemars(length(max = 64))]
    pub tools: Option<Vec<String>>,
    /// Run every tool that can run here; slow on large images. Not together with `tools`.
    pub all: Option<bool>,
    /// Parts of the image to measure instead of the whole.
    #[schemars(length(max = 64))]
    pub regions: Option<Vec<RegionArgument>>,
    /// The name of a tool that has a map: a heat map of where it sees damage comes with the scores, as an image. It shows the
    /// whole image, or the region if just one is given.
    pub map: Option<String>,
}

/// Arguments of `compare_images`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareArguments {
    /// The images to compare: two or more, or one if a `reference` is given. Each is the path of a file (absolute, or relative
    /// to an allowed folder), a `file://` URI, or the bytes of the file in base64 (best as `data:image/png;base64,...`).
    #[schemars(length(min = 1, max = 16))]
    pub images: Vec<String>,
    /// The undistorted original of all of them, of the same size, if there is one. They are then ranked by how far they are from it.
    pub reference: Option<String>,
    /// Names of the tools to measure with; the first that scores all images ranks them. By default Fused-FR ranks where there is
    /// a reference and Fused-NR where there is none.
    #[schemars(length(max = 64))]
    pub tools: Option<Vec<String>>,
    /// The tool of type FR whose map shows where the images differ: "SSIM" by default, "none" for no map.
    pub map: Option<String>,
}

/// Arguments of `list_tools`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArguments {
    /// Only tools of this type: "FR" compares with a reference, "NR" looks at the image alone.
    #[serde(rename = "type")]
    pub tool_type: Option<TypeArgument>,
    /// Also tools that cannot run here, with what they would need.
    pub include_unavailable: Option<bool>,
}

/// The type of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum TypeArgument {
    /// Compares with a reference.
    #[serde(alias = "fr")]
    FR,
    /// Looks at the image alone.
    #[serde(alias = "nr")]
    NR,
}

/// A named part of an image, in pixels of the image as it is shown.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionArgument {
    /// What is there, such as "face".
    #[schemars(length(min = 1))]
    pub name: String,
    /// Left edge.
    pub x: usize,
    /// Upper edge.
    pub y: usize,
    /// Width.
    #[schemars(range(min = 1))]
    pub width: usize,
    /// Height.
    #[schemars(range(min = 1))]
    pub height: usize,
}

/// Regions as requests take them.
pub fn regions(given: Option<Vec<RegionArgument>>) -> Result<Option<Regions>, Problem> {
    let named = |RegionArgument { name, x, y, width, height }| {
        let name =
            agenticiqa::state::Text::new(&name).map_err(|error| Problem::invalid(format!("regions: {error}")))?;
        Ok(RegionBox { name, x, y, width, height })
    };
    let boxes = given.map(|given| given.into_iter().map(named).collect::<Result<Vec<_>, Problem>>()).transpose()?;
    Ok(boxes.map(Regions::List))
}

impl ScoreArguments {
    /// What is asked of the tools.
    pub fn request(&self) -> Result<ScoreRequest, Problem> {
        Ok(ScoreRequest {
            tools: self.tools.clone().unwrap_or_default(),
            all: self.all.unwrap_or_default(),
            regions: regions(self.regions.clone())?,
            ..ScoreRequest::default()
        })
    }
}
