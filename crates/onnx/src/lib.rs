//! Runs ONNX files.
//!
//! Two engines give the same numbers: one that is built in and needs nothing, and ONNX Runtime, which is faster, where
//! its shared library is found ([`Runtime::find`]). A file is looked into before an engine sees it, so that damaged and
//! hostile ones are refused by a sentence; what an engine panics on is an error too.
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

/// Why a graph could not be loaded or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is larger than an ONNX file can be.
    #[error("{}: {size} bytes are more than an ONNX file can have ({limit})", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The largest size.
        limit: u64,
    },
    /// The file is damaged, hostile or of another kind.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The engine cannot work with the graph.
    #[error("{}: the {engine} cannot load it: {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The engine.
        engine: &'static str,
        /// What it says.
        reason: String,
    },
    /// The library of ONNX Runtime cannot be used.
    #[error("{}: not usable as the library of ONNX Runtime: {reason}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The graph has no such input or output, or needs one that is not given, or one of another kind.
    #[error("{}: {reason}", path.display())]
    Signature {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// The engine failed while it ran the graph.
    #[error("{}: {reason}", path.display())]
    Run {
        /// The file.
        path: PathBuf,
        /// What the engine says.
        reason: String,
    },
    /// The numbers do not fill the tensor.
    #[error("{elements} numbers do not fill a tensor of shape {shape:?}")]
    Shape {
        /// The tensor's shape.
        shape: Vec<usize>,
        /// How many numbers there are.
        elements: usize,
    },
}
