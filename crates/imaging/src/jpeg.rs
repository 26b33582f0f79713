//! Strict JPEG decoding: an image whose data ends early is an error, not a half-gray image.
//!
//! `zune-jpeg` decodes, but tolerates much, like browsers. Therefore the segments of the file are
//! parsed first. This finds the size, the quantization tables and the end-of-image marker, and
//! rejects files whose data cannot fill their size. CMYK and YCCK files are decoded to amounts of
//! ink (Adobe's inverted convention, which Pillow and ImageMagick assume for all files), so that
//! an embedded CMYK profile can be applied.

use std::ops::Range;

use image::metadata::Orientation;
use rayon::prelude::*;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

use crate::decode::{Decoded, Decoder};
use crate::raster::{Layout, Raster, Samples};
use crate::{Error, Format, Result, jpeg_quality};

/// More scans than any encoder writes. Each costs a pass over the whole image.
const MAX_SCANS: usize = 100;

/// A block of 64 samples takes at least one bit, so a byte cannot hold more pixels than this.
const PIXELS_A_BYTE: u64 = 8 * 64;

/// Number of 0xFF bytes that guard the end of the coded data.
const GUARD: usize = 32;

/// Marker codes: the byte after 0xFF.
mod marker {
    pub const START_OF_IMAGE: u8 = 0xd8;
    pub const END_OF_IMAGE: u8 = 0xd9;
    pub const START_OF_SCAN: u8 = 0xda;
    pub const QUANTIZATION: u8 = 0xdb;
    pub const HUFFMAN: u8 = 0xc4;
    pub const PROGRESSIVE: u8 = 0xc2;
    pub const EXTENSION: u8 = 0xc8;
    pub const ARITHMETIC: u8 = 0xcc;
}

/// The segments of a JPEG file.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    /// Width and height, once a frame header was read.
    pub size: Option<(u16, u16)>,
    /// Bits per sample.
    precision: u8,
    /// The marker of the frame header, which identifies the coding process.
    process: u8,
    /// Index of the first component's quantization table.
    luma: usize,
    tables: [Option<[u16; 64]>; 4],
    /// Whether the end-of-image marker was reached.
    complete: bool,
    /// The ranges of segments and coded data, in order.
    spans: Vec<Range<usize>>,
}

impl Segments {
    /// Parses up to the end-of-image marker, or to the end of the data.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut found = Self::default();
        let mut at = 0;
        while let Some((start, code)) = next_marker(bytes, at) {
            at = start + 2;
            match code {
                marker::START_OF_IMAGE | 0x01 | 0xd0..=0xd7 => {}
                marker::END_OF_IMAGE => {
                    found.complete = true;
                    found.spans.push(start..at);
                    break;
                }
                _ => {
                    let Some(&[high, low]) = bytes.get(at..at + 2) else { break };
                    let length = usize::from(u16::from_be_bytes([high, low]));
                    let Some(body) = bytes.get(at + 2..at + length) else { break };
                    found.read(code, body)?;
                    at += length;
                    if code == marker::START_OF_SCAN {
                        at = end_of_scan(bytes, at);
                    }
                }
            }
            found.spans.push(start..at);
        }
        Ok(found)
    }

    fn read(&mut self, code: u8, body: &[u8]) -> Result<()> {
        match code {
            marker::QUANTIZATION => self.read_tables(body),
            marker::HUFFMAN | marker::EXTENSION | marker::ARITHMETIC => {}
            0xc0..=0xcf if self.size.is_none() => {
                let &[precision, y1, y0, x1, x0, _, ..] = body else {
                    return Err(Error::corrupt(Format::Jpeg, "the frame header is too short"));
                };
                self.size = Some((u16::from_be_bytes([x1, x0]), u16::from_be_bytes([y1, y0])));
                (self.precision, self.process) = (precision, code);
                self.luma = body.get(8).map_or(0, |&table| usize::from(table));
            }
            _ => {}
        }
        Ok(())
    }

    fn read_tables(&mut self, mut body: &[u8]) {
        while let Some((&head, rest)) = body.split_first() {
            let wide = head >> 4 != 0;
            let Some((steps, rest)) = rest.split_at_checked(if wide { 128 } else { 64 }) else { return };
            let step = |i: usize| match wide {
                true => u16::from_be_bytes([steps[2 * i], steps[2 * i + 1]]),
                false => u16::from(steps[i]),
            };
            if let Some(table) = self.tables.get_mut(usize::from(head & 15)) {
                // The first table with an index counts; later ones belong to a thumbnail or a
                // second image.
                table.get_or_insert_with(|| std::array::from_fn(step));
            }
            body = rest;
        }
    }

    /// The first component's quantization table in zigzag order.
    pub fn luma_table(&self) -> Option<&[u16; 64]> {
        self.tables.get(self.luma)?.as_ref()
    }

    /// Returns a copy of the file that a strict decoder cannot misread.
    ///
    /// Bytes outside segments and data after the image are dropped, and a run of one-bits is added
    /// after the coded data. No Huffman code is all ones, so a decoder that runs out of data fails
    /// there. Without them it would invent zeros at the end marker.
    fn strict_copy(&self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = Vec::with_capacity(bytes.len() + 2 * GUARD);
        for span in &self.spans {
            if bytes[span.clone()] == [0xff, marker::END_OF_IMAGE] {
                copy.extend([0xff, 0x00].repeat(GUARD));
            }
            copy.extend_from_slice(&bytes[span.clone()]);
        }
        copy
    }
}

