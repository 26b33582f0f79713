//! EfficientNet-Lite0 on a CPU: pixels in, statistics of what seven stages of the network see out.
//!
//! A network that has learned to name things in photographs answers to blur, noise, blocks and poor light with other
//! activations than to a good image, in its early stages most of all. [`Backbone`] runs the network up to its last but one stage (the
//! head that names things is left out too) and pools what each stage sees; the weights, in half precision, are built in.
//!
//! ```
//! use agenticiqa_vision::network::{Backbone, Planes};
//!
//! let image = Planes::new(3, 64, 48, vec![0.0; 3 * 64 * 48]).ok_or("three planes of 64x48")?;
//! let mut channels = 0;
//! Backbone::builtin()?.look(&image, |stage| channels += stage.channels())?;
//! assert_eq!(channels, agenticiqa_vision::network::CHANNELS);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod architecture;
mod buffer_pool;
mod depthwise;
mod forward;
mod planes;
mod pointwise;
mod weights;

pub use architecture::{CHANNELS, Convolution, STAGES, convolutions};
pub use forward::Backbone;
pub use planes::Planes;
pub use weights::{Unusable, write};
