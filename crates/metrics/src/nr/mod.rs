//! No-reference metrics and plain measurements: one file each, and one line in [`METRICS`].

mod brisque;
mod entropy;
mod ilniqe;
mod niqe;
mod piqe;

pub use brisque::Brisque;
pub use entropy::Entropy;
pub use ilniqe::Ilniqe;
pub use niqe::Niqe;
pub use piqe::Piqe;
mod blockiness;
mod blur;
mod colour;
mod contrast;
mod entropy;
mod exposure;
mod jpeg_quality;
mod noise;
mod sharpness;

pub use blockiness::Blockiness;
pub use blur::Blur;
pub use colour::{ColourCast, Colourfulness, Saturation};
pub use contrast::{Contrast, ContrastRange};
pub use entropy::Entropy;
pub use exposure::{Brightness, ClippedHighlights, ClippedShadows};
pub use jpeg_quality::JpegQuality;
pub use noise::Noise;
pub use sharpness::Sharpness;

use crate::Metric;

/// Every no-reference metric with its authors' parameters.
pub(crate) static METRICS: &[&dyn Metric] =
    &[&Brisque::DEFAULT, &Niqe::DEFAULT, &Ilniqe::DEFAULT, &Piqe::DEFAULT, &Entropy::DEFAULT];
pub(crate) static METRICS: &[&dyn Metric] = &[
    &Entropy::DEFAULT,
    &Noise::DEFAULT,
    &Blur::DEFAULT,
    &Sharpness::DEFAULT,
    &Blockiness::DEFAULT,
    &JpegQuality::DEFAULT,
    &Brightness::DEFAULT,
    &ClippedShadows::DEFAULT,
    &ClippedHighlights::DEFAULT,
    &Contrast::DEFAULT,
    &ContrastRange::DEFAULT,
    &Colourfulness::DEFAULT,
    &ColourCast::DEFAULT,
    &Saturation::DEFAULT,
];
