//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod block_sum;
pub mod convolve;
pub mod fft;
pub mod gradient;
pub mod laplacian;
pub mod rolling;
pub mod strips;
pub mod sum;
