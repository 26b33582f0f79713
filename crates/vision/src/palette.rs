//! The colors of an image by the names that people use, and how symmetric it is.
//!
//! Both are measured on a small copy: they describe the whole, not details.

use agenticiqa_metrics::{Image, Pixels, Region};

/// The longer side of the copy, in pixels.
const SIDE: usize = 512;
/// Cells on each side of the copy.
const CELLS: usize = 48;
/// Below this, colors are named without their hue. Strength is the distance of the strongest channel from the
/// weakest, as a share of the strongest.
const GRAYISH: f32 = 0.16;
/// Shadows look black below this sample.
const BLACK: f32 = 0.16;
/// Light without a hue looks white from this sample on.
const WHITE: f32 = 0.86;
/// Images with less difference between cells have no symmetry: they are flat.
const FLAT: f64 = 4.0;

/// A color with a name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Hue {
    Red,
    Orange,
    Yellow,
    Green,
    Cyan,
    Blue,
    Purple,
    Pink,
    Brown,
    Black,
    Gray,
    White,
}

impl Hue {
    /// All colors.
    pub const ALL: [Self; 12] = [
        Self::Red,
        Self::Orange,
        Self::Yellow,
        Self::Green,
        Self::Cyan,
        Self::Blue,
        Self::Purple,
        Self::Pink,
        Self::Brown,
        Self::Black,
        Self::Gray,
        Self::White,
    ];

    /// Whether it is a shade of gray.
    pub const fn is_neutral(self) -> bool {
        matches!(self, Self::Black | Self::Gray | Self::White)
    }

    /// Colors that people also call by this name: orange may be told as yellow, cyan as blue.
    pub const fn near(self) -> &'static [Self] {
        match self {
            Self::Red => &[Self::Pink, Self::Orange],
            Self::Orange => &[Self::Brown, Self::Yellow, Self::Red],
            Self::Yellow => &[Self::Orange, Self::Brown],
            Self::Green => &[Self::Cyan],
            Self::Cyan => &[Self::Blue, Self::Green],
            Self::Blue => &[Self::Cyan, Self::Purple],
            Self::Purple => &[Self::Pink, Self::Blue],
            Self::Pink => &[Self::Purple, Self::Red],
            Self::Brown => &[Self::Orange],
            Self::Black | Self::White => &[Self::Gray],
            Self::Gray => &[],
        }
    }
}

/// Returns the share of each color in an image or a part of it, the largest first.
pub fn colors(image: &Image, part: Option<&Region>) -> Vec<(Hue, f64)> {
    let (small, factor) = reduced(image);
    let (left, top, width, height) = match part {
        Some(part) => (part.x / factor, part.y / factor, part.width / factor, part.height / factor),
        None => (0, 0, small.width(), small.height()),
    };
    let (left, top) = (left.min(small.width() - 1), top.min(small.height() - 1));
    let (width, height) = (width.clamp(1, small.width() - left), height.clamp(1, small.height() - top));
    let (columns, rows) = (width.clamp(1, CELLS), height.clamp(1, CELLS));
    let mut counts = [0_u32; Hue::ALL.len()];
    for row in 0..rows {
        for column in 0..columns {
            let cell = Cell::of(&small, [left, top, width, height], [column, row], [columns, rows]);
            counts[hue(cell.mean) as usize] += 1;
        }
    }
    let all = (columns * rows) as f64;
    let mut shares: Vec<(Hue, f64)> =
        Hue::ALL.into_iter().zip(counts).map(|(hue, count)| (hue, f64::from(count) / all)).collect();
    shares.retain(|(_, share)| *share > 0.0);
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    shares
}

/// Returns how much the left half is the mirror image of the right one: 1 is the same, 0 is unrelated. Light
/// that changes from top to bottom does not count.
pub fn symmetry(image: &Image) -> f64 {
    let (pixels, _) = reduced(image);
    let (width, height) = (pixels.width(), pixels.height());
    let (columns, rows) = (width.clamp(1, CELLS), height.clamp(1, CELLS));
    let mut light = vec![0.0_f64; columns * rows];
    for row in 0..rows {
        let line = &mut light[row * columns..(row + 1) * columns];
        for (column, value) in line.iter_mut().enumerate() {
            let [r, g, b] = Cell::of(&pixels, [0, 0, width, height], [column, row], [columns, rows]).mean;
            *value = 255.0 * f64::from(0.299 * r + 0.587 * g + 0.114 * b);
        }
        let mean = line.iter().sum::<f64>() / columns as f64;
        line.iter_mut().for_each(|value| *value -= mean);
    }
    let power: f64 = light.iter().map(|value| value * value).sum();
    if power < FLAT * light.len() as f64 {
        return 0.0;
    }
    let mirrored = light.chunks(columns).flat_map(|line| line.iter().zip(line.iter().rev()));
    mirrored.map(|(one, other)| one * other).sum::<f64>() / power
}

