//! Interleaved samples between the decoder and the [`Image`]. Alpha, CMYK and orientation are
//! handled here, in place where possible, so that a large photo is never in memory more than
//! twice.

use agenticiqa_metrics::{Error as MetricError, Image};
use image::metadata::Orientation;
use rayon::prelude::*;

use crate::Result;

/// The channels of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Gray,
    GrayAlpha,
    Rgb,
    Rgba,
    /// Amounts of ink; 0 is none.
    Cmyk,
}

impl Layout {
    /// Samples per pixel.
    pub fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba | Self::Cmyk => 4,
        }
    }
}

/// Interleaved samples with 8 or 16 bits.
#[derive(Debug)]
pub enum Interleaved {
    /// 8 bits per sample.
    Eight(Vec<u8>),
    /// 16 bits per sample, full range.
    Sixteen(Vec<u16>),
}

pub(crate) use Interleaved as Samples;

/// A decoded image as stored in its file.
#[derive(Debug)]
pub(crate) struct Raster {
    pub width: usize,
    pub height: usize,
    pub layout: Layout,
    pub samples: Samples,
}

/// Calls a function on the sample vector of either depth.
macro_rules! on_samples {
    ($samples:expr, $data:ident => $body:expr) => {
        match $samples {
            Samples::Eight($data) => $body,
            Samples::Sixteen($data) => $body,
        }
    };
}

impl Raster {
    /// Composites on white in sRGB code values and drops the alpha channel. Returns whether any
    /// pixel was transparent.
    pub fn flatten(&mut self) -> bool {
        let (channels, flat) = match self.layout {
            Layout::GrayAlpha => (2, Layout::Gray),
            Layout::Rgba => (4, Layout::Rgb),
            _ => return false,
        };
        self.layout = flat;
        on_samples!(&mut self.samples, data => flatten(data, channels))
    }

    /// Converts amounts of ink to RGB without a profile: every ink absorbs its share of the light.
    pub fn inks_to_rgb(&mut self) {
        if self.layout == Layout::Cmyk {
            self.layout = Layout::Rgb;
            on_samples!(&mut self.samples, data => inks_to_rgb(data));
        }
    }

    /// Rotates and mirrors the image according to `orientation`.
    pub fn orient(&mut self, orientation: Orientation) {
        let turn = Turn::new(orientation, self.width, self.height);
        on_samples!(&mut self.samples, data => match (self.layout.channels(), orientation) {
            (_, Orientation::NoTransforms) => {}
            (1, _) => *data = turn.apply::<_, 1>(data),
            (2, _) => *data = turn.apply::<_, 2>(data),
            (3, _) => *data = turn.apply::<_, 3>(data),
            _ => *data = turn.apply::<_, 4>(data),
        });
        (self.width, self.height) = (turn.width, turn.height);
    }

    /// Crops to the rectangle at `left` and `top`, which must be inside.
    #[cfg(feature = "avif")]
    pub fn crop(&mut self, left: usize, top: usize, width: usize, height: usize) {
        let (stride, channels) = (self.width * self.layout.channels(), self.layout.channels());
        on_samples!(&mut self.samples, data => {
            for row in 0..height {
                let start = (top + row) * stride + left * channels;
                data.copy_within(start..start + width * channels, row * width * channels);
            }
            data.truncate(width * height * channels);
            data.shrink_to_fit();
        });
        (self.width, self.height) = (width, height);
    }

    /// Converts to an image. Alpha and CMYK must already be converted.
    pub fn into_image(self) -> Result<Image> {
        let (width, height) = (self.width, self.height);
        Ok(match (self.layout, self.samples) {
            (Layout::Gray, Samples::Eight(data)) => Image::from_gray8(width, height, data)?,
            (Layout::Gray, Samples::Sixteen(data)) => Image::from_gray16(width, height, data)?,
            (_, Samples::Eight(data)) => Image::from_rgb8(width, height, data)?,
            (_, Samples::Sixteen(data)) => Image::from_rgb16(width, height, data)?,
        })
    }
}

/// Creates an image from interleaved samples in memory, with 1 (gray), 2 (gray and alpha), 3 (RGB)
/// or 4 (RGB and alpha) channels.
///
/// Transparent pixels are composited on white, as for files. Also returns whether there were any.
pub fn composited(width: usize, height: usize, channels: usize, samples: Interleaved) -> Result<(Image, bool)> {
    let given = on_samples!(&samples, data => data.len());
    let expected = width.saturating_mul(height).saturating_mul(channels);
    let layout = match channels {
        1 => Layout::Gray,
        2 => Layout::GrayAlpha,
        3 => Layout::Rgb,
        4 => Layout::Rgba,
        _ => return Err(MetricError::BufferSize { width, height, channels, expected, actual: given }.into()),
    };
    if given != expected {
        return Err(MetricError::BufferSize { width, height, channels, expected, actual: given }.into());
    }
    let mut raster = Raster { width, height, layout, samples };
    let transparent = raster.flatten();
    Ok((raster.into_image()?, transparent))
}

