//! A named part of the image.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// A named part of the image, in pixels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionBox {
    /// Name of the region in the question and in the evidence.
    pub name: Text,
    /// Left edge in pixels.
    pub x: usize,
    /// Upper edge in pixels.
    pub y: usize,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
}
