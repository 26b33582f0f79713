//! Fits the 1 to 5 scale of tools to people's opinions. Returns logistic parameters and their
//! provenance.
//!
//! Opinions are mapped linearly from the ends of their scale to 1 (bad) to 5 (excellent). The
//! fitted curve is monotonic: a better raw score never gets a worse score, also outside the data.

use agenticiqa_statistics::{Fit, Pairs, Shape, fit, root_mean_square};
use jiff::civil::Date;
use serde::Serialize;

use crate::eval::{Counts, Scored, ToolScores};
use agenticiqa_tools::{Calibration, Logistic, Metadata, Registry, Scale, ToolList};

/// A tool with a fitted scale.
#[derive(Debug, Clone, Serialize)]
pub struct Calibrated {
    /// The name of the tool.
    pub tool: String,
    /// The fitted parameters.
    pub logistic_params: Logistic,
    /// The data of the fit.
    pub calibration: Calibration,
    /// Whether the unconstrained curve is not monotonic, so that a constrained one was used.
    pub constrained: bool,
    /// The root mean squared error of the previous scale on the same samples.
    pub previous_residual: Option<f64>,
    /// The number of samples used and left out.
    pub counts: Counts,
    /// The curve and the opinions, from the lowest raw score to the highest.
    pub curve: Vec<Bin>,
    /// The first reasons why samples have no score.
    pub failures: Vec<String>,
}

/// Samples with similar raw scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// The mean raw score.
    pub raw_score: f64,
    /// The mean opinion from 1 to 5.
    pub opinion: f64,
    /// The fitted score at the mean raw score.
    pub fitted: f64,
    /// The number of samples.
    pub n: usize,
}

/// The reason why a tool could not be calibrated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{tool}: {reason}")]
pub struct Uncalibrated {
    /// The name of the tool.
    pub tool: String,
    /// The reason.
    pub reason: String,
}

/// The number of bins of the curve.
const BINS: usize = 12;

/// Today's date in UTC, independent of the time zone of the machine.
pub fn today() -> Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Fits the scale of every tool. `source` names the opinions, `today` is the date of the fit.
pub fn calibrate(
    scored: &Scored,
    registry: &Registry,
    source: (&str, Option<&str>),
    today: Date,
) -> Vec<Result<Calibrated, Uncalibrated>> {
    scored.tools.iter().map(|scores| one(scored, scores, registry, source, today)).collect()
}

fn one(
    scored: &Scored,
    scores: &ToolScores,
    registry: &Registry,
    (dataset, split): (&str, Option<&str>),
    today: Date,
) -> Result<Calibrated, Uncalibrated> {
    let failed = |reason: String| Uncalibrated { tool: scores.tool.clone(), reason };
    let mut counts = Counts { rows: scored.samples.len(), ..Counts::default() };
    let (mut raw, mut opinions) = (Vec::new(), Vec::new());
    for (sample, score) in scored.samples.iter().zip(&scores.scores) {
        match (sample.mos, score) {
            (None, _) => counts.without_mos += 1,
            (Some(_), Err(absence)) => counts.absent(*absence),
            (Some(_), Ok(score)) => {
                opinions.push(sample.opinion().map_err(|reason| failed(format!("{}: {reason}", sample.sample_id)))?);
                raw.push(*score);
            }
        }
    }
    counts.used = raw.len();
    let pairs = Pairs::new(raw, opinions).map_err(|error| failed(error.to_string()))?;
    let rises = match scores.lower_is_better {
        Some(lower) => !lower,
        None => pairs.spearman().unwrap_or_default() > 0.0,
    };
    let shape = if rises { Shape::Rising } else { Shape::Falling };
    let fitted = fit(pairs.predicted(), pairs.observed(), shape).map_err(|error| {
        let left_out = counts.left_out();
        failed(if left_out.is_empty() { error.to_string() } else { format!("{error} ({left_out})") })
    })?;
    let turn = if rises { 1.0 } else { -1.0 };
    let mapped = fitted.curve.map(pairs.predicted());
    let plcc = Pairs::new(mapped, pairs.observed().to_vec()).ok().and_then(|pairs| pairs.pearson());
    let [beta1, beta2, beta3, beta4, beta5] = fitted.curve.beta;
    Ok(Calibrated {
        tool: scores.tool.clone(),
        logistic_params: Logistic { beta1, beta2, beta3, beta4, beta5: Some(beta5) },
        calibration: Calibration {
            dataset: dataset.to_owned(),
            split: split.map(str::to_owned),
            n: pairs.len(),
            date: today,
            residual: fitted.residual,
            srcc: pairs.spearman().map(|srcc| turn * srcc),
            plcc,
        },
        constrained: fitted.constrained,
        previous_residual: registry.get(&scores.tool).ok().and_then(|tool| residual(tool.scale(), &pairs)),
        counts,
        curve: bins(&pairs, &fitted),
        failures: scores.failures.clone(),
    })
}

