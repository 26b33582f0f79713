//! The parts of a score: what a clean image would get, and what each distortion costs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Distortion, Problem};

/// What one distortion costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The category.
    pub distortion: Distortion,
    /// The problem, if it is one that photos have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Levels of the score that the distortion costs; never negative.
    #[schemars(range(min = 0))]
    pub cost: f64,
    /// The 90% prediction interval of the cost, `[low, high]`.
    pub interval: [f64; 2],
}

/// The parts of a score that have a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreParts {
    /// The score of an image in which nothing is found.
    pub clean: f64,
    /// What the found distortions cost, most expensive first.
    pub costs: Vec<Cost>,
}
