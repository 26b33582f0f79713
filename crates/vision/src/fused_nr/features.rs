//! Features of an image: activations of the network and measurements of its pixels.

use crate::network::{Backbone, CHANNELS};

use super::{Error, view};
use crate::perception;
use agenticiqa_metrics::Image;

/// Number of features: mean and spread of each plane of the network, then the measurements of
/// [`perception`].
pub const COUNT: usize = 2 * CHANNELS + perception::MEASURED;

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
    let mut features = Vec::with_capacity(COUNT);
    Backbone::builtin()?.look(&seen, |stage| {
        let moments = stage.moments();
        features.extend(moments.iter().map(|(mean, _)| *mean as f32));
        features.extend(moments.iter().map(|(_, spread)| (spread + LEAST_SPREAD).ln() as f32));
    })?;
    Ok(features)
}
