//! Edits that mend a fault, and what they would gain.
//!
//! An [`Edit`] is plain, bounded and deterministic: the kind of correction that a person would make
//! in a photo editor. [`what_if`] applies edits to the pixels of an image and scores the results with
//! [`fused_nr`](crate::fused_nr). The gain is evidence: a fault whose repair does not raise the score
//! is doubtful.

mod blocks;
mod color;
mod detail;
mod noise;
mod tone;
mod what_if;

use agenticiqa_metrics::{Image, Pixels, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use what_if::{Refusal, WhatIf, WhatIfs, mended, what_if};

/// A kind of correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Smooths the edges of JPEG blocks; from 0 to 1.
    Deblock,
    /// Removes noise up to this many gray levels.
    Denoise,
    /// Removes this share of a color cast.
    WhiteBalance,
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

impl Edit {
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
