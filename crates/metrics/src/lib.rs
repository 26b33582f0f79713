//! Classical image quality metrics in native Rust: pixels in, numbers and maps out.
//!
//! Every metric follows its authors' own definition (their MATLAB release where there is one), works on a shared
//! immutable [`Image`], gives a score and, where it is computed locally, a map of the same damage per pixel.
//! No files, no network, no global state: a metric is a plain `Send + Sync` value. Work is spread over the rayon
//! pool that the caller runs in, so `rayon::ThreadPool::install` decides how many threads are used; the score does
//! not depend on it.
//!
//! ```
//! use agenticiqa_metrics::{Image, Ssim};
//!
//! let reference = Image::from_rgb8(64, 64, vec![200; 64 * 64 * 3])?;
//! let distorted = Image::from_rgb8(64, 64, vec![180; 64 * 64 * 3])?;
//! let score = Ssim::default().score(&reference, &distorted)?;
//! assert!(score < 1.0);
//!
//! for metric in agenticiqa_metrics::all() {
//!     println!("{}: {}", metric.info().name, metric.info().summary);
//! }
//! # Ok::<(), agenticiqa_metrics::Error>(())
//! ```

mod comparison;
pub mod mat;
mod metric;
#[cfg(test)]
mod testing;

pub mod fr;
pub mod nr;

pub use agenticiqa_pixels::{Error, Image, Plane, Region, Result, Samples, Source, ops};
pub use comparison::Comparison;
pub use fr::*;
pub use metric::{Direction, Info, Kind, Map, Measurement, Metric, Pair, all, find};
pub use nr::*;
