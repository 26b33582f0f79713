//! Fits Fused-FR to rows: a curve for each member, support points, and the Gaussian process. There
//! is no randomness.

use agenticiqa_vision::fused_fr::{BEST, Curve, FEATURES, Ladder, MEMBERS, Model, Posterior, WORST, fading, features};

use super::table::Row;
use crate::error::Error;

/// Number of support points of the process.
const CENTERS: usize = 192;
const ROUNDS: usize = 20;
/// Length scale of the process, in standard deviations of a feature.
const REACH: f64 = 2.0;
/// Variance of opinions relative to that of corrections.
const NOISE: f64 = 1.0 / 6.0;
/// Number of points of the ladder, and the share of the identity mixed into it.
const RUNGS: usize = 12;
const TILT: f64 = 0.1;
/// Maximum number of steps to fit a curve; about ten are needed.
const STEPS: usize = 60;

/// Fits the model to rows, with an interval that is not yet calibrated.
pub fn fit(rows: &[&Row]) -> Result<Model, Error> {
    let mut curves = [Curve { log_middle: 0.0, slope: 1.0 }; MEMBERS.len()];
    for (member, curve) in curves.iter_mut().enumerate() {
        let points: Vec<(f64, f64)> = rows.iter().map(|row| (row.evidence.distances[member], row.target)).collect();
        *curve = fit_curve(&points);
    }
    let (panels, mut samples): (Vec<f64>, Vec<[f64; FEATURES]>) =
        rows.iter().map(|row| features(&row.evidence, &curves)).unzip();
    let scale = spread(&samples).map(|deviation| REACH * deviation.max(1e-6));
    samples.iter_mut().for_each(|sample| sample.iter_mut().zip(scale).for_each(|(value, scale)| *value /= scale));
    let undetermined = || Error::Nothing("the rows do not determine a model".to_owned());
    let ladder = ladder(panels.iter().copied().zip(rows.iter().map(|row| row.target)).collect());
    let ladder = ladder.ok_or_else(undetermined)?;
    let correction = |row: &Row, panel: f64| (row.target - ladder.opinion(panel)) / fading(panel).max(1e-3);
    let targets: Vec<f64> = rows.iter().zip(&panels).map(|(row, &panel)| correction(row, panel)).collect();
    let posterior = Posterior::fit(support(&samples), &samples, &targets, NOISE).ok_or_else(undetermined)?;
    Ok(Model { curves, ladder, scale, posterior, half_width: 1.0, spread: 0.0 })
}

/// Fits a curve by least squares, with damped Gauss-Newton steps over the center and the logarithm
/// of the slope.
fn fit_curve(points: &[(f64, f64)]) -> Curve {
    let mut logs: Vec<f64> = points.iter().map(|(distance, _)| distance.max(1e-12).ln()).collect();
    logs.sort_by(f64::total_cmp);
    let mut best = Curve { log_middle: logs.get(logs.len() / 2).copied().unwrap_or(0.0), slope: 1.0 };
    let mut damping = 1e-3;
    let error = |curve: &Curve| points.iter().map(|(d, target)| (curve.score(*d) - target).powi(2)).sum::<f64>();
    let mut lowest = error(&best);
    for _ in 0..STEPS {
        let (mut aa, mut ab, mut bb, mut a, mut b) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(distance, target) in points {
            let share = (best.score(distance) - 1.0) / 4.0;
            let fall = 4.0 * share * (1.0 - share) * best.slope;
            let (by_middle, by_slope) = (fall, -fall * (distance.max(1e-12).ln() - best.log_middle));
            let rest = target - best.score(distance);
            (aa, ab, bb) = (aa + by_middle * by_middle, ab + by_middle * by_slope, bb + by_slope * by_slope);
            (a, b) = (a + by_middle * rest, b + by_slope * rest);
        }
        let (aa, bb) = (aa * (1.0 + damping), bb * (1.0 + damping));
        let determinant = aa * bb - ab * ab;
        let step = ((a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant);
        let next = Curve { log_middle: best.log_middle + step.0, slope: best.slope * step.1.clamp(-1.0, 1.0).exp() };
        let next_error = error(&next);
        if next_error < lowest {
            (best, lowest, damping) = (next, next_error, damping * 0.3);
        } else {
            damping = (damping * 10.0).min(1e12);
        }
    }
    best
}

/// Fits the ladder: mean opinions by panel mean, in bins of equal count. Falling neighbors are
/// merged (pool adjacent violators), and a share of the identity keeps the ladder rising.
fn ladder(mut points: Vec<(f64, f64)>) -> Option<Ladder> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bin = |i: usize| &points[i * points.len() / RUNGS..(i + 1) * points.len() / RUNGS];
    let mut pools: Vec<(f64, Vec<(f64, f64)>)> = Vec::new();
    for bin in (0..RUNGS).map(bin).filter(|bin| !bin.is_empty()) {
        let count = bin.len() as f64;
        let (panel, opinion) = bin.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        pools.push((opinion / count, vec![(panel / count, count)]));
        while let [.., (earlier, _), (later, _)] = pools.as_slice()
            && earlier >= later
        {
            join_last(&mut pools);
        }
    }
    let mut rungs = vec![(WORST, WORST)];
    for (opinion, bins) in pools {
        rungs.extend(bins.iter().map(|&(panel, _)| (panel, (1.0 - TILT) * opinion + TILT * panel)));
    }
    rungs.push((BEST, BEST));
    Ladder::new(rungs)
}

