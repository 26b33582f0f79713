//! What is seen in an image.

pub mod fused_fr;
pub mod fused_nr;
mod model_file;
pub mod network;
pub mod perception;
pub mod vocabulary;
