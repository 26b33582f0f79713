//! GMSD, gradient magnitude similarity deviation.
//!
//! **What it measures**: how unevenly edges are damaged; ignores color.
//!
//! **Range and direction**: 0 (identical) to about 0.35; lower is better.
//!
//! **Reference**: Xue, Zhang, Mou, Bovik, IEEE TIP 23(2), 2014; the authors' MATLAB on rounded
//! luma: mean of 2x2, every second pixel, Prewitt with zeros beyond the border, sample standard
//! deviation (`std2`).
//!
//! **Deviations**: none above 1e-9 on the calibration pairs.

use multiversion::multiversion;

use crate::metric::full_reference;
use crate::ops::gradient::{prewitt, windows};
use crate::ops::rolling::{Rolling, map_strips};
use crate::ops::sum;
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// GMSD with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct Gmsd {
    /// Keeps the similarity of weak gradients stable, on the scale 0..=255.
    pub stability: f32,
}

/// Gradients are integers: the sum of 2x2 pixels (4) under Prewitt's sum of three (3).
const GRADIENT_SCALE: f32 = 4.0 * 3.0;

static INFO: Info = Info {
    name: "GMSD",
    kind: Kind::FullReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, 1.0),
    unit: "",
    summary: "How unevenly edges are damaged: standard deviation of the gradient similarity.",
    paper: "W. Xue, L. Zhang, X. Mou, A. C. Bovik, Gradient magnitude similarity deviation: a highly efficient perceptual image quality index, IEEE TIP 23(2), 2014",
    has_map: true,
    minimum_side: 5,
};

impl Gmsd {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self { stability: 170.0 };
}

impl Default for Gmsd {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(Gmsd);

impl Metric for Gmsd {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let (width, height) = (reference.width().div_ceil(2), reference.height().div_ceil(2));
        let stability = self.stability * GRADIENT_SCALE * GRADIENT_SCALE;
        let mut map = pair.wants_map().then(|| Plane::new(width, height));
        let sums = map_strips(height, map.as_mut(), |rows, mut map| {
            let mut halved = Halved::new([reference, distorted], rows.start);
            let mut loss = vec![0.0; width];
            let (mut total, mut squares) = (0.0, 0.0);
            for (index, y) in rows.enumerate() {
                halved.load(y + 1);
                gradient_loss(halved.window(0, y), halved.window(1, y), stability, &mut loss);
                let (row_total, row_squares) = sum::sum_and_squares(&loss);
                total += row_total;
                squares += row_squares;
                if let Some(map) = &mut map {
                    let similarity = &mut map[index * width..(index + 1) * width];
                    similarity.iter_mut().zip(&loss).for_each(|(similarity, loss)| *similarity = 1.0 - loss);
                }
            }
            (total, squares)
        });
        let (total, squares) = sums.iter().fold((0.0, 0.0), |(t, s), (total, squares)| (t + total, s + squares));
        let count = (width * height) as f64;
        let variance = (squares - total * total / count) / (count - 1.0);
        let measurement = Measurement::new(variance.max(0.0).sqrt());
        Ok(match map {
            Some(map) => measurement.with_map(map, 1.0, 0.0),
            None => measurement,
        })
    }
}

/// Sums of 2x2 luma pixels of both images, three rows at a time, with a zero at each end.
struct Halved<'a> {
    images: [&'a Image; 2],
    rows: [Rolling<f32>; 2],
    buffers: [Vec<f32>; 2],
}

