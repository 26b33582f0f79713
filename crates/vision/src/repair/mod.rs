//! Edits that mend a fault, and what they would gain.
//!
//! An [`Edit`] is plain, bounded and deterministic: the kind of correction that a person would make
//! in a photo editor. [`what_if`] applies edits to the pixels of an image and scores the results with
//! [`fused_nr`]. The gain is evidence: a fault whose repair does not raise the score
//! is doubtful.

mod bilateral;
mod blocks;
mod color;
mod detail;
mod gains;
mod noise;
mod tone;
mod what_if;

use agenticiqa_metrics::{Image, Pixels, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{fused_nr, perception};

pub use gains::{Gains, Unusable};
pub use what_if::{Effort, Refusal, WhatIf, WhatIfs, mended, what_if};

/// Reasons why edits cannot be tried.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image cannot be scored.
    #[error(transparent)]
    Score(#[from] fused_nr::Error),
    /// The built-in intervals of gains are damaged.
    #[error(transparent)]
    Gains(#[from] Unusable),
    /// The image cannot be measured.
    #[error(transparent)]
    Measure(#[from] perception::Error),
    /// An edit cannot be applied.
    #[error(transparent)]
    Edit(#[from] agenticiqa_metrics::Error),
}

/// A kind of correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Smooths the edges of JPEG blocks; from 0 to 1.
    Deblock,
    /// Removes noise of this many gray levels.
    Denoise,
    /// Removes this share of a color cast, so that the grayest half becomes gray.
    WhiteBalance,
    /// Removes this share of a color cast, so that the brightest tones become white.
    WhitePatch,
    /// Brightens or darkens by this many stops (EV), in linear light.
    Exposure,
    /// Brightens the shadows; from 0 to 1.
    Shadows,
    /// Spreads the tones over this share of the unused range.
    Contrast,
    /// Multiplies the strength of colors.
    Saturation,
    /// Sharpens edges by this factor.
    Sharpen,
    /// Blurs halos away with this radius in pixels.
    Soften,
}

/// A correction and its amount.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The kind of correction.
    pub operation: Operation,
    /// The amount, in the unit of the operation.
    pub amount: f64,
}

impl Operation {
    /// All operations, in the order in which they are applied together.
    pub const ALL: [Self; 10] = [
        Self::Deblock,
        Self::Denoise,
        Self::WhiteBalance,
        Self::WhitePatch,
        Self::Exposure,
        Self::Shadows,
        Self::Contrast,
        Self::Saturation,
        Self::Sharpen,
        Self::Soften,
    ];
}

impl Edit {
    /// Whether the amount is one that a correction may have. Other amounts are not applied for strangers.
    pub fn is_allowed(self) -> bool {
        let range = match self.operation {
            Operation::Exposure => -5.0..=5.0,
            Operation::Denoise => 0.0..=64.0,
            Operation::Saturation | Operation::Sharpen => 0.0..=5.0,
            Operation::Soften => 0.1..=10.0,
            _ => 0.0..=1.0,
        };
        range.contains(&self.amount)
    }

    /// Applies the edit. The size and the bit depth stay.
    ///
    /// ```
    /// use agenticiqa_metrics::Image;
    /// use agenticiqa_vision::repair::{Edit, Operation};
    ///
    /// let dark = Image::from_rgb8(32, 32, vec![20; 32 * 32 * 3])?;
    /// let brighter = Edit { operation: Operation::Exposure, amount: 1.0 }.apply(&dark)?;
    /// assert!(brighter.gray().at(0, 0) > dark.gray().at(0, 0));
    /// # Ok::<(), agenticiqa_metrics::Error>(())
    /// ```
    pub fn apply(self, image: &Image) -> Result<Image> {
        let pixels = Pixels::read(image);
        let amount = self.amount as f32;
        let edited = match self.operation {
            Operation::Deblock => blocks::deblock(&pixels, amount),
            Operation::Denoise => noise::denoise(&pixels, amount / 255.0),
            Operation::WhiteBalance => color::white_balance(&pixels, amount),
            Operation::WhitePatch => color::white_patch(&pixels, amount),
            Operation::Exposure => tone::expose(&pixels, amount),
            Operation::Shadows => tone::lift_shadows(&pixels, amount),
            Operation::Contrast => tone::stretch(&pixels, amount),
            Operation::Saturation => color::saturate(&pixels, amount),
            Operation::Sharpen => detail::sharpen(&pixels, amount),
            Operation::Soften => detail::soften(&pixels, amount),
        };
        edited.write(image.bit_depth())
    }
}
