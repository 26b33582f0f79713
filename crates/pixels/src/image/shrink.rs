//! Shrinks an image by a whole factor.

use rayon::prelude::*;

use super::{Image, Samples};

impl Image {
    /// Returns the image shrunk by averaging boxes of `factor` by `factor` pixels.
    ///
    /// The result has 16 bits per sample, so that nothing visible is lost. Pixels at the right and
    /// lower edge that do not fill a box are dropped. The image is returned unchanged if `factor`
    /// is below 2 or larger than a side.
    pub fn shrunk(&self, factor: usize) -> Self {
        if factor < 2 || self.width() < factor || self.height() < factor {
            return self.clone();
        }
        let (width, height) = (self.width() / factor, self.height() / factor);
        let mut samples = vec![0u16; width * height * self.channels()];
        samples.par_chunks_exact_mut(width).enumerate().for_each_init(
            || vec![0.0f32; self.width()],
            |sums, (row, out)| {
                let (channel, y) = (row / height, row % height);
                sums.fill(0.0);
                (y * factor..(y + 1) * factor).for_each(|y| self.add_row(channel, y, 1.0, sums));
                // The full range of 16 bits is 257 times the full range of 8 bits.
                let scale = 257.0 / (factor * factor) as f32;
                for (out, sums) in out.iter_mut().zip(sums.chunks_exact(factor)) {
                    *out = (sums.iter().sum::<f32>() * scale).round() as u16;
                }
            },
        );
        Self::from_planes(width, height, self.channels(), Samples::Sixteen(samples))
    }
}

#[cfg(test)]
mod tests {
    use crate::Image;

    #[test]
    fn boxes_become_their_means_at_both_depths() {
        let eight = Image::from_gray8(5, 3, vec![0, 10, 20, 30, 9, 20, 30, 255, 255, 9, 1, 2, 3, 4, 5]).unwrap();
        let small = eight.shrunk(2);
        assert_eq!((small.width(), small.height(), small.bit_depth()), (2, 1, 16));
        assert_eq!(small.channel(0).data(), [15.0, 140.0]);
        let sixteen = Image::from_rgb16(2, 2, vec![65535, 0, 257, 65535, 0, 257, 0, 0, 257, 0, 514, 257]).unwrap();
        let small = sixteen.shrunk(2);
        assert_eq!((0..3).map(|channel| small.channel(channel).data()[0]).collect::<Vec<_>>()[2], 1.0);
        assert!((small.channel(0).data()[0] - 127.5).abs() < 0.01);
    }

    #[test]
    fn what_cannot_be_shrunk_stays() {
        let image = Image::from_gray8(3, 3, vec![7; 9]).unwrap();
        assert_eq!(image.shrunk(1).width(), 3);
        assert_eq!(image.shrunk(4).width(), 3);
    }
}
