//! Agreement of a set of scores with opinions: correlations with intervals, errors, ties.

use agenticiqa_statistics::{Bootstrap, Curve, Interval, Pairs, Shape, fit, fit_from, outlier_ratio, root_mean_square};
use serde::{Deserialize, Serialize};

/// A value with its confidence interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The value; absent if scores or opinions do not vary.
    pub value: Option<f64>,
    /// The bootstrap confidence interval.
    pub interval: Option<Interval>,
}

/// The definition of an outlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutlierRule {
    /// The error exceeds twice the standard deviation of the opinions (VQEG).
    TwiceOpinionDeviation,
    /// The error exceeds twice the root mean squared error; used if the deviations of opinions are
    /// unknown.
    TwiceRmse,
}

impl OutlierRule {
    /// Describes the rule.
    pub fn describe(self) -> &'static str {
        match self {
            Self::TwiceOpinionDeviation => "off by more than twice the standard deviation of the opinions",
            Self::TwiceRmse => "off by more than twice the RMSE (the deviations of opinions are not known)",
        }
    }
}

/// The agreement of scores with opinions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of samples.
    pub n: usize,
    /// Spearman's rank correlation.
    pub srcc: Measure,
    /// Pearson's correlation of the raw scores.
    pub plcc: Measure,
    /// Pearson's correlation after the fit of the five-parameter logistic.
    pub plcc_fitted: Measure,
    /// Kendall's tau-b.
    pub krcc: Measure,
    /// The root mean squared error after the fit, in units of the opinions.
    pub rmse: Option<f64>,
    /// The share of outliers after the fit.
    pub outlier_ratio: Option<f64>,
    /// The definition of an outlier.
    pub outlier_rule: Option<OutlierRule>,
    /// The number of samples whose score is tied.
    pub tied_scores: usize,
    /// The number of samples whose opinion is tied.
    pub tied_opinions: usize,
    /// The fitted curve.
    pub curve: Option<Curve>,
    /// The reason why there is no fit.
    pub note: Option<String>,
}

impl Agreement {
    /// Compares scores with opinions. `deviations` are those of the opinions, if all are known.
    pub fn of(pairs: &Pairs, deviations: Option<&[f64]>, bootstrap: &Bootstrap) -> Self {
        let fitted = fit(pairs.predicted(), pairs.observed(), Shape::Free);
        let curve = fitted.as_ref().ok().map(|fit| fit.curve);
        let mapped = curve.map(|curve| curve.map(pairs.predicted()));
        let pearson = |mapped: &Vec<f64>| Pairs::new(mapped.clone(), pairs.observed().to_vec()).ok()?.pearson();
        let values = [pairs.spearman(), pairs.pearson(), mapped.as_ref().and_then(pearson), pairs.kendall()];
        let intervals = bootstrap.intervals(pairs.len(), |rows| {
            let refitted = curve.and_then(|curve| refitted_pearson(pairs, &curve, rows));
            [pairs.spearman_of(rows), pairs.pearson_of(rows), refitted, pairs.kendall_of(rows)]
        });
        let measure = |which: usize| Measure {
            value: values[which],
            interval: intervals[which].filter(|_| values[which].is_some()),
        };
        let rmse = mapped.as_ref().map(|mapped| root_mean_square(mapped, pairs.observed()));
        let rule = match deviations {
            Some(_) => OutlierRule::TwiceOpinionDeviation,
            None => OutlierRule::TwiceRmse,
        };
        let limit = |row: usize| 2.0 * deviations.map_or(rmse.unwrap_or_default(), |deviations| deviations[row]);
        Self {
            n: pairs.len(),
            srcc: measure(0),
            plcc: measure(1),
            plcc_fitted: measure(2),
            krcc: measure(3),
            rmse,
            outlier_ratio: mapped.map(|mapped| outlier_ratio(&mapped, pairs.observed(), limit)),
            outlier_rule: curve.map(|_| rule),
            tied_scores: pairs.predicted_ties(),
            tied_opinions: pairs.observed_ties(),
            curve,
            note: fitted.err().map(|error| format!("no logistic fit: {error}")),
        }
    }
}

/// Returns the correlation of a resample after its own fit.
fn refitted_pearson(pairs: &Pairs, start: &Curve, rows: &[u32]) -> Option<f64> {
    let (predicted, observed) = pairs.take(rows);
    let curve = fit_from(start, &predicted, &observed).ok()?;
    Pairs::new(curve.map(&predicted), observed).ok()?.pearson()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bent(count: usize) -> Pairs {
        let scores: Vec<f64> = (0..count).map(|i| i as f64 / count as f64).collect();
        let wobble = |i: usize| ((i * 7919) % 97) as f64 / 97.0 - 0.5;
        let opinions =
            scores.iter().enumerate().map(|(i, x)| 5.0 / (1.0 + (-12.0 * (x - 0.5)).exp()) + 0.3 * wobble(i));
        Pairs::new(scores.clone(), opinions.collect()).unwrap()
    }

    #[test]
    fn the_fit_straightens_what_is_bent() {
        let pairs = bent(200);
        let found = Agreement::of(&pairs, None, &Bootstrap { resamples: 200, ..Bootstrap::default() });
        let (raw, fitted) = (found.plcc.value.unwrap(), found.plcc_fitted.value.unwrap());
        assert!(fitted > 0.998 && raw < 0.98, "{raw} {fitted}");
        for measure in [found.srcc, found.plcc, found.plcc_fitted, found.krcc] {
            let (value, interval) = (measure.value.unwrap(), measure.interval.unwrap());
            assert!(
                interval.low <= value && value <= interval.high && interval.high - interval.low < 0.1,
                "{measure:?}"
            );
        }
        assert_eq!(found.outlier_rule, Some(OutlierRule::TwiceRmse));
        let strict = Agreement::of(&pairs, Some(&vec![0.01; 200]), &Bootstrap { resamples: 0, ..Bootstrap::default() });
        assert!(strict.outlier_ratio.unwrap() > 0.5 && strict.srcc.interval.is_none());
    }

    #[test]
    fn what_cannot_be_said_is_absent_with_a_reason() {
        let flat = Pairs::new(vec![1.0; 20], (0..20).map(f64::from).collect()).unwrap();
        let found = Agreement::of(&flat, None, &Bootstrap::default());
        assert_eq!((found.srcc, found.rmse, found.tied_scores), (Measure::default(), None, 20));
        assert_eq!(found.note.as_deref(), Some("no logistic fit: all scores are equal"));
    }
}
