//! Converts luma and chroma planes to interleaved gray or RGB samples.
//!
//! Subsampled chroma is interpolated with the weights 3/4 and 1/4 of the two nearest samples, as
//! in libavif. 8-bit samples stay 8-bit; deeper samples become 16-bit.

use rayon::prelude::*;

use super::boxes::damaged;
use crate::raster::{Layout, Raster, Sample, Samples};
use crate::{Error, Format, Result};

/// The resolution of chroma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subsampling {
    /// No chroma.
    Gray,
    /// The same resolution as luma.
    None,
    /// Half the horizontal resolution.
    Horizontal,
    /// Half the horizontal and half the vertical resolution.
    Both,
}

impl Subsampling {
    /// Width and height of the chroma planes.
    pub fn size(self, width: usize, height: usize) -> (usize, usize) {
        match self {
            Self::Gray => (0, 0),
            Self::None => (width, height),
            Self::Horizontal => (width.div_ceil(2), height),
            Self::Both => (width.div_ceil(2), height.div_ceil(2)),
        }
    }
}

/// Rows of samples, one byte each or two bytes in native order.
#[derive(Debug)]
pub(super) struct Plane {
    pub data: Vec<u8>,
    pub row_bytes: usize,
}

/// A decoded image with the color description of its stream (code points of ITU-T H.273).
#[derive(Debug)]
pub(super) struct Frame {
    pub width: usize,
    pub height: usize,
    pub depth: u8,
    pub subsampling: Subsampling,
    pub planes: Vec<Plane>,
    pub primaries: u16,
    pub transfer: u16,
    pub matrix: u16,
    pub full_range: bool,
}

/// The conversion from code values to fractions of white, or of the range of chroma.
#[derive(Clone, Copy)]
struct Scale {
    factor: f32,
    offset: f32,
}

impl Frame {
    fn luma_scale(&self) -> Scale {
        let unit = (1u32 << (self.depth - 8)) as f32;
        match self.full_range {
            true => Scale { factor: 1.0 / ((1u32 << self.depth) - 1) as f32, offset: 0.0 },
            false => Scale { factor: 1.0 / (219.0 * unit), offset: 16.0 * unit },
        }
    }

    fn chroma_scale(&self) -> Scale {
        let unit = (1u32 << (self.depth - 8)) as f32;
        let range = if self.full_range { ((1u32 << self.depth) - 1) as f32 } else { 224.0 * unit };
        Scale { factor: 1.0 / range, offset: 128.0 * unit }
    }

    /// One row of a plane as fractions.
    fn row(&self, plane: usize, y: usize, scale: Scale) -> Vec<f32> {
        let Plane { data, row_bytes } = &self.planes[plane];
        let row = &data[y * row_bytes..][..*row_bytes];
        let fraction = |value: f32| (value - scale.offset) * scale.factor;
        match self.depth {
            8 => row.iter().map(|&value| fraction(value.into())).collect(),
            _ => row.as_chunks().0.iter().map(|&pair| fraction(u16::from_ne_bytes(pair).into())).collect(),
        }
    }

    /// One row of chroma, interpolated to one sample per pixel.
    fn chroma_row(&self, plane: usize, y: usize, scale: Scale) -> Vec<f32> {
        let (_, rows) = self.subsampling.size(self.width, self.height);
        let row = match self.subsampling {
            Subsampling::Both => {
                let (near, far) = neighbors(y, rows);
                let (near, far) = (self.row(plane, near, scale), self.row(plane, far, scale));
                near.iter().zip(far).map(|(near, far)| 0.75 * near + 0.25 * far).collect()
            }
            _ => self.row(plane, y, scale),
        };
        if self.subsampling == Subsampling::None {
            return row;
        }
        let pixel = |x| {
            let (near, far) = neighbors(x, row.len());
            0.75 * row[near] + 0.25 * row[far]
        };
        (0..self.width).map(pixel).collect()
    }
}

/// The nearest and the second nearest of `count` samples, each of which covers two pixels.
fn neighbors(pixel: usize, count: usize) -> (usize, usize) {
    let near = pixel / 2;
    let far = if pixel.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(count - 1) };
    (near, far)
}

/// The conversion from luma and chroma to red, green and blue.
#[derive(Clone, Copy)]
enum Matrix {
    /// The planes are green, blue and red.
    Identity,
    /// Green and orange differences.
    YCgCo,
    /// The weights of red and blue in luma.
    Luma { red: f32, blue: f32 },
}

