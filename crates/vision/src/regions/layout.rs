//! An image as a coarse grid of cells: light, color and detail at each place.
//!
//! The image is reduced until its longer side has at most [`SIDE`] pixels, so the measurement takes
//! a few milliseconds for any size. It is made once and kept with the image.

use std::sync::Arc;

use agenticiqa_metrics::{Image, Plane, Region};

/// Maximum longer side of the reduced image, in pixels.
const SIDE: usize = 512;
/// Number of cells along the longer side.
const CELLS: usize = 32;
/// Minimum number of cells along the shorter side.
const FEWEST: usize = 6;
/// Gradients below this are noise or flat, in gray levels over two pixels.
const EDGE: f32 = 12.0;

/// What one cell looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cell {
    /// Mean luma, 0 to 255.
    pub luma: f64,
    /// Mean of red minus green.
    pub red_green: f64,
    /// Mean of blue minus the mean of red and green.
    pub blue: f64,
    /// The gradient that a tenth of the pixels exceed, in gray levels over two pixels.
    pub edge: f64,
    /// How fast edges change, whatever their height: the curvature against the gradient. Blur lowers
    /// it. Zero if the cell has no edges.
    pub acuity: f64,
}

impl Cell {
    /// Returns how different two cells look, in gray levels.
    pub fn distance(&self, other: &Self) -> f64 {
        let [luma, red_green, blue] =
            [self.luma - other.luma, self.red_green - other.red_green, self.blue - other.blue];
        (luma * luma + red_green * red_green + blue * blue).sqrt()
    }
}

/// The cells of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Number of cells in a row.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
    size: (usize, usize),
}

impl Layout {
    /// Measures an image, once.
    pub fn of(image: &Image) -> Arc<Self> {
        image.derived(|| Self::measure(image))
    }

    fn measure(image: &Image) -> Self {
        let (width, height) = (image.width(), image.height());
        let factor = width.max(height).div_ceil(SIDE).min(width.min(height)).max(1);
        let small = image.shrunk(factor);
        let rgb = [0, 1, 2].map(|channel| small.channel(channel));
        let (small_width, small_height) = (rgb[0].width(), rgb[0].height());
        let side = (small_width.max(small_height) / CELLS).min(small_width.min(small_height) / FEWEST).max(1);
        let (columns, rows) = ((small_width / side).max(1), (small_height / side).max(1));
        let luma = luma(&rgb);
        let span = |index: usize, count: usize, size: usize| (size * index / count, size * (index + 1) / count);
        let cell = |index: usize| {
            let (across, down) =
                (span(index % columns, columns, small_width), span(index / columns, rows, small_height));
            measure(&rgb, &luma, across, down)
        };
        Self { columns, rows, cells: (0..columns * rows).map(cell).collect(), size: (width, height) }
    }

    /// Returns the cell at a place.
    pub fn at(&self, column: usize, row: usize) -> &Cell {
        &self.cells[row * self.columns + column]
    }

    /// Returns the pixels of a block of cells.
    pub fn region(&self, block: Block) -> Region {
        let (width, height) = self.size;
        let x = width * block.left / self.columns;
        let y = height * block.top / self.rows;
        let right = (width * block.right).div_ceil(self.columns).min(width);
        let bottom = (height * block.bottom).div_ceil(self.rows).min(height);
        Region { x, y, width: right - x, height: bottom - y }
    }

    /// Returns the cells whose centers lie in a region.
    pub fn within<'a>(&'a self, region: &'a Region) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().enumerate().filter(|(index, _)| self.is_within(*index, region)).map(|(_, cell)| cell)
    }

    /// Returns whether the center of a cell lies in a region.
    pub fn is_within(&self, index: usize, region: &Region) -> bool {
        let (width, height) = self.size;
        let x = width * (2 * (index % self.columns) + 1) / (2 * self.columns);
        let y = height * (2 * (index / self.columns) + 1) / (2 * self.rows);
        (region.x..region.x + region.width).contains(&x) && (region.y..region.y + region.height).contains(&y)
    }
}

