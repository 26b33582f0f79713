//! Errors of fitting.

use std::path::Path;

/// Reasons why a model cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// A photo cannot be decoded.
    #[error(transparent)]
    Decode(#[from] agenticiqa_imaging::Error),
    /// An image cannot be made or measured.
    #[error(transparent)]
    Metric(#[from] agenticiqa_metrics::Error),
    /// An image cannot be examined.
    #[error(transparent)]
    Perception(#[from] agenticiqa_vision::perception::Error),
    /// The perception model cannot be written.
    #[error(transparent)]
    Model(#[from] agenticiqa_vision::perception::Unusable),
    /// An image cannot be scored without a reference.
    #[error(transparent)]
    FusedNr(#[from] agenticiqa_vision::fused_nr::Error),
    /// An image cannot be examined in full.
    #[error(transparent)]
    Analysis(#[from] agenticiqa_vision::analysis::Error),
    /// Edits cannot be tried.
    #[error(transparent)]
    Repair(#[from] agenticiqa_vision::repair::Error),
    /// An image cannot be scored with a reference.
    #[error(transparent)]
    FusedFr(#[from] agenticiqa_vision::fused_fr::Error),
    /// The model of Fused-NR cannot be written.
    #[error(transparent)]
    BlindModel(#[from] agenticiqa_vision::fused_nr::Unusable),
    /// The detector cannot look at an image.
    #[error(transparent)]
    Detector(#[from] agenticiqa_vision::detector::Error),
    /// The network cannot be used.
    #[error(transparent)]
    Backbone(#[from] agenticiqa_vision::network::Unusable),
    /// The model of Fused-FR cannot be written.
    #[error(transparent)]
    Fused(#[from] agenticiqa_vision::fused_fr::Unusable),
    /// A file is not the expected JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// There is nothing to fit to.
    #[error("{0}")]
    Nothing(String),
}

impl Error {
    /// Creates an error for the file at `path`.
    pub fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.display().to_string(), source }
    }
}
