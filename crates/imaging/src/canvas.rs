//! A surface for drawing legends: rectangles and text.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// The color of text.
pub(crate) const WHITE: [u8; 3] = [236, 236, 240];

/// The background color.
const BACKGROUND: u8 = 24;

/// RGB pixels, row by row.
#[derive(Debug)]
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    data: Vec<u8>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, data: vec![BACKGROUND; width * height * 3] }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.data.chunks_exact_mut(3 * self.width)
    }

    /// Fills a rectangle, clipped to the canvas.
    pub fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, color: [u8; 3]) {
        for y in top..top + height {
            for x in left..left + width {
                self.mix(x, y, color, 255);
            }
        }
    }

    /// Blends a color over one pixel with an opacity of 0..=255.
    fn mix(&mut self, x: usize, y: usize, color: [u8; 3], opacity: u8) {
        if x >= self.width || y >= self.height {
            return;
        }
        let start = (y * self.width + x) * 3;
        for (value, color) in self.data[start..start + 3].iter_mut().zip(color) {
            let (over, under) = (u16::from(opacity), 255 - u16::from(opacity));
            *value = ((u16::from(color) * over + u16::from(*value) * under + 127) / 255) as u8;
        }
    }
}

/// A text size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    size: RasterHeight,
}

impl Text {
    /// Uses large letters on large images, which are usually displayed scaled down.
    pub fn for_width(width: usize) -> Self {
        Self { size: if width >= 1200 { RasterHeight::Size32 } else { RasterHeight::Size16 } }
    }

    /// Height of a line in pixels.
    pub fn height(self) -> usize {
        self.size.val()
    }

    /// Width of a letter in pixels.
    pub fn width(self) -> usize {
        get_raster_width(FontWeight::Regular, self.size)
    }

    /// Returns as much of a line as fits into `length` pixels.
    pub fn fit(self, line: &str, length: usize) -> String {
        let room = length / self.width();
        match line.chars().count() > room {
            true => line.chars().take(room.saturating_sub(2)).chain("..".chars()).collect(),
            false => line.to_owned(),
        }
    }

    /// Draws a line. Characters that the font lacks become question marks.
    pub fn draw(self, canvas: &mut Canvas, left: usize, top: usize, line: &str, color: [u8; 3]) {
        let raster = |letter| get_raster(letter, FontWeight::Regular, self.size);
        for (index, letter) in line.chars().enumerate() {
            let Some(letter) = raster(letter).or_else(|| raster('?')) else { continue };
            for (y, row) in letter.rows().enumerate() {
                for (x, &opacity) in row.iter().enumerate() {
                    canvas.mix(left + index * self.width() + x, top + y, color, opacity);
                }
            }
        }
    }
}
