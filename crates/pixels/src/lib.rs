//! Pixels and what is computed with them: images, planes, filters, transforms, statistics.

mod error;
mod image;
pub mod ops;
mod plane;
#[doc(hidden)]
pub mod testing;

pub use error::{Error, Result};
pub use image::{Image, Region, Samples, Source};
pub use plane::Plane;
