//! PNG, BMP, WebP and GIF: wrappers that make the decoders strict and bound their memory.

use std::io::{Cursor, ErrorKind};

use image::codecs::bmp::BmpDecoder;
use image::codecs::png::PngDecoder;
use image::error::ImageError;
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder, Limits};

use crate::decode::{Decoded, Decoder, Note};
use crate::raster::{Layout, Raster, Samples};
use crate::{Error, Format, Result};

/// Memory that a decoder may use in addition to the pixels (tables, rows, metadata).
const WORKING_MEMORY: u64 = 64 << 20;

/// Deflate expands to at most 1032 times its size.
const DEFLATE_RATIO: u64 = 1032;

/// An LZW code has at least 9 bits and stands for at most 4096 pixels, so a byte cannot hold more.
const GIF_PIXELS_A_BYTE: u64 = 4096;

/// Decodes PNG of every depth. Low depths and palettes are expanded to 8 bits; 16 bits are kept.
pub(crate) fn png(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    let truncated = || Error::Truncated { format: Format::Png };
    // The header chunk comes first, at a fixed offset.
    let header = bytes.get(8..26).ok_or_else(truncated)?;
    let number = |at: usize| header[at..at + 4].iter().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
    if &header[4..8] != b"IHDR" {
        return Err(Error::corrupt(Format::Png, "it does not start with a header"));
    }
    let (width, height) = (number(8), number(12));
    if width.saturating_mul(height) > decoder.max_pixels {
        decoder.check_size(width, height)?;
    }
    let (depth, color) = (u64::from(header[16]), header[17]);
    let bits_a_pixel = depth * if color & 2 != 0 && color & 1 == 0 { 3 } else { 1 };
    let raw = (width * bits_a_pixel).div_ceil(8).saturating_mul(height);
    if raw > DEFLATE_RATIO.saturating_mul(bytes.len() as u64) {
        return Err(truncated());
    }
    // Palettes are expanded, and a transparent color adds a channel.
    let channels = if color & 2 != 0 { 4 } else { 2 };
    decoder.check_memory(width, height, channels * depth.div_ceil(8))?;
    check_palette(bytes)?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(WORKING_MEMORY + 64 * width);
    let source = PngDecoder::with_limits(Cursor::new(bytes), limits).map_err(|error| explain(Format::Png, error))?;
    let animated = source.is_apng().unwrap_or(false);
    let mut decoded = read(Format::Png, source)?;
    if animated {
        decoded.notes.push(Note::FirstFrame);
    }
    Ok(decoded)
}

/// Checks the palette, because the decoder assumes that it is complete: 1 to 256 colors of three
/// bytes.
fn check_palette(bytes: &[u8]) -> Result<()> {
    let mut chunks = bytes.get(8..).unwrap_or_default();
    while let Some((&[a, b, c, d, ref kind @ ..], rest)) = chunks.split_first_chunk::<8>() {
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        match kind {
            b"PLTE" if !length.is_multiple_of(3) || !(3..=768).contains(&length) => {
                return Err(Error::corrupt(Format::Png, format!("a palette of {length} bytes")));
            }
            b"IDAT" | b"IEND" => break,
            _ => {}
        }
        // Data, then a four-byte checksum.
        chunks = rest.get(length.saturating_add(4)..).unwrap_or_default();
    }
    Ok(())
}

/// Decodes BMP, including palettes, bit fields and run-length encoding.
pub(crate) fn bmp(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    check_sides(decoder, bytes)?;
    let source = BmpDecoder::new(Cursor::new(bytes)).map_err(|error| explain(Format::Bmp, error))?;
    let (width, height) = source.dimensions();
    decoder.check_size(width.into(), height.into())?;
    read(Format::Bmp, source)
}

/// Checks the sides, because the decoder would report an image with very long sides as damaged.
fn check_sides(decoder: &Decoder, bytes: &[u8]) -> Result<()> {
    const LONGEST: u64 = u16::MAX as u64;
    let number = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes);
    // The oldest header has only 16-bit numbers. A negative height means that rows start at the
    // top.
    if let (Some(16..), Some(width @ 1..), Some(height)) = (number(14), number(18), number(22)) {
        let (width, height) = (u64::from(width.unsigned_abs()), u64::from(height.unsigned_abs()));
        if width.max(height) > LONGEST {
            decoder.check_size(width, height)?;
            return Err(Error::unsupported(Format::Bmp, format!("more than {LONGEST} pixels a side")));
        }
    }
    Ok(())
}

