//! Monotonic piecewise-linear map from the panel mean to the mean opinion.

use serde::{Deserialize, Serialize};

use super::model::{BEST, WORST};

/// A rising piecewise-linear function from (1, 1) to (5, 5) that maps the panel mean to the mean
/// opinion score.
///
/// It corrects what the curves of single metrics cannot express: people hardly distinguish images
/// that are almost perfect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ladder(Vec<(f64, f64)>);

impl Ladder {
    /// Creates a ladder from points that rise strictly from (1, 1) to (5, 5); `None` otherwise.
    pub fn new(points: Vec<(f64, f64)>) -> Option<Self> {
        let ladder = Self(points);
        ladder.is_sound().then_some(ladder)
    }

    pub(super) fn is_sound(&self) -> bool {
        self.0.first() == Some(&(WORST, WORST))
            && self.0.last() == Some(&(BEST, BEST))
            && self.0.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
    }

    /// Returns the mean opinion expected at a panel mean.
    pub fn opinion(&self, panel: f64) -> f64 {
        let above = self.0.partition_point(|point| point.0 < panel).clamp(1, self.0.len().max(2) - 1);
        let (Some((x0, y0)), Some((x1, y1))) = (self.0.get(above - 1), self.0.get(above)) else { return panel };
        y0 + (y1 - y0) * ((panel - x0) / (x1 - x0)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_through_its_points_and_straight_between_them() {
        let ladder = Ladder::new(vec![(1.0, 1.0), (3.0, 2.0), (4.0, 4.0), (5.0, 5.0)]).unwrap();
        for (panel, opinion) in [(0.5, 1.0), (1.0, 1.0), (2.0, 1.5), (3.0, 2.0), (3.5, 3.0), (5.0, 5.0), (6.0, 5.0)] {
            assert_eq!(ladder.opinion(panel), opinion);
        }
    }

    #[test]
    fn what_does_not_rise_from_end_to_end_is_refused() {
        for points in [
            vec![],
            vec![(1.0, 1.0)],
            vec![(1.0, 1.0), (4.0, 5.0)],
            vec![(1.0, 1.0), (3.0, 3.0), (4.0, 3.0), (5.0, 5.0)],
            vec![(1.0, 1.0), (f64::NAN, 3.0), (5.0, 5.0)],
        ] {
            assert_eq!(Ladder::new(points), None);
        }
    }
}
