//! Fused-NR: a quality score with a 90% prediction interval for an image without a reference.
//!
//! A classification network (EfficientNet-Lite0, [`network`](crate::network)) sees the whole image
//! as a thumbnail. The measurements of [`perception`] (noise, blur, blocks, tone, color, natural
//! scene statistics at two scales) add what a thumbnail hides. A linear model combines both; it
//! was fitted to opinions about real photos and to the order of generated distortions.
//!
//! See `docs/models/fused-nr.md` for the training data and the accuracy.

mod features;
mod map;
mod model;
mod view;

use std::sync::{Once, OnceLock};

use crate::network::Backbone;
pub use features::{COUNT, measure};
pub use map::map;
pub use model::{BEST, Judgment, Linear, Link, Model, WORST, expected_error, mean_square};

use crate::perception;
use agenticiqa_metrics::{self, Image};

/// Name of the tool.
pub const NAME: &str = "Fused-NR";

/// Reasons why Fused-NR cannot compute a score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no pixels.
    #[error("{NAME} needs an image with pixels")]
    Empty,
    /// The network cannot run.
    #[error(transparent)]
    Backbone(#[from] crate::network::Unusable),
    /// The measurements of perception failed.
    #[error(transparent)]
    Perception(#[from] perception::Error),
    /// A tile of the image cannot be cropped.
    #[error(transparent)]
    Region(#[from] agenticiqa_metrics::Error),
    /// The built-in model is damaged.
    #[error(transparent)]
    Model(#[from] Unusable),
}

/// The reason why a model file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model of {NAME} cannot be used: {0}")]
pub struct Unusable(pub(crate) String);

/// Scores an image with the built-in model.
pub fn judge(image: &Image) -> Result<Judgment, Error> {
    Ok(builtin()?.judge(&measure(image)?))
}

/// Starts loading the model and the network on a background thread, so that images can be decoded
/// in the meantime.
pub fn prepare() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        // Failures surface again when the model is used.
        std::thread::spawn(|| (builtin().is_ok(), Backbone::builtin().is_ok()));
    });
}

/// Returns the built-in model, which is read once per process.
pub fn builtin() -> Result<&'static Model, Unusable> {
    static MODEL: OnceLock<Result<Model, Unusable>> = OnceLock::new();
    MODEL.get_or_init(|| Model::read(model::BYTES)).as_ref().map_err(Clone::clone)
}
