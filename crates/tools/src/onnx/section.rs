//! The `onnx` section of a tool in `tools.json`: how an image becomes the input of a graph, and its output a score.

use serde::{Deserialize, Serialize};

use super::size::SizeRule;
use crate::ToolType;

/// How an ONNX file scores an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnnxSection {
    /// The ONNX file: an absolute path, or one below the folder of the tool list or of the installed models.
    pub model: String,
    /// The graph that makes a score of the statistics of all tiles; needed with `tiles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The names of the inputs that take images.
    #[serde(default, skip_serializing_if = "Inputs::is_default")]
    pub inputs: Inputs,
    /// The size that the network looks at; the image's own unless it says otherwise.
    #[serde(default)]
    pub size: SizeRule,
    /// The order of the channels.
    #[serde(default)]
    pub color: Color,
    /// What black and white become.
    #[serde(default = "unit")]
    pub range: [f64; 2],
    /// What is then subtracted, a number for each channel or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean: Vec<f64>,
    /// What that is then divided by, a number for each channel or one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub std: Vec<f64>,
    /// Whether channels are planes or stand together at each pixel.
    #[serde(default)]
    pub layout: Layout,
    /// How large images are cut; without it the graph sees the whole image at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiles: Option<Tiles>,
    /// What becomes the score.
    #[serde(default)]
    pub output: Output,
    /// The smallest side of an image that the network can look at.
    #[serde(default = "one")]
    pub min_side: usize,
    /// The most pixels that go through the graph at once, so that memory is bounded.
    #[serde(default = "two_million")]
    pub max_pixels: usize,
}

fn unit() -> [f64; 2] {
    [0.0, 1.0]
}

fn one() -> usize {
    1
}

/// Full HD. Wide networks keep one to two kilobytes a pixel.
fn two_million() -> usize {
    2 << 20
}

/// The names of the inputs that take images: one for each, or one for both as a batch of two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// The image of a tool without reference; `image` unless it says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The reference; `reference` unless it says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The image that is compared with the reference; `distorted` unless it says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distorted: Option<String>,
    /// Both as a batch of two, the reference first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    /// The pixels of a tile that count: top, left, bottom, right; `inner` unless it says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<String>,
}

/// Which images go into an input, in the order of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feed {
    /// The image of a tool without reference.
    Image,
    /// The reference.
    Reference,
    /// The image that is compared with it.
    Distorted,
    /// Reference and image.
    Both,
}

impl Inputs {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The inputs of a tool and what they are given.
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

    /// The input that says which pixels of a tile count.
    pub(super) fn inner(&self) -> &str {
        self.inner.as_deref().unwrap_or("inner")
    }
}

/// The order of the channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Red, green, blue; a gray image has the same in all.
    #[default]
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// One channel of BT.601 luma, in whole steps of the image's depth.
    Luma,
}

impl Color {
    /// How many channels there are.
    pub(super) fn channels(self) -> usize {
        match self {
            Self::Rgb | Self::Bgr => 3,
            Self::Luma => 1,
        }
    }
}

/// How the numbers of an image are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Channel, row, column.
    #[default]
    Nchw,
    /// Row, column, channel, as TensorFlow has it.
    Nhwc,
}

/// How a large image is cut into tiles that together give what one pass over the whole image gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// The sides of the part of a tile that counts.
    pub size: usize,
    /// How many pixels are seen around it: at least as far as the network looks.
    pub halo: usize,
    /// The network's largest stride: tiles begin at multiples of it.
    pub align: usize,
}

/// What becomes the score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The output's name; may be left out of a graph that has one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it becomes one number.
    #[serde(default)]
    pub reduce: Reduce,
}

/// How an output becomes one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduce {
    /// It is one.
    #[default]
    Value,
    /// Their mean, such as of a map.
    Mean,
    /// The mean rating, of the probabilities of the ratings 1, 2, 3 and so on.
    ExpectedRating,
}

/// More than any network looks around, and than any tile is worth.
const MAX_TILE: usize = 1 << 14;

impl OnnxSection {
    /// Says what makes no sense.
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