/// A sample of 8 or 16 bits.
pub(crate) trait Sample: Copy + Default + PartialEq + Send + Sync {
    /// The value of white and of full opacity.
    const WHITE: u32;
    fn wide(self) -> u32;
    fn narrow(value: u32) -> Self;
}

impl Sample for u8 {
    const WHITE: u32 = 0xff;
    fn wide(self) -> u32 {
        u32::from(self)
    }
    fn narrow(value: u32) -> Self {
        value as Self
    }
}

impl Sample for u16 {
    const WHITE: u32 = 0xffff;
    fn wide(self) -> u32 {
        u32::from(self)
    }
    fn narrow(value: u32) -> Self {
        value as Self
    }
}

/// `a * b / WHITE`, rounded. The product fits into 32 bits for 16-bit samples too.
fn share<S: Sample>(a: u32, b: u32) -> u32 {
    (a * b + S::WHITE / 2) / S::WHITE
}

fn flatten<S: Sample>(data: &mut Vec<S>, channels: usize) -> bool {
    let colors = channels - 1;
    let opaque = S::narrow(S::WHITE);
    let transparent = data
        .par_chunks(channels << 16)
        .any(|part| part.chunks_exact(channels).fold(false, |any, pixel| any | (pixel[colors] != opaque)));
    if transparent {
        data.par_chunks_mut(channels << 16).for_each(|part| {
            for pixel in part.chunks_exact_mut(channels) {
                let alpha = pixel[colors].wide();
                for value in &mut pixel[..colors] {
                    // A single rounding for the sum of both shares.
                    let sum = value.wide() * alpha + S::WHITE * (S::WHITE - alpha) + S::WHITE / 2;
                    *value = S::narrow(sum / S::WHITE);
                }
            }
        });
    }
    drop_last_channel(data, channels);
    transparent
}

fn inks_to_rgb<S: Sample>(data: &mut Vec<S>) {
    data.par_chunks_mut(4 << 16).for_each(|part| {
        for pixel in part.chunks_exact_mut(4) {
            let light = S::WHITE - pixel[3].wide();
            for ink in &mut pixel[..3] {
                *ink = S::narrow(share::<S>(S::WHITE - ink.wide(), light));
            }
        }
    });
    drop_last_channel(data, 4);
}

/// Moves pixels together so that their last channel is dropped, without another buffer.
fn drop_last_channel<S: Sample>(data: &mut Vec<S>, channels: usize) {
    let pixels = data.len() / channels;
    let kept = channels - 1;
    for pixel in 1..pixels {
        data.copy_within(pixel * channels..pixel * channels + kept, pixel * kept);
    }
    data.truncate(pixels * kept);
    data.shrink_to_fit();
}

/// The mapping of pixels when an image is rotated or mirrored.
struct Turn {
    /// Width after the turn.
    width: usize,
    /// Height after the turn.
    height: usize,
    /// Index of the source pixel for the first output pixel.
    start: isize,
    /// Steps of the source index for one pixel to the right and for one row down.
    right: isize,
    down: isize,
}

impl Turn {
    fn new(orientation: Orientation, width: usize, height: usize) -> Self {
        let (w, h) = (width as isize, height as isize);
        let last = w * h - 1;
        let (swapped, start, right, down) = match orientation {
            Orientation::NoTransforms => (false, 0, 1, w),
            Orientation::FlipHorizontal => (false, w - 1, -1, w),
            Orientation::Rotate180 => (false, last, -1, -w),
            Orientation::FlipVertical => (false, last + 1 - w, 1, -w),
            Orientation::Rotate90FlipH => (true, 0, w, 1),
            Orientation::Rotate90 => (true, last + 1 - w, -w, 1),
            Orientation::Rotate270FlipH => (true, last, -w, -1),
            Orientation::Rotate270 => (true, w - 1, w, -1),
        };
        let (width, height) = if swapped { (height, width) } else { (width, height) };
        Self { width, height, start, right, down }
    }