fn join_last(pools: &mut Vec<(f64, Vec<(f64, f64)>)>) {
    let weight = |bins: &[(f64, f64)]| bins.iter().map(|(_, count)| count).sum::<f64>();
    if let (Some((later, more)), Some((earlier, bins))) = (pools.pop(), pools.last_mut()) {
        let (before, after) = (weight(bins), weight(&more));
        *earlier = (*earlier * before + later * after) / (before + after);
        bins.extend(more);
    }
}

fn spread(samples: &[[f64; FEATURES]]) -> [f64; FEATURES] {
    let count = samples.len() as f64;
    let mut deviations = [0.0; FEATURES];
    for (feature, deviation) in deviations.iter_mut().enumerate() {
        let mean = samples.iter().map(|sample| sample[feature]).sum::<f64>() / count;
        let variance = samples.iter().map(|sample| (sample[feature] - mean).powi(2)).sum::<f64>() / count;
        *deviation = variance.sqrt();
    }
    deviations
}

/// Returns cluster centers (k-means from evenly chosen rows). Clusters of one row are dropped, so
/// that the file contains no measurements of a single image.
fn support(samples: &[[f64; FEATURES]]) -> Vec<[f32; FEATURES]> {
    let count = CENTERS.min(samples.len());
    let mut centers: Vec<[f64; FEATURES]> = (0..count).map(|i| samples[i * samples.len() / count]).collect();
    let mut sizes = vec![0; count];
    for _ in 0..ROUNDS {
        let mut sums = vec![[0.0; FEATURES]; count];
        sizes = vec![0usize; count];
        for sample in samples {
            let nearest = nearest(&centers, sample);
            sizes[nearest] += 1;
            sums[nearest].iter_mut().zip(sample).for_each(|(sum, value)| *sum += value);
        }
        for ((center, sum), &size) in centers.iter_mut().zip(sums).zip(&sizes) {
            if size > 0 {
                *center = sum.map(|sum| sum / size as f64);
            }
        }
    }
    let kept = centers.iter().zip(sizes).filter(|(_, size)| *size > 1);
    kept.map(|(center, _)| center.map(|number| number as f32)).collect()
}

fn nearest(centers: &[[f64; FEATURES]], sample: &[f64; FEATURES]) -> usize {
    let squared = |center: &[f64; FEATURES]| center.iter().zip(sample).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let distances = centers.iter().map(squared).enumerate();
    distances.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_rises_where_opinions_fall() {
        let opinion = |panel: f64| if panel > 3.5 { 3.4 - 0.2 * (panel - 3.5) } else { panel - 0.1 };
        let points =
            (0..1200).map(|i| 1.5 + 3.0 * f64::from(i) / 1200.0).map(|panel| (panel, opinion(panel))).collect();
        let ladder = ladder(points).unwrap();
        let found = [2.0, 3.0, 3.7, 4.2, 5.0].map(|panel| ladder.opinion(panel));
        assert!((found[0] - 1.91).abs() < 0.02 && (found[1] - 2.91).abs() < 0.02, "{found:?}");
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]) && found[4] == 5.0, "{found:?}");
    }

    #[test]
    fn a_curve_is_found_again() {
        let truth = Curve { log_middle: -3.2, slope: 0.6 };
        let points: Vec<(f64, f64)> =
            (1..200).map(|i| f64::from(i) * 0.002).map(|distance| (distance, truth.score(distance))).collect();
        let found = fit_curve(&points);
        assert!((found.log_middle + 3.2).abs() < 1e-6 && (found.slope - 0.6).abs() < 1e-6, "{found:?}");
    }
}
