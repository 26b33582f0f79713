//! Converts images to the input tensors of a network.

use std::borrow::Cow;

use agenticiqa_metrics::{Image, Plane};
use agenticiqa_onnx::Tensor;

use super::resample::resize;
use super::section::{Color, Layout, OnnxSection};
use super::size::SizeRule;
use crate::Failure;

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub left: usize,
    pub top: usize,
    pub width: usize,
    pub height: usize,
}

/// An image at the input size of the network.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    pixels: Pixels<'a>,
    window: Window,
}

#[derive(Debug)]
enum Pixels<'a> {
    /// Pixels converted on demand, so that a large image is never stored as floating point
    /// numbers.
    Image(&'a Image),
    /// Resized channels, on the scale 0..=255.
    Planes(Vec<Plane>),
}

impl<'a> Picture<'a> {
    /// Resizes and crops an image as the section requires.
    pub fn new(image: &'a Image, section: &OnnxSection) -> Result<Self, Failure> {
        let (width, height) = (image.width(), image.height());
        if width.min(height) < section.min_side {
            let minimum = section.min_side;
            return Err(Failure::Input(format!(
                "needs at least {minimum}x{minimum} pixels, this image has {width}x{height}"
            )));
        }
        let SizeRule::Changed(change) = &section.size else {
            if section.tiles.is_none() && width * height > section.max_pixels {
                let limit = section.max_pixels;
                return Err(Failure::Input(format!("takes at most {limit} pixels, this image has {width}x{height}")));
            }
            return Ok(Self { pixels: Pixels::Image(image), window: Window { left: 0, top: 0, width, height } });
        };
        let (new_width, new_height) = change.resized(width, height);
        let window = match change.crop {
            Some([inner_width, inner_height]) => center(new_width, new_height, inner_width, inner_height)?,
            None => Window { left: 0, top: 0, width: new_width, height: new_height },
        };
        if window.width * window.height > section.max_pixels || new_width.max(new_height) > MAX_LENGTH {
            return Err(Failure::Input(format!("an image of {width}x{height} is too long for its size rule")));
        }
        if (new_width, new_height) == (width, height) {
            return Ok(Self { pixels: Pixels::Image(image), window });
        }
        let rounded = change.rounded && image.bit_depth() == 8;
        let scaled =
            |channel| resize(&plane(image, section.color, channel), new_width, new_height, change.filter, rounded);
        let planes = (0..section.color.channels()).map(scaled).collect();
        Ok(Self { pixels: Pixels::Planes(planes), window })
    }

    /// Returns width and height.
    pub fn size(&self) -> (usize, usize) {
        (self.window.width, self.window.height)
    }

    /// Returns row `y` of the window of a channel, on the scale 0..=255. `buffer` is as wide as
    /// the source image.
    fn row<'b>(&'b self, color: Color, channel: usize, y: usize, part: Window, buffer: &'b mut Vec<f32>) -> &'b [f32] {
        let left = self.window.left + part.left;
        let y = self.window.top + part.top + y;
        match &self.pixels {
            Pixels::Planes(planes) => &planes[channel].row(y)[left..left + part.width],
            Pixels::Image(image) => {
                buffer.resize(image.width(), 0.0);
                read_row(image, color, channel, y, buffer);
                &buffer[left..left + part.width]
            }
        }
    }
}

/// Maximum side of a resized image before cropping.
const MAX_LENGTH: usize = 1 << 16;

/// Returns the centered crop as torchvision computes it: half a pixel is rounded to even.
fn center(width: usize, height: usize, inner_width: usize, inner_height: usize) -> Result<Window, Failure> {
    if inner_width > width || inner_height > height {
        let message = format!("needs at least {inner_width}x{inner_height} pixels, this image has {width}x{height}");
        return Err(Failure::Input(message));
    }
    let offset = |outer: usize, inner: usize| ((outer - inner) as f64 / 2.0).round_ties_even() as usize;
    let (left, top) = (offset(width, inner_width), offset(height, inner_height));
    Ok(Window { left, top, width: inner_width, height: inner_height })
}

fn read_row(image: &Image, color: Color, channel: usize, y: usize, row: &mut [f32]) {
    match color {
        Color::Rgb => image.read_row(channel, y, row),
        Color::Bgr => image.read_row(2 - channel, y, row),
        Color::Luma => image.read_gray(y, 0..image.width(), row),
    }
}

fn plane(image: &Image, color: Color, channel: usize) -> Cow<'_, Plane> {
    match color {
        Color::Rgb => Cow::Owned(image.channel(channel)),
        Color::Bgr => Cow::Owned(image.channel(2 - channel)),
        Color::Luma => Cow::Borrowed(image.gray()),
    }
}

/// Converts `part` of each image to one batch in the value range of the network.
pub(super) fn batch(pictures: &[&Picture<'_>], part: Window, section: &OnnxSection) -> Result<Tensor, Failure> {
    let (channels, area) = (section.color.channels(), part.width * part.height);
    let mut numbers = vec![0.0; pictures.len() * channels * area];
    let mut buffer = Vec::new();
    for (picture, numbers) in pictures.iter().zip(numbers.chunks_exact_mut(channels * area)) {
        for channel in 0..channels {
            let (factor, offset) = normalization(section, channel);
            // Offset of the first value of a channel, and the distance between its pixels.
            let (start, step) = match section.layout {
                Layout::Nchw => (channel * area, 1),
                Layout::Nhwc => (channel, channels),
            };
            for y in 0..part.height {
                let row = picture.row(section.color, channel, y, part, &mut buffer);
                let out = numbers[start + y * part.width * step..].iter_mut().step_by(step);
                out.zip(row).for_each(|(out, &sample)| *out = sample * factor + offset);
            }
        }
    }
    let shape = match section.layout {
        Layout::Nchw => [pictures.len(), channels, part.height, part.width],
        Layout::Nhwc => [pictures.len(), part.height, part.width, channels],
    };
    Tensor::float(shape, numbers).map_err(|error| Failure::Tool(error.to_string()))
}

/// Returns factor and offset that map 0..=255 to the value range of the network.
fn normalization(section: &OnnxSection, channel: usize) -> (f32, f32) {
    let of = |numbers: &[f64], usual: f64| match numbers {
        [] => usual,
        [number] => *number,
        numbers => numbers[channel],
    };
    let ([low, high], mean, std) = (section.range, of(&section.mean, 0.0), of(&section.std, 1.0));
    (((high - low) / 255.0 / std) as f32, ((low - mean) / std) as f32)
}
