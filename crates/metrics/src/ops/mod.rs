//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod block_sum;
pub mod convolve;
pub mod fft;
pub mod gamma;
pub mod gradient;
pub mod jacobi;
pub mod laplacian;
pub mod matrix;
pub mod mscn;
pub mod neighbours;
pub mod nss;
pub mod resample;
pub mod resize;
pub mod rolling;
pub mod steerable;
pub mod strips;
pub mod sum;
pub mod weibull;
