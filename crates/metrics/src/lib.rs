//! Classical image quality metrics in native Rust.
//!
//! The crate computes full-reference metrics such as SSIM, FSIM, VIF and SSIMULACRA2, no-reference
//! metrics such as BRISQUE, NIQE and PIQE, and plain measurements such as noise, blur and
//! colorfulness. Every metric follows its authors' definition (their MATLAB release, if there is
//! one) and returns a score. Metrics that are computed locally also return a map of the damage.
//!
//! Use it to score images from Rust. It takes pixels, not files: `agenticiqa-imaging` decodes
//! files into an [`Image`]. The rest of the project (tools, agent, command line, Python package)
//! is built on this crate.
//!
//! # Score a pair
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
//!
//! # Find a metric by name and get its map
//!
//! ```
//! use agenticiqa_metrics::{Direction, Image, Pair, find};
//!
//! let reference = Image::from_rgb8(64, 64, vec![200; 64 * 64 * 3])?;
//! let distorted = Image::from_rgb8(64, 64, vec![180; 64 * 64 * 3])?;
//! if let Some(metric) = find("gmsd") {
//!     assert_eq!(metric.info().direction, Direction::LowerIsBetter);
//!     let measurement = metric.measure(&Pair::new(&reference, &distorted)?.with_map())?;
//!     assert!(measurement.map.is_some());
//! }
//! # Ok::<(), agenticiqa_metrics::Error>(())
//! ```
//!
//! # Main types
//!
//! - [`Metric`]: the trait of every metric. [`all`] lists them, [`find`] looks one up by name.
//! - [`Info`]: name, range, direction and paper of a metric.
//! - [`Pair`]: the input: an image, and its reference if there is one.
//! - [`Measurement`] and [`Map`]: the output.
//! - [`Comparison`]: global differences of brightness, contrast and color between two images.
//! - [`fr`] and [`nr`]: the metric types, for use with other parameters than the defaults.
//!
//! # Threads
//!
//! There is no global state: a metric is a plain `Send + Sync` value. Work runs on the rayon pool
//! of the caller, so `rayon::ThreadPool::install` sets the number of threads. The score does not
//! depend on it.
//!
//! # Features
//!
//! `jpegxl` (default): SSIMULACRA2 and Butteraugli, the metrics of JPEG XL.

mod comparison;
mod list;
pub mod mat;
mod metric;
#[cfg(test)]
mod testing;

pub mod fr;
pub mod nr;

pub use agenticiqa_pixels::{Error, Image, Pixels, Plane, Region, Result, Samples, Source, ops};
pub use comparison::Comparison;
pub use fr::*;
pub use list::{all, find, fold_name};
pub use metric::{Direction, Info, Kind, Map, Measurement, Metric, Pair};
pub use nr::*;
