//! The image type that metrics read: immutable sRGB samples, stored plane by plane.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

mod convert;
mod shrink;

use convert::{add8, add16, deinterleave, rgb2gray8, rgb2gray16, weigh8, weigh16, widen8, widen16};

use crate::ops::{downsample, strips};
use crate::{Error, Plane, Result};

/// The samples of an image, one plane after the other (R, G, B; or gray alone).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// 8 bits per sample.
    Eight(Vec<u8>),
    /// 16 bits per sample, full range 0..=65535.
    Sixteen(Vec<u16>),
}

/// Facts about the file that an image was decoded from; some metrics use them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// The JPEG quality factor (1..=100) estimated from the luma quantization table.
    pub jpeg_quality: Option<f64>,
}

/// An immutable sRGB image.
///
/// Cloning is cheap: clones share the pixels and all planes derived from them.
#[derive(Clone)]
pub struct Image {
    inner: Arc<Inner>,
}

struct Inner {
    width: usize,
    height: usize,
    channels: usize,
    samples: Samples,
    source: Source,
    gray: OnceLock<Plane>,
    box_means: OnceLock<[Plane; 3]>,
    derived: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Image {
    /// Creates an image from interleaved 8-bit RGB samples.
    pub fn from_rgb8(width: usize, height: usize, interleaved: Vec<u8>) -> Result<Self> {
        Self::of_rgb8(width, height, &interleaved)
    }

    /// Creates an image from borrowed interleaved 8-bit RGB samples. They are copied once, into
    /// planes.
    pub fn of_rgb8(width: usize, height: usize, interleaved: &[u8]) -> Result<Self> {
        check_size(width, height, 3, interleaved.len())?;
        Ok(Self::from_planes(width, height, 3, Samples::Eight(deinterleave(interleaved))))
    }

    /// Creates an image from interleaved 16-bit RGB samples.
    pub fn from_rgb16(width: usize, height: usize, interleaved: Vec<u16>) -> Result<Self> {
        Self::of_rgb16(width, height, &interleaved)
    }

    /// Creates an image from borrowed interleaved 16-bit RGB samples. They are copied once, into
    /// planes.
    pub fn of_rgb16(width: usize, height: usize, interleaved: &[u16]) -> Result<Self> {
        check_size(width, height, 3, interleaved.len())?;
        Ok(Self::from_planes(width, height, 3, Samples::Sixteen(deinterleave(interleaved))))
    }

    /// Creates an RGB image from planar samples: all of R, then G, then B.
    pub fn from_planar_rgb(width: usize, height: usize, planes: Samples) -> Result<Self> {
        let given = match &planes {
            Samples::Eight(data) => data.len(),
            Samples::Sixteen(data) => data.len(),
        };
        check_size(width, height, 3, given)?;
        Ok(Self::from_planes(width, height, 3, planes))
    }

    /// Creates a gray image from 8-bit samples.
    pub fn from_gray8(width: usize, height: usize, samples: Vec<u8>) -> Result<Self> {
        check_size(width, height, 1, samples.len())?;
        Ok(Self::from_planes(width, height, 1, Samples::Eight(samples)))
    }

    /// Creates a gray image from 16-bit samples.
    pub fn from_gray16(width: usize, height: usize, samples: Vec<u16>) -> Result<Self> {
        check_size(width, height, 1, samples.len())?;
        Ok(Self::from_planes(width, height, 1, Samples::Sixteen(samples)))
    }

    fn from_planes(width: usize, height: usize, channels: usize, samples: Samples) -> Self {
        Self::new(width, height, channels, samples, Source::default())
    }

    fn new(width: usize, height: usize, channels: usize, samples: Samples, source: Source) -> Self {
        let (gray, box_means, derived) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        Self { inner: Arc::new(Inner { width, height, channels, samples, source, gray, box_means, derived }) }
    }

    /// Returns the same pixels with facts about their file attached.
    pub fn with_source(self, source: Source) -> Self {
        let (width, height, channels) = (self.width(), self.height(), self.channels());
        let samples = match Arc::try_unwrap(self.inner) {
            Ok(inner) => inner.samples,
            Err(shared) => shared.samples.clone(),
        };
        Self::new(width, height, channels, samples, source)
    }

    /// Width in pixels.
    pub fn width(&self) -> usize {
        self.inner.width
    }

    /// Height in pixels.
    pub fn height(&self) -> usize {
        self.inner.height
    }

    /// Number of channels: 1 for gray, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.inner.channels
    }

