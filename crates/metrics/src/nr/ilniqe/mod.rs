//! ILNIQE, integrated local natural image quality evaluator.
//!
//! **What it measures**: how far the statistics of each block (local contrast, gradients,
//! log-Gabor responses, color) lie from a model of undistorted photographs; not trained on human
//! scores.
//!
//! **Range and direction**: 0 upwards, about 20 for good photographs, above 100 for strong damage;
//! lower is better.
//!
//! **Reference**: Zhang, Zhang, Bovik, IEEE TIP 24(8), 2015; the authors' MATLAB release: the
//! image is resized to 524x524 as 8-bit samples (MATLAB's `imresize` rounds after either axis),
//! 6x6 blocks of 84x84. The template model is not shipped: pass the authors' `templateModel.mat`
//! to [`Ilniqe::from_mat`].
//!
//! **Deviations**: I04 0.0006 %, I06 -0.002 %; I03 -0.03 %, I08 -0.06 % and I19 -0.47 %, which
//! have flat areas: there the coefficient of local contrast is exactly 0 here and rounding noise
//! in MATLAB. 16-bit images are rounded to 8 bits; gray images count as three equal channels.

mod features;
mod filter;

use std::sync::Arc;

use crate::mat::{self, Numbers, Value};
use crate::metric::no_reference;
use crate::ops::matrix::{self, Matrix};
use crate::ops::resize::{self, Kernel};
use crate::{Direction, Error, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// ILNIQE, which needs its authors' template model: see [`Ilniqe::from_mat`].
#[derive(Debug, Clone, Default)]
pub struct Ilniqe {
    model: Option<Arc<Model>>,
}

static INFO: Info = Info {
    name: "ILNIQE",
    kind: Kind::NoReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "",
    summary: "Distance of each block's contrast, gradient, frequency and color statistics from natural photographs.",
    paper: "L. Zhang, L. Zhang, A. C. Bovik, A feature-enriched completely blind image quality evaluator, IEEE TIP 24(8), 2015",
    has_map: true,
    minimum_side: 16,
};

/// How to provide the model.
const HINT: &str = "templateModel.mat, which its authors publish";
/// The name of the variable in the model file.
const VARIABLE: &str = "templateModel";
/// Side of the resized image.
const SIDE: usize = 524;
/// Replaces an infinite feature.
const INFINITE: f64 = 10_000.0;
/// Distances on the map: blocks of a good photograph, and strongly damaged blocks.
const MAP_BEST: f32 = 15.0;
const MAP_WORST: f32 = 100.0;

/// The multivariate Gaussian of natural blocks, in the space of their principal components.
#[derive(Debug)]
struct Model {
    mean: Vec<f64>,
    covariance: Matrix,
    /// The mean of raw features.
    center: Vec<f64>,
    /// The principal vectors, one per row.
    vectors: Matrix,
}

impl Ilniqe {
    /// Without a model: every measurement returns an error that explains how to supply one.
    pub const DEFAULT: Self = Self { model: None };

    /// Loads the authors' template model from the bytes of a MATLAB version 5 file.
    pub fn from_mat(bytes: &[u8]) -> Result<Self> {
        let model = Model::from_mat(bytes).map_err(|reason| Error::ModelInvalid { metric: INFO.name, reason })?;
        Ok(Self { model: Some(Arc::new(model)) })
    }
}

impl Model {
    fn from_mat(bytes: &[u8]) -> mat::Result<Self> {
        let variables = mat::variables(bytes)?;
        let cells = variables.into_iter().find_map(|(name, value)| match value {
            Value::Cells(cells) if name == VARIABLE => Some(cells),
            _ => None,
        });
        let cells = cells.ok_or(format!("it has no cell array called {VARIABLE}"))?;
        let matrices: Vec<Numbers> = cells
            .into_iter()
            .filter_map(|cell| match cell {
                Value::Numbers(numbers) => Some(numbers),
                _ => None,
            })
            .collect();
        let [mean, covariance, center, vectors]: [Numbers; 4] =
            matrices.try_into().map_err(|_| format!("{VARIABLE} does not hold four matrices"))?;
        let components = mean.data.len();
        let fits = (covariance.rows, covariance.columns) == (components, components)
            && center.data.len() == features::FEATURES
            && (vectors.rows, vectors.columns) == (features::FEATURES, components);
        if !fits {
            return Err(format!("the matrices of {VARIABLE} do not fit {} features", features::FEATURES));
        }
        if ![&mean, &covariance, &center, &vectors].iter().all(|matrix| matrix.data.iter().all(|v| v.is_finite())) {
            return Err(format!("{VARIABLE} holds numbers that are not finite"));
        }
        Ok(Self {
            mean: mean.data,
            // Symmetric, so columns are rows.
            covariance: Matrix::from_vec(components, components, covariance.data),
            center: center.data,
            vectors: Matrix::from_vec(components, features::FEATURES, vectors.data),
        })
    }

    /// Projects raw features to the space of the principal components.
    fn project(&self, features: &[f64]) -> Vec<f64> {
        let centered: Vec<f64> = features
            .iter()
            .zip(&self.center)
            .map(|(&feature, center)| if feature.is_infinite() { INFINITE } else { feature } - center)
            .collect();
        (0..self.mean.len()).map(|i| matrix::dot(self.vectors.row(i), &centered)).collect()
    }

    /// The distance of each block from the model; `None` if no block has a defined value.
    fn distances(&self, blocks: &[Vec<f64>]) -> Option<Vec<f64>> {
        let components = self.mean.len();
        let projected: Vec<Vec<f64>> = blocks.iter().map(|block| self.project(block)).collect();
        let covariance = self.covariance.mean_with(&matrix::covariance(&projected, components)?);
        let typical = matrix::mean(&projected, components);
        let filled = projected.iter().map(|block| {
            block.iter().zip(&typical).map(|(&value, &mean)| if value.is_nan() { mean } else { value }).collect()
        });
        let filled: Vec<Vec<f64>> = filled.collect();
        // The authors' model is far from singular; the Cholesky factor computes the same distance
        // faster.
        Some(match covariance.cholesky() {
            Some(factor) => filled.iter().map(|block| factor.distance(block, &self.mean)).collect(),
            None => {
                let inverse = covariance.pseudo_inverse();
                filled.iter().map(|block| inverse.distance(block, &self.mean)).collect()
            }
        })
    }
}

no_reference!(Ilniqe);

impl Metric for Ilniqe {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let model = self.model.as_ref().ok_or(Error::ModelMissing { metric: INFO.name, hint: HINT })?;
        let image = pair.single_checked(&INFO)?;
        let blocks = features::blocks([0, 1, 2].map(|channel| resized(image, channel)));
        let reason = "every block has parts without any texture";
        let distances = model.distances(&blocks).ok_or(Error::Undefined { metric: INFO.name, reason })?;
        let measurement = Measurement::new(distances.iter().sum::<f64>() / distances.len() as f64);
        if !pair.wants_map() {
            return Ok(measurement);
        }
        let across = distances.len().isqrt();
        let map = Plane::from_vec(across, across, distances.iter().map(|&distance| distance as f32).collect());
        Ok(map.map_or(measurement.clone(), |map| measurement.with_map(map, MAP_BEST, MAP_WORST)))
    }
}

