//! The pixels that are measured: tiles of the image at viewing size and at original size.
//!
//! People see a photo of many megapixels reduced to a screen, so noise and blur that vanish at
//! that size are not visible faults. The image is therefore reduced by a whole factor until its
//! longer side is at most [`SCREEN`] pixels, and statistics are measured there. Traces of a codec
//! are measured in the original pixels, where its grid is. A large image is sampled with a fixed
//! number of evenly spread tiles, so the run time is bounded for any size.

use rayon::prelude::*;

use agenticiqa_metrics::{Image, Plane, Samples};

/// Maximum longer side at viewing size, in pixels.
pub const SCREEN: usize = 2048;
/// Side of a tile in pixels.
const TILE: usize = 128;
/// Maximum number of tiles.
const TILES: usize = 48;
/// Tiles start at multiples of this, so that the grid of a codec stays aligned.
const GRID: usize = 8;
/// Minimum side of an image, in pixels.
pub const SMALLEST: usize = 32;
/// Weights of R, G and B in luma (BT.601).
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

/// One tile of an image.
#[derive(Debug, Clone)]
pub struct Tile {
    /// R, G and B at viewing size, 0 to 255.
    pub rgb: [Plane; 3],
    /// Luma at viewing size.
    pub luma: Plane,
    /// Transposed luma.
    pub turned: Plane,
    /// Blue minus luma and red minus luma, scaled as Cb and Cr.
    pub chroma: [Plane; 2],
    /// The original pixels, if the image was reduced.
    original: Option<Original>,
}

/// The original pixels of a tile.
#[derive(Debug, Clone)]
struct Original {
    rgb: [Plane; 3],
    luma: Plane,
    turned: Plane,
}

impl Tile {
    fn new(rgb: [Plane; 3], original: Option<Original>) -> Self {
        let luma = weigh(&rgb);
        let difference = |channel: &Plane, scale: f32| {
            let mut out = channel.clone();
            let samples = out.data_mut().iter_mut().zip(luma.data());
            samples.for_each(|(sample, luma)| *sample = (*sample - luma) * scale);
            out
        };
        let chroma = [difference(&rgb[2], 1.0 / 1.772), difference(&rgb[0], 1.0 / 1.402)];
        Self { turned: turned(&luma), rgb, luma, chroma, original }
    }

    /// Returns the luma of the original pixels.
    pub fn native(&self) -> &Plane {
        self.original.as_ref().map_or(&self.luma, |original| &original.luma)
    }

    /// Returns the transposed luma of the original pixels.
    pub fn native_turned(&self) -> &Plane {
        self.original.as_ref().map_or(&self.turned, |original| &original.turned)
    }

    /// Returns R, G and B of the original pixels.
    pub fn native_rgb(&self) -> &[Plane; 3] {
        self.original.as_ref().map_or(&self.rgb, |original| &original.rgb)
    }
}

/// The choice of tiles of an image; images of the same size have the same tiles.
#[derive(Debug)]
pub struct View<'a> {
    image: &'a Image,
    /// Original pixels per pixel at viewing size, along a side.
    factor: usize,
    size: (usize, usize),
    places: Vec<(usize, usize)>,
}

impl<'a> View<'a> {
    /// Chooses the tiles of an image.
    pub fn of(image: &'a Image) -> Self {
        let (width, height) = (image.width(), image.height());
        let factor = width.max(height).div_ceil(SCREEN).min(width.min(height) / SMALLEST).max(1);
        let (view_width, view_height) = (width / factor, height / factor);
        let (columns, rows) = counts(view_width, view_height);
        let (lefts, tops) = (starts(view_width, columns), starts(view_height, rows));
        let places = tops.iter().flat_map(|&y| lefts.iter().map(move |&x| (x, y))).collect();
        Self { image, factor, size: (TILE.min(view_width), TILE.min(view_height)), places }
    }

    /// Iterates over the tiles row by row; each one is read on demand.
    pub fn tiles(&self) -> impl IndexedParallelIterator<Item = Tile> {
        self.places.par_iter().map(|place| self.tile(*place))
    }

