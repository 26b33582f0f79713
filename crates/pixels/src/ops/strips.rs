//! Splits work into horizontal strips of a fixed height.
//!
//! Strips fit the cache, bound the memory for large photos, and run in parallel. Their height does
//! not depend on the number of threads, and partial results are combined from top to bottom. A
//! score is therefore the same on every machine.

use std::ops::Range;

use rayon::prelude::*;

use crate::Plane;

/// Rows per strip: small enough for the cache at usual widths, large enough to keep halo rows
/// cheap.
pub const HEIGHT: usize = 64;

/// Rows per strip for an image of about 256 rows, so that several threads stay busy to the end.
pub const SMALL: usize = 16;

/// Calls `work` for each strip of `height` rows, in parallel, and returns the results from top to
/// bottom.
pub fn map<T: Send>(height: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    map_by(height, HEIGHT, work)
}

/// Like [`map`] with strips of `strip` rows.
pub fn map_by<T: Send>(height: usize, strip: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let strip = strip.max(1);
    let count = height.div_ceil(strip);
    (0..count).into_par_iter().map(|i| work(i * strip..((i + 1) * strip).min(height))).collect()
}

/// Like [`map`] with reusable buffers.
///
/// `buffers` creates them once for many strips, because allocating memory costs more than the work
/// on it. `work` must expect leftovers of another strip in them.
pub fn map_with<B, T: Send>(
    height: usize,
    buffers: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, Range<usize>) -> T + Sync + Send,
) -> Vec<T> {
    let count = height.div_ceil(HEIGHT);
    let strip = |i: usize| i * HEIGHT..((i + 1) * HEIGHT).min(height);
    (0..count).into_par_iter().map_init(buffers, |buffers, i| work(buffers, strip(i))).collect()
}

/// Fills `plane` strip by strip, in parallel, and returns the results of `work` from top to
/// bottom. `work` receives the range of rows and their samples.
pub fn fill<S: Send, T: Send>(plane: &mut Plane<S>, work: impl Fn(Range<usize>, &mut [S]) -> T + Sync) -> Vec<T> {
    fill_by(plane, HEIGHT, work)
}

/// Like [`fill`] with strips of `strip` rows; smaller strips suit small planes.
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

/// Like [`fill`] with reusable buffers as in [`map_with`].
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
