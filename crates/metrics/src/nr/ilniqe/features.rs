//! The 468 features of each block of an image of 524x524: statistics of local contrast, of
//! gradients, of log-Gabor responses and their gradients, and of color, at two scales.

use rayon::prelude::*;
use rustfft::num_complex::Complex;

use super::filter::{self, Pair};
use crate::Plane;
use crate::ops::fft::{Fft2d, frequency};
use crate::ops::nss::{self, Accumulator, Asymmetric, Neighborhood};
use crate::ops::weibull;

/// Side of a block; half of this at the coarse scale.
const BLOCK: usize = 84;
/// Blocks along each side.
const ACROSS: usize = 6;
/// Features of a block at one scale.
const SCALE_FEATURES: usize = 234;
/// Features of a block.
pub const FEATURES: usize = 2 * SCALE_FEATURES;

/// Start indices of the kinds of features: gradient magnitudes, color, signed coefficients,
/// gradient magnitudes of log-Gabor responses.
const MAGNITUDES: usize = 18;
const COLORS: usize = MAGNITUDES + 2 * 3;
const SIGNED: usize = COLORS + 2 * 3;
const RESPONSE_MAGNITUDES: usize = SIGNED + 2 * 78;
/// Start indices within the signed coefficients: derivatives of the opponent channels, responses,
/// derivatives of responses.
const RESPONSES: usize = SIGNED + 2 * 6;
const RESPONSE_DERIVATIVES: usize = RESPONSES + 2 * 24;

/// Opponent channels from red, green and blue.
const OPPONENT: [[f64; 3]; 3] = [[0.3, 0.04, -0.35], [0.34, -0.6, 0.17], [0.06, 0.63, 0.27]];
/// Keeps the logarithm of black finite.
const LOG_OFFSET: f64 = 1e-5;
/// Deviation of the Gaussian derivative, and its decrease with the scale.
const DERIVATIVE: (f64, f64) = (1.66, 0.28);
/// Wavelength of the finest log-Gabor filter, and its decrease with the scale.
const WAVELENGTH: (f64, f64) = (2.4, 0.87);
/// Ratio of the wavelengths of successive filters.
const WAVELENGTH_RATIO: f64 = 1.31;
/// Bandwidth of the log-Gabor filters.
const BANDWIDTH: f64 = 0.55;
/// Angular interval between filters divided by the deviation of their angular spread.
const ANGULAR: f64 = 1.10;
const FILTER_SCALES: usize = 3;
const ORIENTATIONS: usize = 4;

/// The features of one map: their index, and two values for each block.
type Found = (usize, Vec<[f64; 2]>);

/// Returns the features of each block of red, green and blue planes of at least 504x504 samples.
pub fn blocks(channels: [Plane<f64>; 3]) -> Vec<Vec<f64>> {
    let side = ACROSS * BLOCK;
    let mut colors = channels.map(|plane| Plane::from_fn(side, side, |x, y| plane.at(x, y)));
    let mut opponents = OPPONENT.map(|weights| {
        let [red, green, blue] = &colors;
        Plane::from_fn(side, side, |x, y| {
            weights[0] * red.at(x, y) + weights[1] * green.at(x, y) + weights[2] * blue.at(x, y)
        })
    });
    let mut blocks = vec![Vec::new(); ACROSS * ACROSS];
    for scale in [1.0f64, 2.0] {
        let features = scale_features(&opponents, &colors, scale);
        blocks.iter_mut().zip(features).for_each(|(block, features)| block.extend(features));
        colors = colors.map(|plane| filter::downsample(&plane));
        opponents = opponents.map(|plane| filter::downsample(&plane));
    }
    blocks
}

