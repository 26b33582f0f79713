//! Tests the conversion of published weights and the ONNX writer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod published;
mod writer;
