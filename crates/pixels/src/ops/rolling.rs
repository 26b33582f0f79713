//! The last few rows of a filter's input: a strip is worked through from top to bottom while only the rows that the
//! window still needs stay in the cache.

use std::ops::Range;

use crate::Plane;
use crate::ops::strips;

/// A ring of rows, each found by the number it was written under; writing row `n` drops row `n - count`.
pub struct Rolling<T> {
    width: usize,
    count: usize,
    rows: Vec<T>,
}

impl<T: Copy + Default> Rolling<T> {
    /// Room for `count` rows of `width` samples, all zero.
    pub fn new(width: usize, count: usize) -> Self {
        let count = count.max(1);
        Self { width, count, rows: vec![T::default(); width * count] }
    }

    /// Row `y`, which may lie above the image (negative numbers).
    pub fn row(&self, y: isize) -> &[T] {
        let start = self.start(y);
        &self.rows[start..start + self.width]
    }

    /// Row `y`, to be written.
    pub fn row_mut(&mut self, y: isize) -> &mut [T] {
        let start = self.start(y);
        &mut self.rows[start..start + self.width]
    }

    fn start(&self, y: isize) -> usize {
        y.rem_euclid(self.count as isize) as usize * self.width
    }
}

/// Works through `height` rows strip by strip, in parallel: `work` gets the rows' range and, where a `map` is to be
/// filled, its samples; what it returns is given from top to bottom. A map is `height` rows high.
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