    /// Returns the rotated pixels. Square tiles keep both the source rows and the output rows in
    /// the cache.
    fn apply<S: Sample, const CHANNELS: usize>(&self, data: &[S]) -> Vec<S> {
        const TILE: usize = 32;
        let source = data.as_chunks::<CHANNELS>().0;
        let mut turned = vec![S::default(); data.len()];
        let band = self.width * CHANNELS * TILE;
        turned.par_chunks_mut(band.max(1)).enumerate().for_each(|(index, rows)| {
            for left in (0..self.width).step_by(TILE) {
                let right = (left + TILE).min(self.width);
                for (y, row) in rows.as_chunks_mut::<CHANNELS>().0.chunks_mut(self.width).enumerate() {
                    let first = self.start + (index * TILE + y) as isize * self.down;
                    for (x, pixel) in row[left..right].iter_mut().enumerate() {
                        let at = first + (left + x) as isize * self.right;
                        if let Some(found) = source.get(at as usize) {
                            *pixel = *found;
                        }
                    }
                }
            }
        });
        turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gray(width: usize, height: usize, data: &[u8]) -> Raster {
        Raster { width, height, layout: Layout::Gray, samples: Samples::Eight(data.to_vec()) }
    }

    fn eight(raster: &Raster) -> &[u8] {
        match &raster.samples {
            Samples::Eight(data) => data,
            Samples::Sixteen(_) => panic!("8 bits expected"),
        }
    }

    #[test]
    fn all_eight_orientations_match_the_exif_definition() {
        // The image "abc / def", and the result for each value of the tag.
        let expected: [(u8, usize, &[u8; 6]); 8] = [
            (1, 3, b"abcdef"),
            (2, 3, b"cbafed"),
            (3, 3, b"fedcba"),
            (4, 3, b"defabc"),
            (5, 2, b"adbecf"),
            (6, 2, b"daebfc"),
            (7, 2, b"fcebda"),
            (8, 2, b"cfbead"),
        ];
        for (tag, width, pixels) in expected {
            let mut raster = gray(3, 2, b"abcdef");
            raster.orient(Orientation::from_exif(tag).unwrap());
            assert_eq!((raster.width, raster.height), (width, 6 / width), "tag {tag}");
            assert_eq!(eight(&raster), pixels, "tag {tag}");
        }
    }

    #[test]
    fn turning_a_picture_of_many_tiles_moves_whole_pixels() {
        let (width, height) = (75, 131);
        let data: Vec<u16> = (0..width * height).flat_map(|i| [i as u16, (i * 7) as u16, (i * 13) as u16]).collect();
        let samples = Samples::Sixteen(data.clone());
        let mut raster = Raster { width, height, layout: Layout::Rgb, samples };
        raster.orient(Orientation::Rotate90);
        let Samples::Sixteen(turned) = &raster.samples else { panic!("16 bits expected") };
        for (y, x) in (0..raster.height).flat_map(|y| (0..131).map(move |x| (y, x))) {
            let from = ((height - 1 - x) * width + y) * 3;
            assert_eq!(turned[(y * 131 + x) * 3..][..3], data[from..][..3]);
        }
        raster.orient(Orientation::Rotate270);
        let Samples::Sixteen(back) = &raster.samples else { panic!("16 bits expected") };
        assert_eq!(*back, data);
    }

    #[test]
    fn a_crop_keeps_its_rectangle() {
        let mut raster = gray(4, 3, b"abcdefghijkl");
        raster.crop(1, 1, 2, 2);
        assert_eq!((raster.width, raster.height, eight(&raster)), (2, 2, &b"fgjk"[..]));
    }

    #[test]
    fn transparent_pixels_show_white() {
        let data = vec![10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 255, 128];
        let mut raster = Raster { width: 3, height: 1, layout: Layout::Rgba, samples: Samples::Eight(data) };
        assert!(raster.flatten());
        assert_eq!(eight(&raster), [10, 20, 30, 255, 255, 255, 127, 177, 255]);

        let data = vec![1000, 65535, 1000, 0, 0, 32768];
        let mut raster = Raster { width: 3, height: 1, layout: Layout::GrayAlpha, samples: Samples::Sixteen(data) };
        assert!(raster.flatten());
        assert!(matches!(&raster.samples, Samples::Sixteen(data) if *data == [1000, 65535, 32767]));
    }

    #[test]
    fn an_opaque_alpha_channel_leaves_no_trace() {
        let data = vec![1, 2, 3, 255, 4, 5, 6, 255];
        let mut raster = Raster { width: 2, height: 1, layout: Layout::Rgba, samples: Samples::Eight(data) };
        assert!(!raster.flatten());
        assert_eq!(eight(&raster), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn inks_take_light_away() {
        let data = vec![0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 128, 64, 0, 51];
        let mut raster = Raster { width: 4, height: 1, layout: Layout::Cmyk, samples: Samples::Eight(data) };
        raster.inks_to_rgb();
        assert_eq!(eight(&raster), [255, 255, 255, 0, 255, 255, 0, 0, 0, 102, 153, 204]);
    }
}
