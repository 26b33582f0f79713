//! Butteraugli, a distance in units of the just noticeable difference.
//!
//! **What it measures**: visible differences, modeled after the opponent colors, masking and
//! frequency bands of human vision.
//!
//! **Range and direction**: 0 (identical) upwards; lower is better. Below 1 people see no
//! difference, above 2 they do. The score is the largest value of the map (the max-norm, libjxl's
//! default), so the worst location decides.
//!
//! **Reference**: J. Alakuijala, R. Obryk, O. Stoliarchuk, Z. Szabadka, L. Vandevenne, J.
//! Wassenberg, Guetzli: perceptually guided JPEG encoder, 2017; as in libjxl, through the crate
//! `butteraugli` (BSD-3-Clause), for a screen of 80 nits. 16-bit samples keep their precision.
//!
//! **Deviations**: those of the crate, below 0.1 % on three of libjxl's own values. Photographs
//! above 8 megapixels are measured in strips. The strips overlap enough that score and map stay
//! the same except for rounding. A pair of 50 megapixels takes 1.2 GB.

use butteraugli::{ButteraugliParams, Img, RGB, butteraugli_linear};

use crate::metric::full_reference;
use crate::ops::lab::LightTable;
use crate::{Direction, Error, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// Rows above and below a strip that affect its values.
const HALO: usize = 64;
/// Pixels of a strip including its halo; each needs about 200 bytes.
const STRIP_PIXELS: usize = 4 << 20;
/// Images up to this number of pixels are measured in one piece.
const WHOLE_PIXELS: usize = 8 << 20;
/// Minimum number of rows of a strip, for very wide images.
const LEAST_ROWS: usize = 64;
/// Distance at which a location is displayed as fully damaged.
const WORST: f32 = 6.0;

/// The max-norm distance at the default viewing conditions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Butteraugli;

static INFO: Info = Info {
    name: "Butteraugli",
    kind: Kind::FullReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "",
    summary: "Largest visible difference; 1 is just noticeable.",
    paper: "J. Alakuijala, R. Obryk, O. Stoliarchuk, Z. Szabadka, L. Vandevenne, J. Wassenberg, Guetzli: perceptually guided JPEG encoder, arXiv 1703.04421, 2017",
    has_map: true,
    minimum_side: 8,
};

impl Butteraugli {
    /// libjxl's parameters.
    pub const DEFAULT: Self = Self;
}

full_reference!(Butteraugli);

impl Metric for Butteraugli {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let rows = strip_rows(reference.width(), reference.height());
        measure_in_strips(pair, reference, distorted, rows)
    }
}

/// Rows per strip: all rows for small images, otherwise an even number to stay aligned with half
/// resolution.
fn strip_rows(width: usize, height: usize) -> usize {
    if width * height <= WHOLE_PIXELS {
        return height;
    }
    ((STRIP_PIXELS / width).saturating_sub(2 * HALO) / 2 * 2).max(LEAST_ROWS)
}

fn measure_in_strips(pair: &Pair<'_>, reference: &Image, distorted: &Image, rows: usize) -> Result<Measurement> {
    let (width, height) = (reference.width(), reference.height());
    let parameters = ButteraugliParams::new().with_compute_diffmap(true);
    let tables = [LightTable::new(reference), LightTable::new(distorted)];
    let mut map = pair.wants_map().then(|| Vec::with_capacity(width * height));
    let mut score = 0.0f32;
    for start in (0..height).step_by(rows.max(1)) {
        let end = (start + rows).min(height);
        let (first, last) = (start.saturating_sub(HALO), (end + HALO).min(height));
        let strip = |table: &LightTable, image: &Image| Img::new(light(table, image, first, last), width, last - first);
        let (reference, distorted) = (strip(&tables[0], reference), strip(&tables[1], distorted));
        let difference = butteraugli_linear(reference.as_ref(), distorted.as_ref(), &parameters)
            .map_err(|_| UNDEFINED)?
            .diffmap
            .ok_or(UNDEFINED)?;
        for row in difference.rows().skip(start - first).take(end - start) {
            score = row.iter().copied().fold(score, f32::max);
            if let Some(map) = &mut map {
                map.extend_from_slice(row);
            }
        }
    }
    let measurement = Measurement::new(f64::from(score));
    Ok(match map.and_then(|map| Plane::from_vec(width, height, map)) {
        Some(map) => measurement.with_map(map, 0.0, WORST),
        None => measurement,
    })
}

