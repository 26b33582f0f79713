//! Correlation with separable kernels, and border handling.

use multiversion::multiversion;

use crate::Plane;
use crate::ops::strips;

/// What a filter reads beyond the border, with the names of MATLAB and matlabPyrTools in
/// parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// Zeros (`conv2`, `filter2`).
    Zero,
    /// The border sample, repeated (`replicate`).
    Replicate,
    /// The mirrored image, border sample repeated (`symmetric`).
    Symmetric,
    /// The image mirrored about the border sample, which is not repeated (`reflect1`).
    Reflect,
    /// The image continued from the opposite side (`circular`).
    Circular,
}

impl Border {
    /// Maps `index` to an index inside `0..size`; `None` stands for a zero.
    pub fn index(self, index: isize, size: usize) -> Option<usize> {
        let n = size as isize;
        if (0..n).contains(&index) {
            return Some(index as usize);
        }
        let inside = match self {
            Self::Zero => return None,
            Self::Replicate => index.clamp(0, n - 1),
            Self::Circular => index.rem_euclid(n),
            Self::Symmetric => {
                let folded = index.rem_euclid(2 * n);
                folded.min(2 * n - 1 - folded)
            }
            Self::Reflect if n == 1 => 0,
            Self::Reflect => {
                let folded = index.rem_euclid(2 * n - 2);
                folded.min(2 * n - 2 - folded)
            }
        };
        Some(inside as usize)
    }
}

/// The one-dimensional factor of `fspecial('gaussian', size, sigma)`: sums to 1, computed in
/// double precision.
pub fn gaussian(size: usize, sigma: f64) -> Vec<f32> {
    let center = (size as f64 - 1.0) / 2.0;
    let weights: Vec<f64> = (0..size).map(|i| (-(i as f64 - center).powi(2) / (2.0 * sigma * sigma)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| (w / sum) as f32).collect()
}

/// `out[x] = sum of kernel[j] * rows[j][x]`. Every row must have at least as many samples as
/// `out`.
///
/// With rows of an image this is a vertical filter; with shifted slices of one row, a horizontal
/// filter.
#[multiversion(targets("x86_64+avx2"))]
pub fn correlate(kernel: &[f32], rows: &[&[f32]], out: &mut [f32]) {
    const BLOCK: usize = 32;
    let width = out.len();
    let mut start = 0;
    while start + BLOCK <= width {
        let mut total = [0.0f32; BLOCK];
        for (&weight, row) in kernel.iter().zip(rows) {
            let samples = &row[start..start + BLOCK];
            for (t, &sample) in total.iter_mut().zip(samples) {
                *t += weight * sample;
            }
        }
        out[start..start + BLOCK].copy_from_slice(&total);
        start += BLOCK;
    }
    for (x, out) in out.iter_mut().enumerate().skip(start) {
        *out = kernel.iter().zip(rows).fold(0.0, |total, (&weight, row)| total + weight * row[x]);
    }
}

/// Correlates one padded row: `out[x] = sum of kernel[j] * padded[x + j]`.
pub fn correlate_row(kernel: &[f32], padded: &[f32], out: &mut [f32]) {
    let width = out.len();
    let shifted: Vec<&[f32]> = (0..kernel.len()).map(|j| &padded[j..j + width]).collect();
    correlate(kernel, &shifted, out);
}

/// Correlates with `horizontal` and `vertical`, centered at half their length as in `imfilter`.
/// The size is kept.
pub fn separable(source: &Plane, horizontal: &[f32], vertical: &[f32], border: Border) -> Plane {
    let (width, height) = (source.width(), source.height());
    let (left, above) = ((horizontal.len() - 1) / 2, (vertical.len() - 1) / 2);
    let zeros = vec![0.0; width];
    let mut filtered = Plane::new(width, height);
    let buffer = || vec![0.0; width + horizontal.len() - 1];
    strips::fill_with(&mut filtered, buffer, |padded, rows, out| {
        for (y, out) in rows.zip(out.chunks_exact_mut(width)) {
            let taps: Vec<&[f32]> = (0..vertical.len())
                .map(|j| (y + j) as isize - above as isize)
                .map(|index| border.index(index, height).map_or(zeros.as_slice(), |y| source.row(y)))
                .collect();
            correlate(vertical, &taps, &mut padded[left..left + width]);
            extend_row(padded, left, width, border);
            correlate_row(horizontal, padded, out);
        }
    });
    filtered
}

/// Correlates with `horizontal` and `vertical` where they fit inside (`'valid'`). The plane must
/// be large enough.
pub fn separable_valid(source: &Plane, horizontal: &[f32], vertical: &[f32]) -> Plane {
    let width = source.width() + 1 - horizontal.len();
    let mut filtered = Plane::new(width, source.height() + 1 - vertical.len());
    let buffer = || vec![0.0; source.width()];
    strips::fill_with(&mut filtered, buffer, |column, rows, out| {
        for (y, out) in rows.zip(out.chunks_exact_mut(width)) {
            let taps: Vec<&[f32]> = (0..vertical.len()).map(|j| source.row(y + j)).collect();
            correlate(vertical, &taps, column);
            correlate_row(horizontal, column, out);
        }
    });
    filtered
}

/// Fills the samples left and right of `padded[left..left + width]` according to `border`.
pub fn extend_row(padded: &mut [f32], left: usize, width: usize, border: Border) {
    for x in (0..left).chain(left + width..padded.len()) {
        let inside = border.index(x as isize - left as isize, width);
        padded[x] = inside.map_or(0.0, |inside| padded[left + inside]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_fold_as_matlab_does() {
        let row = |border: Border| (-3..7).map(|i| border.index(i, 4)).collect::<Vec<_>>();
        let some = |indices: [usize; 10]| indices.map(Some).to_vec();
        assert_eq!(row(Border::Symmetric), some([2, 1, 0, 0, 1, 2, 3, 3, 2, 1]));
        assert_eq!(row(Border::Reflect), some([3, 2, 1, 0, 1, 2, 3, 2, 1, 0]));
        assert_eq!(row(Border::Replicate), some([0, 0, 0, 0, 1, 2, 3, 3, 3, 3]));
        assert_eq!(row(Border::Circular), some([1, 2, 3, 0, 1, 2, 3, 0, 1, 2]));
        assert_eq!(Border::Zero.index(-1, 4), None);
    }

    #[test]
    fn separable_equals_the_sum_written_out() {
        let source = Plane::from_fn(45, 7, |x, y| ((x * 7 + y * 13) % 17) as f32);
        let (horizontal, vertical) = ([1.0, 2.0, -1.0, 0.5, 3.0], [0.25, -2.0, 1.0]);
        let filtered = separable(&source, &horizontal, &vertical, Border::Symmetric);
        for (x, y) in [(0, 0), (44, 6), (20, 3), (1, 5)] {
            let mut expected = 0.0;
            for (j, v) in vertical.iter().enumerate() {
                for (i, h) in horizontal.iter().enumerate() {
                    let column = Border::Symmetric.index((x + i) as isize - 2, 45).unwrap();
                    let row = Border::Symmetric.index((y + j) as isize - 1, 7).unwrap();
                    expected += h * v * source.at(column, row);
                }
            }
            assert!((filtered.at(x, y) - expected).abs() < 1e-4);
        }
        let valid = separable_valid(&source, &horizontal, &vertical);
        assert_eq!((valid.width(), valid.height()), (41, 5));
        assert!((valid.at(18, 2) - filtered.at(20, 3)).abs() < 1e-4);
    }
}
