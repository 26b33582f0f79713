//! Fused-FR: one score with an interval, out of seven metrics and what changed in tone and color.
//!
//! Three of the best metrics, each brought to the scale from 1 to 5 by a curve of its own, give a mean that knows no kinds of distortions. A Gaussian process over all measurements says by how much that mean was wrong on images like this one (people mind a
//! brighter image less than the metrics do, and damage in one place more). How far the image is from all that the process knows is
//! its variance: the further, the less of the correction counts and the wider is the interval. So a kind of distortion
//! that it has never seen gets the mean of the metrics. How it was fitted and how well it does is in `docs/models/fused-fr.md`.
//!
//! ```
//! use agenticiqa_vision::fused_fr;
//! use agenticiqa_distort::{Kind, distort};
//! use agenticiqa_metrics::{Image, Pair};
//!
//! let clean = Image::from_gray8(96, 96, (0..96 * 96).map(|i| (i * i / 97 % 251) as u8).collect())?;
//! let noisy = distort(&clean, Kind::WhiteNoise, 3, 1)?;
//! let judgment = fused_fr::judge(&Pair::new(&clean, &noisy)?)?;
//! assert!(judgment.low <= judgment.score && judgment.score <= judgment.high);
//! assert_eq!(fused_fr::judge(&Pair::new(&clean, &clean)?)?.score, 5.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod curve;
mod evidence;
mod ladder;
mod model;
mod posterior;
mod triangle;

use std::sync::OnceLock;

pub use curve::Curve;
pub use evidence::{Evidence, FEATURES, MEMBERS, Member, PANEL, STATISTICS, features};
pub use ladder::Ladder;
pub use model::{BEST, Judgment, Model, WORST, fading};
pub use posterior::Posterior;
pub use triangle::Triangle;

use agenticiqa_metrics::{self, Comparison, Pair};

/// The name of the tool.
pub const NAME: &str = "Fused-FR";

/// Opinions are about images that are seen whole, of this many rows. Larger ones are brought near to it by means of boxes, as
/// VSI, FSIM and MATLAB's SSIM do before they compare: what one sees of a large image on a screen.
const VIEWED_SIDE: usize = 384;

/// Why there is no fused score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A metric cannot measure the image.
    #[error("{NAME} needs {member}: {source}")]
    Member {
        /// The metric.
        member: &'static str,
        /// Why not.
        source: agenticiqa_metrics::Error,
    },
    /// A metric gave no finite number.
    #[error("{NAME} needs {member}, which gave no number")]
    NoNumber {
        /// The metric.
        member: &'static str,
    },
    /// The images cannot be compared.
    #[error(transparent)]
    Pair(#[from] agenticiqa_metrics::Error),
    /// The model that is built in is damaged.
    #[error(transparent)]
    Model(#[from] Unusable),
}

/// Why the bytes of a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model of {NAME} cannot be used: {0}")]
pub struct Unusable(pub(crate) String);

/// Judges an image against its reference, with the model that is built in.
pub fn judge(pair: &Pair<'_>) -> Result<Judgment, Error> {
    let reference = pair.reference().ok_or(agenticiqa_metrics::Error::ReferenceMissing { metric: NAME })?;
    let factor = (reference.width().min(reference.height()) / VIEWED_SIDE).max(1);
    let (reference, distorted) = (reference.shrunk(factor), pair.distorted().shrunk(factor));
    let pair = Pair::new(&reference, &distorted)?;
    let comparison = Comparison::of(&pair)?;
    if comparison.identical {
        return Ok(Judgment::IDENTICAL);
    }
    let model = builtin()?;
    Ok(model.judge(&Evidence::measure(&pair, &comparison)?))
}

/// The model that is built in, read once.
pub fn builtin() -> Result<&'static Model, Unusable> {
    static MODEL: OnceLock<Result<Model, Unusable>> = OnceLock::new();
    MODEL.get_or_init(|| Model::read(model::BYTES)).as_ref().map_err(Clone::clone)
}
