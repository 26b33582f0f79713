//! Image files in, [`Image`](agenticiqa_metrics::Image) out; maps in, heat-map images out.
//!
//! A [`Decoder`] reads JPEG, PNG, BMP, TIFF, WebP, GIF and AVIF, told apart by content. The result is always sRGB: an
//! embedded ICC profile is applied, CMYK is converted, transparent pixels show white (composited in sRGB code values,
//! as image viewers and browsers do), the EXIF orientation is applied. [`Note`]s say what was done. Where nothing had
//! to be done the samples are those of the file, bit by bit, at 8 or 16 bits.
//!
//! JPEG leaves a decoder some freedom. Against libjpeg-turbo (Pillow) full-color files differ by 0.01 code values on
//! average, files with subsampled color by 0.3 (the interpolation of color), and so do AVIF files from libavif; all other formats are equal to Pillow bit by
//! bit. Profiles are applied with the perceptual intent and without black point compensation.
//!
//! Damaged files are errors, never half an image; sizes are checked before memory is taken. Everything is Rust: no
//! system library, no assembler.
//!
//! ```
//! use agenticiqa_imaging::Decoder;
//!
//! let bmp = b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\x02\x01\0";
//! let picture = Decoder::default().decode(bmp)?;
//! assert_eq!((picture.image.width(), picture.image.height()), (1, 1));
//! assert_eq!(Decoder::default().decode(b"hello").unwrap_err().to_string(), "not an image: it looks like text");
//! # Ok::<(), agenticiqa_imaging::Error>(())
//! ```

mod avif;
mod canvas;
mod codecs;
mod decode;
mod encode;
mod error;
pub mod files;
mod format;
mod heatmap;
mod icc;
mod jpeg;
mod jpeg_quality;
mod raster;
mod tiff;

pub use decode::{Decoder, Note, Picture, in_codec};
pub use encode::{encode_jpeg, encode_png, encode_png_exact, shrink};
pub use error::{Error, Result};
pub use files::write_atomically;
pub use format::Format;
pub use heatmap::{color_map, map_values, overlay, painted};
pub use jpeg_quality::jpeg_quality;
pub use raster::{Interleaved, composited};