/// A rectangle of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// First column.
    pub left: usize,
    /// First row.
    pub top: usize,
    /// Column behind the last one.
    pub right: usize,
    /// Row below the last one.
    pub bottom: usize,
}

fn luma([red, green, blue]: &[Plane; 3]) -> Plane {
    Plane::from_fn(red.width(), red.height(), |x, y| {
        0.299 * red.at(x, y) + 0.587 * green.at(x, y) + 0.114 * blue.at(x, y)
    })
}

fn measure([red, green, blue]: &[Plane; 3], luma: &Plane, across: (usize, usize), down: (usize, usize)) -> Cell {
    let mut sums = [0.0_f64; 4];
    let mut slopes = Vec::with_capacity((across.1 - across.0) * (down.1 - down.0));
    for y in down.0..down.1 {
        let (above, below) = (y.saturating_sub(1), (y + 1).min(luma.height() - 1));
        for x in across.0..across.1 {
            let (before, after) = (x.saturating_sub(1), (x + 1).min(luma.width() - 1));
            let (r, g, b) = (red.at(x, y), green.at(x, y), blue.at(x, y));
            sums[0] += 1.0;
            sums[1] += f64::from(luma.at(x, y));
            sums[2] += f64::from(r - g);
            sums[3] += f64::from(b - 0.5 * (r + g));
            let [left, right, up, low] = [luma.at(before, y), luma.at(after, y), luma.at(x, above), luma.at(x, below)];
            let slope = ((right - left).powi(2) + (low - up).powi(2)).sqrt();
            let curvature = left + right + up + low - 4.0 * luma.at(x, y);
            slopes.push((slope, curvature));
        }
    }
    let count = sums[0].max(1.0);
    let place = slopes.len().saturating_sub(1) * 9 / 10;
    let edge =
        if slopes.is_empty() { 0.0 } else { slopes.select_nth_unstable_by(place, |a, b| a.0.total_cmp(&b.0)).1.0 };
    let strong = slopes.iter().filter(|(slope, _)| *slope >= edge.max(EDGE));
    let (curved, sloped) = strong.fold((0.0_f64, 0.0_f64), |(curved, sloped), (slope, curvature)| {
        (curved + f64::from(curvature * curvature), sloped + f64::from(slope * slope))
    });
    Cell {
        luma: sums[1] / count,
        red_green: sums[2] / count,
        blue: sums[3] / count,
        edge: f64::from(edge),
        acuity: if sloped > 0.0 { (curved / sloped).sqrt() } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_know_light_color_and_detail() {
        // Left: flat blue. Right: gray stripes.
        let pixel = |x: usize| if x < 160 { [40, 60, 200] } else { [[90; 3], [160; 3]][x / 4 % 2] };
        let pixels = (0..320 * 240).flat_map(|index| pixel(index % 320)).collect();
        let layout = Layout::of(&Image::from_rgb8(320, 240, pixels).unwrap());
        assert_eq!((layout.columns, layout.rows), (32, 24));
        let (sky, stripes) = (layout.at(3, 5), layout.at(28, 20));
        assert!(sky.blue > 100.0 && sky.edge == 0.0 && sky.acuity == 0.0, "{sky:?}");
        assert!(stripes.blue == 0.0 && stripes.edge > 50.0 && stripes.acuity > 0.3, "{stripes:?}");
        let left = layout.region(Block { left: 0, top: 0, right: 16, bottom: 24 });
        assert_eq!(left, Region { x: 0, y: 0, width: 160, height: 240 });
        assert_eq!(layout.within(&left).count(), 16 * 24);
        assert!(layout.within(&left).all(|cell| cell.blue > 100.0));
    }

    #[test]
    fn thin_and_tiny_images_have_cells() {
        for (width, height) in [(5000, 40), (40, 5000), (1, 1), (7, 3)] {
            let layout = Layout::measure(&Image::from_gray8(width, height, vec![9; width * height]).unwrap());
            let all = Block { left: 0, top: 0, right: layout.columns, bottom: layout.rows };
            assert_eq!(layout.region(all), Region { x: 0, y: 0, width, height });
            assert!(layout.cells.iter().all(|cell| (cell.luma - 9.0).abs() < 1e-3));
        }
    }
}
