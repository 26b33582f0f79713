//! Errors of images, metrics and distortions.

use crate::Region;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The error of this crate, and of the metrics and distortions that are built on it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no pixels.
    #[error("the image has no pixels ({width}x{height})")]
    Empty {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// The sample buffer does not fit the stated size.
    #[error("{width}x{height} pixels with {channels} channels need {expected} samples, but {actual} were given")]
    BufferSize {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// Number of channels, 1 or 3.
        channels: usize,
        /// The number of samples that this size requires.
        expected: usize,
        /// The number of samples in the buffer.
        actual: usize,
    },
    /// A full-reference metric was called without a reference.
    #[error("{metric} compares with a reference image, and there is none")]
    ReferenceMissing {
        /// The metric's name.
        metric: &'static str,
    },
    /// Reference and distorted image differ in size.
    #[error(
        "the reference is {}x{} but the image is {}x{}. Images are never resized automatically",
        reference.0, reference.1, distorted.0, distorted.1
    )]
    SizeMismatch {
        /// Width and height of the reference.
        reference: (usize, usize),
        /// Width and height of the distorted image.
        distorted: (usize, usize),
    },
    /// The image is smaller than the metric's window or pyramid needs.
    #[error("{metric} needs at least {minimum}x{minimum} pixels, this image has {width}x{height}")]
    TooSmall {
        /// The metric's name.
        metric: &'static str,
        /// The smallest side that the metric can measure.
        minimum: usize,
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// A region reaches beyond the image.
    #[error("region {region} reaches beyond the image of {width}x{height}")]
    RegionOutOfBounds {
        /// The offending region.
        region: Region,
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
    },
    /// The metric needs a model file, and none was supplied.
    #[error("{metric} needs its model file: {hint}")]
    ModelMissing {
        /// The metric's name.
        metric: &'static str,
        /// How to provide it.
        hint: &'static str,
    },
    /// The model file is damaged or does not fit the metric.
    #[error("the model file of {metric} cannot be used: {reason}")]
    ModelInvalid {
        /// The metric's name.
        metric: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The metric has no defined value for this image.
    #[error("{metric} is not defined for this image: {reason}")]
    Undefined {
        /// The metric's name.
        metric: &'static str,
        /// Why there is no value.
        reason: &'static str,
    },
    /// The distortion level does not exist.
    #[error("distortions have the levels 1 to {highest}, not {level}")]
    LevelOutOfRange {
        /// The requested level.
        level: u8,
        /// The highest level.
        highest: u8,
    },
}
