//! The families of curves for the fit. Each has a slope and a midpoint that are searched, and
//! weights that are a linear problem for a given slope and midpoint.

use crate::curve::{Curve, sigmoid};
use crate::least_squares::{Model, linear};

/// Number of grid points from which the search continues.
const STARTS: usize = 4;
/// Slopes, in standard deviations of the scores, from nearly straight to steep.
const SLOPES: [f64; 6] = [0.4, 1.0, 2.0, 4.0, 8.0, 16.0];
/// Midpoints, as quantiles of the scores.
const MIDDLES: [f64; 7] = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98];

/// A family of curves. The parameters are slope and midpoint of the logistic, then the weights.
pub(crate) trait Family<const P: usize> {
    /// Returns the value at `x` and its gradient.
    fn value(&self, parameters: &[f64; P], x: f64) -> (f64, [f64; P]);
    /// Returns the best weights for a slope and a midpoint.
    fn weigh(&self, x: &[f64], y: &[f64], slope: f64, middle: f64) -> Option<[f64; P]>;
    /// Converts parameters to a curve.
    fn curve(&self, parameters: &[f64; P]) -> Curve;
}

/// The value of the logistic at `x` relative to its midpoint, and its slope at `x`.
fn logistic(slope: f64, middle: f64, x: f64) -> (f64, f64) {
    let height = sigmoid(slope * (x - middle));
    (height - 0.5, height * (1.0 - height))
}

/// A logistic and a line: all five parameters.
pub(crate) struct WithLine;

impl Family<5> for WithLine {
    fn value(&self, &[slope, middle, height, line, offset]: &[f64; 5], x: f64) -> (f64, [f64; 5]) {
        let (above, steep) = logistic(slope, middle, x);
        let gradient = [height * steep * (x - middle), -height * steep * slope, above, x, 1.0];
        (height * above + line * x + offset, gradient)
    }

    fn weigh(&self, x: &[f64], y: &[f64], slope: f64, middle: f64) -> Option<[f64; 5]> {
        let weights = linear(y, |row| [logistic(slope, middle, x[row]).0, x[row], 1.0])?;
        Some([slope, middle, weights[0], weights[1], weights[2]])
    }

    fn curve(&self, &[slope, middle, height, line, offset]: &[f64; 5]) -> Curve {
        Curve { beta: [height, slope, middle, line, offset] }
    }
}

/// A logistic without a line.
pub(crate) struct WithoutLine;

impl Family<4> for WithoutLine {
    fn value(&self, &[slope, middle, height, offset]: &[f64; 4], x: f64) -> (f64, [f64; 4]) {
        let (above, steep) = logistic(slope, middle, x);
        (height * above + offset, [height * steep * (x - middle), -height * steep * slope, above, 1.0])
    }

    fn weigh(&self, x: &[f64], y: &[f64], slope: f64, middle: f64) -> Option<[f64; 4]> {
        let weights = linear(y, |row| [logistic(slope, middle, x[row]).0, 1.0])?;
        Some([slope, middle, weights[0], weights[1]])
    }

    fn curve(&self, &[slope, middle, height, offset]: &[f64; 4]) -> Curve {
        Curve { beta: [height, slope, middle, 0.0, offset] }
    }
}

/// A line minus a logistic, with zero slope at the midpoint: the slope of the line is
/// `-height * slope / 4`.
pub(crate) struct FlatMiddle;

impl Family<4> for FlatMiddle {
    fn value(&self, &[slope, middle, height, offset]: &[f64; 4], x: f64) -> (f64, [f64; 4]) {
        let (above, steep) = logistic(slope, middle, x);
        let gradient =
            [height * (steep * (x - middle) - x / 4.0), -height * steep * slope, above - slope * x / 4.0, 1.0];
        (height * (above - slope * x / 4.0) + offset, gradient)
    }

    fn weigh(&self, x: &[f64], y: &[f64], slope: f64, middle: f64) -> Option<[f64; 4]> {
        let weights = linear(y, |row| [logistic(slope, middle, x[row]).0 - slope * x[row] / 4.0, 1.0])?;
        Some([slope, middle, weights[0], weights[1]])
    }

    fn curve(&self, &[slope, middle, height, offset]: &[f64; 4]) -> Curve {
        Curve { beta: [height, slope, middle, -height * slope / 4.0, offset] }
    }
}

/// A family with its data, so that the weights can be solved for.
pub(crate) struct Settled<'a, F> {
    pub family: F,
    pub x: &'a [f64],
    pub y: &'a [f64],
}

impl<F> Settled<'_, F> {
    /// The best curves of a grid of slopes and midpoints, at most one for each slope, so that the
    /// starts lie apart.
    pub fn starts<const P: usize>(&self) -> Vec<[f64; P]>
    where
        F: Family<P>,
    {
        let mut sorted = self.x.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let middles = MIDDLES.map(|share| sorted[(share * (sorted.len() - 1) as f64) as usize]);
        let best_of = |slope: f64| {
            let solved = middles.iter().filter_map(|&middle| {
                let start = self.family.weigh(self.x, self.y, slope, middle)?;
                let squares = self.x.iter().zip(self.y).map(|(x, y)| (y - self.family.value(&start, *x).0).powi(2));
                Some((squares.sum::<f64>(), start))
            });
            solved.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let mut starts: Vec<(f64, [f64; P])> = SLOPES.into_iter().filter_map(best_of).collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        starts.truncate(STARTS);
        starts.into_iter().map(|(_, start)| start).collect()
    }
}

impl<F: Family<P>, const P: usize> Model<P> for Settled<'_, F> {
    fn value(&self, parameters: &[f64; P], x: f64) -> (f64, [f64; P]) {
        self.family.value(parameters, x)
    }

    fn settle(&self, parameters: [f64; P]) -> [f64; P] {
        self.family.weigh(self.x, self.y, parameters[0], parameters[1]).unwrap_or(parameters)
    }

    fn is_linear(&self, parameter: usize) -> bool {
        parameter >= 2
    }
}