/// Returns the error of a scale on the samples.
fn residual(scale: Scale, pairs: &Pairs) -> Option<f64> {
    let mapped: Option<Vec<f64>> = pairs.predicted().iter().map(|raw| scale.normalize(*raw)).collect();
    mapped.map(|mapped| root_mean_square(&mapped, pairs.observed()))
}

/// Groups the samples into bins of equal size, from the lowest raw score to the highest.
fn bins(pairs: &Pairs, fitted: &Fit) -> Vec<Bin> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&a, &b| pairs.predicted()[a].total_cmp(&pairs.predicted()[b]));
    let bin = |rows: &[usize]| {
        let mean = |values: &[f64]| rows.iter().map(|&row| values[row]).sum::<f64>() / rows.len() as f64;
        let raw_score = mean(pairs.predicted());
        Bin { raw_score, opinion: mean(pairs.observed()), fitted: fitted.curve.at(raw_score), n: rows.len() }
    };
    order.chunks(pairs.len().div_ceil(BINS).max(1)).map(bin).collect()
}

/// Returns a tool list with the new parameters. Tools missing from the list are added from the
/// registry.
pub fn updated(
    mut list: ToolList,
    registry: &Registry,
    calibrated: &[Calibrated],
) -> Result<ToolList, agenticiqa_tools::Error> {
    for one in calibrated {
        let known = list.get(&one.tool).cloned();
        let metadata = match known {
            Some(metadata) => metadata,
            None => registry.get(&one.tool)?.metadata().clone(),
        };
        let entry = Metadata {
            logistic_params: Some(one.logistic_params),
            fitted_on: Some(one.calibration.describe()),
            calibration: Some(one.calibration.clone()),
            ..metadata
        };
        list.add(&one.tool, entry);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Sample;
    use crate::eval::Absence;

    fn scored(tool: &str, lower_is_better: Option<bool>, raw: impl Fn(f64) -> f64) -> Scored {
        let opinion = |i: usize| i as f64 / 199.0;
        let sample = |i: usize| Sample {
            sample_id: format!("s{i}"),
            mos: Some(9.0 * opinion(i)),
            mos_range: Some([0.0, 9.0]),
            ..Sample::default()
        };
        let mut scores: Vec<Result<f64, Absence>> = (0..200).map(|i| Ok(raw(opinion(i)))).collect();
        scores[3] = Err(Absence::NotFinite);
        let tools = vec![ToolScores { tool: tool.to_owned(), lower_is_better, scores, failures: Vec::new() }];
        Scored { samples: (0..200).map(sample).collect(), tools }
    }

    fn date() -> Date {
        jiff::civil::date(2026, 11, 16)
    }

    #[test]
    fn the_scale_follows_opinions_and_says_where_it_comes_from() {
        let registry = Registry::builtin().unwrap();
        let scored = scored("GMSD", Some(true), |opinion| 0.3 * (1.0 - opinion).powf(1.5));
        let found = calibrate(&scored, &registry, ("TID2013", Some("train")), date()).remove(0).unwrap();
        assert!(found.calibration.residual < 0.1, "{found:?}");
        assert_eq!((found.counts.used, found.counts.not_finite, found.calibration.n), (199, 1, 199));
        assert!(
            found.calibration.srcc.unwrap() > 0.999 && found.previous_residual.unwrap() > found.calibration.residual
        );
        assert_eq!(found.curve.len(), 12);
        assert!(found.curve.windows(2).all(|pair| pair[0].fitted >= pair[1].fitted));

        let list = updated(ToolList::builtin().unwrap(), &registry, std::slice::from_ref(&found)).unwrap();
        let json = list.to_json().unwrap();
        let read = ToolList::parse(&json, "tools.json").unwrap();
        assert_eq!(read, list);
        let entry = read.get("gmsd").unwrap();
        assert_eq!(entry.logistic_params, Some(found.logistic_params));
        assert_eq!(entry.calibration, Some(found.calibration));
        let told = entry.fitted_on.as_deref().unwrap();
        assert!(told.starts_with("TID2013 (train), 199 images, 2026-11-16, residual 0.0"), "{told}");
        assert_eq!(read.get("SSIM"), ToolList::builtin().unwrap().get("SSIM"));
    }

    #[test]
    fn scores_that_go_the_wrong_way_are_refused() {
        let registry = Registry::builtin().unwrap();
        let wrong = scored("GMSD", Some(true), |opinion| opinion);
        let error = calibrate(&wrong, &registry, ("X", None), date()).remove(0).unwrap_err().to_string();
        assert!(error.starts_with("GMSD: ") && error.contains("opposite direction"), "{error}");
        let flat = scored("GMSD", Some(true), |_| 1.0);
        let error = calibrate(&flat, &registry, ("X", None), date()).remove(0).unwrap_err().to_string();
        assert_eq!(error, "GMSD: all scores are equal (1 with an infinite score)");
    }
}
