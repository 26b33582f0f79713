//! Color: colorfulness, color cast and saturation.
//!
//! **What it measures**: Colorfulness is how vivid people find the image. Color-Cast is how far
//! its grayest quarter is from gray: the mean a*, b* of the 25 % of pixels with the least chroma,
//! without pixels that are too dark or too bright to judge. Saturation is the mean of HSV
//! saturation.
//!
//! **Range and direction**: Colorfulness 0 (gray) to about 110 (extremely colorful), neither end
//! better; Color-Cast a distance in CIELAB (Delta E 1976), 0 upwards, lower is better, although a
//! sunset or a sepia print has a cast on purpose; Saturation 0 to 1, neither end better.
//!
//! **Reference**: D. Hasler, S. Suesstrunk, Measuring colorfulness in natural images, SPIE HVEI
//! 5007, 2003 (the measure M3 in RGB); the near-gray criterion after F. Gasparini, R. Schettini,
//! Color balancing of digital photos using simple image statistics, Pattern Recognition 37(6),
//! 2004; A. R. Smith, Color gamut transform pairs, 1978.
//!
//! **Deviations**: Colorfulness and Saturation none. Color-Cast finds the grayest quarter in steps
//! of 0.25 Delta E. The map of Saturation holds the saturation of each pixel.

use multiversion::multiversion;

use crate::metric::no_reference;
use crate::ops::lab::{LightTable, light_to_lab};
use crate::ops::{strips, sum};
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// Weight of the mean relative to the spread in Hasler and Suesstrunk's M3.
const MEAN_WEIGHT: f64 = 0.3;
/// Share of the pixels, those with the least chroma, that should be gray.
const GRAY_SHARE: f64 = 0.25;
/// Range of lightness in which chroma can be judged.
const JUDGED_LIGHTNESS: std::ops::Range<f32> = 10.0..95.0;
/// Chroma bins per Delta E, and their number; chroma above 128 goes into the last bin.
const BINS_PER_UNIT: f32 = 4.0;
const BINS: usize = 512;

/// Hasler and Suesstrunk's colorfulness.
#[derive(Debug, Clone, Copy, Default)]
pub struct Colorfulness;

/// Distance of the grayest quarter of the pixels from gray.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColorCast;

/// Mean HSV saturation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Saturation;

static COLORFULNESS: Info = Info {
    name: "Colorfulness",
    kind: Kind::NoReference,
    direction: Direction::Neutral,
    range: (0.0, f64::INFINITY),
    unit: "",
    summary: "How colorful the image appears: 0 not, 15 slightly, 45 averagely, 82 highly, 109 extremely.",
    paper: "D. Hasler, S. Suesstrunk, Measuring colorfulness in natural images, SPIE Human Vision and Electronic Imaging 5007, 2003",
    has_map: false,
    minimum_side: 1,
};

static CAST: Info = Info {
    name: "Color-Cast",
    direction: Direction::LowerIsBetter,
    unit: "Delta E",
    summary: "Distance of the grayest quarter of the pixels from neutral gray in CIELAB.",
    paper: "F. Gasparini, R. Schettini, Color balancing of digital photos using simple image statistics, Pattern Recognition 37(6), 2004",
    ..COLORFULNESS
};

static SATURATION: Info = Info {
    name: "Saturation",
    range: (0.0, 1.0),
    summary: "Mean saturation of the colors (HSV).",
    paper: "A. R. Smith, Color gamut transform pairs, SIGGRAPH 1978",
    has_map: true,
    ..COLORFULNESS
};

impl Colorfulness {
    /// The authors' M3.
    pub const DEFAULT: Self = Self;
}

impl ColorCast {
    /// The default: the grayest quarter.
    pub const DEFAULT: Self = Self;
}

impl Saturation {
    /// The default: HSV saturation.
    pub const DEFAULT: Self = Self;
}

no_reference!(Colorfulness);
no_reference!(ColorCast);
no_reference!(Saturation);

impl Metric for Colorfulness {
    fn info(&self) -> &'static Info {
        &COLORFULNESS
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let image = pair.single_checked(&COLORFULNESS)?;
        if image.channels() == 1 {
            return Ok(Measurement::new(0.0));
        }
        let sums = strips::map(image.height(), |rows| {
            let mut channels = Channels::new(image);
            rows.map(|y| {
                let [red, green, blue] = channels.read(image, y);
                opponents(red, green, blue);
                [sum::sum_and_squares(red), sum::sum_and_squares(green)]
            })
            .fold([(0.0, 0.0); 2], add)
        });
        let count = (image.width() * image.height()) as f64;
        let [(mean_rg, spread_rg), (mean_yb, spread_yb)] =
            sums.into_iter().fold([(0.0, 0.0); 2], add).map(|(total, squares)| {
                let mean = total / count;
                (mean, (squares / count - mean * mean).max(0.0))
            });
        let score = (spread_rg + spread_yb).sqrt() + MEAN_WEIGHT * mean_rg.hypot(mean_yb);
        Ok(Measurement::new(score))
    }
}

