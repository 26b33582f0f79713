//! A ring buffer for the last few rows of a filter's input. A strip is processed from top to
//! bottom, and only the rows that the window still needs stay in the cache.

use std::ops::Range;

use crate::Plane;
use crate::ops::strips;

/// A ring of rows, addressed by row number. Writing row `n` drops row `n - count`.
pub struct Rolling<T> {
    width: usize,
    count: usize,
    rows: Vec<T>,
}

impl<T: Copy + Default> Rolling<T> {
    /// Creates a ring of `count` rows of `width` samples, all zero.
    pub fn new(width: usize, count: usize) -> Self {
        let count = count.max(1);
        Self { width, count, rows: vec![T::default(); width * count] }
    }

    /// Row `y`, which may lie above the image (negative).
    pub fn row(&self, y: isize) -> &[T] {
        let start = self.start(y);
        &self.rows[start..start + self.width]
    }

    /// Row `y`, mutable.
    pub fn row_mut(&mut self, y: isize) -> &mut [T] {
        let start = self.start(y);
        &mut self.rows[start..start + self.width]
    }

    fn start(&self, y: isize) -> usize {
        y.rem_euclid(self.count as isize) as usize * self.width
    }
}

/// Processes `height` rows strip by strip, in parallel, and returns the results from top to
/// bottom.
///
/// `work` receives the range of rows and, if there is a `map` to fill, its samples. A map has
/// `height` rows.
pub fn map_strips<T: Send>(
    height: usize,
    map: Option<&mut Plane>,
    work: impl Fn(Range<usize>, Option<&mut [f32]>) -> T + Sync,
) -> Vec<T> {
    match map {
        Some(map) => strips::fill(map, |rows, samples| work(rows, Some(samples))),
        None => strips::map(height, |rows| work(rows, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_number_until_they_are_dropped() {
        let mut rolling = Rolling::new(2, 3);
        for y in -2isize..4 {
            rolling.row_mut(y).fill(y);
        }
        for y in 1..4 {
            assert_eq!(rolling.row(y), [y, y]);
        }
    }

    #[test]
    fn strips_are_the_same_with_and_without_a_map() {
        let rows = |rows: Range<usize>, map: Option<&mut [f32]>| (rows, map.map(|samples| samples.len()));
        let mut map = Plane::new(3, 150);
        let with: Vec<_> = map_strips(150, Some(&mut map), rows);
        let without: Vec<_> = map_strips(150, None, rows);
        assert_eq!(with, [(0..64, Some(192)), (64..128, Some(192)), (128..150, Some(66))]);
        assert_eq!(without, [(0..64, None), (64..128, None), (128..150, None)]);
    }
}
