//! Blockiness, the visibility of the 8x8 grid of JPEG and similar codecs.
//!
//! **What it measures**: how much larger luma steps across the lines of an 8x8 grid are than steps
//! next to these lines. The grid is searched at every offset, so crops are measured as well as
//! whole files.
//!
//! **Range and direction**: a ratio; 1 (no grid, never much below) upwards, above 1.1 the grid is
//! visible; lower is better.
//!
//! **Reference**: after Z. Wang, H. R. Sheikh, A. C. Bovik, No-reference perceptual quality
//! assessment of JPEG compressed images, ICIP 2002 (differences across block boundaries against
//! those inside), made robust: steps are limited to 32 levels, every line is compared with its own
//! neighborhood, and lines are averaged as logarithms. A single strong edge that happens to lie on
//! the grid therefore affects only its own line.
//!
//! **Deviations**: a ratio of steps, where those authors fit blockiness, activity and zero
//! crossings to opinions. The map holds the ratio of each block of the detected grid.

use multiversion::multiversion;

use crate::metric::no_reference;
use crate::ops::strips;
use crate::{Direction, Image, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// Distance between grid lines.
const GRID: usize = 8;
/// Larger steps count as this many levels.
const LARGEST_STEP: f32 = 32.0;
/// Number of lines on each side that a line is compared with.
const NEIGHBORS: usize = 3;
/// Stabilizes the ratio of a line in nearly flat areas, in levels.
const STABILITY: f64 = 0.1;
/// The same for a single block of the map.
const BLOCK_STABILITY: f32 = 1.0;
/// Ratio at which a block is displayed as fully damaged.
const WORST: f32 = 3.0;

/// Visibility of an 8x8 grid.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blockiness;

static INFO: Info = Info {
    name: "Blockiness",
    kind: Kind::NoReference,
    direction: Direction::LowerIsBetter,
    range: (0.0, f64::INFINITY),
    unit: "ratio",
    summary: "Luma steps across the lines of an 8x8 grid, relative to the steps next to them.",
    paper: "after Z. Wang, H. R. Sheikh, A. C. Bovik, No-reference perceptual quality assessment of JPEG compressed images, ICIP 2002",
    has_map: true,
    minimum_side: 2 * GRID,
};

impl Blockiness {
    /// The 8x8 grid.
    pub const DEFAULT: Self = Self;

    /// Returns column and row, each 0 to 7, of the first line of the most visible grid.
    ///
    /// The offset is (0, 0) for a whole JPEG file and can be any value for a crop. Without a grid
    /// it is arbitrary.
    pub fn grid_offset(&self, image: &Image) -> Result<(usize, usize)> {
        let gray = Pair::single(image).single_checked(&INFO)?.gray();
        let lines = Lines::measure(gray);
        Ok((strongest(&lines.columns).0, strongest(&lines.rows).0))
    }
}

no_reference!(Blockiness);

impl Metric for Blockiness {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&INFO)?.gray();
        let lines = Lines::measure(gray);
        let ((left, across), (top, down)) = (strongest(&lines.columns), strongest(&lines.rows));
        let measurement = Measurement::new((0.5 * (across + down)).exp());
        if !pair.wants_map() {
            return Ok(measurement);
        }
        Ok(measurement.with_map(block_map(gray, left, top), 1.0, WORST))
    }
}

/// Mean step across every line between two columns, and between two rows.
struct Lines {
    columns: Vec<f64>,
    rows: Vec<f64>,
}

impl Lines {
    fn measure(gray: &Plane) -> Self {
        let (width, height) = (gray.width(), gray.height());
        let strips = strips::map(height, |rows| {
            let mut columns = vec![0.0f32; width - 1];
            let mut steps_down = Vec::with_capacity(rows.len());
            for y in rows {
                let row = gray.row(y);
                add_steps(&row[..width - 1], &row[1..], &mut columns);
                if y + 1 < height {
                    steps_down.push(f64::from(sum_steps(row, gray.row(y + 1))) / width as f64);
                }
            }
            (columns, steps_down)
        });
        let mut columns = vec![0.0; width - 1];
        let mut rows = Vec::with_capacity(height);
        for (strip, steps_down) in strips {
            for (total, step) in columns.iter_mut().zip(strip) {
                *total += f64::from(step) / height as f64;
            }
            rows.extend(steps_down);
        }
        Self { columns, rows }
    }
}

#[inline(always)]
fn step(a: f32, b: f32) -> f32 {
    let step = (a - b).abs();
    if step < LARGEST_STEP { step } else { LARGEST_STEP }
}

#[multiversion(targets("x86_64+avx2"))]
fn add_steps(before: &[f32], after: &[f32], total: &mut [f32]) {
    for ((total, &a), &b) in total.iter_mut().zip(before).zip(after) {
        *total += step(a, b);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn sum_steps(above: &[f32], below: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    for (above, below) in above.chunks(16).zip(below.chunks(16)) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(above).zip(below) {
            *lane += step(a, b);
        }
    }
    lanes.iter().sum()
}

/// The offset of the strongest grid, and the mean logarithm of its lines' ratios. Line `i` lies
/// between `i` and `i + 1`.
fn strongest(lines: &[f64]) -> (usize, f64) {
    let ratio = |offset: usize| {
        let ratios = (offset..=lines.len()).step_by(GRID).filter_map(|start| line_ratio(lines, start.checked_sub(1)?));
        let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio, count + 1));
        if count > 0 { sum / f64::from(count) } else { 0.0 }
    };
    (0..GRID)
        .map(|offset| (offset, ratio(offset)))
        .fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best })
}