impl Metric for ColorCast {
    fn info(&self) -> &'static Info {
        &CAST
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let image = pair.single_checked(&CAST)?;
        if image.channels() == 1 {
            return Ok(Measurement::new(0.0));
        }
        let judged = chroma_bins(image, JUDGED_LIGHTNESS);
        let bins = if judged.iter().any(|bin| bin.count > 0.0) {
            judged
        } else {
            chroma_bins(image, f32::NEG_INFINITY..f32::INFINITY)
        };
        Ok(Measurement::new(grayest_mean(&bins)))
    }
}

impl Metric for Saturation {
    fn info(&self) -> &'static Info {
        &SATURATION
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let image = pair.single_checked(&SATURATION)?;
        let mut map = pair.wants_map().then(|| Plane::new(image.width(), image.height()));
        let saturated = |channels: &mut Channels, y: usize| {
            let [red, green, blue] = channels.read(image, y);
            saturation(red, green, blue);
            sum::sum(red)
        };
        let totals: Vec<f64> = match &mut map {
            Some(map) => strips::fill(map, |rows, out| {
                let mut channels = Channels::new(image);
                let row = |(y, out): (usize, &mut [f32])| {
                    let total = saturated(&mut channels, y);
                    out.copy_from_slice(&channels.rows[0]);
                    total
                };
                rows.zip(out.chunks_exact_mut(image.width())).map(row).sum()
            }),
            None => strips::map(image.height(), |rows| {
                let mut channels = Channels::new(image);
                rows.map(|y| saturated(&mut channels, y)).sum()
            }),
        };
        let measurement = Measurement::new(totals.iter().sum::<f64>() / (image.width() * image.height()) as f64);
        Ok(match map {
            Some(map) => measurement.with_map(map, 0.0, 1.0),
            None => measurement,
        })
    }
}

/// One row of each channel.
struct Channels {
    rows: [Vec<f32>; 3],
}

impl Channels {
    fn new(image: &Image) -> Self {
        Self { rows: [(); 3].map(|()| vec![0.0; image.width()]) }
    }

    fn read(&mut self, image: &Image, y: usize) -> &mut [Vec<f32>; 3] {
        for (channel, row) in self.rows.iter_mut().enumerate() {
            image.read_row(channel, y, row);
        }
        &mut self.rows
    }
}

/// Sum and sum of squares of two signals, added.
fn add(a: [(f64, f64); 2], b: [(f64, f64); 2]) -> [(f64, f64); 2] {
    [(a[0].0 + b[0].0, a[0].1 + b[0].1), (a[1].0 + b[1].0, a[1].1 + b[1].1)]
}

/// Writes red-green to `red` and yellow-blue to `green`.
#[multiversion(targets("x86_64+avx2"))]
fn opponents(red: &mut [f32], green: &mut [f32], blue: &[f32]) {
    for ((red, green), &blue) in red.iter_mut().zip(green).zip(blue) {
        let (r, g) = (*red, *green);
        *red = r - g;
        *green = 0.5 * (r + g) - blue;
    }
}

