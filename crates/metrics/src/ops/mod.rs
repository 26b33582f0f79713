//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod block_fft;
pub mod colour;
pub mod convolve;
pub mod downsample;
pub mod elementary;
pub mod fft;
pub mod lanes;
pub mod lanes_fft;
pub mod log_gabor;
pub mod median;
pub mod phase_congruency;
pub mod pool;
pub mod resize;
pub mod saliency;
pub mod scharr;
pub mod strips;
pub mod sum;
