//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod block_sum;
pub mod convolve;
pub mod fft;
pub mod gamma;
pub mod matrix;
pub mod mscn;
pub mod nss;
pub mod resize;
pub mod gradient;
pub mod laplacian;
pub mod rolling;
pub mod resample;
pub mod jacobi;
pub mod neighbours;
pub mod steerable;
pub mod resize;
pub mod strips;
pub mod sum;
