//! How far the gain of an edit may be off.
//!
//! `agenticiqa-fit what-if --output` damages clean photos, mends them, and compares what the score gains
//! with what a score gains that sees the clean photo ([`fused_fr`](crate::fused_fr)). Without `--output` it
//! reports how often the intervals hold for other photos.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::Operation;

/// The intervals of all operations.
static GAINS: &str = include_str!("../../models/gains.json");

/// For each operation, the 5% and 95% quantiles of what the true gain differs from the reported one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gains(pub BTreeMap<Operation, [f64; 2]>);

/// The reason why the intervals of gains cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the intervals of gains cannot be used: {0}")]
pub struct Unusable(String);

impl Gains {
    /// Returns the built-in intervals, which are read once per process.
    pub fn builtin() -> Result<&'static Self, Unusable> {
        static GAINS_READ: OnceLock<Result<Gains, Unusable>> = OnceLock::new();
        let read = || serde_json::from_str(GAINS).map_err(|error| Unusable(error.to_string()));
        GAINS_READ.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Returns the 90% prediction interval of a gain.
    pub fn interval(&self, operation: Operation, gain: f64) -> Result<[f64; 2], Unusable> {
        let off = self.0.get(&operation).ok_or_else(|| Unusable(format!("{operation:?} is missing")))?;
        Ok(off.map(|off| gain + off))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_an_interval_around_its_gain() {
        for operation in Operation::ALL {
            let [low, high] = Gains::builtin().unwrap().interval(operation, 0.3).unwrap();
            assert!(low <= 0.3 && 0.3 <= high && low < high, "{operation:?}: {low} to {high}");
        }
    }
}
