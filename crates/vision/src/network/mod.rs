//! Neural networks on the CPU.
//!
//! `graph` runs the networks of the detector, which a file describes layer by layer. [`Backbone`] is
//! EfficientNet-Lite0: planes of pixels in, moments of the planes of its stages out. It was trained
//! to classify photos and then to judge their quality and attributes, and runs without its last
//! published stage and its classification head. The weights are built in.
//!
//! ```
//! use agenticiqa_vision::network::{Backbone, Planes};
//!
//! let image = Planes::new(3, 64, 48, vec![0.0; 3 * 64 * 48]).ok_or("three planes of 64x48")?;
//! let seen = Backbone::builtin()?.look(&image)?;
//! assert_eq!(seen.len(), agenticiqa_vision::network::PLANES);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod activation;
mod architecture;
mod buffer_pool;
mod depthwise;
mod expanded;
mod forward;
pub(crate) mod graph;
mod planes;
mod pointwise;
mod resample;
mod weights;

pub use architecture::PLANES;
pub use forward::Backbone;
pub use planes::Planes;
pub use weights::Unusable;
