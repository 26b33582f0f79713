//! HaarPSI, Haar wavelet-based perceptual similarity index.
//!
//! **What it measures**: the similarity of fine horizontal and vertical edges, and of color,
//! weighted by the coarse edges.
//!
//! **Range and direction**: 0 to 1 (identical); higher is better.
//!
//! **Reference**: Reisenhofer, Bosse, Kutyniok, Wiegand, Signal Processing: Image Communication
//! 61, 2018, in the form of `piq` 0.8: zeros beyond the border; gray pairs are compared without
//! the color term.
//!
//! **Deviations**: none above 1e-7 from `piq` in double precision on the calibration pairs. A pair
//! of black images, for which `piq` returns infinity, scores 1.

mod rows;

use rows::{add_chroma_loss, add_haar_loss, haar_weights, local_similarity, pool_row, sum_squares, weigh};

use crate::metric::full_reference;
use crate::ops::block_sum::{sample_scale, sum_quads};
use crate::ops::rolling::{Rolling, map_strips};
use crate::ops::sum;
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// HaarPSI with the authors' parameters.
#[derive(Debug, Clone, Copy)]
pub struct HaarPsi {
    /// Keeps the similarity of small coefficients stable, on the scale 0..=255 (C).
    pub stability: f64,
    /// Slope of the logistic function that is applied to similarities before they are averaged
    /// (alpha).
    pub slope: f64,
}

/// YIQ weights as integers, so that sums of 8-bit samples are exact: Y in thousandths, I and Q in
/// ten-thousandths.
const LUMA: [f32; 3] = [299.0, 587.0, 114.0];
const LUMA_SCALE: f64 = 1e3;
const CHROMA: [[f32; 3]; 2] = [[5959.0, -2746.0, -3213.0], [2115.0, -5227.0, 3112.0]];
const CHROMA_SCALE: f64 = 1e4;
/// Pixels per sample of the halved image.
const QUAD: f64 = 4.0;
/// Rows and columns that the widest Haar filter (8x8) covers before and after its center.
const BEFORE: usize = 3;
const BEYOND: usize = 4;

static INFO: Info = Info {
    name: "HaarPSI",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (0.0, 1.0),
    unit: "",
    summary: "Similarity of fine edges and of color, weighted by coarse edges.",
    paper: "R. Reisenhofer, S. Bosse, G. Kutyniok, T. Wiegand, A Haar wavelet-based perceptual similarity index for image quality assessment, Signal Processing: Image Communication 61, 2018",
    has_map: true,
    minimum_side: 16,
};

impl HaarPsi {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self { stability: 30.0, slope: 4.2 };
}

impl Default for HaarPsi {
    fn default() -> Self {
        Self::DEFAULT
    }
}

full_reference!(HaarPsi);

impl Metric for HaarPsi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let (width, height) = (reference.width().div_ceil(2), reference.height().div_ceil(2));
        let color = reference.channels().max(distorted.channels()) > 1;
        let scale = sample_scale(reference).max(sample_scale(distorted));
        let mut map = pair.wants_map().then(|| Plane::new(width, height));
        let sums = map_strips(height, map.as_mut(), |rows, mut map| {
            let mut images = [reference, distorted].map(|image| Haar::new(image, scale, color));
            let mut local = Local::new(self, width, scale, color);
            let start = rows.start as isize;
            for y in start - BEFORE as isize..start + BEYOND as isize {
                images.iter_mut().for_each(|image| image.load(y));
            }
            let mut total = [0.0; 2];
            for (index, y) in rows.enumerate() {
                images.iter_mut().for_each(|image| image.load((y + BEYOND) as isize));
                let map = map.as_mut().map(|map| &mut map[index * width..(index + 1) * width]);
                let row = local.compare(&images, y as isize, map);
                total = [total[0] + row[0], total[1] + row[1]];
            }
            total
        });
        let [loss, weight] = sums.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
        let measurement = Measurement::new(self.pool(loss, weight));
        Ok(match map {
            Some(map) => measurement.with_map(map, 1.0, 0.0),
            None => measurement,
        })
    }
}

