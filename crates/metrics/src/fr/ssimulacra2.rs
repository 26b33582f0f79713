//! SSIMULACRA2, structural similarity at six scales in a perceptual color space.
//!
//! **What it measures**: damage as people see it in compressed photographs: structure, ringing and
//! lost detail in XYB.
//!
//! **Range and direction**: 100 (identical) downwards without a limit; higher is better. 90 is as
//! good as lossless, 70 high, 50 medium, 30 low quality.
//!
//! **Reference**: J. Sneyers, Cloudinary, SSIMULACRA 2 (version 2.1), 2023; through the crate
//! `fast-ssim2` (BSD-2-Clause). 16-bit samples keep their precision.
//!
//! **Deviations**: those of the crate: 0.02 on a gradient, while flat against flat differs by up
//! to 10 between builds of the authors' own program. Images above 12 megapixels are scored in
//! strips to bound the memory, which changes the score by up to 0.03. Their map is also computed
//! in strips, in two passes, so it takes longer than the score. The map distributes the weighted
//! errors of all scales to the pixels they belong to.

use std::ops::Range;

use fast_ssim2::{
    PixelDescriptor, PixelSlice, Ssimulacra2Config, Ssimulacra2Error, Ssimulacra2Maps, StripConfig,
    compute_ssimulacra2_maps, compute_ssimulacra2_with_config,
};

use super::ssimulacra2_map;
use crate::metric::full_reference;
use crate::{Direction, Error, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result, Samples};

/// Local error at which a location is displayed as fully damaged: the mean over an image that
/// scores about 30.
const WORST: f32 = 10.0;

/// Images up to this number of pixels are measured in one piece.
const WHOLE_PIXELS: usize = 12 << 20;
/// Rows per strip for larger images, and rows above and below that affect it: five samples of the
/// coarsest scale.
const STRIP_ROWS: usize = 512;
const HALO_ROWS: usize = 192;

/// SSIMULACRA 2.1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ssimulacra2;

static INFO: Info = Info {
    name: "SSIMULACRA2",
    kind: Kind::FullReference,
    direction: Direction::HigherIsBetter,
    range: (f64::NEG_INFINITY, 100.0),
    unit: "",
    summary: "Visible structural damage, ringing and lost detail at six scales, fitted to ratings of compressed photographs.",
    paper: "J. Sneyers, SSIMULACRA 2, https://github.com/cloudinary/ssimulacra2, 2023",
    has_map: true,
    minimum_side: 8,
};

impl Ssimulacra2 {
    /// The authors' weights.
    pub const DEFAULT: Self = Self;
}

full_reference!(Ssimulacra2);

impl Metric for Ssimulacra2 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let (reference, distorted) = pair.both(&INFO)?;
        let in_strips = reference.width() * reference.height() > WHOLE_PIXELS;
        if in_strips || !pair.wants_map() {
            let measurement = Measurement::new(measure_score(reference, distorted, in_strips)?);
            if !pair.wants_map() {
                return Ok(measurement);
            }
            let rows = ssimulacra2_map::strip_rows(reference.width());
            return Ok(with_map(measurement, reference, map_in_strips(reference, distorted, rows)?));
        }
        let maps = errors(reference, distorted, 0, reference.height())?;
        Ok(with_map(Measurement::new(maps.score), reference, maps.diffmap()))
    }
}

fn with_map(measurement: Measurement, image: &Image, map: Vec<f32>) -> Measurement {
    match Plane::from_vec(image.width(), image.height(), map) {
        Some(map) => measurement.with_map(map, 0.0, WORST),
        None => measurement,
    }
}

fn map_in_strips(reference: &Image, distorted: &Image, rows: usize) -> Result<Vec<f32>> {
    let errors = |first, last| Ok(errors(reference, distorted, first, last)?.scales);
    ssimulacra2_map::map(reference.width(), reference.height(), rows, errors)
}

