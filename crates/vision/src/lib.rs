//! What is seen in an image.

pub mod blind;
pub mod fused;
pub mod network;
pub mod perception;
mod sealed;
pub mod vocabulary;
