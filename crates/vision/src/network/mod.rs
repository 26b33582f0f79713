//! EfficientNet-Lite0 on the CPU: planes of pixels in, moments of the planes of its stages out.
//!
//! The network was trained to classify photos and then to judge their quality and attributes.
//! [`Backbone`] runs it without its last published stage and its classification head. The
//! weights are built in, in half precision.
//!
//! ```
//! use agenticiqa_vision::network::{Backbone, Planes};
//!
//! let image = Planes::new(3, 64, 48, vec![0.0; 3 * 64 * 48]).ok_or("three planes of 64x48")?;
//! let seen = Backbone::builtin()?.look(&image)?;
//! assert_eq!(seen.len(), agenticiqa_vision::network::PLANES);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod architecture;
mod buffer_pool;
mod depthwise;
mod forward;
mod planes;
mod pointwise;
mod weights;

pub use architecture::PLANES;
pub use forward::Backbone;
pub use planes::Planes;
pub use weights::Unusable;
