//! What is looked at: tiles of the picture at the size in which people see it, and of its own pixels.
//!
//! A photo of many megapixels is seen shrunk to a screen; noise and blur that vanish then are no faults that anyone sees. So
//! the picture is shrunk by a whole factor until its longer side is at most [`SCREEN`] pixels, and statistics are taken
//! there. The traces of a codec are looked for in the original pixels, where its grid is. Of a large picture a fixed number of
//! tiles, evenly spread, is read: the time is bounded whatever the size.

use crate::metrics::{Image, Plane, Samples};

/// The longest side of a picture as it is seen, in pixels.
pub const SCREEN: usize = 2048;
/// Side of a tile.
const TILE: usize = 128;
/// Tiles that are read at most.
const TILES: usize = 48;
/// Tiles begin at multiples of this, so that the grid of a codec stays where it is.
const GRID: usize = 8;
/// The smallest side that a view may have.
pub const SMALLEST: usize = 32;
/// Weights of R, G and B in luma (BT.601).
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

/// One tile.
#[derive(Debug, Clone)]
pub struct Tile {
    /// R, G and B as they are seen, 0 to 255.
    pub rgb: [Plane; 3],
    /// Their luma.
    pub luma: Plane,
    /// Luma of the original pixels; the same as `luma` where nothing was shrunk.
    pub native: Plane,
    /// R, G, B of the original pixels.
    pub native_rgb: [Plane; 3],
}

impl Tile {
    /// Blue minus luma and red minus luma, scaled as Cb and Cr.
    pub fn chroma(&self) -> [Plane; 2] {
        let difference = |channel: usize, scale: f32| {
            let mut out = self.rgb[channel].clone();
            out.data_mut()
                .iter_mut()
                .zip(self.luma.data())
                .for_each(|(sample, luma)| *sample = (*sample - luma) * scale);
            out
        };
        [difference(2, 1.0 / 1.772), difference(0, 1.0 / 1.402)]
    }
}

/// The tiles of a picture.
#[derive(Debug, Clone)]
pub struct View {
    /// How many pixels of the picture make one that is seen, along a side.
    #[cfg(test)]
    factor: usize,
    /// The tiles, row by row.
    pub tiles: Vec<Tile>,
}

impl View {
    /// Reads the tiles of a picture; two pictures of one size have the same tiles.
    pub fn read(image: &Image) -> Self {
        use rayon::prelude::*;
        let (width, height) = (image.width(), image.height());
        let factor = width.max(height).div_ceil(SCREEN).min(width.min(height) / SMALLEST).max(1);
        let (view_width, view_height) = (width / factor, height / factor);
        let (columns, rows) = counts(view_width, view_height);
        let (lefts, tops) = (starts(view_width, columns), starts(view_height, rows));
        let size = (TILE.min(view_width), TILE.min(view_height));
        let places: Vec<(usize, usize)> = tops.iter().flat_map(|&y| lefts.iter().map(move |&x| (x, y))).collect();
        let tiles = places.into_par_iter().map(|place| read_tile(image, place, size, factor)).collect();
        Self {
            #[cfg(test)]
            factor,
            tiles,
        }
    }
}

/// Tiles across and down: all that are needed, or as many as are allowed.
fn counts(width: usize, height: usize) -> (usize, usize) {
    let (columns, rows) = (width.div_ceil(TILE), height.div_ceil(TILE));
    if columns * rows <= TILES {
        return (columns, rows);
    }
    let across = (TILES as f64 * width as f64 / height as f64).sqrt().floor() as usize;
    let across = across.clamp(1, columns.min(TILES));
    (across, (TILES / across).clamp(1, rows))
}

/// Where `count` tiles begin, evenly spread from end to end.
fn starts(size: usize, count: usize) -> Vec<usize> {
    let room = size - TILE.min(size);
    (0..count).map(|i| if count > 1 { room * i / (count - 1) / GRID * GRID } else { room / 2 / GRID * GRID }).collect()
}

fn read_tile(image: &Image, (x, y): (usize, usize), (width, height): (usize, usize), factor: usize) -> Tile {
    let channels = [0, 1, 2].map(|channel| if image.channels() == 1 { 0 } else { channel });
    let place = (x * factor, y * factor);
    let native_rgb = channels.map(|channel| shrink(image, channel, place, (width, height), 1));
    let native = weigh(&native_rgb);
    if factor == 1 {
        return Tile { rgb: native_rgb.clone(), luma: native.clone(), native, native_rgb };
    }
    let rgb = channels.map(|channel| shrink(image, channel, place, (width, height), factor));
    Tile { luma: weigh(&rgb), rgb, native, native_rgb }
}

fn weigh(rgb: &[Plane; 3]) -> Plane {
    let mut luma = Plane::new(rgb[0].width(), rgb[0].height());
    let pixels = rgb[0].data().iter().zip(rgb[1].data()).zip(rgb[2].data());
    for (out, ((r, g), b)) in luma.data_mut().iter_mut().zip(pixels) {
        *out = LUMA[0] * r + LUMA[1] * g + LUMA[2] * b;
    }
    luma
}

/// Means of squares of `factor` pixels, on the scale 0 to 255.
fn shrink(image: &Image, channel: usize, place: (usize, usize), size: (usize, usize), factor: usize) -> Plane {
    match image.samples() {
        Samples::Eight(data) => shrink_samples(image, data, channel, place, size, factor, 1.0),
        Samples::Sixteen(data) => shrink_samples(image, data, channel, place, size, factor, 1.0 / 257.0),
    }
}

fn shrink_samples<T: Copy + Into<f32>>(
    image: &Image,
    data: &[T],
    channel: usize,
    (left, top): (usize, usize),
    (width, height): (usize, usize),
    factor: usize,
    scale: f32,
) -> Plane {
    let mut out = Plane::new(width, height);
    let weight = scale / (factor * factor) as f32;
    for y in 0..height {
        let row = out.row_mut(y);
        for line in 0..factor {
            let start = (channel * image.height() + top + y * factor + line) * image.width() + left;
            let source = &data[start..start + width * factor];
            for (sample, group) in row.iter_mut().zip(source.chunks_exact(factor)) {
                *sample += group.iter().map(|&value| value.into()).sum::<f32>();
            }
        }
        row.iter_mut().for_each(|sample| *sample *= weight);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pictures_are_covered_and_large_ones_are_sampled() {
        let ramp = |width: usize, height: usize| {
            Image::from_gray8(width, height, (0..width * height).map(|i| (i % width / 16) as u8).collect()).unwrap()
        };
        let small = View::read(&ramp(300, 40));
        assert_eq!((small.factor, small.tiles.len(), small.tiles[0].luma.height()), (1, 3, 40));
        let large = View::read(&ramp(4000, 3000));
        assert_eq!((large.factor, large.tiles.len()), (2, 48));
        // The first pixel that is seen is the mean of the first four; the ramp has steps of 16.
        let last = &large.tiles[7];
        let near = |sample: f32, expected: usize| (sample - (expected as u8) as f32).abs() < 1e-3;
        assert!(near(last.luma.at(127, 0), (1872 + 127) * 2 / 16), "{}", last.luma.at(127, 0));
        assert!(near(last.native.at(0, 0), 1872 * 2 / 16), "{}", last.native.at(0, 0));
    }

    #[test]
    fn thin_pictures_are_not_shrunk_to_nothing() {
        let thin = View::read(&Image::from_gray8(5000, 40, vec![7; 200_000]).unwrap());
        assert_eq!((thin.factor, thin.tiles[0].luma.height()), (1, 40));
    }
}