/// Position and code of the first marker at or after `at`. Fill bytes (additional 0xFF) are
/// skipped.
fn next_marker(bytes: &[u8], at: usize) -> Option<(usize, u8)> {
    let mut at = at;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0xff)?;
        match *bytes.get(at + 1)? {
            0xff => at += 1,
            0x00 => at += 2,
            code => return Some((at, code)),
        }
    }
}

/// The end of the coded data that starts at `at`: the first marker that is not a restart.
fn end_of_scan(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    loop {
        match next_marker(bytes, at) {
            Some((start, 0xd0..=0xd7)) => at = start + 2,
            Some((start, _)) => return start,
            None => return bytes.len(),
        }
    }
}

/// Decodes a JPEG file.
pub(crate) fn decode(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    let segments = Segments::parse(bytes)?;
    let Some((width, height)) = segments.size else {
        return Err(if segments.complete {
            Error::corrupt(Format::Jpeg, "it has no frame header")
        } else {
            truncated()
        });
    };
    if u64::from(width) * u64::from(height) > decoder.max_pixels {
        decoder.check_size(width.into(), height.into())?;
    }
    check_process(&segments)?;
    if !segments.complete || u64::from(width) * u64::from(height) > PIXELS_A_BYTE * bytes.len() as u64 {
        return Err(truncated());
    }
    // A progressive file is decoded to coefficients of 16 bits first.
    let bytes_a_pixel = if segments.process == marker::PROGRESSIVE { 6 } else { 3 };
    decoder.check_memory(width.into(), height.into(), bytes_a_pixel)?;
    let mut decoded = decode_strictly(&segments.strict_copy(bytes))?;
    decoded.jpeg_quality = segments.luma_table().map(jpeg_quality::estimate);
    Ok(decoded)
}

fn truncated() -> Error {
    Error::Truncated { format: Format::Jpeg }
}

fn check_process(segments: &Segments) -> Result<()> {
    let feature = match segments.process {
        0xc0..=0xc2 if segments.precision == 8 => return Ok(()),
        0xc0..=0xc2 => return Err(Error::unsupported(Format::Jpeg, format!("{} bits a sample", segments.precision))),
        0xc3 => "lossless coding",
        0xc5..=0xc7 => "hierarchical coding",
        _ => "arithmetic coding",
    };
    Err(Error::unsupported(Format::Jpeg, feature))
}

fn decode_strictly(bytes: &[u8]) -> Result<Decoded> {
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .jpeg_set_max_scans(MAX_SCANS);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(explain)?;
    let info = decoder.info().ok_or_else(truncated)?;
    let coded = decoder.input_colorspace().ok_or_else(truncated)?;
    let (space, layout) = match (info.components, coded) {
        (1, _) => (ColorSpace::Luma, Layout::Gray),
        (3, _) => (ColorSpace::RGB, Layout::Rgb),
        (4, ColorSpace::YCCK) => (ColorSpace::YCCK, Layout::Cmyk),
        (4, _) => (ColorSpace::CMYK, Layout::Cmyk),
        (count, _) => return Err(Error::unsupported(Format::Jpeg, format!("{count} color channels"))),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let mut samples = decoder.decode().map_err(explain)?;
    match space {
        ColorSpace::YCCK => samples.par_chunks_mut(4 << 16).for_each(ycck_to_inks),
        ColorSpace::CMYK => {
            samples.par_chunks_mut(4 << 16).for_each(|part| part.iter_mut().for_each(|v| *v = 255 - *v))
        }
        _ => {}
    }
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    let orientation = decoder.exif().and_then(|exif| Orientation::from_exif_chunk(exif));
    let raster = Raster { width, height, layout, samples: Samples::Eight(samples) };
    Ok(Decoded { icc: decoder.icc_profile(), ..Decoded::new(raster, orientation) })
}

/// Converts Y, Cb, Cr and inverted K to amounts of ink. YCbCr encodes RGB = 255 - CMY, and the CMY
/// of Adobe's files is already inverted, so the RGB values are the amounts of ink.
fn ycck_to_inks(part: &mut [u8]) {
    for pixel in part.as_chunks_mut::<4>().0 {
        let [y, cb, cr] = [pixel[0], pixel[1], pixel[2]].map(f32::from);
        let (blue, red) = (cb - 128.0, cr - 128.0);
        let inks = [y + 1.402 * red, y - 0.344_136_3 * blue - 0.714_136_3 * red, y + 1.772 * blue];
        for (ink, value) in pixel.iter_mut().zip(inks) {
            *ink = (value + 0.5).clamp(0.0, 255.0) as u8;
        }
        pixel[3] = 255 - pixel[3];
    }
}

/// Converts the decoder's error.
fn explain(error: DecodeErrors) -> Error {
    let text = error.to_string();
    match error {
        DecodeErrors::ExhaustedData => truncated(),
        DecodeErrors::Unsupported(_) => Error::unsupported(Format::Jpeg, text),
        _ if text.contains("remature")
            || text.contains("No more bytes")
            || text.contains("Bad Huffman Code 0xFFFF") =>
        {
            truncated()
        }
        _ => Error::corrupt(Format::Jpeg, text),
    }
}
