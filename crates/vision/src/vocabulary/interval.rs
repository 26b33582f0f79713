//! Prediction intervals of scores, and the quality levels that they leave open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Invalid, QualityLevel, Score};

/// A 90% prediction interval of the mean opinion score, written `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "[Score; 2]", into = "[Score; 2]")]
#[schemars(with = "[Score; 2]")]
pub struct Interval {
    low: Score,
    high: Score,
}

impl Interval {
    /// Creates an interval from two scores from 1 to 5, the lower one first.
    pub fn new(low: f64, high: f64) -> Result<Self, Invalid> {
        Self::try_from([Score::new(low)?, Score::new(high)?])
    }

    /// Returns the lower end.
    pub fn low(self) -> f64 {
        self.low.value()
    }

    /// Returns the upper end.
    pub fn high(self) -> f64 {
        self.high.value()
    }

    /// Returns whether the interval contains a score.
    pub fn holds(self, score: f64) -> bool {
        (self.low()..=self.high()).contains(&score)
    }

    /// Returns the lowest and the highest quality level that are possible for a score with this
    /// interval. Both are the same if the level is certain.
    ///
    /// The number of a level is the center of its scores. If the interval contains the center of
    /// another level, that level cannot be excluded, and every level that the interval reaches is
    /// returned. An interval that merely touches the next level leaves the level certain;
    /// otherwise almost no score would have one level.
    pub fn open_levels(self, score: Score) -> (QualityLevel, QualityLevel) {
        let own = QualityLevel::of(score);
        let another = |level: &QualityLevel| *level != own && self.holds(f64::from(level.number()));
        if QualityLevel::ALL.iter().any(another) {
            (QualityLevel::of(self.low).min(own), QualityLevel::of(self.high).max(own))
        } else {
            (own, own)
        }
    }
}

impl TryFrom<[Score; 2]> for Interval {
    type Error = Invalid;

    fn try_from([low, high]: [Score; 2]) -> Result<Self, Invalid> {
        if low <= high {
            Ok(Self { low, high })
        } else {
            let found = format!("[{}, {}]", low.value(), high.value());
            Err(Invalid::new("interval", "two scores, the lower first", found))
        }
    }
}

impl From<Interval> for [Score; 2] {
    fn from(interval: Interval) -> Self {
        [interval.low, interval.high]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use QualityLevel::{Bad, Excellent, Fair, Good, Poor};

    #[test]
    fn a_level_is_open_when_its_middle_lies_in_the_interval() {
        for (low, score, high, expected) in [
            (2.9, 3.4, 3.9, (Fair, Fair)),
            (2.9, 3.45, 4.0, (Fair, Good)),
            (3.1, 3.6, 4.1, (Good, Good)),
            (3.0, 3.6, 4.2, (Fair, Good)),
            (1.4, 2.5, 3.6, (Bad, Good)),
            (1.6, 2.3, 3.1, (Poor, Fair)),
            (1.0, 3.0, 5.0, (Bad, Excellent)),
            (5.0, 5.0, 5.0, (Excellent, Excellent)),
            (4.2, 4.45, 5.0, (Good, Excellent)),
        ] {
            let interval = Interval::new(low, high).unwrap();
            assert_eq!(interval.open_levels(Score::new(score).unwrap()), expected, "{low} {score} {high}");
        }
    }

    #[test]
    fn it_is_written_as_two_numbers_and_checked_when_read() {
        let interval = Interval::new(2.5, 3.5).unwrap();
        assert_eq!(serde_json::to_string(&interval).unwrap(), "[2.5,3.5]");
        assert_eq!(serde_json::from_str::<Interval>("[2.5,3.5]").unwrap(), interval);
        for bad in ["[3.5,2.5]", "[0.5,2]", "[2,5.5]", "[2]", "[2,3,4]", "null"] {
            assert!(serde_json::from_str::<Interval>(bad).is_err(), "{bad}");
        }
    }
}
