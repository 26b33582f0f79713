//! EfficientNet-Lite0 on the CPU: planes of pixels in, the output planes of seven stages out.
//!
//! The activations of a network trained to classify photos change with blur, noise, blocking and
//! poor light, most of all in its early stages. [`Backbone`] runs the network without its last
//! stage and its classification head and shows the planes of each stage to the caller, who pools
//! them with [`Planes::moments`]. The weights are built in, in half precision.
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
