//! TIFF: first page, 1 to 64 bits or floating point, gray, RGB, CMYK, alpha; uncompressed, LZW,
//! Deflate, PackBits.
//!
//! JPEG inside TIFF is rejected on purpose: its decoder tolerates missing data, and the inner
//! image may claim any size. Palettes are rejected because the decoder does not support them.

use std::io::{Cursor, ErrorKind};

use image::metadata::Orientation;
use tiff::decoder::{Decoder as Source, DecodingResult, Limits};
use tiff::tags::Tag;
use tiff::{ColorType, TiffError};

use crate::decode::{Decoded, Decoder, Note};
use crate::raster::{Layout, Raster, Sample, Samples};
use crate::{Error, Format, Result};

/// Memory that the decoder may use in addition to the pixels (a strip, a tile, a tag).
const WORKING_MEMORY: usize = 64 << 20;

/// The tag of the version of DNG files.
const DNG_VERSION: u16 = 50706;

/// The bit of `NewSubfileType` for a page of reduced size.
const REDUCED: u32 = 1;

/// The tag value for alpha with premultiplied colors.
const ASSOCIATED_ALPHA: u16 = 1;

/// How samples of the file are converted to [`Samples`].
#[derive(Clone, Copy)]
enum Kind {
    /// Samples without change.
    Plain(Layout),
    /// Gray of fewer than 8 bits, packed.
    Packed(u8),
}

type File<'a> = Source<Cursor<&'a [u8]>>;

/// Decodes the first page of a TIFF file.
pub(crate) fn decode(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    let mut source = Source::new(Cursor::new(bytes)).map_err(explain)?;
    let (width, height) = source.dimensions().map_err(explain)?;
    decoder.check_size(width.into(), height.into())?;
    let (width, height) = (width as usize, height as usize);
    let mut limits = Limits::default();
    limits.ifd_value_size = WORKING_MEMORY;
    // One strip may hold the whole file. No buffer may exceed what the pixels can need: four times
    // 64 bits.
    limits.intermediate_buffer_size = WORKING_MEMORY.max(bytes.len());
    limits.decoding_buffer_size = WORKING_MEMORY.max(width.saturating_mul(height).saturating_mul(4 * 8));
    source = source.with_limits(limits);

    check_preview(&mut source)?;
    let color = source.colortype().map_err(explain)?;
    let kind = kind(color)?;
    let bytes_a_pixel = u64::from(color.bit_depth().div_ceil(8)) * u64::from(color.num_samples());
    decoder.check_memory(width as u64, height as u64, bytes_a_pixel)?;
    let data = read(&mut source)?;
    let mut notes = Vec::new();
    let (layout, samples) = match kind {
        Kind::Plain(layout) => (layout, plain(data, &mut notes)?),
        Kind::Packed(bits) => (Layout::Gray, unpack(width, bits, data)?),
    };
    let mut raster = Raster { width, height, layout, samples };
    separate_alpha(&mut source, &mut raster);
    check_length(&raster)?;
    let orientation = source.find_tag(Tag::Orientation).ok().flatten().and_then(|value| value.into_u16().ok());
    let orientation = orientation.and_then(|tag| Orientation::from_exif(u8::try_from(tag).ok()?));
    if source.more_images() {
        notes.push(Note::FirstFrame);
    }
    let icc = source.get_tag_u8_vec(Tag::IccProfile).ok();
    Ok(Decoded { icc, notes, ..Decoded::new(raster, orientation) })
}

/// Rejects camera raw files, whose first page is a small preview: its score would say nothing about
/// the photo.
fn check_preview(source: &mut File<'_>) -> Result<()> {
    let number =
        |source: &mut File<'_>, tag| source.find_tag(tag).ok().flatten().and_then(|value| value.into_u32().ok());
    let reduced = number(source, Tag::NewSubfileType).is_some_and(|kind| kind & REDUCED != 0);
    let dng = matches!(source.find_tag(Tag::Unknown(DNG_VERSION)), Ok(Some(_)));
    match (dng, reduced) {
        (true, _) => Err(Error::UnknownFormat { name: "camera raw (DNG)" }),
        (_, true) if matches!(source.find_tag(Tag::SubIfd), Ok(Some(_))) => {
            Err(Error::UnknownFormat { name: "camera raw (such as NEF)" })
        }
        (_, true) => Err(Error::unsupported(Format::Tiff, "the first page is a reduced copy of the image")),
        _ => Ok(()),
    }
}

fn kind(color: ColorType) -> Result<Kind> {
    Ok(match color {
        ColorType::Gray(bits @ (1 | 2 | 4)) => Kind::Packed(bits),
        ColorType::Gray(8 | 16 | 32 | 64) => Kind::Plain(Layout::Gray),
        ColorType::GrayA(8 | 16 | 32 | 64) => Kind::Plain(Layout::GrayAlpha),
        ColorType::RGB(8 | 16 | 32 | 64) => Kind::Plain(Layout::Rgb),
        ColorType::RGBA(8 | 16 | 32 | 64) => Kind::Plain(Layout::Rgba),
        ColorType::CMYK(8 | 16) => Kind::Plain(Layout::Cmyk),
        // Gray with one extra sample, which is assumed to be alpha.
        ColorType::Multiband { bit_depth: 8 | 16 | 32 | 64, num_samples: 2 } => Kind::Plain(Layout::GrayAlpha),
        other => return Err(Error::unsupported(Format::Tiff, format!("samples of the kind {other:?}"))),
    })
}