impl<'a> Halved<'a> {
    /// Creates the buffers; the next row to load is `start + 1`.
    fn new(images: [&'a Image; 2], start: usize) -> Self {
        let width = images[0].width();
        let stored = || Rolling::new(width.div_ceil(2) + 2, 3);
        let mut halved = Self { images, rows: [stored(), stored()], buffers: [vec![0.0; width], vec![0.0; width]] };
        if start > 0 {
            halved.load(start - 1);
        }
        halved.load(start);
        halved
    }

    /// Loads row `y`; zeros beyond the image.
    fn load(&mut self, y: usize) {
        let [upper, lower] = &mut self.buffers;
        for (image, rows) in self.images.iter().zip(&mut self.rows) {
            let row = rows.row_mut(y as isize);
            let inside = row.len() - 1;
            let sums = &mut row[1..inside];
            match (2 * y < image.height(), 2 * y + 1 < image.height()) {
                (true, true) => sum_blocks(image.gray_row(2 * y, upper), image.gray_row(2 * y + 1, lower), sums),
                (true, false) => sum_pairs(image.gray_row(2 * y, upper), sums),
                _ => sums.fill(0.0),
            }
        }
    }

    /// The rows above, at and below `y`.
    fn window(&self, image: usize, y: usize) -> [&[f32]; 3] {
        [-1, 0, 1].map(|offset| self.rows[image].row(y as isize + offset))
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn sum_blocks(upper: &[f32], lower: &[f32], sums: &mut [f32]) {
    for ((sum, upper), lower) in sums.iter_mut().zip(upper.chunks_exact(2)).zip(lower.chunks_exact(2)) {
        *sum = (upper[0] + lower[0]) + (upper[1] + lower[1]);
    }
    if let (1, Some(sum), Some(upper), Some(lower)) = (upper.len() % 2, sums.last_mut(), upper.last(), lower.last()) {
        *sum = upper + lower;
    }
}

/// The last row of an image with an odd height; the row beyond it is zero.
fn sum_pairs(row: &[f32], sums: &mut [f32]) {
    for (sum, pair) in sums.iter_mut().zip(row.chunks(2)) {
        *sum = pair.iter().sum();
    }
}

/// One minus the similarity of the gradient magnitudes. The summands are small where the images
/// are similar, and exactly zero where they are equal.
#[multiversion(targets("x86_64+avx2"))]
fn gradient_loss(reference: [&[f32]; 3], distorted: [&[f32]; 3], stability: f32, loss: &mut [f32]) {
    for ((loss, ((a, b), c)), ((d, e), f)) in loss.iter_mut().zip(windows(reference)).zip(windows(distorted)) {
        let (across, down) = prewitt(a, b, c);
        let first = across * across + down * down;
        let (across, down) = prewitt(d, e, f);
        let second = across * across + down * down;
        let difference = first.sqrt() - second.sqrt();
        *loss = difference * difference / (first + second + stability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::testing::{assert_official, gray_noise};

    #[test]
    fn official_values() {
        let expected = [0.220347639, 0.000522059, 0.000448281, 0.134631933, 0.204996494];
        assert_official(&Gmsd::DEFAULT, expected, [1e-9; 5]);
    }

    #[test]
    fn odd_sizes_keep_the_last_row_and_column() {
        let reference = gray_noise(37, 21, 3);
        let distorted = gray_noise(37, 21, 4);
        let measurement = Gmsd::DEFAULT.measure(&Pair::new(&reference, &distorted).unwrap().with_map()).unwrap();
        let map = measurement.map.unwrap().plane;
        assert_eq!((map.width(), map.height()), (19, 11));
        let count = map.data().len() as f64;
        let mean = map.data().iter().map(|&v| f64::from(v)).sum::<f64>() / count;
        let squares = map.data().iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>();
        assert!((measurement.score - (squares / (count - 1.0)).sqrt()).abs() < 1e-6);
    }

    #[test]
    fn identical_and_flat_images_are_perfect() {
        let noise = gray_noise(64, 150, 1);
        let flat = Image::from_gray8(9, 9, vec![0; 81]).unwrap();
        for image in [noise, flat] {
            let measurement = Gmsd::DEFAULT.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
            assert_eq!(measurement.score, 0.0);
            assert!(measurement.map.unwrap().plane.data().iter().all(|&similarity| similarity == 1.0));
        }
    }

    #[test]
    fn tiny_images_are_refused() {
        let image = gray_noise(4, 90, 1);
        assert!(matches!(Gmsd::DEFAULT.score(&image, &image), Err(Error::TooSmall { .. })));
    }
}
