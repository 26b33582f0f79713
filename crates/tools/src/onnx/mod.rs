//! ONNX tools: a graph, and the `onnx` section of `tools.json` that describes how an image becomes
//! its input and how its output becomes a score.
//!
//! The file is looked up next to the tool list and among the installed models. It is loaded on the
//! first score, once for all threads. Large images pass through the graph in tiles (see
//! [`Tiles`]), which bounds memory and still gives the score of the whole image.

#[cfg(feature = "onnx")]
mod picture;
#[cfg(feature = "onnx")]
mod resample;
mod section;
mod size;
#[cfg(test)]
#[cfg(feature = "onnx")]
mod tests;
#[cfg(feature = "onnx")]
mod tiles;
#[cfg(feature = "onnx")]
mod tool;

pub use section::{Color, Inputs, Layout, OnnxSection, Output, Reduce, Tiles};
pub use size::{Filter, SizeChange, SizeRule};
#[cfg(feature = "onnx")]
pub(crate) use tool::OnnxTool;
