//! Layers that change the size of planes without weights.

use rayon::prelude::*;

use crate::network::Planes;
use crate::network::buffer_pool::BufferPool;

/// Returns planes of twice the size. Every second sample is that of the input, those between are
/// the means of their neighbors (TensorFlow's bilinear resize without aligned corners).
pub(crate) fn doubled(input: &Planes, room: &BufferPool) -> Planes {
    let (width, height) = (input.width(), input.height());
    let mut output = room.planes(input.channels(), 2 * width, 2 * height);
    let planes = input.data().par_chunks_exact(width * height);
    output.data_mut().par_chunks_exact_mut(4 * width * height).zip(planes).for_each(|(out, plane)| {
        for (y, rows) in out.chunks_exact_mut(4 * width).enumerate() {
            let below = (y + 1).min(height - 1) * width;
            let (row, below) = (&plane[y * width..][..width], &plane[below..][..width]);
            let (even, odd) = rows.split_at_mut(2 * width);
            for x in 0..width {
                let next = (x + 1).min(width - 1);
                even[2 * x] = row[x];
                even[2 * x + 1] = (row[x] + row[next]) * 0.5;
                odd[2 * x] = (row[x] + below[x]) * 0.5;
                odd[2 * x + 1] = ((row[x] + row[next]) * 0.5 + (below[x] + below[next]) * 0.5) * 0.5;
            }
        }
    });
    output
}

/// Returns the largest sample of each square of two by two. Squares at the border may be cut.
pub(crate) fn max_halved(input: &Planes, room: &BufferPool) -> Planes {
    let (width, height) = (input.width(), input.height());
    let (columns, lines) = (width.div_ceil(2), height.div_ceil(2));
    let mut output = room.planes(input.channels(), columns, lines);
    let planes = input.data().par_chunks_exact(width * height);
    output.data_mut().par_chunks_exact_mut(columns * lines).zip(planes).for_each(|(out, plane)| {
        for (y, out) in out.chunks_exact_mut(columns).enumerate() {
            let row = &plane[2 * y * width..][..width];
            let below = &plane[(2 * y + 1).min(height - 1) * width..][..width];
            for (x, out) in out.iter_mut().enumerate() {
                let (left, right) = (2 * x, (2 * x + 1).min(width - 1));
                *out = row[left].max(row[right]).max(below[left].max(below[right]));
            }
        }
    });
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_samples_are_right_at_the_borders() {
        let planes = Planes::new(1, 3, 1, vec![1.0, 3.0, 7.0]).unwrap();
        let doubled = doubled(&planes, &BufferPool::default());
        assert_eq!((doubled.width(), doubled.height()), (6, 2));
        assert_eq!(doubled.data(), [1.0, 2.0, 3.0, 5.0, 7.0, 7.0, 1.0, 2.0, 3.0, 5.0, 7.0, 7.0]);
        let planes = Planes::new(2, 3, 2, (0..12).map(|sample| sample as f32).collect()).unwrap();
        let halved = max_halved(&planes, &BufferPool::default());
        assert_eq!((halved.width(), halved.height()), (2, 1));
        assert_eq!(halved.data(), [4.0, 5.0, 10.0, 11.0]);
    }
}