/// Returns a small copy of an image, and how many times smaller it is.
fn reduced(image: &Image) -> (Pixels, usize) {
    let (longer, shorter) = (image.width().max(image.height()), image.width().min(image.height()));
    let factor = longer.div_ceil(SIDE).min(shorter).max(1);
    (Pixels::read(&image.shrunk(factor)), factor)
}

/// A cell of the small copy.
struct Cell {
    /// Mean red, green and blue from 0 to 1.
    mean: [f32; 3],
}

impl Cell {
    fn of(pixels: &Pixels, area: [usize; 4], at: [usize; 2], count: [usize; 2]) -> Self {
        /// Samples on each side of a cell: more would not change a mean.
        const SAMPLES: usize = 4;
        let place = |from: usize, length: usize, at: usize, count: usize, sample: usize| {
            from + ((at * SAMPLES + sample) * length / (count * SAMPLES)).min(length - 1)
        };
        let mut mean = [0.0; 3];
        for y in (0..SAMPLES).map(|sample| place(area[1], area[3], at[1], count[1], sample)) {
            for x in (0..SAMPLES).map(|sample| place(area[0], area[2], at[0], count[0], sample)) {
                let sample = pixels.planes.each_ref().map(|plane| plane.at(x, y));
                mean.iter_mut().zip(sample).for_each(|(sum, sample)| *sum += sample / (SAMPLES * SAMPLES) as f32);
            }
        }
        Self { mean }
    }
}

/// Returns the name of a color.
fn hue([r, g, b]: [f32; 3]) -> Hue {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let chroma = most - least;
    let strength = if most > 0.0 { chroma / most } else { 0.0 };
    if most < BLACK {
        return Hue::Black;
    }
    if strength < GRAYISH || chroma < 0.05 {
        return if least > WHITE - 0.1 && most > WHITE { Hue::White } else { Hue::Gray };
    }
    let degrees = 60.0
        * if most == r {
            ((g - b) / chroma).rem_euclid(6.0)
        } else if most == g {
            (b - r) / chroma + 2.0
        } else {
            (r - g) / chroma + 4.0
        };
    match degrees {
        // Dark or weak orange is brown.
        d if (12.0..48.0).contains(&d) && (most < 0.62 || strength < 0.45 && most < 0.8) => Hue::Brown,
        d if !(15.0..345.0).contains(&d) => {
            if strength < 0.5 && most > 0.7 {
                Hue::Pink
            } else {
                Hue::Red
            }
        }
        d if d < 42.0 => Hue::Orange,
        d if d < 68.0 => Hue::Yellow,
        d if d < 165.0 => Hue::Green,
        d if d < 190.0 => Hue::Cyan,
        d if d < 255.0 => Hue::Blue,
        d if d < 295.0 => Hue::Purple,
        _ => Hue::Pink,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(rgb: [u8; 3]) -> Image {
        Image::from_rgb8(64, 64, rgb.repeat(64 * 64)).unwrap()
    }

    #[test]
    fn colors_have_the_names_that_people_use() {
        for (rgb, hue) in [
            ([210, 30, 30], Hue::Red),
            ([250, 140, 20], Hue::Orange),
            ([240, 220, 40], Hue::Yellow),
            ([40, 160, 50], Hue::Green),
            ([30, 60, 200], Hue::Blue),
            ([130, 190, 240], Hue::Blue),
            ([130, 40, 200], Hue::Purple),
            ([250, 120, 180], Hue::Pink),
            ([110, 70, 30], Hue::Brown),
            ([10, 10, 12], Hue::Black),
            ([128, 126, 130], Hue::Gray),
            ([250, 250, 248], Hue::White),
        ] {
            assert_eq!(colors(&flat(rgb), None), [(hue, 1.0)], "{rgb:?}");
        }
    }

    #[test]
    fn a_part_has_its_own_colors() {
        let two = |at: usize| if at % 64 < 32 { [20, 20, 220] } else { [230, 20, 20] };
        let image = Image::from_rgb8(64, 64, (0..64 * 64).flat_map(two).collect()).unwrap();
        let right = Region { x: 32, y: 0, width: 32, height: 64 };
        assert_eq!(colors(&image, Some(&right)), [(Hue::Red, 1.0)]);
        assert_eq!(colors(&image, None).len(), 2);
    }

    #[test]
    fn mirror_images_are_symmetric() {
        let arch = |at: usize| ((at % 64).abs_diff(32) * 6) as u8;
        let mirrored = Image::from_gray8(64, 64, (0..64 * 64).map(arch).collect()).unwrap();
        assert!(symmetry(&mirrored) > 0.9);
        let ramp = Image::from_gray8(64, 64, (0..64 * 64).map(|at| (at % 64 * 3) as u8).collect()).unwrap();
        assert!(symmetry(&ramp) < -0.9);
        assert_eq!(symmetry(&flat([90, 90, 90])), 0.0);
    }
}
