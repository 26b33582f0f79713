//! Features of an image: activations of the network, statistics of tone and color, and measurements
//! of its pixels.

use crate::network::{Backbone, PLANES};

use super::statistics::{STATISTICS, statistics};
use super::{Error, view};
use crate::perception;
use agenticiqa_metrics::Image;

/// Number of features: mean and spread of each plane of all stages of the network, statistics of what
/// it sees, then the measurements of [`perception`].
pub const COUNT: usize = 2 * PLANES + STATISTICS + perception::MEASURED;

/// Added to a spread so that its logarithm stays finite on flat images.
const LEAST_SPREAD: f64 = 1e-3;

/// Measures the features of an image. Fitting and scoring use this same code.
pub fn measure(image: &Image) -> Result<Vec<f32>, Error> {
    let (network, measured) = rayon::join(|| answers(image), || perception::measure(image));
    let mut features = network?;
    features.extend(measured?.values().iter().map(|value| *value as f32));
    debug_assert_eq!(features.len(), COUNT);
    Ok(features)
}

fn answers(image: &Image) -> Result<Vec<f32>, Error> {
    let seen = view::of(image).ok_or(Error::Empty)?;
    let moments = Backbone::builtin()?.look(&seen)?;
    let mut features = Vec::with_capacity(COUNT);
    features.extend(moments.iter().map(|(mean, _)| *mean as f32));
    features.extend(moments.iter().map(|(_, spread)| (spread + LEAST_SPREAD).ln() as f32));
    features.extend(statistics(&seen));
    Ok(features)
}
