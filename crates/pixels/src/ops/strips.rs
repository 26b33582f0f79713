//! Work is cut into horizontal strips of a fixed height: they fit the cache, bound the memory of large photos, and
//! run in parallel. Strips do not depend on the number of threads and partial results are combined from top to
//! bottom, so a score is the same on every machine.

use std::ops::Range;

use rayon::prelude::*;

use crate::Plane;

/// Rows a strip; small enough for the cache at usual widths, large enough to make halo rows cheap.
pub const HEIGHT: usize = 64;

/// Rows a strip of an image of about 256 rows, so that its strips keep several threads busy to the end.
pub const SMALL: usize = 16;

/// Calls `work` for each strip of `height` rows, in parallel, and gives the results from top to bottom.
pub fn map<T: Send>(height: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    map_by(height, HEIGHT, work)
}

/// As [`map`] with strips of `strip` rows.
pub fn map_by<T: Send>(height: usize, strip: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let strip = strip.max(1);
    let count = height.div_ceil(strip);
    (0..count).into_par_iter().map(|i| work(i * strip..((i + 1) * strip).min(height))).collect()
}

/// As [`map`] with buffers that `buffers` makes once for many strips: fresh memory costs more than the work on it.
/// What `work` finds in them is what some other strip left.
pub fn map_with<B, T: Send>(
    height: usize,
    buffers: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, Range<usize>) -> T + Sync + Send,
) -> Vec<T> {
    let count = height.div_ceil(HEIGHT);
    let strip = |i: usize| i * HEIGHT..((i + 1) * HEIGHT).min(height);
    (0..count).into_par_iter().map_init(buffers, |buffers, i| work(buffers, strip(i))).collect()
}

/// Fills `plane` strip by strip, in parallel: `work` gets the rows' range and their samples, and what it returns is
/// given from top to bottom.
pub fn fill<S: Send, T: Send>(plane: &mut Plane<S>, work: impl Fn(Range<usize>, &mut [S]) -> T + Sync) -> Vec<T> {
    fill_by(plane, HEIGHT, work)
}

/// As [`fill`] with strips of `strip` rows: smaller ones for planes that were made small.
pub fn fill_by<S: Send, T: Send>(
    plane: &mut Plane<S>,
    strip: usize,
    work: impl Fn(Range<usize>, &mut [S]) -> T + Sync,
) -> Vec<T> {
    let (width, height, strip) = (plane.width(), plane.height(), strip.max(1));
    if width == 0 || height == 0 {
        return Vec::new();
    }
    plane
        .data_mut()
        .par_chunks_mut(width * strip)
        .enumerate()
        .map(|(i, rows)| work(i * strip..((i + 1) * strip).min(height), rows))
        .collect()
}

/// As [`fill`] with buffers as [`map_with`] has them.
pub fn fill_with<S: Send, B, T: Send>(
    plane: &mut Plane<S>,
    buffers: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, Range<usize>, &mut [S]) -> T + Sync + Send,
) -> Vec<T> {
    let (width, height) = (plane.width(), plane.height());
    if width == 0 || height == 0 {
        return Vec::new();
    }
    let strip = |i: usize| i * HEIGHT..((i + 1) * HEIGHT).min(height);
    let strips = plane.data_mut().par_chunks_mut(width * HEIGHT).enumerate();
    strips.map_init(buffers, |buffers, (i, rows)| work(buffers, strip(i), rows)).collect()
}

/// Fills `plane` row by row, in parallel.
pub fn for_each_row<S: Send>(plane: &mut Plane<S>, work: impl Fn(usize, &mut [S]) + Sync) {
    let width = plane.width();
    fill(plane, |rows, samples| {
        for (y, row) in rows.zip(samples.chunks_exact_mut(width)) {
            work(y, row);
        }
    });
}