/// An 8-bit sample. Values are rounded and clamped.
#[derive(Debug, Clone, Copy, Default)]
struct Byte(u8);

impl From<Byte> for f64 {
    fn from(byte: Byte) -> Self {
        Self::from(byte.0)
    }
}

impl resize::Sample for Byte {
    fn from_double(value: f64) -> Self {
        Self((value + 0.5).floor().clamp(0.0, 255.0) as u8)
    }

    fn accumulate(weight: f64, row: &[Self], out: &mut [f64]) {
        out.iter_mut().zip(row).for_each(|(out, byte)| *out += weight * f64::from(byte.0));
    }
}

/// A channel at the size of the model, rounded after either axis as MATLAB does with 8-bit images.
fn resized(image: &Image, channel: usize) -> Plane<f64> {
    let (width, height) = (image.width(), image.height());
    let mut bytes = Plane::new(width, height);
    let mut row = vec![0.0; width];
    for y in 0..height {
        image.read_row(channel, y, &mut row);
        bytes.row_mut(y).iter_mut().zip(&row).for_each(|(byte, &sample)| *byte = Byte((sample + 0.5) as u8));
    }
    let first = if width <= height { (width, SIDE) } else { (SIDE, height) };
    // The axis with the smaller scale, which is the longer side, comes first.
    let once = resize::to_size(&bytes, first.0, first.1, Kernel::Bicubic);
    resize::to_size(&once, SIDE, SIDE, Kernel::Bicubic).map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mat::tests::{encode_doubles, encode_file, encode_matrix};
    use crate::testing::{PAIRS, calibration_pair, color_noise, data_dir};
    use proptest::prelude::*;
    use std::path::PathBuf;

    /// The authors' model, if it is installed.
    fn authors_model() -> Option<Ilniqe> {
        let path = std::env::var_os("AGENTICIQA_ILNIQE_MODEL").map(PathBuf::from);
        let bytes = std::fs::read(path.unwrap_or_else(|| data_dir().join("templateModel.mat"))).ok()?;
        Some(Ilniqe::from_mat(&bytes).unwrap())
    }

    /// A model file with `components` components, unit covariance, and the first features as
    /// principal vectors.
    fn synthetic_file(components: usize) -> Vec<u8> {
        let matrix = |rows: usize, columns: usize, value: &dyn Fn(usize, usize) -> f64| {
            let data = (0..columns).flat_map(|column| (0..rows).map(move |row| value(row, column)));
            encode_matrix(6, rows as u32, columns as u32, "", &encode_doubles(&data.collect::<Vec<_>>()))
        };
        let unit = |row: usize, column: usize| f64::from(row == column);
        let cells = [
            matrix(1, components, &|_, _| 0.0),
            matrix(components, components, &unit),
            matrix(features::FEATURES, 1, &|_, _| 0.0),
            matrix(features::FEATURES, components, &unit),
        ];
        encode_file(&encode_matrix(1, 1, 4, VARIABLE, &cells.concat()))
    }

    #[test]
    fn official_values() {
        let Some(metric) = authors_model() else {
            eprintln!("not checked: set AGENTICIQA_ILNIQE_MODEL to the authors' templateModel.mat");
            return;
        };
        let official = [113.4801, 23.9968, 19.9750, 22.4493, 56.6721];
        for ((name, expected), tolerance) in PAIRS.iter().zip(official).zip([0.05, 0.0003, 0.001, 0.05, 0.3]) {
            let score = metric.score(&calibration_pair(name).1).unwrap();
            eprintln!("ILNIQE {name} {score} {:+.4} %", (score / expected - 1.0) * 100.0);
            assert!((score - expected).abs() < tolerance, "ILNIQE of {name}: {score}, the authors have {expected}");
        }
    }

    /// The features of I04, from an independent program (NumPy and SciPy, double precision)
    /// written from the definition.
    #[test]
    fn features_equal_those_of_another_program() {
        const FIRST: [(usize, f64); 14] = [
            (0, 2.46),
            (1, 0.567371162),
            (3, 0.0148245571),
            (18, 2.89159726),
            (19, 0.834713793),
            (24, -0.751844723),
            (25, 0.0774021359),
            (31, 0.193588428),
            (91, 0.0432458853),
            (186, 2.38240227),
            (234, 1.957),
            (265, 0.115785989),
            (421, 0.626005582),
            (467, 0.857514406),
        ];
        const INNER: [(usize, f64); 14] = [
            (0, 2.752),
            (1, 0.688122485),
            (5, 0.0979144418),
            (18, 1.15717441),
            (22, 38.5486801),
            (28, -0.0244711311),
            (30, 1.714),
            (43, 0.610405999),
            (91, 1.05303475),
            (140, 1.461),
            (187, 1.46386101),
            (252, 0.479779305),
            (300, 1.402),
            (467, 1.34562665),
        ];
        let image = calibration_pair("I04").1;
        let blocks = features::blocks([0, 1, 2].map(|channel| resized(&image, channel)));
        for (block, expected) in [(0, FIRST), (20, INNER)] {
            for (feature, expected) in expected {
                let actual = blocks[block][feature];
                assert!((actual - expected).abs() < 2e-6 * expected.abs().max(0.1), "{block} {feature}: {actual}");
            }
        }
    }

    #[test]
    fn without_a_model_the_hint_says_how_to_give_one() {
        let error = Ilniqe::DEFAULT.score(&color_noise(32, 32, 1)).unwrap_err();
        assert_eq!(error, Error::ModelMissing { metric: "ILNIQE", hint: HINT });
    }

    #[test]
    fn a_synthetic_model_gives_the_distance_by_hand() {
        let metric = Ilniqe::from_mat(&synthetic_file(2)).unwrap();
        let image = calibration_pair("I04").1;
        let blocks = features::blocks([0, 1, 2].map(|channel| resized(&image, channel)));
        let projected: Vec<Vec<f64>> = blocks.iter().map(|block| block[..2].to_vec()).collect();
        let mut unit = Matrix::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]);
        unit = unit.mean_with(&matrix::covariance(&projected, 2).unwrap());
        let inverse = unit.pseudo_inverse();
        let expected = projected.iter().map(|block| inverse.distance(block, &[0.0; 2])).sum::<f64>() / 36.0;
        let measurement = metric.measure(&Pair::single(&image).with_map()).unwrap();
        assert!((measurement.score - expected).abs() < 1e-9);
        assert_eq!(measurement.map.unwrap().plane.data().len(), 36);
    }

    #[test]
    fn flat_and_tiny_pictures_give_errors_or_finite_scores() {
        let metric = Ilniqe::from_mat(&synthetic_file(3)).unwrap();
        let flat = Image::from_gray8(64, 40, vec![200; 64 * 40]).unwrap();
        assert!(matches!(metric.score(&flat), Err(Error::Undefined { .. })));
        assert!(matches!(metric.score(&color_noise(15, 90, 1)), Err(Error::TooSmall { .. })));
        assert!(metric.score(&color_noise(16, 90, 1)).unwrap().is_finite());
    }

    #[test]
    fn unfit_model_files_are_refused_with_the_reason() {
        let reason = |bytes: &[u8]| Ilniqe::from_mat(bytes).unwrap_err().to_string();
        assert!(reason(b"a text").contains("too short"));
        let other = encode_matrix(1, 1, 1, "other", &encode_matrix(6, 1, 1, "", &encode_doubles(&[1.0])));
        assert!(reason(&encode_file(&other)).contains("no cell array called templateModel"));
        let short = encode_matrix(1, 1, 1, VARIABLE, &encode_matrix(6, 1, 1, "", &encode_doubles(&[1.0])));
        assert!(reason(&encode_file(&short)).contains("four matrices"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn truncated_and_damaged_model_files_never_panic(cut in 0.0f64..1.2, at in 0.0f64..1.0, value: u8) {
            let mut file = synthetic_file(2);
            let length = file.len() as f64;
            file.truncate((cut * length) as usize);
            if let Some(byte) = file.get_mut((at * length) as usize) {
                *byte = value;
            }
            if let Err(error) = Ilniqe::from_mat(&file) {
                let invalid = matches!(error, Error::ModelInvalid { .. });
                prop_assert!(invalid);
            }
        }
    }
}
