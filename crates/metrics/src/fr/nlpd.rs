//! NLPD, normalized Laplacian pyramid distance.
//!
//! **What it measures**: the difference after a model of the early visual system: the local mean
//! is subtracted and the local contrast is divided out, at six scales. Luma only.
//!
//! **Range and direction**: 0 (identical) upwards, about 1 for unrelated images; lower is better.
//!
//! **Reference**: Laparra, Ballé, Berardino, Simoncelli, Human Vision and Electronic Imaging 2016;
//! the authors' MATLAB (`NLP_dist`) on rounded luma, whose first normalization filter has a fifth
//! weight that ports leave out.
//!
//! **Deviations**: none above 1e-7 on the calibration pairs.

use multiversion::multiversion;

use crate::metric::full_reference;
use crate::ops::laplacian::{self, Level};
use crate::ops::rolling::{Rolling, map_strips};
use crate::ops::sum;
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// NLPD with the authors' parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nlpd;

/// The normalization of one band: its amplitude is divided by a constant plus a weighted sum of
/// its neighbors' amplitudes.
struct Normalization {
    /// The constant, for luma from 0 to 1.
    constant: f32,
    /// Weights of the preceding neighbors in the row: two before, one before.
    before: [f32; 2],
    /// Weight of the next neighbor in the row.
    after: f32,
    above: f32,
    below: f32,
}

/// Fitted by the authors to natural images (McGill), from the finest band to the low-pass
/// residual. Their `conv2` flips the filters: the weight right of the center belongs to the left
/// neighbor.
#[rustfmt::skip]
const BANDS: [Normalization; 6] = [
    Normalization { constant: 0.0248, before: [0.0072, 0.1460], after: 0.1493, above: 0.1015, below: 0.1011 },
    Normalization { constant: 0.0185, before: [0.0, 0.1846], after: 0.1986, above: 0.0837, below: 0.0757 },
    Normalization { constant: 0.0179, before: [0.0, 0.2243], after: 0.2138, above: 0.0467, below: 0.0477 },
    Normalization { constant: 0.0191, before: [0.0, 0.2616], after: 0.2503, above: 0.0, below: 0.0 },
    Normalization { constant: 0.0220, before: [0.0, 0.2552], after: 0.2598, above: 0.0, below: 0.0 },
    Normalization { constant: 0.2782, before: [0.0, 0.0717], after: 0.2215, above: 0.0, below: 0.0 },
];

/// Luma stays on the scale 0..=255; only the constants depend on the scale.
const PEAK: f32 = 255.0;
/// Samples at each end of a band's row that the normalization reads.
const LEFT: usize = 2;
const RIGHT: usize = 1;
/// Mean difference of the bands at which the map shows full damage.
const WORST_DIFFERENCE: f32 = 1.0;

static INFO: Info = Info {
    name: "NLPD",
    kind: Kind::FullReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "",
    summary: "Luma difference at six scales after normalizing local mean and contrast.",
    paper: "V. Laparra, J. Ballé, A. Berardino, E. P. Simoncelli, Perceptual image quality assessment using a normalized Laplacian pyramid, Human Vision and Electronic Imaging, 2016",
    has_map: true,
    minimum_side: 5,
};

impl Nlpd {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self;
}

full_reference!(Nlpd);

impl Metric for Nlpd {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let images = [reference, distorted];
        let pyramids = images.map(reduced_images);
        let level = |image: usize, level: usize| match level {
            0 => Some(Level::Luma(images[image])),
            _ => pyramids[image].get(level - 1).map(Level::Reduced),
        };
        let mut distance = 0.0;
        let mut map: Option<Plane> = None;
        for (index, normalization) in BANDS.iter().enumerate().rev() {
            let (Some(first), Some(second)) = (level(0, index), level(1, index)) else { continue };
            let band = Band {
                image: [first, second],
                reduced: [pyramids[0].get(index), pyramids[1].get(index)],
                normalization,
            };
            let mut differences = pair.wants_map().then(|| Plane::new(first.width(), first.height()));
            distance += band.distance(differences.as_mut());
            if let (Some(differences), Some(coarser)) = (&mut differences, &map) {
                laplacian::add_enlarged(coarser, differences);
            }
            map = differences;
        }
        let count = BANDS.len();
        let measurement = Measurement::new(distance / count as f64);
        Ok(match map {
            Some(mut map) => {
                map.data_mut().iter_mut().for_each(|sum| *sum /= count as f32);
                measurement.with_map(map, 0.0, WORST_DIFFERENCE)
            }
            None => measurement,
        })
    }
}

/// The low-pass images below luma, each half the size of the previous one.
fn reduced_images(image: &Image) -> Vec<Plane> {
    let mut images: Vec<Plane> = Vec::with_capacity(BANDS.len() - 1);
    for _ in 1..BANDS.len() {
        let reduced = laplacian::reduce(images.last().map_or(Level::Luma(image), Level::Reduced));
        images.push(reduced);
    }
    images
}