/// Reads the pixels after the size is checked, with profile and orientation.
fn read(format: Format, mut source: impl ImageDecoder) -> Result<Decoded> {
    let (width, height) = source.dimensions();
    let (layout, sixteen) = match source.color_type() {
        ColorType::L8 => (Layout::Gray, false),
        ColorType::La8 => (Layout::GrayAlpha, false),
        ColorType::Rgb8 => (Layout::Rgb, false),
        ColorType::Rgba8 => (Layout::Rgba, false),
        ColorType::L16 => (Layout::Gray, true),
        ColorType::La16 => (Layout::GrayAlpha, true),
        ColorType::Rgb16 => (Layout::Rgb, true),
        ColorType::Rgba16 => (Layout::Rgba, true),
        other => return Err(Error::unsupported(format, format!("{other:?} samples"))),
    };
    let (width, height) = (width as usize, height as usize);
    let count = width * height * layout.channels();
    let icc = source.icc_profile().ok().flatten();
    let orientation = source.orientation().ok();
    let samples = if sixteen {
        let mut data = zeros(count, format)?;
        source.read_image(bytemuck::cast_slice_mut(&mut data)).map_err(|error| explain(format, error))?;
        Samples::Sixteen(data)
    } else {
        let mut data = zeros(count, format)?;
        source.read_image(&mut data).map_err(|error| explain(format, error))?;
        Samples::Eight(data)
    };
    Ok(Decoded { icc, ..Decoded::new(Raster { width, height, layout, samples }, orientation) })
}

/// Returns samples to fill, or an error if there is not enough memory.
fn zeros<S: Clone + Default>(count: usize, format: Format) -> Result<Vec<S>> {
    let mut samples = Vec::new();
    samples.try_reserve_exact(count).map_err(|_| Error::Memory { format })?;
    samples.resize(count, S::default());
    Ok(samples)
}

/// Decodes WebP, lossy or lossless, or the first frame of an animation.
pub(crate) fn webp(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    let fail = |error: image_webp::DecodingError| match error {
        image_webp::DecodingError::IoError(error) => explain_io(Format::WebP, &error),
        image_webp::DecodingError::UnsupportedFeature(feature) => Error::unsupported(Format::WebP, feature),
        image_webp::DecodingError::MemoryLimitExceeded => Error::Memory { format: Format::WebP },
        other => Error::corrupt(Format::WebP, other),
    };
    // The container states its own length. The missing part may be the color profile or the
    // orientation.
    let stated = bytes.get(4..8).map_or(0, |length| length.iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte)));
    if bytes.len() < stated.saturating_add(8) {
        return Err(Error::Truncated { format: Format::WebP });
    }
    let mut source = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(fail)?;
    // Metadata cannot be larger than the file.
    source.set_memory_limit(bytes.len());
    let (width, height) = source.dimensions();
    decoder.check_memory(width.into(), height.into(), 4)?;
    let layout = if source.has_alpha() { Layout::Rgba } else { Layout::Rgb };
    let (width, height) = (width as usize, height as usize);
    let icc = source.icc_profile().ok().flatten();
    let exif = source.exif_metadata().ok().flatten();
    let mut data = zeros(width * height * layout.channels(), Format::WebP)?;
    source.read_image(&mut data).map_err(fail)?;
    let raster = Raster { width, height, layout, samples: Samples::Eight(data) };
    let mut decoded = Decoded::new(raster, exif.and_then(|exif| Orientation::from_exif_chunk(&exif)));
    decoded.icc = icc;
    if source.is_animated() && source.num_frames() > 1 {
        decoded.notes.push(Note::FirstFrame);
    }
    Ok(decoded)
}

