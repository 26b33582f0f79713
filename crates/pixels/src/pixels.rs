//! The working image of edits: three planes of samples from 0 to 1.

use crate::ops::strips;
use crate::{Image, Plane, Result};

/// R, G and B (or another color space) on the scale 0 to 1. All three planes have the same size.
#[derive(Debug, Clone)]
pub struct Pixels {
    /// The planes.
    pub planes: [Plane; 3],
}

impl Pixels {
    /// Reads the pixels of an image. A gray image has the same samples in all three planes.
    pub fn read(image: &Image) -> Self {
        Self { planes: [0, 1, 2].map(|channel| image.channel(channel).map(|sample| sample / 255.0)) }
    }

    /// Creates an image with this bit depth. It is gray if all three planes are equal after
    /// rounding.
    pub fn write(&self, bit_depth: u8) -> Result<Image> {
        let (width, height) = (self.width(), self.height());
        let whole = |highest: f32| {
            let [red, green, blue] = &self.planes;
            let code = move |sample: f32| (sample.clamp(0.0, 1.0) * highest).round() as u16;
            let pixels = red.data().iter().zip(green.data()).zip(blue.data());
            let codes: Vec<[u16; 3]> = pixels.map(|((&r, &g), &b)| [code(r), code(g), code(b)]).collect();
            codes
        };
        if bit_depth == 16 {
            let codes = whole(65535.0);
            if codes.iter().all(|[r, g, b]| r == g && g == b) {
                return Image::from_gray16(width, height, codes.iter().map(|rgb| rgb[0]).collect());
            }
            return Image::from_rgb16(width, height, codes.into_flattened());
        }
        let codes = whole(255.0);
        if codes.iter().all(|[r, g, b]| r == g && g == b) {
            return Image::from_gray8(width, height, codes.iter().map(|rgb| rgb[0] as u8).collect());
        }
        Image::from_rgb8(width, height, codes.into_iter().flatten().map(|code| code as u8).collect())
    }

    /// Width in pixels.
    pub fn width(&self) -> usize {
        self.planes[0].width()
    }

    /// Height in pixels.
    pub fn height(&self) -> usize {
        self.planes[0].height()
    }

    /// Applies `f` to every sample.
    pub fn map(&self, f: impl Fn(f32) -> f32 + Copy) -> Self {
        Self { planes: [0, 1, 2].map(|channel| self.planes[channel].map(f)) }
    }

    /// Applies `f` to every plane.
    pub fn map_planes(&self, f: impl Fn(&Plane) -> Plane) -> Self {
        Self { planes: [0, 1, 2].map(|channel| f(&self.planes[channel])) }
    }

    /// Applies `f` to every pixel, in parallel.
    pub fn map_pixels(&self, f: impl Fn([f32; 3]) -> [f32; 3] + Sync) -> Self {
        let width = self.width();
        let rows: Vec<[Vec<f32>; 3]> = strips::map(self.height(), |rows| {
            let mut out = [0, 1, 2].map(|_| Vec::with_capacity(rows.len() * width));
            for y in rows {
                let [red, green, blue] = [0, 1, 2].map(|channel| self.planes[channel].row(y));
                for x in 0..width {
                    let pixel = f([red[x], green[x], blue[x]]);
                    (0..3).for_each(|channel| out[channel].push(pixel[channel]));
                }
            }
            out
        });
        let planes = [0, 1, 2].map(|channel| {
            let mut plane = Plane::new(width, self.height());
            let samples = rows.iter().flat_map(|strip| &strip[channel]);
            plane.data_mut().iter_mut().zip(samples).for_each(|(out, &sample)| *out = sample);
            plane
        });
        Self { planes }
    }

    /// Converts to the full-range YCbCr of JPEG, with Cb and Cr centered at 0.
    pub fn to_ycc(&self) -> Self {
        self.map_pixels(|[r, g, b]| {
            let y = 0.299 * r + 0.587 * g + 0.114 * b;
            [y, (b - y) / 1.772, (r - y) / 1.402]
        })
    }

    /// Converts back from [`to_ycc`](Self::to_ycc).
    pub fn to_rgb(&self) -> Self {
        self.map_pixels(|[y, cb, cr]| [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb])
    }

    /// Rec. 601 luma.
    pub fn luma(&self) -> Plane {
        let [red, green, blue] = &self.planes;
        Plane::from_fn(self.width(), self.height(), |x, y| {
            0.299 * red.at(x, y) + 0.587 * green.at(x, y) + 0.114 * blue.at(x, y)
        })
    }
}
