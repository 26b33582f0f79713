//! Fused-FR: a quality score with a 90% prediction interval for an image and its reference,
//! computed from seven metrics and statistics of tone and color.
//!
//! Three accurate metrics form a panel. A curve maps each of them to the scale from 1 to 5, and
//! their mean does not depend on the kind of distortion. A Gaussian process over all measurements
//! then corrects that mean, because people mind a brighter image less than the metrics do, and
//! local damage more. The variance of the process tells how unlike the training data the image is:
//! the larger it is, the smaller the correction and the wider the interval. An unknown kind of
//! distortion therefore gets the panel mean.
//!
//! See `docs/models/fused-fr.md` for the training data and the accuracy.
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

/// Name of the tool.
pub const NAME: &str = "Fused-FR";

/// Images are compared at about this shorter side, in pixels. Observers rated images that fit on a
/// screen, so larger ones are first reduced by box averaging, as VSI, FSIM and MATLAB's SSIM do.
const VIEWED_SIDE: usize = 384;

/// Reasons why Fused-FR cannot compute a score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A metric failed on the image.
    #[error("{NAME} needs {member}: {source}")]
    Member {
        /// The metric.
        member: &'static str,
        /// The error of the metric.
        source: agenticiqa_metrics::Error,
    },
    /// A metric returned a value that is not finite.
    #[error("{NAME} needs {member}, which gave no number")]
    NoNumber {
        /// The metric.
        member: &'static str,
    },
    /// The images cannot be compared.
    #[error(transparent)]
    Pair(#[from] agenticiqa_metrics::Error),
    /// The built-in model is damaged.
    #[error(transparent)]
    Model(#[from] Unusable),
}

/// The reason why a model file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model of {NAME} cannot be used: {0}")]
pub struct Unusable(pub(crate) String);

/// Scores an image against its reference with the built-in model.
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

/// Returns the built-in model, which is read once per process.
pub fn builtin() -> Result<&'static Model, Unusable> {
    static MODEL: OnceLock<Result<Model, Unusable>> = OnceLock::new();
    MODEL.get_or_init(|| Model::read(model::BYTES)).as_ref().map_err(Clone::clone)
}