fn scale_features(opponents: &[Plane<f64>; 3], colors: &[Plane<f64>; 3], scale: f64) -> Vec<Vec<f64>> {
    let derivative = &filter::Derivative::new(DERIVATIVE.0 / scale.powf(DERIVATIVE.1));
    let luminance = &opponents[2];
    let mut found: Vec<Found> = Vec::new();
    found.extend(
        opponents
            .par_iter()
            .enumerate()
            .flat_map_iter(|(i, plane)| {
                let pair = derivative.apply(plane);
                let at = SIGNED + 4 * i;
                [(at, signed(&pair.across)), (at + 2, signed(&pair.down)), (MAGNITUDES + 2 * i, magnitudes(&pair))]
            })
            .collect::<Vec<_>>(),
    );
    found.extend(color_features(colors));
    let bank = Bank::new(luminance, WAVELENGTH.0 / scale.powf(WAVELENGTH.1));
    found.extend(
        (0..FILTER_SCALES * ORIENTATIONS)
            .into_par_iter()
            .flat_map_iter(|index| {
                let parts = bank.respond(index / ORIENTATIONS, index % ORIENTATIONS);
                parts
                    .into_iter()
                    .enumerate()
                    .flat_map(move |(part, plane)| response_features(&plane, derivative, 2 * index + part))
            })
            .collect::<Vec<_>>(),
    );
    let contrast = contrast_features(luminance);
    (0..ACROSS * ACROSS)
        .map(|block| {
            let mut features = vec![0.0; SCALE_FEATURES];
            features[..MAGNITUDES].copy_from_slice(&contrast[block]);
            for (at, values) in &found {
                features[*at..at + 2].copy_from_slice(&values[block]);
            }
            features
        })
        .collect()
}

fn response_features(plane: &Plane<f64>, derivative: &filter::Derivative, map: usize) -> [Found; 4] {
    let pair = derivative.apply(plane);
    let at = RESPONSE_DERIVATIVES + 4 * map;
    [
        (RESPONSES + 2 * map, signed(plane)),
        (at, signed(&pair.across)),
        (at + 2, signed(&pair.down)),
        (RESPONSE_MAGNITUDES + 2 * map, magnitudes(&pair)),
    ]
}

/// The rows of each block of a plane, block by block in rows of blocks.
fn block_rows(plane: &Plane<f64>) -> impl Iterator<Item = impl Iterator<Item = &[f64]>> {
    let side = plane.width() / ACROSS;
    (0..ACROSS * ACROSS).map(move |block| {
        let (left, top) = (block % ACROSS * side, block / ACROSS * side);
        (top..top + side).map(move |y| &plane.row(y)[left..left + side])
    })
}

/// Shape and mean scale of the coefficients.
fn signed(plane: &Plane<f64>) -> Vec<[f64; 2]> {
    let mut samples = Vec::new();
    block_rows(plane)
        .map(|rows| {
            let mut accumulator = Accumulator::default();
            for row in rows {
                samples.clear();
                samples.extend(row.iter().map(|&value| value as f32));
                accumulator.add_samples(&samples);
            }
            let fit = Asymmetric::fit(&accumulator.finish(), f64::NAN);
            let (left, right) = fit.scales();
            [fit.shape.alpha, (left + right) / 2.0]
        })
        .collect()
}

/// Scale and shape of the magnitudes of gradients.
fn magnitudes(pair: &Pair) -> Vec<[f64; 2]> {
    let mut logarithms = Vec::new();
    block_rows(&pair.across)
        .zip(block_rows(&pair.down))
        .map(|(across, down)| {
            logarithms.clear();
            for (x, y) in across.zip(down).flat_map(|(across, down)| across.iter().zip(down)) {
                logarithms.push(((x * x + y * y).sqrt() + f64::EPSILON).ln());
            }
            let (scale, shape) = weibull::fit(&logarithms);
            [scale, shape]
        })
        .collect()
}

/// Mean and variance of the sum and the differences of the logarithms of the channels.
fn color_features(colors: &[Plane<f64>; 3]) -> Vec<Found> {
    let [red, green, blue] = [0, 1, 2].map(|i: usize| {
        let logarithms = colors[i].map(|value| (value + LOG_OFFSET).ln());
        let mean = logarithms.data().iter().sum::<f64>() / logarithms.data().len() as f64;
        logarithms.map(|value| value - mean)
    });
    let mix = |weights: [f64; 3], norm: f64| {
        Plane::from_fn(red.width(), red.height(), |x, y| {
            (weights[0] * red.at(x, y) + weights[1] * green.at(x, y) + weights[2] * blue.at(x, y)) / norm.sqrt()
        })
    };
    let maps = [mix([1.0, 1.0, 1.0], 3.0), mix([1.0, 1.0, -2.0], 6.0), mix([1.0, -1.0, 0.0], 2.0)];
    let moments = |plane: &Plane<f64>| {
        let block = |rows: Vec<&[f64]>| {
            let count = rows.iter().map(|row| row.len()).sum::<usize>() as f64;
            let mean = rows.iter().flat_map(|row| row.iter()).sum::<f64>() / count;
            let squares: f64 = rows.iter().flat_map(|row| row.iter()).map(|value| (value - mean).powi(2)).sum();
            [mean, squares / (count - 1.0)]
        };
        block_rows(plane).map(|rows| block(rows.collect())).collect()
    };
    maps.iter().enumerate().map(|(i, plane)| (COLORS + 2 * i, moments(plane))).collect()
}