/// The local errors of the rows `first..last`.
fn errors(reference: &Image, distorted: &Image, first: usize, last: usize) -> Result<Ssimulacra2Maps> {
    let (reference, distorted) = (Pixels::rows(reference, first, last), Pixels::rows(distorted, first, last));
    compute_ssimulacra2_maps(&reference.view()?, &distorted.view()?).map_err(undefined)
}

fn measure_score(reference: &Image, distorted: &Image, in_strips: bool) -> Result<f64> {
    let [reference, distorted] = [reference, distorted].map(|image| Pixels::rows(image, 0, image.height()));
    score(&reference.view()?, &distorted.view()?, in_strips)
}

fn score(reference: &PixelSlice<'_>, distorted: &PixelSlice<'_>, in_strips: bool) -> Result<f64> {
    let whole = Ssimulacra2Config::default();
    let config =
        if in_strips { whole.with_strip(StripConfig::new(STRIP_ROWS).with_halo_rows(HALO_ROWS)) } else { whole };
    compute_ssimulacra2_with_config(reference, distorted, &config).map_err(undefined)
}

fn undefined(error: Ssimulacra2Error) -> Error {
    let reason = match error {
        Ssimulacra2Error::ImageTooLarge { .. } => "it has more than 268 megapixels",
        _ => "the comparison failed",
    };
    Error::Undefined { metric: INFO.name, reason }
}

/// Interleaved samples, as the crate reads them.
struct Pixels {
    width: usize,
    height: usize,
    channels: usize,
    samples: Samples,
}

impl Pixels {
    /// The rows `first..last`.
    fn rows(image: &Image, first: usize, last: usize) -> Self {
        let (width, channels) = (image.width(), image.channels());
        let (size, rows) = (width * image.height(), first * width..last * width);
        let samples = match image.samples() {
            Samples::Eight(planes) => Samples::Eight(interleave(planes, size, rows)),
            Samples::Sixteen(planes) => Samples::Sixteen(interleave(planes, size, rows)),
        };
        Self { width, height: last - first, channels, samples }
    }

    fn view(&self) -> Result<PixelSlice<'_>> {
        let (bytes, descriptor, depth) = match (&self.samples, self.channels) {
            (Samples::Eight(samples), 1) => (samples.as_slice(), PixelDescriptor::GRAY8_SRGB, 1),
            (Samples::Eight(samples), _) => (samples.as_slice(), PixelDescriptor::RGB8_SRGB, 1),
            (Samples::Sixteen(samples), 1) => (bytemuck::cast_slice(samples), PixelDescriptor::GRAY16_SRGB, 2),
            (Samples::Sixteen(samples), _) => (bytemuck::cast_slice(samples), PixelDescriptor::RGB16_SRGB, 2),
        };
        let too_large = Error::Undefined { metric: INFO.name, reason: "it has more than 268 megapixels" };
        let (Ok(width), Ok(height)) = (u32::try_from(self.width), u32::try_from(self.height)) else {
            return Err(too_large);
        };
        let stride = self.width * self.channels * depth;
        PixelSlice::new(bytes, width, height, stride, descriptor).map_err(|_| too_large)
    }
}

