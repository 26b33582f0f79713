//! Fused-NR: one score with an interval for an image without a reference.
//!
//! A network that was trained to name things (EfficientNet-Lite0, `agenticiqa-backbone`) looks at the whole image at the size of a thumbnail; what is
//! measured of its own pixels (`perception`: noise, blur, blocks, tone, color, statistics of natural scenes at two scales) tells what a thumbnail hides. A linear
//! model of both, fitted to opinions on real photos and to the order of generated distortions, gives the score. How it was
//! fitted and how well it does is in `docs/models/fused-nr.md`.

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

/// The name of the tool.
pub const NAME: &str = "Fused-NR";

/// Why there is no score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no pixels.
    #[error("{NAME} needs an image with pixels")]
    Empty,
    /// The network cannot run.
    #[error(transparent)]
    Backbone(#[from] crate::network::Unusable),
    /// The image cannot be measured.
    #[error(transparent)]
    Perception(#[from] perception::Error),
    /// A part of the image cannot be cut out.
    #[error(transparent)]
    Region(#[from] agenticiqa_metrics::Error),
    /// The model that is built in is damaged.
    #[error(transparent)]
    Model(#[from] Unusable),
}

/// Why the bytes of a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model of {NAME} cannot be used: {0}")]
pub struct Unusable(pub(crate) String);

/// Judges an image, with the model that is built in.
pub fn judge(image: &Image) -> Result<Judgment, Error> {
    Ok(builtin()?.judge(&measure(image)?))
}

/// Begins to read model and network, on a thread of its own; images are decoded meanwhile.
pub fn prepare() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        // What fails is said by whoever needs it.
        std::thread::spawn(|| (builtin().is_ok(), Backbone::builtin().is_ok()));
    });
}

/// The model that is built in, read once.
pub fn builtin() -> Result<&'static Model, Unusable> {
    static MODEL: OnceLock<Result<Model, Unusable>> = OnceLock::new();
    MODEL.get_or_init(|| Model::read(model::BYTES)).as_ref().map_err(Clone::clone)
}