const UNDEFINED: Error = Error::Undefined { metric: INFO.name, reason: "its distance is not finite" };

/// Linear light of the rows `first..last`, pixel by pixel.
fn light(table: &LightTable, image: &Image, first: usize, last: usize) -> Vec<RGB<f32>> {
    let width = image.width();
    let mut pixels = Vec::with_capacity(width * (last - first));
    let mut rows = [(); 3].map(|()| vec![0.0; width]);
    for y in first..last {
        for (channel, row) in rows.iter_mut().enumerate() {
            table.read_row(image, channel, y, row);
        }
        let [red, green, blue] = &rows;
        pixels.extend(red.iter().zip(green).zip(blue).map(|((&r, &g), &b)| RGB { r, g, b }));
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::color_noise;

    fn gray(width: usize, height: usize, sample: impl Fn(usize, usize) -> u8) -> Image {
        let sample = &sample;
        Image::from_gray8(width, height, (0..height).flat_map(|y| (0..width).map(move |x| sample(x, y))).collect())
            .unwrap()
    }

    #[test]
    fn values_of_libjxl() {
        // Values of butteraugli_main from libjxl d2c7032e, intensity target 80, recorded in the
        // crate butteraugli 0.9.3.
        let board = |inverse: usize| {
            gray(64, 64, move |x, y| if (x / 4 + y / 4 + inverse).is_multiple_of(2) { 200 } else { 50 })
        };
        let edge = |shift: u8| gray(64, 64, move |x, _| if x < 32 { 50 + shift } else { 200 + shift });
        let flat = |level: u8| gray(23, 31, move |_, _| level);
        let cases = [
            (board(0), board(1), 39.785_194_397),
            (edge(0), edge(10), 12.936_052_322),
            (flat(128), flat(138), 21.285_717_010),
        ];
        for (reference, distorted, expected) in cases {
            let score = Butteraugli.score(&reference, &distorted).unwrap();
            assert!((score / expected - 1.0).abs() < 1e-3, "{score} instead of {expected}");
        }
    }

    #[test]
    fn strips_give_the_score_and_map_of_the_whole() {
        let reference = gray(70, 400, |x, y| ((x * 3 + y * y / 9) % 200 + 20) as u8);
        let distorted = gray(70, 400, |x, y| ((x * 3 + y * y / 9) % 200 + 20 + (x * y / 50) % 9) as u8);
        let pair = Pair::new(&reference, &distorted).unwrap().with_map();
        let whole = measure_in_strips(&pair, &reference, &distorted, 400).unwrap();
        let strips = measure_in_strips(&pair, &reference, &distorted, 96).unwrap();
        assert_eq!(whole.score, strips.score);
        let (whole, strips) = (whole.map.unwrap().plane, strips.map.unwrap().plane);
        assert!(whole.data().iter().zip(strips.data()).all(|(a, b)| (a - b).abs() <= 1e-6 * a));
    }

    #[test]
    fn identical_images_are_at_distance_zero() {
        let image = color_noise(33, 17, 1);
        assert_eq!(Butteraugli.score(&image, &image).unwrap(), 0.0);
    }

    #[test]
    fn sixteen_bits_keep_their_precision() {
        let flat = |level: u16| Image::from_gray16(16, 16, vec![level; 256]).unwrap();
        let score = |level: u16| Butteraugli.score(&flat(128 * 257), &flat(level)).unwrap();
        let (tenth, whole) = (score(128 * 257 + 26), score(129 * 257));
        assert!(tenth > 0.0 && tenth < 0.2 * whole, "{tenth} {whole}");
    }

    #[test]
    fn a_tiny_image_is_refused() {
        let image = color_noise(7, 30, 1);
        assert!(matches!(Butteraugli.score(&image, &image), Err(Error::TooSmall { .. })));
    }
}
