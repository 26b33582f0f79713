//! The `onnx` section of a tool in `tools.json`: how an image becomes the input of a graph, and
//! how its output becomes a score.

#![cfg_attr(not(feature = "onnx"), allow(dead_code))]

use serde::{Deserialize, Serialize};

use super::size::SizeRule;
use crate::ToolType;

/// How an ONNX file scores an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnnxSection {
    /// The ONNX file: an absolute path, or a path relative to the tool list or to the installed
    /// models.
    pub model: String,
    /// The graph that turns the statistics of all tiles into a score; required with `tiles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Names of the image inputs.
    #[serde(default, skip_serializing_if = "Inputs::is_default")]
    pub inputs: Inputs,
    /// Input size of the network; the size of the image by default.
    #[serde(default)]
    pub size: SizeRule,
    /// Order of the color channels.
    #[serde(default)]
    pub color: Color,
    /// Values of black and white.
    #[serde(default = "unit")]
    pub range: [f64; 2],
    /// Mean to subtract afterwards: one number per channel, or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean: Vec<f64>,
    /// Standard deviation to divide by afterwards: one number per channel, or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub std: Vec<f64>,
    /// Memory layout of the channels.
    #[serde(default)]
    pub layout: Layout,
    /// How to cut large images into tiles; without it the graph processes the whole image at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiles: Option<Tiles>,
    /// How the output becomes the score.
    #[serde(default)]
    pub output: Output,
    /// Minimum side of an image that the network accepts.
    #[serde(default = "one")]
    pub min_side: usize,
    /// Maximum number of pixels per run of the graph, which bounds memory.
    #[serde(default = "two_million")]
    pub max_pixels: usize,
}

fn unit() -> [f64; 2] {
    [0.0, 1.0]
}

fn one() -> usize {
    1
}

/// Full HD. Wide networks need one to two kilobytes per pixel.
fn two_million() -> usize {
    2 << 20
}

/// Names of the image inputs: one per image, or one for both as a batch of two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// Image of a no-reference tool; `image` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Reference image; `reference` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Image that is compared with the reference; `distorted` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distorted: Option<String>,
    /// Both images as a batch of two, the reference first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    /// Rectangle of a tile that counts (top, left, bottom, right); `inner` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<String>,
}

/// The images of an input, in the order of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feed {
    /// The image of a no-reference tool.
    Image,
    /// The reference.
    Reference,
    /// The image that is compared with the reference.
    Distorted,
    /// The reference and the image.
    Both,
}

impl Inputs {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the inputs of a tool and their images.
    pub(super) fn feeds(&self, tool_type: ToolType) -> Vec<(&str, Feed)> {
        match (tool_type, &self.pair) {
            (ToolType::NoReference, _) => vec![(self.image.as_deref().unwrap_or("image"), Feed::Image)],
            (ToolType::FullReference, Some(pair)) => vec![(pair.as_str(), Feed::Both)],
            (ToolType::FullReference, None) => vec![
                (self.reference.as_deref().unwrap_or("reference"), Feed::Reference),
                (self.distorted.as_deref().unwrap_or("distorted"), Feed::Distorted),
            ],
        }
    }

    /// Returns the input for the rectangle of a tile that counts.
    pub(super) fn inner(&self) -> &str {
        self.inner.as_deref().unwrap_or("inner")
    }
}

/// Order of the color channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Red, green, blue; a gray image has three equal channels.
    #[default]
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// One channel of BT.601 luma, rounded to the bit depth of the image.
    Luma,
}

impl Color {
    /// Returns the number of channels.
    pub(super) fn channels(self) -> usize {
        match self {
            Self::Rgb | Self::Bgr => 3,
            Self::Luma => 1,
        }
    }
}

/// Memory layout of an image tensor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Channel, row, column.
    #[default]
    Nchw,
    /// Row, column, channel, as in TensorFlow.
    Nhwc,
}

/// How a large image is cut into tiles that together give the same result as one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Side of the part of a tile that counts, in pixels.
    pub size: usize,
    /// Width of the margin around that part that the network also sees, in pixels; at least the
    /// reach of the network.
    pub halo: usize,
    /// Largest stride of the network; tiles start at multiples of it.
    pub align: usize,
}

/// How the output becomes the score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Name of the output; optional if the graph has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Reduction to one number.
    #[serde(default)]
    pub reduce: Reduce,
}

/// Reduction of an output to one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduce {
    /// The output is a single number.
    #[default]
    Value,
    /// The mean of all values, for example of a map.
    Mean,
    /// The expected rating, from the probabilities of the ratings 1, 2, 3 and so on.
    ExpectedRating,
}

/// Maximum size and halo of tiles; no useful tile is larger.
const MAX_TILE: usize = 1 << 14;

impl OnnxSection {
    /// Checks the section and returns the first problem.
    pub(crate) fn check(&self, tool_type: ToolType) -> Result<(), &'static str> {
        let sensible = [
            (!self.model.is_empty(), "onnx.model must name a file"),
            (self.tiles.is_some() == self.head.is_some(), "onnx.tiles and onnx.head need each other"),
            (self.inputs_suit(tool_type), "onnx.inputs do not suit the tool's type"),
            (
                self.range[0] < self.range[1] && is_finite(&self.range),
                "onnx.range must be two numbers, the lower first",
            ),
            (self.fits(&self.mean), "onnx.mean must be a number for each channel, or one"),
            (
                self.fits(&self.std) && self.std.iter().all(|&std| std > 0.0),
                "onnx.std must be positive numbers, one for each channel, or one",
            ),
            (
                self.tiles.is_none_or(Tiles::is_sensible),
                "onnx.tiles: size and halo must be multiples of align, and below 16385",
            ),
            (self.tiles.is_none() || self.size == SizeRule::Native, "onnx.tiles are for the image's own size"),
            (self.min_side > 0 && self.max_pixels > 0, "onnx.min_side and onnx.max_pixels must be positive"),
        ];
        self.size.check()?;
        sensible.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, reason)| Err(reason))
    }

    fn inputs_suit(&self, tool_type: ToolType) -> bool {
        let Inputs { image, reference, distorted, pair, inner } = &self.inputs;
        let apart = reference.is_some() || distorted.is_some();
        let suits = match tool_type {
            ToolType::NoReference => !apart && pair.is_none(),
            ToolType::FullReference => image.is_none() && !(apart && pair.is_some()),
        };
        suits && (inner.is_none() || self.tiles.is_some())
    }

    fn fits(&self, numbers: &[f64]) -> bool {
        [0, 1, self.color.channels()].contains(&numbers.len()) && is_finite(numbers)
    }
}

impl Tiles {
    fn is_sensible(self) -> bool {
        let Self { size, halo, align } = self;
        align > 0 && size > 0 && size.max(halo) <= MAX_TILE && size.is_multiple_of(align) && halo.is_multiple_of(align)
    }
}

fn is_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}