/// One scale of both images.
struct Band<'a> {
    image: [Level<'a>; 2],
    /// The next smaller images. The last band has none: it is the low-pass image itself.
    reduced: [Option<&'a Plane>; 2],
    normalization: &'a Normalization,
}

impl Band<'_> {
    /// Returns the root mean square difference of the normalized bands, and writes absolute
    /// differences to `differences`.
    fn distance(&self, differences: Option<&mut Plane>) -> f64 {
        let (width, height) = (self.image[0].width(), self.image[0].height());
        let totals = map_strips(height, differences, |rows, mut map| {
            let stored = || Rolling::new(LEFT + width + RIGHT, 3);
            let mut bands = [stored(), stored()];
            let mut scratch = (self.image[0].ring(1), Vec::new());
            let mut squares = vec![0.0; width];
            let mut total = 0.0;
            for y in [rows.start.wrapping_sub(1), rows.start] {
                self.load(y, &mut bands, &mut scratch);
            }
            for (index, y) in rows.enumerate() {
                self.load(y + 1, &mut bands, &mut scratch);
                squared_difference(self.normalization, rows_at(&bands[0], y), rows_at(&bands[1], y), &mut squares);
                total += sum::sum(&squares);
                if let Some(map) = &mut map {
                    let row = &mut map[index * width..(index + 1) * width];
                    row.iter_mut().zip(&squares).for_each(|(difference, square)| *difference = square.sqrt());
                }
            }
            total
        });
        (totals.iter().sum::<f64>() / (width * height) as f64).sqrt()
    }

    /// Loads row `y` of both bands; zeros beyond the image.
    fn load(&self, y: usize, bands: &mut [Rolling<f32>; 2], (ring, column): &mut (Rolling<f32>, Vec<f32>)) {
        for ((image, reduced), band) in self.image.iter().zip(self.reduced).zip(bands) {
            let padded = band.row_mut(y as isize);
            let inside = &mut padded[LEFT..LEFT + image.width()];
            if y >= image.height() {
                inside.fill(0.0);
                continue;
            }
            image.load(y, ring);
            match reduced {
                Some(reduced) => laplacian::band_row(image.row(y, ring), reduced, y, column, inside),
                None => inside.copy_from_slice(image.row(y, ring)),
            }
        }
    }
}

/// The rows above, at and below `y`.
fn rows_at(band: &Rolling<f32>, y: usize) -> [&[f32]; 3] {
    [-1, 0, 1].map(|offset| band.row(y as isize + offset))
}

#[multiversion(targets("x86_64+avx2"))]
fn squared_difference(normalization: &Normalization, first: [&[f32]; 3], second: [&[f32]; 3], squares: &mut [f32]) {
    let Normalization { constant, before, after, above, below } = *normalization;
    let constant = constant * PEAK;
    let gain = |a: f32, row: &[f32], b: f32| {
        let sides = before[0] * row[0].abs() + before[1] * row[1].abs() + after * row[3].abs();
        constant + sides + above * a.abs() + below * b.abs()
    };
    let first = first[0][LEFT..].iter().zip(first[1].windows(4)).zip(&first[2][LEFT..]);
    let second = second[0][LEFT..].iter().zip(second[1].windows(4)).zip(&second[2][LEFT..]);
    for ((square, ((&a, x), &b)), ((&c, y), &d)) in squares.iter_mut().zip(first).zip(second) {
        // A single division for both, so that equal bands return exactly zero.
        let (gain_x, gain_y) = (gain(a, x, b), gain(c, y, d));
        let difference = (x[LEFT] * gain_y - y[LEFT] * gain_x) / (gain_x * gain_y);
        *square = difference * difference;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::testing::{assert_official, gray_noise};

    #[test]
    fn official_values() {
        let expected = [0.561610097, 0.019534799, 0.015915632, 0.302802107, 0.432604962];
        assert_official(&Nlpd::DEFAULT, expected, [1e-7; 5]);
    }

    #[test]
    fn identical_images_have_no_distance_and_a_map_of_zeros() {
        let noise = gray_noise(67, 130, 1);
        let flat = Image::from_gray8(9, 9, vec![0; 81]).unwrap();
        for image in [noise, flat] {
            let measurement = Nlpd.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
            assert_eq!(measurement.score, 0.0);
            assert!(measurement.map.unwrap().plane.data().iter().all(|&difference| difference == 0.0));
        }
    }

    #[test]
    fn the_map_is_warm_where_the_images_differ() {
        let reference = Image::from_gray8(96, 80, vec![100; 96 * 80]).unwrap();
        let mut pixels = vec![100; 96 * 80];
        pixels[20 * 96 + 70] = 160;
        let distorted = Image::from_gray8(96, 80, pixels).unwrap();
        let map = Nlpd.measure(&Pair::new(&reference, &distorted).unwrap().with_map()).unwrap().map.unwrap().plane;
        assert_eq!((map.width(), map.height()), (96, 80));
        let hottest = (0..80)
            .flat_map(|y| (0..96).map(move |x| (x, y)))
            .max_by(|&a, &b| map.at(a.0, a.1).total_cmp(&map.at(b.0, b.1)));
        assert_eq!(hottest, Some((70, 20)));
        assert!(map.at(5, 75) < 0.01 * map.at(70, 20));
    }

    #[test]
    fn tiny_images_are_refused() {
        let image = gray_noise(4, 90, 1);
        assert!(matches!(Nlpd.score(&image, &image), Err(Error::TooSmall { .. })));
    }
}