    /// Bits per sample: 8 or 16.
    pub fn bit_depth(&self) -> u8 {
        match self.inner.samples {
            Samples::Eight(_) => 8,
            Samples::Sixteen(_) => 16,
        }
    }

    /// The samples, plane by plane.
    pub fn samples(&self) -> &Samples {
        &self.inner.samples
    }

    /// Facts about the file that the image was decoded from.
    pub fn source(&self) -> &Source {
        &self.inner.source
    }

    /// Writes row `y` of a channel to `row`, on the scale 0..=255 for every bit depth.
    ///
    /// Channels are 0 (R), 1 (G) and 2 (B). A gray image has the same samples in all three.
    pub fn read_row(&self, channel: usize, y: usize, row: &mut [f32]) {
        let span = self.row_span(channel, y);
        match self.samples() {
            Samples::Eight(data) => widen8(&data[span], row),
            Samples::Sixteen(data) => widen16(&data[span], row),
        }
    }

    /// Adds row `y` of a channel times `weight` to `sums`. The samples are those of
    /// [`read_row`](Self::read_row).
    pub fn add_row(&self, channel: usize, y: usize, weight: f32, sums: &mut [f32]) {
        let span = self.row_span(channel, y);
        match self.samples() {
            Samples::Eight(data) => add8(weight, &data[span], sums),
            Samples::Sixteen(data) => add16(weight, &data[span], sums),
        }
    }

    /// The range of row `y` of a channel within the samples. A gray image uses one channel for
    /// all.
    fn row_span(&self, channel: usize, y: usize) -> Range<usize> {
        let plane = if self.channels() == 1 { 0 } else { channel };
        let start = (plane * self.height() + y) * self.width();
        start..start + self.width()
    }

    /// Returns a channel as a plane on the scale 0..=255.
    pub fn channel(&self, channel: usize) -> Plane {
        let mut plane = Plane::new(self.width(), self.height());
        strips::for_each_row(&mut plane, |y, row| self.read_row(channel, y, row));
        plane
    }

    /// Luma as MATLAB's `rgb2gray` computes it, on the scale 0..=255.
    ///
    /// The BT.601 weights are used, and the result is rounded to whole code values of this bit
    /// depth. The plane is computed once and shared by all metrics.
    pub fn gray(&self) -> &Plane {
        made_once(&self.inner.gray, || {
            let mut gray = Plane::new(self.width(), self.height());
            strips::for_each_row(&mut gray, |y, row| self.compute_gray(y, 0..self.width(), row));
            gray
        })
    }

    /// R, G and B averaged over boxes, so that the shorter side has about 256 samples.
    ///
    /// FSIM and VSI downsample images this way. The planes are computed once and shared.
    pub fn box_means(&self) -> &[Plane; 3] {
        let factor = downsample::factor(self.width(), self.height());
        made_once(&self.inner.box_means, || downsample::box_means(self, factor))
    }

