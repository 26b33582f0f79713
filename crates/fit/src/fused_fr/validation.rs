//! Cross-validation of Fused-FR, and calibration of its interval.

use agenticiqa_vision::fused_fr::Model;
use rayon::prelude::*;

use super::table::Row;
use super::train;
use crate::error::Error;

/// Share of opinions that the interval should contain.
const HELD: f64 = 0.9;
/// Maximum growth of the squared width for unknown images.
const WIDEST: u32 = 64;
/// Number of groups of dissimilar kinds for leaving kinds out.
pub const GROUPS: usize = 6;

/// What is left out together in cross-validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// One image with all its distorted versions.
    Contents,
    /// One kind of distortion.
    Kinds,
    /// Every sixth kind of distortion.
    KindGroups,
    /// One image and every sixth kind of distortion.
    Both,
}

impl Split {
    /// All splits.
    pub const ALL: [Self; 4] = [Self::Contents, Self::Kinds, Self::KindGroups, Self::Both];

    /// Returns a description of the split.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contents => "one content",
            Self::Kinds => "one type",
            Self::KindGroups => "four types",
            Self::Both => "one content and four types",
        }
    }

    fn part(self, row: &Row) -> usize {
        match self {
            Self::Contents => row.content,
            Self::Kinds => row.kind,
            Self::KindGroups => row.kind % GROUPS,
            Self::Both => row.content * GROUPS + row.kind % GROUPS,
        }
    }

    /// Returns whether a row must be left out when another one is predicted.
    fn share(self, a: &Row, b: &Row) -> bool {
        match self {
            Self::Both => Self::Contents.share(a, b) || Self::KindGroups.share(a, b),
            _ => self.part(a) == self.part(b),
        }
    }
}

/// Prediction for a row by a model that was fitted without it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prediction {
    /// The score.
    pub score: f64,
    /// The panel mean.
    pub panel: f64,
    /// Variance of the process, 0 to 1.
    pub variance: f64,
    /// Factor from 0 to 1 that scales the uncertainty.
    pub fading: f64,
}

impl Prediction {
    fn of(model: &Model, row: &Row) -> Self {
        let judgment = model.judge(&row.evidence);
        let (panel, variance) = (judgment.panel, 1.0 - judgment.trust);
        Self { score: judgment.score, panel, variance, fading: model.fading(&row.evidence) }
    }
}

/// Width of intervals.
#[derive(Debug, Clone, Copy)]
pub struct Width {
    /// Half the width for images like the training data.
    pub half: f64,
    /// Growth of the squared width with the variance.
    pub spread: f64,
}

impl Width {
    /// Returns half the width of one interval.
    pub fn at(self, prediction: &Prediction) -> f64 {
        prediction.fading * self.half * (1.0 + self.spread * prediction.variance).sqrt()
    }
}

/// Predicts each row with a model that was fitted without it and without the rows that share its
/// split.
pub fn left_out(rows: &[Row], split: Split) -> Result<Vec<Prediction>, Error> {
    let mut parts: Vec<usize> = rows.iter().map(|row| split.part(row)).collect();
    parts.sort_unstable();
    parts.dedup();
    let judged = |part: usize| -> Result<Vec<(usize, Prediction)>, Error> {
        let asked: Vec<(usize, &Row)> = rows.iter().enumerate().filter(|(_, row)| split.part(row) == part).collect();
        let Some((_, first)) = asked.first() else { return Ok(Vec::new()) };
        let known: Vec<&Row> = rows.iter().filter(|row| !split.share(row, first)).collect();
        let model = train::fit(&known)?;
        Ok(asked.iter().map(|(place, row)| (*place, Prediction::of(&model, row))).collect())
    };
    let judged: Vec<Vec<(usize, Prediction)>> = parts.into_par_iter().map(judged).collect::<Result<_, _>>()?;
    let mut predictions = vec![Prediction::default(); rows.len()];
    judged.into_iter().flatten().for_each(|(place, prediction)| predictions[place] = prediction);
    Ok(predictions)
}

/// Predictions for rows of unknown content and of unknown kind.
pub struct Unseen {
    /// With one content left out.
    pub contents: Vec<Prediction>,
    /// With one kind left out.
    pub kinds: Vec<Prediction>,
}

/// Returns the width at which intervals contain 90% of the opinions on unknown contents, and also
/// on unknown kinds, using the rows that `counts` selects.
pub fn calibrate(rows: &[Row], unseen: &Unseen, counts: impl Fn(&Row) -> bool) -> Width {
    let quantile = |predictions: &[Prediction], spread: f64| {
        let unit = Width { half: 1.0, spread };
        let known = rows.iter().zip(predictions).filter(|(row, _)| counts(row));
        let mut errors: Vec<f64> = known
            .map(|(row, prediction)| (prediction.score - row.target).abs() / unit.at(prediction).max(1e-9))
            .collect();
        errors.sort_by(f64::total_cmp);
        let place = ((errors.len() + 1) as f64 * HELD).ceil() as usize;
        errors.get(place.min(errors.len()).saturating_sub(1)).copied().unwrap_or(f64::NAN)
    };
    let widths = (0..=WIDEST).map(|spread| {
        let spread = f64::from(spread);
        let (half, kinds) = (quantile(&unseen.contents, spread), quantile(&unseen.kinds, spread));
        (Width { half, spread }, (kinds / half).ln().abs())
    });
    let best = widths.min_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map_or(Width { half: f64::NAN, spread: 0.0 }, |(width, _)| width)
}

/// Returns the share of opinions inside the interval, with a width calibrated without the left-out
/// rows, and half the mean width.
pub fn coverage(rows: &[Row], unseen: &Unseen, predictions: &[Prediction], split: Split) -> (f64, f64) {
    let mut parts: Vec<(usize, &Row)> = rows.iter().map(|row| (split.part(row), row)).collect();
    parts.sort_by_key(|(part, _)| *part);
    parts.dedup_by_key(|(part, _)| *part);
    let (mut held, mut total) = (0usize, 0.0);
    for (part, first) in parts {
        let width = calibrate(rows, unseen, |row| !split.share(row, first));
        for (row, prediction) in rows.iter().zip(predictions).filter(|(row, _)| split.part(row) == part) {
            held += usize::from((prediction.score - row.target).abs() <= width.at(prediction));
            total += width.at(prediction);
        }
    }
    (held as f64 / rows.len() as f64, total / rows.len() as f64)
}
