//! Blur, the mean width of edges.
//!
//! **What it measures**: the number of pixels over which luma climbs from its local minimum to its
//! local maximum at an edge, across vertical and horizontal edges. A perfect step is 1 px wide.
//! Noise breaks wide edges into narrow ones, so a noisy blurred image measures sharper than it is.
//!
//! **Range and direction**: pixels, 1 (steps) upwards; lower is better. Not defined for an image
//! without edges.
//!
//! **Reference**: P. Marziliano, F. Dufaux, S. Winkler, T. Ebrahimi, A no-reference perceptual
//! blur metric, ICIP 2002; edges are the thinned Sobel maxima above MATLAB's automatic threshold
//! (`edge(image, 'sobel')` in one direction).
//!
//! **Deviations**: the authors measure vertical edges only. Horizontal edges count here too, so
//! that motion blur along either axis is detected. Edges flatter than one level per pixel are left
//! out, and widths end at 64 px on each side. The map holds the mean width of cells of about
//! 32x32; cells without an edge have the score of the whole image.

use std::ops::Range;

use multiversion::multiversion;

use crate::metric::no_reference;
use crate::ops::{strips, sum};
use crate::{Direction, Error, Info, Kind, Measurement, Metric, Pair, Plane, Result};

/// MATLAB's factor between the mean squared gradient and the squared threshold.
const THRESHOLD_SCALE: f64 = 4.0;
/// The minimum gradient of an edge, in levels per pixel.
const LEAST_GRADIENT: f32 = 1.0;
/// The maximum distance that an edge is followed to either side.
const LONGEST: usize = 64;
/// Side of a cell of the map.
const CELL: usize = 32;
/// Sum of the absolute Sobel weights on one side, times the distance of two pixels.
const SOBEL_NORM: f32 = 1.0 / 8.0;
/// Edge width at which a location is displayed as fully damaged.
const WORST: f32 = 12.0;

/// Mean edge width.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blur;

static INFO: Info = Info {
    name: "Blur",
    kind: Kind::NoReference,
    direction: Direction::LowerIsBetter,
    range: (1.0, 2.0 * LONGEST as f64),
    unit: "px",
    summary: "Mean width of the edges, in pixels.",
    paper: "P. Marziliano, F. Dufaux, S. Winkler, T. Ebrahimi, A no-reference perceptual blur metric, ICIP 2002",
    has_map: true,
    minimum_side: 8,
};

impl Blur {
    /// The authors' parameters.
    pub const DEFAULT: Self = Self;
}

no_reference!(Blur);

/// Sum of the widths and number of edges in one cell.
#[derive(Debug, Clone, Copy, Default)]
struct Edges {
    width: u64,
    count: u64,
}

impl Metric for Blur {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let gray = pair.single_checked(&INFO)?.gray();
        let thresholds = thresholds(gray);
        let (columns, bands) = (gray.width().div_ceil(CELL), gray.height().div_ceil(CELL));
        let cells: Vec<Edges> = strips::map_by(bands, 1, |band| {
            let rows = band.start * gray.height() / bands..band.end * gray.height() / bands;
            edges_in_rows(gray, rows, thresholds, columns)
        })
        .concat();
        let total = cells.iter().fold(Edges::default(), |total, cell| Edges {
            width: total.width + cell.width,
            count: total.count + cell.count,
        });
        if total.count == 0 {
            return Err(Error::Undefined { metric: INFO.name, reason: "there is no edge in it" });
        }
        let score = total.width as f64 / total.count as f64;
        let measurement = Measurement::new(score);
        if !pair.wants_map() {
            return Ok(measurement);
        }
        let mean = |cell: Edges| if cell.count > 0 { cell.width as f32 / cell.count as f32 } else { score as f32 };
        let map = Plane::from_fn(columns, bands, |x, y| mean(cells[y * columns + x]));
        Ok(measurement.with_map(map, 1.0, WORST))
    }
}