/// Logarithm of the ratio of a line to its neighbors; `None` unless all neighbors exist.
fn line_ratio(lines: &[f64], line: usize) -> Option<f64> {
    let before = lines.get(line.checked_sub(NEIGHBORS)?..line)?;
    let after = lines.get(line + 1..=line + NEIGHBORS)?;
    let around = before.iter().chain(after).sum::<f64>() / (2 * NEIGHBORS) as f64;
    Some(((lines.get(line)? + STABILITY) / (around + STABILITY)).ln())
}

/// For each block of the grid, the steps across its right and lower border relative to the steps
/// inside it.
fn block_map(gray: &Plane, left: usize, top: usize) -> Plane {
    let edges = |offset: usize, length: usize| -> Vec<usize> {
        let lines = (offset..length).step_by(GRID).filter(|&line| line > 0);
        std::iter::once(0).chain(lines).chain([length]).collect()
    };
    let (columns, rows) = (edges(left, gray.width()), edges(top, gray.height()));
    let bands = strips::map_by(rows.len() - 1, 1, |band| {
        let block = |y: usize, x: usize| block_ratio(gray, [columns[x], columns[x + 1]], [rows[y], rows[y + 1]]);
        band.flat_map(|y| (0..columns.len() - 1).map(move |x| (y, x))).map(|(y, x)| block(y, x)).collect::<Vec<_>>()
    });
    let mut values = bands.into_iter().flatten();
    Plane::from_fn(columns.len() - 1, rows.len() - 1, |_, _| values.next().unwrap_or(1.0))
}

fn block_ratio(gray: &Plane, [left, right]: [usize; 2], [top, bottom]: [usize; 2]) -> f32 {
    let (mut border, mut inside) = ((0.0, 0), (0.0, 0));
    let mut add = |on_border: bool, step: f32| {
        let target = if on_border { &mut border } else { &mut inside };
        *target = (target.0 + step, target.1 + 1);
    };
    for y in top..bottom {
        for x in left..right {
            if x + 1 < gray.width() {
                add(x + 1 == right, step(gray.at(x, y), gray.at(x + 1, y)));
            }
            if y + 1 < gray.height() {
                add(y + 1 == bottom, step(gray.at(x, y), gray.at(x, y + 1)));
            }
        }
    }
    let mean = |(sum, count): (f32, u32)| sum / count.max(1) as f32;
    match border.1 {
        0 => 1.0,
        _ => (mean(border) + BLOCK_STABILITY) / (mean(inside) + BLOCK_STABILITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;
    use crate::testing::noisy_scene;

    /// A noisy scene in which every 8x8 block is raised by its own level, at most `strength`.
    fn blocky(strength: usize) -> Image {
        let level = |x: usize, y: usize| ((x / 8) * 5 + (y / 8) * 3) % 7 * strength / 6;
        noisy_scene(160, 128, 2.0, |x, y| (x + y) as f64 / 600.0 + level(x, y) as f64 / 128.0)
    }

    #[test]
    fn grows_with_the_step_and_is_one_without() {
        let ratios = [0, 6, 12, 24].map(|strength| Blockiness.score(&blocky(strength)).unwrap());
        assert!((ratios[0] - 1.0).abs() < 0.08, "{ratios:?}");
        assert!(ratios.windows(2).all(|pair| pair[0] + 0.2 < pair[1]), "{ratios:?}");
    }

    #[test]
    fn the_grid_of_a_crop_is_found() {
        let image = blocky(12);
        let whole = Blockiness.score(&image).unwrap();
        for (x, y) in [(0, 0), (3, 6), (1, 0), (7, 7)] {
            let part = image.crop(&Region { x, y, width: 150, height: 120 }).unwrap();
            assert_eq!(Blockiness.grid_offset(&part).unwrap(), ((8 - x) % 8, (8 - y) % 8));
            assert!((Blockiness.score(&part).unwrap() / whole - 1.0).abs() < 0.1);
        }
    }

    #[test]
    fn the_map_shows_the_blocky_half() {
        let scene = |x: usize, y: usize| if x < 64 { 0.5 } else { ((x / 8 + y / 8) % 2) as f64 * 0.2 + 0.4 };
        let image = noisy_scene(128, 64, 0.5, scene);
        let map = Blockiness.measure(&Pair::single(&image).with_map()).unwrap().map.unwrap().plane;
        assert_eq!((map.width(), map.height()), (16, 8));
        assert!(map.at(2, 3) < 1.3 && map.at(12, 3) > 3.0, "{map:?}");
    }

    #[test]
    fn a_flat_picture_has_no_grid() {
        let flat = Image::from_gray8(16, 16, vec![200; 256]).unwrap();
        assert_eq!(Blockiness.score(&flat).unwrap(), 1.0);
    }
}
