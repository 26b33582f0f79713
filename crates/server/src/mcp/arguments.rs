//! Arguments of the MCP tools. Models read these descriptions to choose a tool and fill in its
//! arguments.

use agenticiqa::metrics::Region;
use agenticiqa::state::RegionBox;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Problem;
use crate::requests::{Regions, ScoreRequest};

/// Arguments of `assess_image`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssessArguments {
    /// The image to assess: a file path (absolute, or relative to an allowed folder), a `file://`
    /// URI, or the file contents in base64, preferably as `data:image/png;base64,...`. Formats:
    /// JPEG, PNG, WebP, AVIF, TIFF, BMP, GIF.
    pub image: String,
    /// The question, in English or Chinese. Examples: "How good is this image?", "Is the face in
    /// focus?", "Which distortion is worst?".
    #[schemars(length(min = 1, max = 20000))]
    pub query: String,
    /// The undistorted original of the image, of the same size, in the same formats as `image`. If
    /// given, the image is compared with it.
    pub reference: Option<String>,
    /// Answer options for a multiple-choice question. `final_answer` is then the letter of an
    /// option (A is the first).
    #[schemars(length(max = 26))]
    pub options: Option<Vec<String>>,
    /// Bounding boxes of objects in the question. Each name should occur in the question.
    #[schemars(length(max = 64))]
    pub regions: Option<Vec<RegionArgument>>,
    /// Names of metrics to run; no others run then (default: selected automatically). `list_tools`
    /// returns all names.
    #[schemars(length(max = 64))]
    pub tools: Option<Vec<String>>,
    /// Maximum number of replans when evidence is missing, from 0 to 5 (default: 2).
    #[schemars(range(min = 0, max = 5))]
    pub max_replan_iterations: Option<u32>,
    /// Name of a metric with a heat map. The result then includes an image that shows where the
    /// metric detects damage.
    pub map: Option<String>,
}

/// Arguments of `score_image`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreArguments {
    /// The image to score: a file path (absolute, or relative to an allowed folder), a `file://`
    /// URI, or the file contents in base64, preferably as `data:image/png;base64,...`. Formats:
    /// JPEG, PNG, WebP, AVIF, TIFF, BMP, GIF.
    pub image: String,
    /// The undistorted original of the image, of the same size, in the same formats as `image`.
    /// Metrics of type FR need it.
    pub reference: Option<String>,
    /// Names of the metrics to run, such as "SSIM" or "BRISQUE" (default: a small selection).
    /// `list_tools` returns all names.
    #[schemars(length(max = 64))]
    pub tools: Option<Vec<String>>,
    /// Run every available metric. Slow on large images. Not allowed together with `tools`.
    pub all: Option<bool>,
    /// Regions to score instead of the whole image.
    #[schemars(length(max = 64))]
    pub regions: Option<Vec<RegionArgument>>,
    /// Name of a metric with a heat map. The result then includes an image that shows where the
    /// metric detects damage, in the whole image or in the region if exactly one is given.
    pub map: Option<String>,
}

/// Arguments of `compare_images`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareArguments {
    /// The images to compare: two or more, or one with a `reference`. Each is a file path
    /// (absolute, or relative to an allowed folder), a `file://` URI, or the file contents in
    /// base64, preferably as `data:image/png;base64,...`.
    #[schemars(length(min = 1, max = 16))]
    pub images: Vec<String>,
    /// The undistorted original of all images, of the same size. If given, the images are ranked by
    /// their similarity to it.
    pub reference: Option<String>,
    /// Names of the metrics to run. The first metric that scores all images ranks them (default:
    /// Fused-FR with a reference, Fused-NR without).
    #[schemars(length(max = 64))]
    pub tools: Option<Vec<String>>,
    /// Metric of type FR for the heat maps of differences, or "none" (default: "SSIM").
    pub map: Option<String>,
}

/// Arguments of `find_regions`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionsArguments {
    /// The image to search: a file path (absolute, or relative to an allowed folder), a `file://`
    /// URI, or the file contents in base64, preferably as `data:image/png;base64,...`. Formats:
    /// JPEG, PNG, WebP, AVIF, TIFF, BMP, GIF.
    pub image: String,
    /// Names to look for, such as "the sky", "background" or "upper left" (default: everything that
    /// can be found).
    #[schemars(length(max = 64))]
    pub names: Option<Vec<String>>,
}

/// Arguments of `list_tools`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArguments {
    /// Only metrics of this type: "FR" (full-reference) compares with a reference, "NR"
    /// (no-reference) uses the image alone.
    #[serde(rename = "type")]
    pub tool_type: Option<TypeArgument>,
    /// Whether to include metrics that are not installed, with instructions.
    pub include_unavailable: Option<bool>,
}

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum TypeArgument {
    /// Full-reference: compares with a reference.
    #[serde(alias = "fr")]
    FR,
    /// No-reference: uses the image alone.
    #[serde(alias = "nr")]
    NR,
}

/// A named region of an image, in pixels after applying the orientation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionArgument {
    /// Name of the object, such as "face".
    #[schemars(length(min = 1))]
    pub name: String,
    /// Left edge in pixels.
    pub x: usize,
    /// Top edge in pixels.
    pub y: usize,
    /// Width in pixels.
    #[schemars(range(min = 1))]
    pub width: usize,
    /// Height in pixels.
    #[schemars(range(min = 1))]
    pub height: usize,
}

/// Converts regions to the type of requests.
pub fn regions(given: Option<Vec<RegionArgument>>) -> Result<Option<Regions>, Problem> {
    let named = |RegionArgument { name, x, y, width, height }| {
        let name =
            agenticiqa::state::Text::new(&name).map_err(|error| Problem::invalid(format!("regions: {error}")))?;
        Ok(RegionBox::given(name, Region { x, y, width, height }))
    };
    let boxes = given.map(|given| given.into_iter().map(named).collect::<Result<Vec<_>, Problem>>()).transpose()?;
    Ok(boxes.map(Regions::List))
}

impl ScoreArguments {
    /// Converts the arguments to a request.
    pub fn request(&self) -> Result<ScoreRequest, Problem> {
        Ok(ScoreRequest {
            tools: self.tools.clone().unwrap_or_default(),
            all: self.all.unwrap_or_default(),
            regions: regions(self.regions.clone())?,
            ..ScoreRequest::default()
        })
    }
}
