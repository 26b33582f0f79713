//! What metrics share: filters, gradients, transforms, statistics, and the way work is cut into strips.

pub mod convolve;
pub mod fft;
pub mod jacobi;
pub mod moments;
pub mod neighbours;
pub mod rfft;
pub mod steerable;
pub mod strips;
pub mod sum;
