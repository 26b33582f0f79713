//! Selects the cases to show: contradictions first, then the lowest and highest scores.

use std::cmp::Ordering;

use agenticiqa_statistics::{Curve, Random};

use super::run::{Glance, Run};
use crate::eval::mcq::key_and_chosen;
use crate::eval::rows::Row;

/// Tools disagree if their scores from 1 to 5 differ by at least this.
pub(super) const DISAGREEMENT: f64 = 1.0;

/// The reason why a case is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The answer is wrong.
    WrongAnswer,
    /// The score is far from the opinion.
    FarFromOpinion,
    /// Tools disagree.
    ToolsDisagree,
    /// One of the lowest scores.
    Lowest,
    /// One of the highest scores.
    Highest,
}

impl Kind {
    /// All kinds, in the order of the report.
    pub const ALL: [Self; 5] =
        [Self::WrongAnswer, Self::FarFromOpinion, Self::ToolsDisagree, Self::Lowest, Self::Highest];

    /// The label of the kind.
    pub fn label(self) -> &'static str {
        match self {
            Self::WrongAnswer => "wrong answer",
            Self::FarFromOpinion => "far from opinion",
            Self::ToolsDisagree => "tools disagree",
            Self::Lowest => "lowest score",
            Self::Highest => "highest score",
        }
    }

    /// The identifier of the kind.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::WrongAnswer => "wrong",
            Self::FarFromOpinion => "far",
            Self::ToolsDisagree => "disagree",
            Self::Lowest => "lowest",
            Self::Highest => "highest",
        }
    }
}

/// How scores are mapped to the scale of the opinions.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expectation {
    /// By the fitted curve, with the error above which a case is unusual.
    Fitted(Curve, f64),
    /// Linearly, with score and opinion on 1 to 5.
    Linear,
}

impl Expectation {
    /// Returns the opinion minus the value expected from the score, in units of the opinions, if
    /// known.
    pub fn surprise(self, row: &Row) -> Option<f64> {
        let (score, mos) = (row.score.ok()?, row.mos?);
        match self {
            Self::Fitted(curve, _) => Some(mos - curve.at(score)),
            Self::Linear => {
                let (low, high) = row.mos_range.filter(|(low, high)| low < high)?;
                Some(mos - (low + (score - 1.0) / 4.0 * (high - low)))
            }
        }
    }

    /// Returns the minimum difference of an unusual case.
    fn least(self, row: &Row) -> f64 {
        match self {
            Self::Fitted(_, error) => error,
            Self::Linear => row.mos_range.map_or(f64::INFINITY, |(low, high)| (high - low) / 8.0),
        }
    }
}

/// A selected case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The index of its row.
    pub place: usize,
    /// The reasons.
    pub kinds: Vec<Kind>,
}

/// Selects at most `most` cases of each kind. A case of several kinds occurs once.
pub(super) fn choose(run: &Run, most: usize, seed: u64) -> Vec<Chosen> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for kind in Kind::ALL {
        for place in of_kind(run, kind, most, seed) {
            match chosen.iter_mut().find(|known| known.place == place) {
                Some(known) => known.kinds.push(kind),
                None => chosen.push(Chosen { place, kinds: vec![kind] }),
            }
        }
    }
    chosen
}

fn of_kind(run: &Run, kind: Kind, most: usize, seed: u64) -> Vec<usize> {
    let rows = || run.rows.rows.iter().zip(&run.glances).enumerate();
    let ranked = |rank: &dyn Fn(&Row, &Glance) -> Option<f64>| -> Vec<(f64, usize)> {
        rows().filter_map(|(place, (row, glance))| Some((rank(row, glance)?, place))).collect()
    };
    match kind {
        Kind::WrongAnswer => {
            // All wrong answers are equally bad, so choose at random.
            let wrong = |row: &Row| key_and_chosen(row).is_some_and(|(key, chosen)| chosen != Some(key));
            let lot = |place: usize| Random::stream(seed, place as u64).next_bits();
            let mut lots: Vec<(u64, usize)> =
                rows().filter(|(_, (row, _))| wrong(row)).map(|(place, _)| (lot(place), place)).collect();
            lots.sort_unstable();
            lots.into_iter().take(most).map(|(_, place)| place).collect()
        }
        Kind::FarFromOpinion => {
            let Some(expectation) = run.expectation() else { return Vec::new() };
            let far = |row: &Row, _: &Glance| {
                let surprise = expectation.surprise(row)?.abs();
                (surprise > expectation.least(row)).then_some(surprise)
            };
            greatest(run, ranked(&far), most)
        }
        Kind::ToolsDisagree => {
            greatest(run, ranked(&|_, glance| glance.spread.filter(|spread| *spread >= DISAGREEMENT)), most)
        }
        // No case is both lowest and highest, even if all scores are equal.
        Kind::Lowest => {
            let scored = ranked(&|row, _| Some(-row.score.ok()?));
            let most = most.min(scored.len().div_ceil(2));
            greatest(run, scored, most)
        }
        Kind::Highest => {
            let scored = ranked(&|row, _| row.score.ok());
            let most = most.min(scored.len() / 2);
            greatest_by(run, scored, most, Ordering::reverse)
        }
    }
}

/// Returns the indices of the greatest ranks. Ties are sorted by name, so the order of lines does
/// not matter.
fn greatest(run: &Run, ranked: Vec<(f64, usize)>, most: usize) -> Vec<usize> {
    greatest_by(run, ranked, most, std::convert::identity)
}

/// Like `greatest`, with a custom order for the names of ties.
fn greatest_by(run: &Run, mut ranked: Vec<(f64, usize)>, most: usize, turned: fn(Ordering) -> Ordering) -> Vec<usize> {
    let name = |place: usize| run.rows.rows[place].sample_id.as_str();
    let order = |one: &(f64, usize), other: &(f64, usize)| -> Ordering {
        other.0.total_cmp(&one.0).then_with(|| turned(name(one.1).cmp(name(other.1))))
    };
    if ranked.len() > most && most > 0 {
        ranked.select_nth_unstable_by(most - 1, order);
    }
    ranked.truncate(most);
    ranked.sort_by(order);
    ranked.into_iter().map(|(_, place)| place).collect()
}