impl Matrix {
    fn new(code: u16) -> Result<Self> {
        let (red, blue) = match code {
            0 => return Ok(Self::Identity),
            8 => return Ok(Self::YCgCo),
            1 => (0.2126, 0.0722),
            4 => (0.30, 0.11),
            // Not stated: the default of encoders.
            2 | 5 | 6 => (0.299, 0.114),
            7 => (0.212, 0.087),
            9 => (0.2627, 0.0593),
            other => return Err(Error::unsupported(Format::Avif, format!("matrix coefficients {other}"))),
        };
        Ok(Self::Luma { red, blue })
    }

    fn apply(self, y: f32, u: f32, v: f32) -> [f32; 3] {
        match self {
            Self::Identity => [v, y, u],
            Self::YCgCo => [y - u + v, y + u, y - u - v],
            Self::Luma { red, blue } => {
                let (r, b) = (y + 2.0 * (1.0 - red) * v, y + 2.0 * (1.0 - blue) * u);
                [r, (y - red * r - blue * b) / (1.0 - red - blue), b]
            }
        }
    }
}

/// Converts the image to samples. `alpha` is a separate image whose luma is the opacity; the
/// colors may be premultiplied by it.
pub(super) fn to_raster(frame: &Frame, alpha: Option<&Frame>, premultiplied: bool) -> Result<Raster> {
    let matrix = Matrix::new(frame.matrix)?;
    if matches!(matrix, Matrix::Identity) && !matches!(frame.subsampling, Subsampling::None | Subsampling::Gray) {
        return Err(damaged("RGB planes of different sizes"));
    }
    if alpha.is_some_and(|alpha| (alpha.width, alpha.height) != (frame.width, frame.height)) {
        return Err(Error::unsupported(Format::Avif, "transparency of another size than the image"));
    }
    let layout = match (frame.subsampling == Subsampling::Gray, alpha.is_some()) {
        (true, false) => Layout::Gray,
        (true, true) => Layout::GrayAlpha,
        (false, false) => Layout::Rgb,
        (false, true) => Layout::Rgba,
    };
    let convert = Conversion { frame, alpha, premultiplied, matrix, channels: layout.channels() };
    let deep = frame.depth > 8 || alpha.is_some_and(|alpha| alpha.depth > 8);
    let samples = if deep { Samples::Sixteen(convert.run()) } else { Samples::Eight(convert.run()) };
    Ok(Raster { width: frame.width, height: frame.height, layout, samples })
}

struct Conversion<'a> {
    frame: &'a Frame,
    alpha: Option<&'a Frame>,
    premultiplied: bool,
    matrix: Matrix,
    channels: usize,
}

impl Conversion<'_> {
    fn run<S: Sample>(&self) -> Vec<S> {
        let row = self.frame.width * self.channels;
        let mut data = vec![S::default(); row * self.frame.height];
        data.par_chunks_mut(row.max(1)).enumerate().for_each(|(y, row)| self.row(y, row));
        data
    }

    fn row<S: Sample>(&self, y: usize, out: &mut [S]) {
        let frame = self.frame;
        let luma = frame.row(0, y, frame.luma_scale());
        let scale = if matches!(self.matrix, Matrix::Identity) { frame.luma_scale() } else { frame.chroma_scale() };
        let chroma = (self.channels > 2).then(|| [1, 2].map(|plane| frame.chroma_row(plane, y, scale)));
        let alpha = self.alpha.map(|alpha| alpha.row(0, y, alpha.luma_scale()));
        for (x, pixel) in out.chunks_exact_mut(self.channels).enumerate() {
            let opacity = alpha.as_ref().map_or(1.0, |alpha| alpha[x].clamp(0.0, 1.0));
            let colors = match &chroma {
                Some([u, v]) => self.matrix.apply(luma[x], u[x], v[x]),
                None => [luma[x]; 3],
            };
            let share = if self.premultiplied && opacity > 0.0 { 1.0 / opacity } else { 1.0 };
            // Gray has one color channel; alpha comes last.
            let count = self.channels - usize::from(alpha.is_some());
            for (value, color) in pixel.iter_mut().zip(&colors[..count]) {
                *value = narrow(color * share);
            }
            if let Some(value) = pixel.get_mut(count) {
                *value = narrow(opacity);
            }
        }
    }
}