    fn tile(&self, (x, y): (usize, usize)) -> Tile {
        let channels = [0, 1, 2].map(|channel| if self.image.channels() == 1 { 0 } else { channel });
        let place = (x * self.factor, y * self.factor);
        let read = |factor| channels.map(|channel| shrink(self.image, channel, place, self.size, factor));
        let rgb = read(1);
        if self.factor == 1 {
            return Tile::new(rgb, None);
        }
        let luma = weigh(&rgb);
        Tile::new(read(self.factor), Some(Original { turned: turned(&luma), luma, rgb }))
    }
}

/// Returns the number of tiles across and down: enough to cover the image, or the maximum.
fn counts(width: usize, height: usize) -> (usize, usize) {
    let (columns, rows) = (width.div_ceil(TILE), height.div_ceil(TILE));
    if columns * rows <= TILES {
        return (columns, rows);
    }
    let across = (TILES as f64 * width as f64 / height as f64).sqrt().floor() as usize;
    let across = across.clamp(1, columns.min(TILES));
    (across, (TILES / across).clamp(1, rows))
}

/// Returns the starts of `count` tiles, evenly spread over a side.
fn starts(size: usize, count: usize) -> Vec<usize> {
    let room = size - TILE.min(size);
    (0..count).map(|i| if count > 1 { room * i / (count - 1) / GRID * GRID } else { room / 2 / GRID * GRID }).collect()
}

fn weigh(rgb: &[Plane; 3]) -> Plane {
    let mut luma = Plane::new(rgb[0].width(), rgb[0].height());
    let pixels = rgb[0].data().iter().zip(rgb[1].data()).zip(rgb[2].data());
    for (out, ((r, g), b)) in luma.data_mut().iter_mut().zip(pixels) {
        *out = LUMA[0] * r + LUMA[1] * g + LUMA[2] * b;
    }
    luma
}

/// Transposes a plane.
pub fn turned(plane: &Plane) -> Plane {
    const TOGETHER: usize = 8;
    let mut out = Plane::new(plane.height(), plane.width());
    for top in (0..plane.height()).step_by(TOGETHER) {
        for x in 0..plane.width() {
            let samples = out.row_mut(x)[top..].iter_mut().take(TOGETHER).enumerate();
            samples.for_each(|(y, sample)| *sample = plane.at(x, top + y));
        }
    }
    out
}

/// Averages blocks of `factor` by `factor` pixels, on the scale 0 to 255.
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
    if factor == 1 {
        for y in 0..height {
            let start = (channel * image.height() + top + y) * image.width() + left;
            let samples = out.row_mut(y).iter_mut().zip(&data[start..start + width]);
            samples.for_each(|(sample, &value)| *sample = value.into() * scale);
        }
        return out;
    }
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
        let image = ramp(300, 40);
        let small = View::of(&image);
        assert_eq!((small.factor, small.places.len(), small.tile((0, 0)).luma.height()), (1, 3, 40));
        let image = ramp(4000, 3000);
        let large = View::of(&image);
        assert_eq!((large.factor, large.places.len()), (2, 48));
        // The first pixel at viewing size is the mean of the first four; the ramp has steps of 16.
        let last = large.tile(large.places[7]);
        let near = |sample: f32, expected: usize| (sample - (expected as u8) as f32).abs() < 1e-3;
        assert!(near(last.luma.at(127, 0), (1872 + 127) * 2 / 16), "{}", last.luma.at(127, 0));
        assert!(near(last.native().at(0, 0), 1872 * 2 / 16), "{}", last.native().at(0, 0));
    }

    #[test]
    fn thin_pictures_are_not_shrunk_to_nothing() {
        let image = Image::from_gray8(5000, 40, vec![7; 200_000]).unwrap();
        let thin = View::of(&image);
        assert_eq!((thin.factor, thin.tile((0, 0)).luma.height()), (1, 40));
    }
}