/// Squared gradients above which a pixel can be a vertical or a horizontal edge.
fn thresholds(gray: &Plane) -> [f32; 2] {
    let width = gray.width();
    let sums = strips::map(gray.height() - 2, |rows| {
        let mut sobel = Sobel::new(width);
        rows.fold([0.0; 2], |total, y| {
            sobel.read(gray, y + 1);
            [total[0] + sum::sum(&sobel.horizontal), total[1] + sum::sum(&sobel.vertical)]
        })
    });
    let total = sums.iter().fold([0.0; 2], |total, sums| [total[0] + sums[0], total[1] + sums[1]]);
    let count = gray.data().len() as f64;
    total.map(|sum| ((THRESHOLD_SCALE * sum / count) as f32).max(LEAST_GRADIENT * LEAST_GRADIENT))
}

/// Squared gradients of one row; 0 at its ends.
struct Sobel {
    smooth: Vec<f32>,
    difference: Vec<f32>,
    horizontal: Vec<f32>,
    vertical: Vec<f32>,
}

impl Sobel {
    fn new(width: usize) -> Self {
        let row = || vec![0.0; width];
        Self { smooth: row(), difference: row(), horizontal: row(), vertical: row() }
    }

    /// Computes row `y`, which must not be the first or last.
    fn read(&mut self, gray: &Plane, y: usize) {
        let (above, center, below) = (gray.row(y - 1), gray.row(y), gray.row(y + 1));
        across(above, center, below, &mut self.smooth, &mut self.difference);
        along(&self.smooth, &self.difference, &mut self.horizontal, &mut self.vertical);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn across(above: &[f32], center: &[f32], below: &[f32], smooth: &mut [f32], difference: &mut [f32]) {
    let rows = above.iter().zip(center).zip(below);
    for ((((&a, &c), &b), smooth), difference) in rows.zip(smooth).zip(difference) {
        *smooth = (a + b) + 2.0 * c;
        *difference = b - a;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn along(smooth: &[f32], difference: &[f32], horizontal: &mut [f32], vertical: &mut [f32]) {
    let inside = smooth.len().saturating_sub(2);
    let (left, right) = (&smooth[..inside], &smooth[2..inside + 2]);
    for ((out, &l), &r) in horizontal[1..=inside].iter_mut().zip(left).zip(right) {
        let gradient = (r - l) * SOBEL_NORM;
        *out = gradient * gradient;
    }
    let (left, center, right) = (&difference[..inside], &difference[1..=inside], &difference[2..inside + 2]);
    for (((out, &l), &c), &r) in vertical[1..=inside].iter_mut().zip(left).zip(center).zip(right) {
        let gradient = ((l + r) + 2.0 * c) * SOBEL_NORM;
        *out = gradient * gradient;
    }
}

/// The edges of `rows`, summed per cell.
fn edges_in_rows(gray: &Plane, rows: Range<usize>, thresholds: [f32; 2], columns: usize) -> Vec<Edges> {
    let (width, height) = (gray.width(), gray.height());
    let mut cells = vec![Edges::default(); columns];
    let mut add = |x: usize, length: usize| {
        let cell = &mut cells[x * columns / width];
        *cell = Edges { width: cell.width + length as u64, count: cell.count + 1 };
    };
    // Three rows at a time, because a horizontal edge is the local maximum of its column.
    let mut window = [(); 3].map(|()| Sobel::new(width));
    let read = |sobel: &mut Sobel, y: usize| match (1..height - 1).contains(&y) {
        true => sobel.read(gray, y),
        false => sobel.vertical.fill(0.0),
    };
    let first = rows.start.max(1);
    let last = rows.end.min(height - 1);
    read(&mut window[0], first - 1);
    read(&mut window[1], first);
    for y in first..last {
        read(&mut window[2], y + 1);
        let [above, center, below] = &window;
        let row = &center.horizontal;
        for_each_above(row, thresholds[0], |x| {
            if row[x] >= row[x - 1] && row[x] > row[x + 1] {
                add(x, edge_width(&gray.data()[y * width..(y + 1) * width], x, 1));
            }
        });
        for_each_above(&center.vertical, thresholds[1], |x| {
            if center.vertical[x] >= above.vertical[x] && center.vertical[x] > below.vertical[x] {
                add(x, edge_width(&gray.data()[x..], y * width, width));
            }
        });
        window.rotate_left(1);
    }
    cells
}

/// Calls `work` for the indices of the inner samples above `threshold`. Most samples are below and
/// are skipped in groups.
fn for_each_above(samples: &[f32], threshold: f32, mut work: impl FnMut(usize)) {
    const GROUP: usize = 16;
    for (group, part) in samples.chunks(GROUP).enumerate() {
        if part.iter().fold(false, |any, &sample| any | (sample > threshold)) {
            for (offset, _) in part.iter().enumerate().filter(|&(_, &sample)| sample > threshold) {
                work(group * GROUP + offset);
            }
        }
    }
}

/// Number of pixels between the local extremes on both sides of the edge at `position`, in steps
/// of `stride`.
fn edge_width(samples: &[f32], position: usize, stride: usize) -> usize {
    let at = |index: usize| samples.get(index).copied();
    let before = position.checked_sub(stride).and_then(at);
    let (Some(before), Some(after)) = (before, at(position + stride)) else { return 1 };
    let rising = after > before;
    let climbs = |from: f32, to: f32| if rising { to > from } else { to < from };
    let mut length = 0;
    let (mut index, mut value) = (position, samples[position]);
    while let Some(next) = at(index + stride).filter(|&next| climbs(value, next) && length < LONGEST) {
        (index, value, length) = (index + stride, next, length + 1);
    }
    let limit = length + LONGEST;
    let (mut index, mut value) = (position, samples[position]);
    while let Some(below) = index.checked_sub(stride) {
        match at(below).filter(|&next| climbs(next, value) && length < limit) {
            Some(next) => (index, value, length) = (below, next, length + 1),
            None => break,
        }
    }
    length.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use crate::testing::blurred_shapes;

    #[test]
    fn a_step_is_one_pixel_wide_and_a_ramp_as_wide_as_it_is() {
        let ramp = |length: usize| {
            let sample = |x: usize| (60 + 120 * x.saturating_sub(30).min(length) / length) as u8;
            Image::from_gray8(64, 16, (0..16).flat_map(|_| (0..64).map(sample)).collect()).unwrap()
        };
        for length in [1, 2, 3, 5, 10] {
            assert_eq!(Blur.score(&ramp(length)).unwrap(), length as f64);
        }
    }

    #[test]
    fn width_grows_with_gaussian_blur() {
        let widths =
            [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0].map(|sigma| Blur.score(&blurred_shapes(160, sigma)).unwrap());
        assert!(widths.windows(2).all(|pair| pair[0] < pair[1]), "{widths:?}");
    }

    #[test]
    fn edges_of_both_directions_count_and_the_map_shows_where() {
        let sample = |x: usize, y: usize| match () {
            () if x < 64 => 50 + 100 * u8::from(x > 30),
            () => (50 + 100 * y.saturating_sub(40).min(20) / 20) as u8,
        };
        let samples = (0..128).flat_map(|y| (0..128).map(move |x| sample(x, y))).collect();
        let image = Image::from_gray8(128, 128, samples).unwrap();
        let map = Blur.measure(&Pair::single(&image).with_map()).unwrap().map.unwrap().plane;
        assert_eq!((map.width(), map.height()), (4, 4));
        assert!(map.at(0, 1) < 1.5 && map.at(3, 1) > 15.0, "{map:?}");
    }

    #[test]
    fn without_an_edge_there_is_no_width() {
        let flat = Image::from_gray8(30, 30, vec![9; 900]).unwrap();
        assert!(matches!(Blur.score(&flat), Err(Error::Undefined { .. })));
    }
}