/// The nearest code value of a fraction of white.
fn narrow<S: Sample>(fraction: f32) -> S {
    S::narrow((fraction.clamp(0.0, 1.0) * S::WHITE as f32 + 0.5) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(width: usize, depth: u8, subsampling: Subsampling, planes: &[&[u16]]) -> Frame {
        let plane = |samples: &&[u16]| match depth {
            8 => Plane { data: samples.iter().map(|&value| value as u8).collect(), row_bytes: samples.len() },
            _ => Plane {
                data: samples.iter().flat_map(|value| value.to_ne_bytes()).collect(),
                row_bytes: 2 * samples.len(),
            },
        };
        let planes = planes.iter().map(plane).collect();
        let (primaries, transfer, matrix, full_range) = (1, 13, 6, true);
        Frame { width, height: 1, depth, subsampling, planes, primaries, transfer, matrix, full_range }
    }

    fn eight(raster: Raster) -> Vec<u8> {
        match raster.samples {
            Samples::Eight(data) => data,
            Samples::Sixteen(_) => panic!("8 bits expected"),
        }
    }

    #[test]
    fn rgb_planes_are_taken_as_they_are() {
        let mut planes = frame(2, 8, Subsampling::None, &[&[1, 2], &[3, 4], &[5, 6]]);
        planes.matrix = 0;
        assert_eq!(eight(to_raster(&planes, None, false).unwrap()), [5, 1, 3, 6, 2, 4]);
        planes.subsampling = Subsampling::Horizontal;
        assert!(to_raster(&planes, None, false).is_err());
    }

    #[test]
    fn primary_colors_come_back_under_every_matrix() {
        // Converts red, green and blue by the definition of luma and chroma, and back.
        for (code, red, blue) in [(1, 0.2126, 0.0722), (6, 0.299, 0.114), (9, 0.2627, 0.0593)] {
            for full_range in [true, false] {
                let mut planes = [[0u16; 3]; 3];
                for (i, [r, g, b]) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].into_iter().enumerate() {
                    let y: f64 = red * r + (1.0 - red - blue) * g + blue * b;
                    let (u, v) = ((b - y) / 2.0 / (1.0 - blue), (r - y) / 2.0 / (1.0 - red));
                    let code = |value: f64, range: f64, zero: f64| (value * range + zero).round() as u16;
                    planes[0][i] = if full_range { code(y, 1023.0, 0.0) } else { code(y, 876.0, 64.0) };
                    let range = if full_range { 1023.0 } else { 896.0 };
                    (planes[1][i], planes[2][i]) = (code(u, range, 512.0), code(v, range, 512.0));
                }
                let planes: Vec<&[u16]> = planes.iter().map(|plane| plane.as_slice()).collect();
                let mut frame = frame(3, 10, Subsampling::None, &planes);
                (frame.matrix, frame.full_range) = (code, full_range);
                let Samples::Sixteen(data) = to_raster(&frame, None, false).unwrap().samples else {
                    panic!("16 bits expected")
                };
                for (i, &value) in data.iter().enumerate() {
                    let wanted = if i % 4 == 0 { 65535i32 } else { 0 };
                    assert!(
                        (i32::from(value) - wanted).abs() < 200,
                        "matrix {code}, full range {full_range}: {data:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn chroma_lies_between_the_pixels_that_share_it() {
        let planes = frame(4, 8, Subsampling::Horizontal, &[&[128; 4], &[128, 128], &[128, 192]]);
        let red: Vec<u8> = eight(to_raster(&planes, None, false).unwrap()).into_iter().step_by(3).collect();
        let at = |chroma: f64| (128.0 + 1.402 * (chroma - 128.0)).round() as u8;
        assert_eq!(red, [at(128.0), at(144.0), at(176.0), at(192.0)]);
    }

    #[test]
    fn multiplied_colors_are_divided_again() {
        let gray = frame(3, 8, Subsampling::Gray, &[&[50, 0, 200]]);
        let alpha = frame(3, 8, Subsampling::Gray, &[&[51, 0, 255]]);
        assert_eq!(eight(to_raster(&gray, Some(&alpha), true).unwrap()), [250, 51, 0, 0, 200, 255]);
        assert_eq!(eight(to_raster(&gray, Some(&alpha), false).unwrap()), [50, 51, 0, 0, 200, 255]);
    }

    #[test]
    fn an_unknown_matrix_is_named() {
        let mut planes = frame(1, 8, Subsampling::None, &[&[1], &[1], &[1]]);
        planes.matrix = 14;
        let message = to_raster(&planes, None, false).unwrap_err().to_string();
        assert_eq!(message, "this kind of AVIF is not supported: matrix coefficients 14; convert it to PNG first");
    }
}
