//! Resizes like Pillow and torchvision: each axis separately, columns first. Kernels are cut at
//! the border and their weights renormalized.

use agenticiqa_metrics::Plane;

use super::size::Filter;

/// Resizes a plane. `rounded` rounds to whole steps of 0..=255 after each axis, as Pillow does.
pub(super) fn resize(source: &Plane, width: usize, height: usize, filter: Filter, rounded: bool) -> Plane {
    let finish = |value: f64| if rounded { value.round().clamp(0.0, 255.0) as f32 } else { value as f32 };
    if filter == Filter::Nearest {
        let (columns, rows) = (nearest(source.width(), width), nearest(source.height(), height));
        return Plane::from_fn(width, height, |x, y| source.at(columns[x], rows[y]));
    }
    let (across, down) = (axis(source.width(), width, filter), axis(source.height(), height, filter));
    let narrowed = Plane::from_fn(width, source.height(), |x, y| {
        let row = &source.row(y)[across[x].first..];
        finish(across[x].weights.iter().zip(row).map(|(weight, &sample)| weight * f64::from(sample)).sum())
    });
    Plane::from_fn(width, height, |x, y| {
        let rows = narrowed.data()[down[y].first * width + x..].iter().step_by(width);
        finish(down[y].weights.iter().zip(rows).map(|(weight, &sample)| weight * f64::from(sample)).sum())
    })
}

/// Returns, for each new sample, the source sample that contains its center. Pillow adds up the
/// step size, so rounding decides for centers between two samples; this code does the same.
fn nearest(from: usize, to: usize) -> Vec<usize> {
    let distance = from as f64 / to as f64;
    let middles = std::iter::successors(Some(distance / 2.0), |middle| Some(middle + distance));
    middles.take(to).map(|middle| (middle as usize).min(from - 1)).collect()
}

/// The source samples of a new sample, and their weights.
struct Taps {
    first: usize,
    weights: Vec<f64>,
}

fn axis(from: usize, to: usize, filter: Filter) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let stretch = scale.max(1.0);
    let reach = stretch * if filter == Filter::Bicubic { 2.0 } else { 1.0 };
    let taps = |position: usize| {
        let center = (position as f64 + 0.5) * scale;
        let first = (center - reach + 0.5).max(0.0) as usize;
        let end = ((center + reach + 0.5) as usize).min(from);
        let mut weights: Vec<f64> =
            (first..end).map(|sample| kernel(filter, (sample as f64 - center + 0.5) / stretch)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Taps { first, weights }
    };
    (0..to).map(taps).collect()
}

fn kernel(filter: Filter, distance: f64) -> f64 {
    let x = distance.abs();
    match filter {
        Filter::Nearest | Filter::Bilinear => (1.0 - x).max(0.0),
        Filter::Bicubic if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
        Filter::Bicubic if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        Filter::Bicubic => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern() -> Plane {
        Plane::from_fn(7, 5, |x, y| ((x * 37 + y * 91 + x * y * 5) % 256) as f32)
    }

    fn equals(resized: &Plane, expected: &[f32], tolerance: f32) {
        for (ours, theirs) in resized.data().iter().zip(expected) {
            assert!((ours - theirs).abs() <= tolerance, "{:?}\n{expected:?}", resized.data());
        }
        assert_eq!(resized.data().len(), expected.len());
    }

    #[test]
    fn eight_bit_pictures_are_resized_as_pillow_does() {
        let resized = |filter, width, height| resize(&pattern(), width, height, filter, true);
        let nearest = [0, 74, 148, 222, 182, 20, 114, 208, 108, 222, 80, 194].map(|value| value as f32);
        equals(&resized(Filter::Nearest, 4, 3), &nearest, 0.0);
        let larger = [
            [0, 37, 37, 74, 111, 148, 185, 185, 222],
            [91, 133, 133, 175, 217, 3, 45, 45, 87],
            [182, 229, 229, 20, 67, 114, 161, 161, 208],
            [182, 229, 229, 20, 67, 114, 161, 161, 208],
            [17, 69, 69, 121, 173, 225, 21, 21, 73],
            [108, 165, 165, 222, 23, 80, 137, 137, 194],
        ];
        equals(
            &resized(Filter::Nearest, 9, 6),
            &larger.as_flattened().iter().map(|&v| v as f32).collect::<Vec<_>>(),
            0.0,
        );
        let bilinear = [59, 120, 113, 144, 143, 109, 115, 129, 98, 142, 116, 119].map(|value| value as f32);
        equals(&resized(Filter::Bilinear, 4, 3), &bilinear, 0.0);
        let bicubic = [56, 125, 111, 146, 148, 109, 114, 123, 96, 144, 115, 120].map(|value| value as f32);
        equals(&resized(Filter::Bicubic, 4, 3), &bicubic, 0.0);
        let larger = [
            [0, 18, 49, 78, 107, 144, 175, 205, 229],
            [63, 88, 131, 177, 204, 56, 38, 84, 111],
            [160, 202, 153, 80, 124, 64, 84, 136, 165],
            [116, 161, 114, 45, 106, 168, 136, 119, 159],
            [24, 57, 113, 154, 147, 202, 107, 42, 93],
            [108, 146, 208, 192, 17, 56, 112, 164, 202],
        ];
        equals(
            &resized(Filter::Bicubic, 9, 6),
            &larger.as_flattened().iter().map(|&v| v as f32).collect::<Vec<_>>(),
            0.0,
        );
    }

    #[test]
    fn unrounded_pictures_are_resized_as_torch_does() {
        let bilinear = [59.503395, 120.41715, 113.44571, 143.63945, 142.95767, 109.09333, 114.7911, 129.20105];
        let bicubic = [55.57943, 125.205605, 110.63243, 146.56073, 148.40936, 109.095055, 113.920593, 123.02077];
        for (filter, expected) in [(Filter::Bilinear, bilinear), (Filter::Bicubic, bicubic)] {
            let resized = resize(&pattern(), 4, 3, filter, false);
            let start = Plane::from_fn(4, 2, |x, y| resized.at(x, y));
            equals(&start, &expected, 1e-4);
        }
    }
}