    /// Returns a value that callers derive from the image. There is one value per type; it is
    /// computed once and kept as long as the image.
    ///
    /// ```
    /// # use agenticiqa_pixels::Image;
    /// struct Darkest(u8);
    /// let image = Image::from_gray8(2, 1, vec![7, 9])?;
    /// assert_eq!(image.derived(|| Darkest(7)).0, 7);
    /// assert_eq!(image.clone().derived(|| Darkest(0)).0, 7);
    /// # Ok::<(), agenticiqa_pixels::Error>(())
    /// ```
    pub fn derived<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let derived = || self.inner.derived.lock().unwrap_or_else(PoisonError::into_inner);
        let found = |known: &HashMap<TypeId, Arc<dyn Any + Send + Sync>>| {
            known.get(&TypeId::of::<T>()).and_then(|value| Arc::clone(value).downcast().ok())
        };
        if let Some(value) = found(&derived()) {
            return value;
        }
        // Computed without holding the lock, for the same reason as in `made_once`.
        let made = Arc::new(make());
        let mut known = derived();
        found(&known).unwrap_or_else(|| {
            known.insert(TypeId::of::<T>(), Arc::clone(&made) as _);
            made
        })
    }

    /// Writes the given columns of row `y` of [`gray`](Self::gray) to `row`.
    ///
    /// Unlike `gray`, this never computes or stores the whole plane. For a metric that reads the
    /// image once, computing luma again is cheaper than allocating a plane.
    pub fn read_gray(&self, y: usize, columns: Range<usize>, row: &mut [f32]) {
        match self.inner.gray.get() {
            Some(gray) => row.copy_from_slice(&gray.row(y)[columns]),
            None => self.compute_gray(y, columns, row),
        }
    }

    /// Row `y` of [`gray`](Self::gray).
    ///
    /// The row comes from the shared plane if it exists. Otherwise it is computed into `buffer`,
    /// which must be as wide as the image.
    pub fn gray_row<'a>(&'a self, y: usize, buffer: &'a mut [f32]) -> &'a [f32] {
        match self.inner.gray.get() {
            Some(gray) => gray.row(y),
            None => {
                self.compute_gray(y, 0..self.width(), buffer);
                buffer
            }
        }
    }

    fn compute_gray(&self, y: usize, columns: Range<usize>, row: &mut [f32]) {
        match self.samples() {
            Samples::Eight(data) if self.channels() == 1 => widen8(self.part(data, 0, y, columns), row),
            Samples::Sixteen(data) if self.channels() == 1 => widen16(self.part(data, 0, y, columns), row),
            Samples::Eight(data) => rgb2gray8(self.parts(data, y, columns), row),
            Samples::Sixteen(data) => rgb2gray16(self.parts(data, y, columns), row),
        }
    }

    /// The given columns of row `y` of one channel.
    fn part<'a, T>(&self, data: &'a [T], channel: usize, y: usize, columns: Range<usize>) -> &'a [T] {
        let start = (channel * self.height() + y) * self.width();
        &data[start + columns.start..start + columns.end]
    }

    /// The given columns of row `y` of R, G and B.
    fn parts<'a, T>(&self, data: &'a [T], y: usize, columns: Range<usize>) -> [&'a [T]; 3] {
        [0, 1, 2].map(|channel| self.part(data, channel, y, columns.clone()))
    }

    /// Writes `weights . (R, G, B)` of row `y` to `row`, unrounded, on the scale 0..=255.
    pub fn read_weighted_row(&self, weights: [f32; 3], y: usize, row: &mut [f32]) {
        if self.channels() == 1 {
            self.read_row(0, y, row);
            let sum: f32 = weights.iter().sum();
            row.iter_mut().for_each(|v| *v *= sum);
            return;
        }
        match self.samples() {
            Samples::Eight(data) => weigh8(weights, self.parts(data, y, 0..self.width()), row),
            Samples::Sixteen(data) => weigh16(weights, self.parts(data, y, 0..self.width()), row),
        }
    }

    /// Returns the part of the image inside `region` as a new image.
    pub fn crop(&self, region: &Region) -> Result<Self> {
        let (width, height) = (self.width(), self.height());
        let right = region.x.checked_add(region.width).filter(|&right| right <= width);
        let bottom = region.y.checked_add(region.height).filter(|&bottom| bottom <= height);
        if right.is_none() || bottom.is_none() {
            return Err(Error::RegionOutOfBounds { region: *region, width, height });
        }
        if region.width == 0 || region.height == 0 {
            return Err(Error::Empty { width: region.width, height: region.height });
        }
        let samples = match self.samples() {
            Samples::Eight(data) => Samples::Eight(self.crop_planes(data, region)),
            Samples::Sixteen(data) => Samples::Sixteen(self.crop_planes(data, region)),
        };
        let cropped = Self::from_planes(region.width, region.height, self.channels(), samples);
        Ok(cropped.with_source(self.source().clone()))
    }

    fn crop_planes<T: Copy>(&self, data: &[T], region: &Region) -> Vec<T> {
        let mut cropped = Vec::with_capacity(self.channels() * region.width * region.height);
        for plane in data.chunks_exact(self.width() * self.height()) {
            for row in plane.chunks_exact(self.width()).skip(region.y).take(region.height) {
                cropped.extend_from_slice(&row[region.x..region.x + region.width]);
            }
        }
        cropped
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (self.width(), self.height());
        write!(f, "Image({width}x{height}, {} channels, {} bits)", self.channels(), self.bit_depth())
    }
}

