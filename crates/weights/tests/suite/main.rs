//! Published weights, and the ONNX files that are made of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod published;
mod writer;
