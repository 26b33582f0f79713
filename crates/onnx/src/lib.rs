//! Runs ONNX models: tensors in, tensors out.
//!
//! Two engines compute the same numbers. The built-in engine needs no installation; ONNX Runtime
//! is faster and is used if its shared library is found ([`Runtime::find`]). Every file is
//! inspected before an engine loads it, so damaged and hostile files are rejected with a clear
//! error, and a panic inside an engine becomes an [`Error`] too. The learned metrics of AgenticIQA
//! run on this crate.
//!
//! ```no_run
//! use agenticiqa_onnx::{Model, Runtime, Tensor};
//!
//! let model = Model::load("metric.onnx".as_ref(), &Runtime::find(None))?;
//! let image = Tensor::float([1, 3, 8, 8], vec![0.5; 192])?;
//! let scores = model.run(&[("image", &image)], &["score"])?;
//! println!("{:?}", scores[0].data());
//! # Ok::<(), agenticiqa_onnx::Error>(())
//! ```
//!
//! - [`Model`] is a loaded model; [`Model::inputs`] and [`Model::outputs`] describe it ([`Port`]).
//! - [`Runtime`] selects the engine.
//! - [`Tensor`] contains the numbers: 32-bit floating point or 64-bit integers ([`Element`]).
//! - [`in_engine`] tells a panic hook which panics are reported as errors.
//!
//! A tensor checks its shape when it is created:
//!
//! ```
//! use agenticiqa_onnx::Tensor;
//!
//! assert_eq!(Tensor::float([2, 2], vec![1.0; 4])?.shape(), [2, 2]);
//! assert!(Tensor::float([2, 2], vec![1.0; 3]).is_err());
//! # Ok::<(), agenticiqa_onnx::Error>(())
//! ```
//!
//! This crate knows nothing about images, and it does not write models (see `agenticiqa-weights`).

use std::path::PathBuf;

mod builtin;
mod guard;
mod inspect;
mod library;
mod model;
mod runtime;
mod signature;
mod tensor;
mod wire;

pub use guard::in_engine;
pub use model::Model;
pub use runtime::Runtime;
pub use signature::{Dimension, Port};
pub use tensor::{Data, Element, Tensor};

/// Reasons why a model cannot be loaded or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file is larger than the ONNX format allows.
    #[error("{}: {size} bytes are more than an ONNX file can have ({limit})", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size of the file in bytes.
        size: u64,
        /// Maximum size in bytes.
        limit: u64,
    },
    /// The file is damaged, hostile or not an ONNX file.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// The engine does not support the graph.
    #[error("{}: the {engine} cannot load it: {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The engine.
        engine: &'static str,
        /// Message of the engine.
        reason: String,
    },
    /// The shared library of ONNX Runtime cannot be used.
    #[error("{}: not usable as the library of ONNX Runtime: {reason}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// An input or output does not exist, is missing, or has the wrong type or shape.
    #[error("{}: {reason}", path.display())]
    Signature {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// The engine failed while it ran the graph.
    #[error("{}: {reason}", path.display())]
    Run {
        /// The file.
        path: PathBuf,
        /// Message of the engine.
        reason: String,
    },
    /// The number of elements does not match the shape of a tensor.
    #[error("{elements} numbers do not fill a tensor of shape {shape:?}")]
    Shape {
        /// Shape of the tensor.
        shape: Vec<usize>,
        /// Number of elements.
        elements: usize,
    },
}