/// Reads all samples of the page, interleaved.
fn read(source: &mut File<'_>) -> Result<DecodingResult> {
    let mut data = DecodingResult::U8(Vec::new());
    let layout = source.read_image_to_buffer(&mut data).map_err(explain)?;
    if data.as_buffer(0).as_bytes().len() < layout.complete_len {
        return Err(Error::Memory { format: Format::Tiff });
    }
    let planes = layout.planes;
    if planes < 2 {
        return Ok(data);
    }
    Ok(match data {
        DecodingResult::U8(data) => DecodingResult::U8(interleave(&data, planes)),
        DecodingResult::U16(data) => DecodingResult::U16(interleave(&data, planes)),
        DecodingResult::F32(data) => DecodingResult::F32(interleave(&data, planes)),
        _ => return Err(Error::unsupported(Format::Tiff, "separate planes of this depth")),
    })
}

fn interleave<T: Copy>(data: &[T], planes: usize) -> Vec<T> {
    let size = data.len() / planes;
    (0..size * planes).map(|i| data[i % planes * size + i / planes]).collect()
}

/// Converts samples to 8 or 16 bits. Deeper integers lose their lowest bits; fractions of white
/// are clipped.
fn plain(data: DecodingResult, notes: &mut Vec<Note>) -> Result<Samples> {
    let mut clip = |values: &mut dyn Iterator<Item = f64>| {
        notes.push(Note::FloatClipped);
        // Not-a-number becomes 0.
        Samples::Sixteen(values.map(|value| (value.clamp(0.0, 1.0) * 65535.0 + 0.5) as u16).collect())
    };
    Ok(match data {
        DecodingResult::U8(data) => Samples::Eight(data),
        DecodingResult::U16(data) => Samples::Sixteen(data),
        DecodingResult::U32(data) => Samples::Sixteen(data.into_iter().map(|value| (value >> 16) as u16).collect()),
        DecodingResult::U64(data) => Samples::Sixteen(data.into_iter().map(|value| (value >> 48) as u16).collect()),
        DecodingResult::F16(data) => clip(&mut data.into_iter().map(|value| value.to_f64())),
        DecodingResult::F32(data) => clip(&mut data.into_iter().map(f64::from)),
        DecodingResult::F64(data) => clip(&mut data.into_iter()),
        _ => return Err(Error::unsupported(Format::Tiff, "signed samples")),
    })
}

/// Expands gray values with fewer than 8 bits. Every row starts at a byte.
fn unpack(width: usize, bits: u8, data: DecodingResult) -> Result<Samples> {
    let DecodingResult::U8(packed) = data else {
        return Err(Error::unsupported(Format::Tiff, "packed samples of this kind"));
    };
    let a_byte = 8 / usize::from(bits);
    let top = (1u16 << bits) - 1;
    let mut samples = Vec::with_capacity(packed.len() * a_byte);
    for row in packed.chunks_exact(width.div_ceil(a_byte)) {
        samples.extend((0..width).map(|x| {
            let shift = 8 - usize::from(bits) * (x % a_byte + 1);
            let value = u16::from(row[x / a_byte]) >> shift & top;
            (value * 255 / top) as u8
        }));
    }
    Ok(Samples::Eight(samples))
}

/// Divides colors by alpha if the file stores them premultiplied.
fn separate_alpha(source: &mut File<'_>, raster: &mut Raster) {
    let channels = match raster.layout {
        Layout::GrayAlpha => 2,
        Layout::Rgba => 4,
        _ => return,
    };
    let extra = source.find_tag(Tag::ExtraSamples).ok().flatten().and_then(|value| value.into_u16_vec().ok());
    if extra.is_some_and(|kinds| kinds.first() == Some(&ASSOCIATED_ALPHA)) {
        match &mut raster.samples {
            Samples::Eight(data) => divide(data, channels),
            Samples::Sixteen(data) => divide(data, channels),
        }
    }
}

fn divide<S: Sample>(data: &mut [S], channels: usize) {
    for pixel in data.chunks_exact_mut(channels) {
        let alpha = pixel[channels - 1].wide();
        for value in &mut pixel[..channels - 1] {
            let color =
                (u64::from(value.wide()) * u64::from(S::WHITE) + u64::from(alpha / 2)).checked_div(alpha.into());
            *value = S::narrow(color.map_or(0, |color| color.min(S::WHITE.into()) as u32));
        }
    }
}

/// Checks that the number of samples matches the stated size.
fn check_length(raster: &Raster) -> Result<()> {
    let actual = match &raster.samples {
        Samples::Eight(data) => data.len(),
        Samples::Sixteen(data) => data.len(),
    };
    match actual == raster.width * raster.height * raster.layout.channels() {
        true => Ok(()),
        false => Err(Error::corrupt(Format::Tiff, "the samples do not fill the image")),
    }
}

fn explain(error: TiffError) -> Error {
    let format = Format::Tiff;
    match error {
        TiffError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => Error::Truncated { format },
        TiffError::UnsupportedError(feature) => Error::unsupported(format, feature),
        TiffError::LimitsExceeded => Error::Memory { format },
        other => Error::corrupt(format, other),
    }
}
