//! A ranking: best first, with ranks that are shared where the difference is not certain.

use std::str::FromStr;

use agenticiqa_vision::vocabulary::Axis;
use serde::Serialize;

/// What photos are ranked by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// The overall score.
    Quality,
    /// An axis, such as sharpness.
    Axis(Axis),
    /// A tool.
    Tool(String),
}

impl FromStr for By {
    type Err = std::convert::Infallible;

    /// Reads the name of an axis, or else of a tool. `tool:noise` is the tool where both have the name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim();
        Ok(match Axis::ALL.into_iter().find(|axis| axis.name().eq_ignore_ascii_case(name)) {
            Some(axis) => Self::Axis(axis),
            None if ["quality", "score"].iter().any(|word| word.eq_ignore_ascii_case(name)) => Self::Quality,
            None => Self::Tool(name.strip_prefix("tool:").unwrap_or(name).to_owned()),
        })
    }
}

/// A photo that can be ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// What decides the order; more is better.
    pub order: f64,
    /// The score from 1 to 5; none if what was measured has no such scale.
    pub score: Option<f64>,
    /// The 90% interval of the score.
    pub interval: Option<[f64; 2]>,
}

/// The place of a photo in a ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The index of the photo among those that were ranked.
    #[serde(skip)]
    pub index: usize,
    /// The rank, from 1. Photos whose intervals overlap that of the best photo of a rank share it.
    pub rank: usize,
    /// The number of photos that share the rank.
    #[serde(skip)]
    pub sharing: usize,
    /// The percentage of the other photos that are not better.
    pub percentile: f64,
}

/// Ranks photos, best first. Equal ones keep their order.
///
/// Overlap is no equivalence: A may overlap B, and B overlap C, but A not C. So a rank belongs to its best
/// photo, and all photos below whose intervals overlap with that of this one share it.
pub fn rank(values: &[Value]) -> Vec<Place> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*other].order.total_cmp(&values[*one].order));
    let others = values.len().saturating_sub(1).max(1) as f64;
    let mut places: Vec<Place> = Vec::with_capacity(values.len());
    let mut leader = 0;
    for (position, index) in order.iter().copied().enumerate() {
        if !shares(&values[order[leader]], &values[index]) {
            leader = position;
        }
        let better = order.partition_point(|other| values[*other].order > values[index].order);
        let not_better = values.len() - 1 - better;
        let percentile = if values.len() == 1 { 100.0 } else { 100.0 * not_better as f64 / others };
        places.push(Place { index, rank: leader + 1, sharing: 1, percentile });
    }
    let mut counts = vec![0; values.len() + 1];
    places.iter().for_each(|place| counts[place.rank] += 1);
    places.iter_mut().for_each(|place| place.sharing = counts[place.rank]);
    places
}

fn shares(leader: &Value, other: &Value) -> bool {
    match (leader.interval, other.interval) {
        (Some([low, _]), Some([_, high])) => high >= low,
        _ => leader.order == other.order,
    }
}

/// How many photos of a ranking are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Top {
    /// This many.
    Count(usize),
    /// This percentage, at least one.
    Percent(f64),
}

impl Top {
    /// Returns the number of photos to show of `total`.
    pub fn of(self, total: usize) -> usize {
        match self {
            Self::Count(count) => count.min(total),
            Self::Percent(percent) => ((total as f64 * percent / 100.0).round() as usize).clamp(1.min(total), total),
        }
    }
}

impl FromStr for Top {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || format!("{text:?} is neither a number of photos such as 20 nor a share such as 10%");
        match text.trim().strip_suffix('%') {
            Some(share) => {
                let percent: f64 = share.trim().parse().map_err(|_| problem())?;
                (percent > 0.0 && percent <= 100.0).then_some(Self::Percent(percent)).ok_or_else(problem)
            }
            None => text.trim().parse().ok().filter(|count| *count > 0).map(Self::Count).ok_or_else(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(score: f64, half: f64) -> Value {
        Value { order: score, score: Some(score), interval: Some([score - half, score + half]) }
    }

    #[test]
    fn ranks_are_shared_with_the_best_of_a_rank_only() {
        let places = rank(&[value(2.0, 0.4), value(4.0, 0.4), value(3.3, 0.4), value(2.7, 0.4)]);
        let seen: Vec<_> = places.iter().map(|place| (place.index, place.rank, place.sharing)).collect();
        assert_eq!(seen, [(1, 1, 2), (2, 1, 2), (3, 3, 2), (0, 3, 2)]);
        let percentiles: Vec<f64> = places.iter().map(|place| place.percentile.round()).collect();
        assert_eq!(percentiles, [100.0, 67.0, 33.0, 0.0]);
    }

    #[test]
    fn without_intervals_only_equal_values_share() {
        let plain = |order| Value { order, score: None, interval: None };
        let ranks = |values: &[Value]| -> Vec<usize> { rank(values).iter().map(|place| place.rank).collect() };
        assert_eq!(ranks(&[plain(1.0), plain(7.0), plain(7.0)]), [1, 1, 3]);
        assert_eq!(ranks(&[]), [0; 0]);
        assert_eq!(rank(&[plain(3.0)])[0].percentile, 100.0);
    }

    #[test]
    fn what_to_show_and_what_to_rank_by_are_read() {
        let of = |text: &str, total| text.parse::<Top>().map(|top| top.of(total));
        assert_eq!(of("10%", 200), Ok(20));
        assert_eq!((of("3", 2), of("1%", 5), of("50%", 0)), (Ok(2), Ok(1), Ok(0)));
        assert!(["0", "-1", "0%", "101%", "ten"].iter().all(|text| text.parse::<Top>().is_err()));
        assert_eq!("Sharpness".parse(), Ok(By::Axis(Axis::Sharpness)));
        assert_eq!("tool:Sharpness".parse(), Ok(By::Tool("Sharpness".to_owned())));
        assert_eq!(("BRISQUE".parse(), "score".parse()), (Ok(By::Tool("BRISQUE".to_owned())), Ok(By::Quality)));
    }
}