/// Writes the HSV saturation to `red`; black has none.
#[multiversion(targets("x86_64+avx2"))]
fn saturation(red: &mut [f32], green: &[f32], blue: &[f32]) {
    for ((red, &green), &blue) in red.iter_mut().zip(green).zip(blue) {
        let most = larger(larger(*red, green), blue);
        let least = -larger(larger(-*red, -green), -blue);
        *red = if most > 0.0 { (most - least) / most } else { 0.0 };
    }
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The pixels of one chroma bin.
#[derive(Clone, Copy, Default)]
struct Bin {
    count: f64,
    a: f64,
    b: f64,
}

/// Sums of a* and b* by chroma, over the pixels whose lightness lies in `lightness`.
fn chroma_bins(image: &Image, lightness: std::ops::Range<f32>) -> Vec<Bin> {
    let table = LightTable::new(image);
    let strips = strips::map(image.height(), |rows| {
        let mut bins = vec![Bin::default(); BINS];
        let mut channels = Channels::new(image);
        let mut indices = vec![0u32; image.width()];
        for y in rows {
            for (channel, row) in channels.rows.iter_mut().enumerate() {
                table.read_row(image, channel, y, row);
            }
            let [red, green, blue] = &mut channels.rows;
            light_to_lab(red, green, blue);
            chroma_indices(green, blue, &mut indices);
            for (((&index, &light), &a), &b) in indices.iter().zip(&*red).zip(&*green).zip(&*blue) {
                if lightness.contains(&light) {
                    let bin = &mut bins[index as usize];
                    *bin = Bin { count: bin.count + 1.0, a: bin.a + f64::from(a), b: bin.b + f64::from(b) };
                }
            }
        }
        bins
    });
    let mut total = vec![Bin::default(); BINS];
    for bins in strips {
        for (total, bin) in total.iter_mut().zip(bins) {
            *total = Bin { count: total.count + bin.count, a: total.a + bin.a, b: total.b + bin.b };
        }
    }
    total
}

#[multiversion(targets("x86_64+avx2"))]
fn chroma_indices(a: &[f32], b: &[f32], indices: &mut [u32]) {
    for ((index, &a), &b) in indices.iter_mut().zip(a).zip(b) {
        let bin = (a * a + b * b).sqrt() * BINS_PER_UNIT;
        *index = (if bin < (BINS - 1) as f32 { bin } else { (BINS - 1) as f32 }) as u32;
    }
}

/// Length of the mean (a*, b*) of the quarter with the least chroma.
fn grayest_mean(bins: &[Bin]) -> f64 {
    let wanted = GRAY_SHARE * bins.iter().map(|bin| bin.count).sum::<f64>();
    let mut taken = Bin::default();
    for bin in bins.iter().filter(|bin| bin.count > 0.0) {
        // Only a part of the last bin counts.
        let part = ((wanted - taken.count) / bin.count).clamp(0.0, 1.0);
        taken = Bin { count: taken.count + part * bin.count, a: taken.a + part * bin.a, b: taken.b + part * bin.b };
    }
    if taken.count > 0.0 { (taken.a / taken.count).hypot(taken.b / taken.count) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::color_noise;

    /// R = 11x + 3y, G = 5x + 13y + 40, B = xy + 90, each modulo 256. The NumPy values below are for
    /// the same image.
    fn pattern() -> Vec<u8> {
        let pixel = |x: usize, y: usize| [x * 11 + y * 3, x * 5 + y * 13 + 40, x * y + 90].map(|v| (v % 256) as u8);
        (0..18).flat_map(|y| (0..24).flat_map(move |x| pixel(x, y))).collect()
    }

    #[test]
    fn colorfulness_is_that_of_numpy_at_both_depths() {
        // rg = R - G; yb = (R + G) / 2 - B; sqrt(rg.var() + yb.var()) + 0.3 * hypot(rg.mean(), yb.mean())
        let eight = Image::from_rgb8(24, 18, pattern()).unwrap();
        let sixteen = Image::from_rgb16(24, 18, pattern().into_iter().map(|v| u16::from(v) * 257).collect()).unwrap();
        for image in [eight, sixteen] {
            assert!((Colorfulness.score(&image).unwrap() - 123.021_091_555_163_32).abs() < 1e-9);
        }
    }

    #[test]
    fn saturation_is_that_of_scikit_image_and_its_map_has_the_same_mean() {
        // skimage.color.rgb2hsv(image)[..., 1].mean()
        let image = Image::from_rgb8(24, 18, pattern()).unwrap();
        let measurement = Saturation.measure(&Pair::single(&image).with_map()).unwrap();
        assert!((measurement.score - 0.558_087_840_202_049_4).abs() < 1e-7);
        let map = measurement.map.unwrap().plane;
        assert!((sum::sum(map.data()) / 432.0 - measurement.score).abs() < 1e-9);
    }

    #[test]
    fn cast_is_that_of_the_grayest_quarter() {
        // skimage.color.rgb2lab with L in [10, 95): mean (a, b) of the 25 % with the least chroma,
        // by their exact quantile
        let image = Image::from_rgb8(24, 18, pattern()).unwrap();
        assert!((ColorCast.score(&image).unwrap() - 4.530_504_856).abs() < 0.05);
        // One color: rgb2lab([150, 130, 120]) = (55.893, 5.927, 8.221)
        let tinted = Image::from_rgb8(4, 3, [150, 130, 120].repeat(12)).unwrap();
        assert!((ColorCast.score(&tinted).unwrap() - 10.134_925_650).abs() < 1e-3);
    }

    #[test]
    fn black_and_white_can_still_be_judged() {
        let white = Image::from_rgb8(4, 4, vec![255; 48]).unwrap();
        assert!(ColorCast.score(&white).unwrap() < 0.01);
        assert_eq!(Saturation.score(&Image::from_rgb8(4, 4, vec![0; 48]).unwrap()).unwrap(), 0.0);
    }

    #[test]
    fn gray_has_no_color_however_it_is_stored() {
        let samples: Vec<u8> = (0..=255).collect();
        let gray = Image::from_gray8(16, 16, samples.clone()).unwrap();
        let rgb = Image::from_rgb8(16, 16, samples.into_iter().flat_map(|v| [v; 3]).collect()).unwrap();
        for image in [gray, rgb] {
            assert_eq!(Colorfulness.score(&image).unwrap(), 0.0);
            assert_eq!(Saturation.score(&image).unwrap(), 0.0);
            assert!(ColorCast.score(&image).unwrap() < 0.01);
        }
    }

    #[test]
    fn swapping_red_and_green_keeps_colorfulness() {
        let image = color_noise(31, 17, 4);
        let swap = |channel: usize| image.channel([1, 0, 2][channel]);
        let planes = [swap(0), swap(1), swap(2)];
        let pixels = (0..31 * 17).flat_map(|i| [0, 1, 2].map(|c| planes[c].data()[i] as u8)).collect();
        let swapped = Image::from_rgb8(31, 17, pixels).unwrap();
        let scores = [&image, &swapped].map(|image| Colorfulness.score(image).unwrap());
        assert!((scores[0] - scores[1]).abs() < 1e-9);
    }
}