impl HaarPsi {
    /// The score, from the weighted sum of the losses of the logistic similarities and the sum of
    /// weights.
    fn pool(&self, loss: f64, weight: f64) -> f64 {
        if weight <= 0.0 || loss <= 0.0 {
            return 1.0;
        }
        let logistic = 1.0 / (1.0 + (-self.slope).exp()) - loss / weight;
        ((logistic / (1.0 - logistic)).ln() / self.slope).powi(2)
    }
}

/// The halved image and its sums over 2x2 and 4x4 samples. A Haar coefficient is a sum of four of
/// them.
struct Haar<'a> {
    image: &'a Image,
    color: bool,
    /// Scales the samples of both images to the same range.
    gain: f32,
    luma: Rolling<f32>,
    twos: Rolling<f32>,
    fours: Rolling<f32>,
    chroma: [Rolling<f32>; 2],
    rgb: [Vec<f32>; 3],
}

impl<'a> Haar<'a> {
    fn new(image: &'a Image, scale: f64, color: bool) -> Self {
        let width = image.width().div_ceil(2);
        let stored = || Rolling::new(BEFORE + width + BEYOND, 8);
        let chroma = || Rolling::new(width + 1, 8);
        let channel = || vec![0.0; width];
        Self {
            image,
            gain: (scale / sample_scale(image)) as f32,
            color,
            luma: stored(),
            twos: stored(),
            fours: stored(),
            chroma: [chroma(), chroma()],
            rgb: [channel(), channel(), channel()],
        }
    }

    /// Loads row `y` of the halved image (zeros beyond it) and the rows of sums that it completes.
    fn load(&mut self, y: isize) {
        let width = self.rgb[0].len();
        let inside = &mut self.luma.row_mut(y)[BEFORE..BEFORE + width];
        let [first, second] = &mut self.chroma;
        let chroma = [&mut first.row_mut(y)[..width], &mut second.row_mut(y)[..width]];
        match usize::try_from(y).ok().filter(|&y| 2 * y < self.image.height()) {
            Some(row) => {
                for (channel, sums) in self.rgb.iter_mut().enumerate().take(self.image.channels()) {
                    sum_quads(self.image, channel, row, sums);
                }
                let [red, green, blue] = &self.rgb;
                let rgb = if self.image.channels() == 1 { [red, red, red] } else { [red, green, blue] };
                weigh(rgb, LUMA.map(|weight| self.gain * weight), inside);
                if self.color {
                    for (weights, out) in CHROMA.iter().zip(chroma) {
                        weigh(rgb, weights.map(|weight| self.gain * weight), out);
                    }
                }
            }
            None => {
                inside.fill(0.0);
                chroma.into_iter().for_each(|row| row.fill(0.0));
            }
        }
        sum_squares([self.luma.row(y - 1), self.luma.row(y)], 1, self.twos.row_mut(y - 1));
        sum_squares([self.twos.row(y - 3), self.twos.row(y - 1)], 2, self.fours.row_mut(y - 3));
    }

    /// The two rows whose sums make up the coefficients of the filter with sides of `2 * half`
    /// samples. They start at the left end of the filter.
    fn halves(&self, half: usize, y: isize) -> [&[f32]; 2] {
        let sums = match half {
            1 => &self.luma,
            2 => &self.twos,
            _ => &self.fours,
        };
        let top = y + 1 - half as isize;
        [sums.row(top), sums.row(top + half as isize)].map(|row| &row[BEFORE + 1 - half..])
    }

    fn chroma(&self, channel: usize, y: isize) -> [&[f32]; 2] {
        [self.chroma[channel].row(y), self.chroma[channel].row(y + 1)]
    }
}

/// The intermediate results of one row of both images.
struct Local {
    color: bool,
    slope: f32,
    /// The stability constant on the scale of the samples.
    stability: f64,
    /// Twice the loss (one minus the similarity) across, down and of color.
    losses: [Vec<f32>; 3],
    weights: [Vec<f32>; 2],
    weighted: Vec<f32>,
}

impl Local {
    fn new(metric: &HaarPsi, width: usize, scale: f64, color: bool) -> Self {
        let row = || vec![0.0; width];
        Self {
            color,
            slope: metric.slope as f32,
            stability: metric.stability * scale * scale,
            losses: [row(), row(), row()],
            weights: [row(), row()],
            weighted: row(),
        }
    }

