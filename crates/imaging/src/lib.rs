//! Decodes image files to sRGB pixels, and draws heat maps of image damage.
//!
//! A [`Decoder`] reads JPEG, PNG, BMP, TIFF, WebP, GIF and AVIF; it detects the format by content.
//! The result is an [`Image`](agenticiqa_metrics::Image) for the metrics of `agenticiqa-metrics`.
//! The crate also encodes images ([`encode_png`], [`encode_jpeg`]), draws the map of a metric over
//! an image ([`overlay`]) or named boxes ([`boxes`]) and estimates the quality of JPEG files
//! ([`jpeg_quality`](fn@jpeg_quality)).
//!
//! Use it wherever exact pixels matter more than leniency: quality assessment, comparison of
//! codecs, tests. It is written entirely in Rust and needs no system library and no assembler.
//!
//! # Pixels
//!
//! The result is always sRGB. An embedded ICC profile is applied, CMYK is converted, transparent
//! pixels are composited on white (in sRGB code values, as image viewers and browsers do), and the
//! EXIF orientation is applied. [`Note`]s list what was done. If no conversion is needed, the
//! samples are those of the file, bit by bit, at 8 or 16 bits.
//!
//! The JPEG standard leaves decoders some freedom. Compared with libjpeg-turbo (Pillow),
//! full-color files differ by 0.01 code values on average, and files with subsampled color by 0.3
//! (the interpolation of color); AVIF files differ from libavif by as much. All other formats are
//! equal to Pillow bit by bit. Profiles are applied with the perceptual intent and without black
//! point compensation.
//!
//! # Bad files
//!
//! A damaged file is an error, never half an image. Sizes are checked before memory is allocated:
//! [`Decoder::max_pixels`] and [`Decoder::max_memory`] are the limits. A panic inside a codec is returned as an [`Error`].
//!
//! # Features
//!
//! `avif` (default): decodes AVIF.
//!
//! # Example
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

#[cfg(feature = "avif")]
mod avif;
mod boxes;
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
mod memory;
mod raster;
mod tiff;

pub use boxes::boxes;
pub use decode::{Decoder, Note, Picture, in_codec};
pub use encode::{encode_jpeg, encode_png, encode_png_exact, shrink};
pub use error::{Error, Result};
pub use files::write_atomically;
pub use format::Format;
pub use heatmap::{color_map, map_values, overlay, painted};
pub use jpeg_quality::jpeg_quality;
pub use raster::{Interleaved, composited};
