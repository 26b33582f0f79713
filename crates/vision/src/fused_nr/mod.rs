//! Fused-NR: a quality score with a 90% prediction interval for an image without a reference.
//!
//! A network (EfficientNet-Lite0, [`network`](crate::network)), trained on photos with opinions and
//! attributes, sees the whole image as a thumbnail. Statistics of tone and color and the
//! measurements of [`perception`] (noise, blur, blocks, natural scene statistics at two scales) add
//! what a thumbnail hides. One model ([`Model`]) turns these features into the score, its interval,
//! and the probabilities behind the [`attributes`](crate::attributes).
//!
//! See `docs/models/fused-nr.md` for the training data and the accuracy.

mod damage;
mod features;
mod map;
mod model;
mod statistics;
mod strange;
mod view;

use std::sync::{Arc, Once, OnceLock};

use crate::network::{Backbone, PLANES};
use crate::vocabulary::Distortion;
pub use features::{COUNT, measure};
pub use map::map;
pub(crate) use model::likeliest;
pub use model::{BEST, Blend, Group, Head, Judgment, Model, Reading, WORST};

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
    Ok(read(image)?.judgment)
}

/// Returns everything that the built-in model says about an image. The result is cached in the
/// image.
pub fn read(image: &Image) -> Result<Arc<Reading>, Error> {
    Arc::unwrap_or_clone(image.derived(|| read_anew(image).map(Arc::new)))
}

/// Returns what the last stage of the network sees, the mean of each of its planes: photos of one scene
/// look alike to it. The result is cached in the image.
pub fn impression(image: &Image) -> Result<Vec<f32>, Error> {
    let features = features_of(image)?;
    Ok(features[PLANES - LAST_STAGE..PLANES].to_vec())
}

/// Number of planes of the last stage of the network.
const LAST_STAGE: usize = 192;

/// The features of an image, as they are cached in it.
struct Measured(Result<Vec<f32>, Error>);

fn features_of(image: &Image) -> Result<Vec<f32>, Error> {
    image.derived(|| Measured(measure(image))).0.clone()
}

fn read_anew(image: &Image) -> Result<Reading, Error> {
    let mut reading = builtin()?.read(&features_of(image)?);
    reading.strange = strange::is_strange(image, reading.judgment.unusual);
    if !reading.strange {
        let levels = perception::levels(image)?;
        let level = levels[&Distortion::Noise].max(levels[&Distortion::Compression]);
        reading.judgment = damage::limit(reading.judgment, level);
    }
    Ok(reading)
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
    MODEL.get_or_init(|| Model::open(model::BYTES)).as_ref().map_err(Clone::clone)
}
