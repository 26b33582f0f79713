//! The calls to models, one by one, and the views of the image that they were sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Node, Text};

/// One call to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelCall {
    /// The node that made the call.
    pub node: Node,
    /// The model.
    pub backend: String,
    /// What was asked for: `plan`, `distortion_set`, `distortion_analysis`, `selected_tools`,
    /// `joined`, `boxes` or `conclusion`.
    pub task: String,
    /// The number of images that were sent, views included.
    pub images: usize,
    /// Tokens of the prompt and the images.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// The cost in US dollars; `null` if the price is unknown.
    pub cost_usd: Option<f64>,
    /// The duration in seconds, with waiting for limits and retries of failed calls.
    pub seconds: f64,
    /// Whether the answer comes from the cache and used no tokens.
    #[serde(default)]
    pub cached: bool,
}

/// The kind of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ViewKind {
    /// A part of the image at 100%.
    Crop,
    /// The image or a part of it, brightened.
    Brightened,
}

/// A view of the image that models were sent in addition to the whole image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The kind.
    pub kind: ViewKind,
    /// Why this view: the subject, the asked part, the worst or the sharpest tile, or the request of a
    /// model.
    pub shows: Text,
    /// Left edge in the image, in pixels.
    pub x: usize,
    /// Top edge in the image, in pixels.
    pub y: usize,
    /// Width in the image, in pixels.
    pub width: usize,
    /// Height in the image, in pixels.
    pub height: usize,
    /// By how many stops (EV) it was brightened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<f64>,
    /// The size of the file that was sent, in bytes.
    pub bytes: usize,
    /// The task of the model that asked for it; `null` for views that were sent without being asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
}

/// The views that models were sent, and their limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Views {
    /// The most crops that are sent without being asked for.
    pub max_crops: usize,
    /// The longest side of a view, in pixels.
    pub max_side: usize,
    /// The most rounds of a question: one, and another with the view that the model asked for.
    pub max_rounds: usize,
    /// The longer side to which the provider shrinks the whole image, in pixels.
    pub kept_side: usize,
    /// The views.
    pub sent: Vec<View>,
}