/// Returns the content of `cell`, computing it first if the cell is empty.
///
/// The value is computed without locking the cell. The computation runs on the caller's thread
/// pool: a thread that waits there may start another metric of the same image, which would wait
/// for itself if the cell were locked. In the worst case the value is computed twice.
fn made_once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(made) = cell.get() {
        return made;
    }
    let made = make();
    cell.get_or_init(|| made)
}

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region {
    /// Left edge.
    pub x: usize,
    /// Top edge.
    pub y: usize,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.x, self.y, self.width, self.height)
    }
}

fn check_size(width: usize, height: usize, channels: usize, actual: usize) -> Result<()> {
    if width == 0 || height == 0 {
        return Err(Error::Empty { width, height });
    }
    let expected = width.saturating_mul(height).saturating_mul(channels);
    if expected != actual {
        return Err(Error::BufferSize { width, height, channels, expected, actual });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gray_of_gray_pixels_is_their_value_at_both_depths() {
        let eight = Image::from_rgb8(256, 1, (0..=255).flat_map(|v| [v, v, v]).collect()).unwrap();
        let sixteen = Image::from_rgb16(256, 1, (0..=255u16).flat_map(|v| [v * 257; 3]).collect()).unwrap();
        for x in 0..256 {
            assert_eq!(eight.gray().at(x, 0), x as f32);
            assert_eq!(sixteen.gray().at(x, 0), x as f32);
        }
    }

    #[test]
    fn parts_of_gray_are_the_same_before_and_after_it_is_kept() {
        let image = crate::testing::color_noise(37, 3, 1);
        let mut before = vec![0.0; 30];
        image.read_gray(2, 5..35, &mut before);
        assert_eq!(before, image.gray().row(2)[5..35]);
        let mut after = vec![0.0; 30];
        image.read_gray(2, 5..35, &mut after);
        assert_eq!(before, after);
    }

    #[test]
    fn a_row_of_gray_is_the_same_before_and_after_the_plane_exists() {
        let image = crate::testing::color_noise(31, 5, 2);
        let mut buffers = [vec![0.0; 31], vec![0.0; 31]];
        let [before, after] = &mut buffers;
        let computed = image.gray_row(3, before).to_vec();
        assert_eq!(computed, image.gray().row(3));
        assert_eq!(computed, image.gray_row(3, after));
    }

    #[test]
    fn crop_takes_the_named_pixels_of_every_channel() {
        let pixels = (0..4 * 3 * 3).map(|v| v as u8).collect();
        let image = Image::from_rgb8(4, 3, pixels).unwrap();
        let part = image.crop(&Region { x: 1, y: 1, width: 2, height: 2 }).unwrap();
        assert_eq!(part.channel(0).data(), [15.0, 18.0, 27.0, 30.0]);
        assert_eq!(part.channel(2).data(), [17.0, 20.0, 29.0, 32.0]);
        let beyond = Region { x: 3, y: 0, width: 2, height: 1 };
        assert!(matches!(image.crop(&beyond), Err(Error::RegionOutOfBounds { .. })));
    }

    #[test]
    fn planes_are_taken_as_they_are() {
        let planar = Image::from_planar_rgb(2, 1, Samples::Eight(vec![1, 2, 3, 4, 5, 6])).unwrap();
        let interleaved = Image::of_rgb8(2, 1, &[1, 3, 5, 2, 4, 6]).unwrap();
        assert_eq!(planar.samples(), interleaved.samples());
        assert!(Image::from_planar_rgb(2, 1, Samples::Sixteen(vec![1; 5])).is_err());
    }

    #[test]
    fn wrong_buffers_are_refused() {
        assert!(matches!(Image::from_rgb8(2, 2, vec![0; 11]), Err(Error::BufferSize { .. })));
        assert!(matches!(Image::from_gray8(0, 2, vec![]), Err(Error::Empty { .. })));
    }
}
