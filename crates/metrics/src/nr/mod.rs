//! No-reference metrics and plain measurements. Each has its own file and one line in `METRICS`.

mod blockiness;
mod blur;
mod brisque;
mod color;
mod contrast;
mod entropy;
mod exposure;
mod ilniqe;
mod jpeg_quality;
mod niqe;
mod noise;
mod piqe;
mod sharpness;

pub use blockiness::Blockiness;
pub use blur::Blur;
pub use brisque::Brisque;
pub use color::{ColorCast, Colorfulness, Saturation};
pub use contrast::{Contrast, ContrastRange};
pub use entropy::Entropy;
pub use exposure::{Brightness, ClippedHighlights, ClippedShadows};
pub use ilniqe::Ilniqe;
pub use jpeg_quality::JpegQuality;
pub use niqe::Niqe;
pub use noise::Noise;
pub use piqe::Piqe;
pub use sharpness::Sharpness;

use crate::Metric;

/// Every no-reference metric with its authors' parameters, then the plain measurements.
pub(crate) static METRICS: &[&dyn Metric] = &[
    &Brisque::DEFAULT,
    &Niqe::DEFAULT,
    &Ilniqe::DEFAULT,
    &Piqe::DEFAULT,
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
    &Colorfulness::DEFAULT,
    &ColorCast::DEFAULT,
    &Saturation::DEFAULT,
];