/// Interleaves this range of pixels from planes of `size` samples each.
fn interleave<T: Copy>(planes: &[T], size: usize, pixels: Range<usize>) -> Vec<T> {
    if planes.len() == size {
        return planes[pixels].to_vec();
    }
    let [red, green, blue] = [0, size, 2 * size].map(|start| &planes[start + pixels.start..start + pixels.end]);
    let mut interleaved = Vec::with_capacity(3 * pixels.len());
    for ((&red, &green), &blue) in red.iter().zip(green).zip(blue) {
        interleaved.extend([red, green, blue]);
    }
    interleaved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::color_noise;

    #[test]
    fn value_of_the_authors_program() {
        // A horizontal gradient against gray 128: value of the C++ program ssimulacra2, recorded in
        // the crate fast-ssim2 0.9.1.
        let gradient = |x: usize| (x * 255 / 63) as u8;
        let gradient = (0..64).flat_map(|_| (0..64).flat_map(|x| [gradient(x); 3])).collect();
        let reference = Image::from_rgb8(64, 64, gradient).unwrap();
        let distorted = Image::from_rgb8(64, 64, vec![128; 64 * 64 * 3]).unwrap();
        let score = Ssimulacra2.score(&reference, &distorted).unwrap();
        assert!((score - -64.568_721_48).abs() < 0.02, "{score}");
    }

    #[test]
    fn gray_and_sixteen_bits_score_as_the_same_picture() {
        let samples: Vec<u8> = (0..40 * 30).map(|i| (i * 7 % 251) as u8).collect();
        let damaged: Vec<u8> = samples.iter().map(|&v| v / 40 * 40).collect();
        let rgb = |samples: &[u8]| Image::from_rgb8(40, 30, samples.iter().flat_map(|&v| [v; 3]).collect()).unwrap();
        let gray = |samples: &[u8]| Image::from_gray8(40, 30, samples.to_vec()).unwrap();
        let deep =
            |samples: &[u8]| Image::from_gray16(40, 30, samples.iter().map(|&v| u16::from(v) * 257).collect()).unwrap();
        let expected = Ssimulacra2.score(&rgb(&samples), &rgb(&damaged)).unwrap();
        assert!(expected < 95.0);
        assert_eq!(Ssimulacra2.score(&gray(&samples), &gray(&damaged)).unwrap(), expected);
        assert_eq!(Ssimulacra2.score(&gray(&samples), &rgb(&damaged)).unwrap(), expected);
        let score = Ssimulacra2.score(&deep(&samples), &deep(&damaged)).unwrap();
        assert!((score - expected).abs() < 0.05, "{score} {expected}");
    }

    /// A tall image with structure, and the same image after coarse quantization.
    fn tall_pair() -> [Image; 2] {
        let pixel =
            |x: usize, y: usize| [(x * 3 + y * y / 90) % 200, (x * y / 40) % 180, (x + y) % 250].map(|v| v as u8);
        let samples: Vec<u8> = (0..1433).flat_map(|y| (0..101).flat_map(move |x| pixel(x, y))).collect();
        let damaged = samples.iter().map(|&v| v / 12 * 12).collect();
        [samples, damaged].map(|samples| Image::from_rgb8(101, 1433, samples).unwrap())
    }

    #[test]
    fn strips_score_as_the_whole() {
        let [reference, distorted] = tall_pair();
        let [whole, strips] = [false, true].map(|in_strips| measure_score(&reference, &distorted, in_strips).unwrap());
        assert!((whole - strips).abs() < 0.005, "{whole} in one piece, {strips} in strips");
    }

    #[test]
    fn the_map_of_strips_is_that_of_the_whole() {
        let [reference, distorted] = tall_pair();
        let whole = errors(&reference, &distorted, 0, reference.height()).unwrap().diffmap();
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        let difference = |map: &[f32]| -> Vec<f32> {
            assert_eq!(map.len(), whole.len());
            whole.iter().zip(map).map(|(whole, ours)| (whole - ours).abs() / whole.max(1.0)).collect()
        };
        let one_strip = difference(&map_in_strips(&reference, &distorted, reference.height()).unwrap());
        assert!(mean(&whole) > 1.0 && one_strip.iter().all(|&difference| difference < 1e-4));
        // The crate's blur is recursive: the start of a strip affects its rounding, and the
        // weights amplify that.
        let strips = mean(&difference(&map_in_strips(&reference, &distorted, 128).unwrap()));
        assert!(strips < 0.02, "mean difference {strips}");
    }

    #[test]
    fn identical_images_score_a_hundred_and_their_map_is_zero() {
        let image = color_noise(33, 17, 1);
        let measurement = Ssimulacra2.measure(&Pair::new(&image, &image).unwrap().with_map()).unwrap();
        assert_eq!(measurement.score, 100.0);
        assert!(measurement.map.unwrap().plane.data().iter().all(|&error| error == 0.0));
    }

    #[test]
    fn a_tiny_image_is_refused() {
        let image = color_noise(7, 30, 1);
        assert!(matches!(Ssimulacra2.score(&image, &image), Err(Error::TooSmall { .. })));
    }
}