/// NIQE's features of the normalized luminance.
fn contrast_features(luminance: &Plane<f64>) -> Vec<[f64; MAGNITUDES]> {
    let coefficients = filter::normalize(luminance);
    block_rows(&coefficients)
        .map(|rows| {
            let rows: Vec<Vec<f32>> = rows.map(|row| row.iter().map(|&value| value as f32).collect()).collect();
            let mut neighborhood = Neighborhood::new(rows.last().map_or(&[], |row| row.as_slice()));
            rows.iter().for_each(|row| neighborhood.add_row(row));
            nss::block_features(&neighborhood.finish())
        })
        .collect()
}

/// Log-Gabor filters, and the spectrum that they are applied to.
struct Bank {
    fft: Fft2d<f64>,
    size: (usize, usize),
    spectrum: Vec<Complex<f64>>,
    /// The radial factor of the filters, for each scale.
    radial: Vec<Vec<f64>>,
    /// The angular factor of the filters, for each orientation.
    angular: Vec<Vec<f64>>,
}

impl Bank {
    fn new(plane: &Plane<f64>, wavelength: f64) -> Self {
        let (width, height) = (plane.width(), plane.height());
        let fft = Fft2d::new(width, height);
        let spectrum = fft.forward(plane.data().iter().map(|&value| Complex::new(value, 0.0)).collect());
        let frequencies =
            || (0..width).flat_map(|u| (0..height).map(move |v| (frequency(u, width), frequency(v, height))));
        let radii: Vec<f64> = frequencies().map(|(x, y)| (x * x + y * y).sqrt()).collect();
        let angles: Vec<f64> = frequencies().map(|(x, y)| (-y).atan2(x)).collect();
        let radial = (0..FILTER_SCALES as i32).into_par_iter().map(|scale| {
            let wavelength = wavelength * WAVELENGTH_RATIO.powi(scale);
            let spread = 2.0 * BANDWIDTH.ln().powi(2);
            let gain =
                |&radius: &f64| if radius == 0.0 { 0.0 } else { (-(radius * wavelength).ln().powi(2) / spread).exp() };
            radii.iter().map(gain).collect()
        });
        let angular = (0..ORIENTATIONS).into_par_iter().map(|orientation| {
            let direction = orientation as f64 * std::f64::consts::PI / ORIENTATIONS as f64;
            let deviation = std::f64::consts::PI / ORIENTATIONS as f64 / ANGULAR;
            let gain = |angle: &f64| {
                let turn = (angle - direction).abs();
                let turn = turn.min(std::f64::consts::TAU - turn);
                (-turn * turn / (2.0 * deviation * deviation)).exp()
            };
            angles.iter().map(gain).collect()
        });
        Self { fft, size: (width, height), spectrum, radial: radial.collect(), angular: angular.collect() }
    }

    /// Returns the real and imaginary part of one filter's response.
    fn respond(&self, scale: usize, orientation: usize) -> [Plane<f64>; 2] {
        let gains = self.radial[scale].iter().zip(&self.angular[orientation]);
        let filtered = self.spectrum.iter().zip(gains).map(|(value, (radial, angular))| value * (radial * angular));
        let response = self.fft.inverse(filtered.collect());
        let (width, height) = self.size;
        let part =
            |part: fn(&Complex<f64>) -> f64| Plane::from_fn(width, height, |x, y| part(&response[y * width + x]));
        [part(|value| value.re), part(|value| value.im)]
    }
}