/// Decodes the first frame of a GIF. The area that it does not cover is transparent.
pub(crate) fn gif(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    let fail = |error: gif::DecodingError| match error {
        gif::DecodingError::Io(error) => explain_io(Format::Gif, &error),
        gif::DecodingError::UnexpectedEof => Error::Truncated { format: Format::Gif },
        other => Error::corrupt(Format::Gif, other),
    };
    // The size is at a fixed offset, and is checked before the decoder runs.
    let Some(&[x0, x1, y0, y1]) = bytes.get(6..10) else { return Err(Error::Truncated { format: Format::Gif }) };
    let (width, height) = (u16::from_le_bytes([x0, x1]), u16::from_le_bytes([y0, y1]));
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > decoder.max_pixels {
        decoder.check_size(width.into(), height.into())?;
    }
    let (width, height) = (usize::from(width), usize::from(height));
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    options.set_memory_limit(gif::MemoryLimit::Unlimited);
    options.check_frame_consistency(true);
    let mut source = options.read_info(Cursor::new(bytes)).map_err(fail)?;
    let frame = source.next_frame_info().map_err(fail)?.ok_or(Error::Truncated { format: Format::Gif })?;
    let area = usize::from(frame.width) * usize::from(frame.height);
    if area as u64 > GIF_PIXELS_A_BYTE.saturating_mul(bytes.len() as u64) {
        return Err(Error::Truncated { format: Format::Gif });
    }
    let mut place = Place {
        left: frame.left.into(),
        top: frame.top.into(),
        width: frame.width.into(),
        transparent: frame.transparent,
        covers: area == width * height,
    };
    // A wide canvas may have a small frame, so the canvas counts.
    decoder.check_memory(width as u64, height as u64, 4)?;
    let mut indices = zeros(area, Format::Gif)?;
    source.read_into_buffer(&mut indices).map_err(fail)?;
    let palette = source.palette().map_err(fail)?.as_chunks::<3>().0;
    // If no pixel uses the transparent index, three channels are enough.
    place.covers &= place.transparent.is_none_or(|index| !indices.contains(&index));
    let raster = match place.covers {
        true => paint::<3>(width, height, &indices, palette, place, Layout::Rgb),
        false => paint::<4>(width, height, &indices, palette, place, Layout::Rgba),
    };
    let mut decoded = Decoded::new(raster, None);
    decoded.icc = source.icc_profile().map(<[u8]>::to_vec);
    // Damage in a later frame does not affect the first.
    if matches!(source.next_frame_info(), Ok(Some(_))) {
        decoded.notes.push(Note::FirstFrame);
    }
    Ok(decoded)
}

/// The position of a GIF frame on its canvas.
struct Place {
    left: usize,
    top: usize,
    width: usize,
    transparent: Option<u8>,
    covers: bool,
}

fn paint<const CHANNELS: usize>(
    width: usize,
    height: usize,
    indices: &[u8],
    palette: &[[u8; 3]],
    place: Place,
    layout: Layout,
) -> Raster {
    let mut data = vec![0; width * height * CHANNELS];
    let pixels = data.as_chunks_mut::<CHANNELS>().0;
    for (y, row) in indices.chunks_exact(place.width.max(1)).enumerate() {
        let start = (place.top + y) * width + place.left;
        for (pixel, &index) in pixels.iter_mut().skip(start).zip(row) {
            if place.transparent != Some(index) {
                // An index beyond the palette is black, as in browsers.
                let color = palette.get(usize::from(index)).copied().unwrap_or_default();
                pixel[..3].copy_from_slice(&color);
                pixel[3..].fill(255);
            }
        }
    }
    Raster { width, height, layout, samples: Samples::Eight(data) }
}

fn explain(format: Format, error: ImageError) -> Error {
    match error {
        ImageError::IoError(error) => explain_io(format, &error),
        ImageError::Unsupported(error) => Error::unsupported(format, error.kind_text()),
        ImageError::Limits(_) => Error::Memory { format },
        other => {
            let text = std::error::Error::source(&other).map_or_else(|| other.to_string(), ToString::to_string);
            match text.to_ascii_lowercase() {
                lower if lower.contains("unexpected end") || lower.contains("eof") => Error::Truncated { format },
                _ => Error::corrupt(format, text),
            }
        }
    }
}

fn explain_io(format: Format, error: &std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::Truncated { format },
        _ => Error::corrupt(format, error),
    }
}

/// Describes an unsupported feature without the name of the format, which the message already
/// contains.
trait KindText {
    fn kind_text(&self) -> String;
}

impl KindText for image::error::UnsupportedError {
    fn kind_text(&self) -> String {
        use image::error::UnsupportedErrorKind::{Color, GenericFeature};
        match self.kind() {
            Color(color) => format!("{color:?} samples"),
            GenericFeature(feature) => feature,
            other => format!("{other:?}"),
        }
    }
}
