//! A named part of the image.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// A named part of the image, in pixels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionBox {
    /// The name by which question and evidence speak of it.
    pub name: Text,
    /// Left edge.
    pub x: usize,
    /// Upper edge.
    pub y: usize,
    /// Width.
    pub width: usize,
    /// Height.
    pub height: usize,
}
