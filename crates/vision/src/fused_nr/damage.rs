//! Limits the score of photos with heavy noise or compression.
//!
//! The network learned from photos as people take them, in which such damage is rare, and a
//! thumbnail hides it. Perception measures it at full resolution. The opinions of TID2013 say what it
//! costs: noise and JPEG of one level lie within 0.25 of their mean in 90% of its images.

use super::{Judgment, WORST};

/// The limit of the score at level 0 (no damage) and what one more level of damage costs: a line
/// through the opinions of TID2013 on noise, JPEG and JPEG 2000.
const CLEAN: f64 = 3.77;
const COST: f64 = 0.43;
/// The limit counts from this level ...
const BEGIN: f64 = 1.5;
/// ... and fully from this one.
const FULL: f64 = 3.0;
/// Half the width of the interval where the limit alone decides: the spread of the opinions, and an
/// error of half a level.
const HALF: f64 = 0.5;

/// Limits a score by the level of the damage, from 0 to 4.
pub fn limit(judgment: Judgment, level: f64) -> Judgment {
    let limit = (CLEAN - COST * level).max(WORST);
    let weight = ((level - BEGIN) / (FULL - BEGIN)).clamp(0.0, 1.0);
    if weight == 0.0 || judgment.score <= limit {
        return judgment;
    }
    let mix = |own: f64, limited: f64| own + weight * (limited - own);
    Judgment {
        score: mix(judgment.score, limit),
        low: mix(judgment.low, (limit - HALF).max(WORST)),
        high: mix(judgment.high, limit + HALF),
        ..judgment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_damage_limits_a_score_and_never_raises_it() {
        let good = Judgment { score: 4.0, low: 3.3, high: 4.7, unusual: 0.9 };
        assert_eq!(limit(good, 1.4), good);
        let heavy = limit(good, 3.0);
        assert!((heavy.score - 2.48).abs() < 1e-9 && (heavy.high - heavy.low - 1.0).abs() < 1e-9, "{heavy:?}");
        let scores: Vec<f64> = (0..=40).map(|tenth| limit(good, f64::from(tenth) / 10.0).score).collect();
        assert!(scores.is_sorted_by(|first, second| first >= second), "{scores:?}");
        let bad = Judgment { score: 1.2, low: 1.0, high: 1.9, unusual: 0.9 };
        assert_eq!(limit(bad, 4.0), bad);
    }
}
