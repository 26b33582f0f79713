//! Images, planes, and the numerical building blocks of image quality metrics.
//!
//! This crate holds everything that several metrics need, so that each metric only contains its
//! own formula:
//!
//! - [`Image`]: an immutable sRGB image, gray or RGB, with 8 or 16 bits per sample. Cloning is
//!   cheap, because clones share the pixels and the planes derived from them.
//! - [`Pixels`]: three planes that an edit works on.
//! - [`Plane`]: one channel of samples. Metrics compute on planes, and quality maps are planes.
//! - [`Region`]: a rectangle of pixels, for [`Image::crop`].
//! - [`ops`]: filters, gradients, color spaces, Fourier transforms, resampling and statistics.
//!   Many of them reproduce a MATLAB function; their documentation names it.
//! - [`Error`]: the errors of images, metrics and distortions.
//!
//! `agenticiqa-metrics` and `agenticiqa-distort` are built on this crate. Use it directly to write
//! a metric or a filter of your own.
//!
//! # Example
//!
//! ```
//! use agenticiqa_pixels::ops::convolve::{Border, gaussian, separable};
//! use agenticiqa_pixels::{Image, Region};
//!
//! let image = Image::from_rgb8(64, 48, vec![200; 64 * 48 * 3])?;
//! let crop = image.crop(&Region { x: 8, y: 8, width: 32, height: 32 })?;
//!
//! // Luma on the scale 0..=255, blurred with a Gaussian.
//! let kernel = gaussian(7, 1.5);
//! let blurred = separable(crop.gray(), &kernel, &kernel, Border::Symmetric);
//! assert_eq!((blurred.width(), blurred.height()), (32, 32));
//! assert!((blurred.at(16, 16) - 200.0).abs() < 0.01);
//! # Ok::<(), agenticiqa_pixels::Error>(())
//! ```
//!
//! # Threads and reproducibility
//!
//! Heavy operations run in parallel on the rayon pool of the caller. Results do not depend on the
//! number of threads: images are cut into strips of a fixed height, and partial results are
//! combined from top to bottom (see [`ops::strips`]).
//!
//! This crate does not read or write files; `agenticiqa-imaging` does.

mod error;
mod image;
pub mod ops;
mod pixels;
mod plane;
#[doc(hidden)]
pub mod testing;

pub use error::{Error, Result};
pub use image::{Image, Region, Samples, Source};
pub use pixels::Pixels;
pub use plane::Plane;