    /// Returns the weighted loss of row `y` and its weight, and writes the weighted mean of the
    /// similarities to `map`.
    fn compare(&mut self, images: &[Haar<'_>; 2], y: isize, map: Option<&mut [f32]>) -> [f64; 2] {
        let [across, down, chroma] = &mut self.losses;
        for losses in [&mut *across, &mut *down, &mut *chroma] {
            losses.fill(0.0);
        }
        for half in [1, 2] {
            let unit = LUMA_SCALE * QUAD * 2.0 * half as f64;
            let stability = (self.stability * unit * unit) as f32;
            let rows = images.each_ref().map(|image| image.halves(half, y));
            add_haar_loss(rows, half, stability, across, down);
        }
        let [weight_across, weight_down] = &mut self.weights;
        haar_weights(images.each_ref().map(|image| image.halves(4, y)), weight_across, weight_down);
        if self.color {
            let unit = CHROMA_SCALE * QUAD * QUAD;
            let stability = (self.stability * unit * unit) as f32;
            for channel in 0..2 {
                add_chroma_loss(images.each_ref().map(|image| image.chroma(channel, y)), stability, chroma);
            }
        }
        let share = if self.color { 0.5 } else { 0.0 };
        pool_row([across, down, chroma], [weight_across, weight_down], self.slope, share, &mut self.weighted);
        if let Some(map) = map {
            local_similarity([across, down, chroma], [weight_across, weight_down], share, map);
        }
        let weight = sum::sum(weight_across) + sum::sum(weight_down);
        [sum::sum(&self.weighted), weight * f64::from(1.0 + share)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::testing::{assert_official, assert_values_of_crops, color_noise, gray_noise};

    /// Values of `piq.haarpsi` 0.8 on double tensors.
    #[test]
    fn equal_to_piq() {
        let expected = [0.333202982070, 0.427980836105, 0.833890531198, 0.710304565349, 0.445956814817];
        assert_official(&HaarPsi::DEFAULT, expected, [1e-7; 5]);
    }

    /// The same on crops, most of them of odd sizes.
    #[test]
    fn equal_to_piq_at_odd_sizes() {
        let expected = [
            [0.410797108533, 0.339583214054, 0.329970016414],
            [0.351849120276, 0.479899030991, 0.547772540281],
            [0.816516794376, 0.833546991311, 0.815141781118],
            [1.0, 0.675154513551, 0.806355548712],
            [0.560770493594, 0.462635815526, 0.471167677712],
        ];
        assert_values_of_crops(&HaarPsi::DEFAULT, expected, 1e-7);
    }

    #[test]
    fn identical_and_flat_images_are_perfect() {
        let noise = color_noise(33, 150, 1);
        let flat = Image::from_gray8(19, 19, vec![0; 361]).unwrap();
        for image in [noise, flat] {
            let measurement = HaarPsi::DEFAULT.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
            assert_eq!(measurement.score, 1.0);
            assert!(measurement.map.unwrap().plane.data().iter().all(|&similarity| similarity == 1.0));
        }
    }

    #[test]
    fn depth_does_not_matter() {
        let pixels = |seed: u32| (0..90u32 * 70).map(|i| (i.wrapping_mul(i ^ seed) >> 3) as u8).collect::<Vec<_>>();
        let wide = |seed: u32| pixels(seed).iter().map(|&v| u16::from(v) * 257).collect::<Vec<_>>();
        let eight = Image::from_rgb8(30, 70, pixels(77)).unwrap();
        let reference = [Image::from_rgb8(30, 70, pixels(9)).unwrap(), Image::from_rgb16(30, 70, wide(9)).unwrap()];
        let [narrow, wide] = reference.map(|reference| HaarPsi::DEFAULT.score(&reference, &eight).unwrap());
        assert!(narrow < 0.9 && (narrow - wide).abs() < 1e-6);
    }

    #[test]
    fn tiny_images_are_refused() {
        let image = gray_noise(15, 90, 1);
        assert!(matches!(HaarPsi::DEFAULT.score(&image, &image), Err(Error::TooSmall { .. })));
    }
}
