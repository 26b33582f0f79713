//! Decodes AV1 data to planes.

use rusty_av1d::{Decoder as Av1Decoder, PixelLayout, PlanarImageComponent, Rav1dError, Settings};

use super::boxes::damaged;
use super::yuv::{Frame, Plane, Subsampling};
use crate::{Decoder, Error, Format, Result};

/// Decodes the first image of `data`. If it has more pixels than `decoder` allows, nothing is
/// allocated.
pub(super) fn decode(decoder: &Decoder, data: &[u8], operating_point: u8) -> Result<Frame> {
    let mut settings = Settings::new();
    // One thread, so that a panic on a crafted file stays on this thread, where it is caught.
    settings.set_n_threads(1);
    settings.set_max_frame_delay(1);
    // Only the best layer.
    settings.set_all_layers(false);
    settings.set_operating_point(operating_point.min(31));
    settings.set_frame_size_limit(u32::try_from(decoder.max_pixels).unwrap_or(u32::MAX));
    let mut av1 = Av1Decoder::with_settings(&settings).map_err(explain)?;
    match av1.send_data(picture_units(data)?, None, None, None) {
        Ok(()) | Err(Rav1dError::TryAgain) => {}
        Err(error) => return Err(explain(error)),
    }
    // The first call may only detect the end of the data.
    let picture = av1.get_picture().or_else(|_| {
        let _ = av1.send_pending_data();
        av1.get_picture()
    });
    read(&picture.map_err(explain)?)
}

fn explain(error: Rav1dError) -> Error {
    match error {
        Rav1dError::OutOfMemory => Error::Memory { format: Format::Avif },
        Rav1dError::UnsupportedBitstream => Error::unsupported(Format::Avif, "the AV1 data's profile"),
        Rav1dError::TryAgain => damaged("the AV1 data has no image"),
        _ => damaged("the AV1 data cannot be decoded"),
    }
}

/// Returns the units of `data` that contain image data. Metadata, padding and reserved units are
/// dropped, so that the decoder does not have to parse them.
fn picture_units(data: &[u8]) -> Result<Box<[u8]>> {
    let mut units = Vec::with_capacity(data.len());
    let mut rest = data;
    while let Some(&header) = rest.first() {
        let (kind, extension, has_size) = (header >> 3 & 15, header >> 2 & 1, header >> 1 & 1);
        let start = 1 + usize::from(extension);
        let (size, size_bytes) = match has_size {
            1 => read_size(rest.get(start..).unwrap_or_default())?,
            _ => (rest.len().saturating_sub(start), 0),
        };
        let end = start.saturating_add(size_bytes).saturating_add(size);
        let unit = rest.get(..end).filter(|_| header & 0x80 == 0);
        let unit = unit.ok_or_else(|| damaged("the AV1 data's units are not whole"))?;
        // Sequence header, temporal delimiter, frame header, tile group, frame, repeated frame
        // header.
        if matches!(kind, 1 | 2 | 3 | 4 | 6 | 7) {
            units.extend_from_slice(unit);
        }
        rest = &rest[end..];
    }
    if units.is_empty() {
        return Err(damaged("the AV1 data has no image"));
    }
    Ok(units.into_boxed_slice())
}

/// Reads a number of seven bits per byte, least significant first. Also returns its length in
/// bytes.
fn read_size(bytes: &[u8]) -> Result<(usize, usize)> {
    let mut size = 0u64;
    for (index, &byte) in bytes.iter().take(8).enumerate() {
        size |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok((usize::try_from(size).unwrap_or(usize::MAX), index + 1));
        }
    }
    Err(damaged("the AV1 data's units are not whole"))
}

fn read(picture: &rusty_av1d::Picture) -> Result<Frame> {
    let depth = picture.bits_per_component().map(|bits| bits.0).ok_or_else(|| damaged("AV1 data of no known depth"))?;
    let subsampling = match picture.pixel_layout() {
        PixelLayout::I400 => Subsampling::Gray,
        PixelLayout::I420 => Subsampling::Both,
        PixelLayout::I422 => Subsampling::Horizontal,
        PixelLayout::I444 => Subsampling::None,
    };
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let components = [PlanarImageComponent::Y, PlanarImageComponent::U, PlanarImageComponent::V];
    let count = if subsampling == Subsampling::Gray { 1 } else { 3 };
    let plane = |(index, &component): (usize, &PlanarImageComponent)| {
        let (width, height) = if index == 0 { (width, height) } else { subsampling.size(width, height) };
        let row_bytes = if depth == 8 { width } else { 2 * width };
        // Without the padding of the decoder's rows.
        let rows = picture.plane(component).chunks_exact((picture.stride(component) as usize).max(1));
        let mut data = Vec::with_capacity(row_bytes * height);
        rows.take(height).for_each(|row| data.extend_from_slice(&row[..row_bytes.min(row.len())]));
        if data.len() == row_bytes * height { Ok(Plane { data, row_bytes }) } else { Err(damaged("a plane is cut")) }
    };
    let planes = components[..count].iter().enumerate().map(plane).collect::<Result<_>>()?;
    Ok(Frame {
        width,
        height,
        depth,
        subsampling,
        planes,
        primaries: picture.color_primaries() as u16,
        transfer: picture.transfer_characteristic() as u16,
        matrix: picture.matrix_coefficients() as u16,
        full_range: picture.color_range() as u8 == 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_units_that_make_pictures_are_kept() {
        // Temporal delimiter, metadata (two bytes), padding (one byte), a frame without a size.
        let data = [0x12, 0, 0x2a, 2, 9, 9, 0x7a, 1, 0, 0x30, 1, 2, 3];
        assert_eq!(*picture_units(&data).unwrap(), [0x12, 0, 0x30, 1, 2, 3]);
        assert!(picture_units(&[0x2a, 2, 9, 9]).is_err());
        assert!(picture_units(&[0x32, 9, 0]).is_err(), "longer than the data");
        assert!(picture_units(&[0x92, 0]).is_err(), "the first bit is never set");
        assert!(picture_units(&[0x32, 0x80, 0x80]).is_err(), "a size without an end");
    }

    #[test]
    fn sizes_have_seven_bits_a_byte() {
        assert_eq!(read_size(&[0x05, 1]).unwrap(), (5, 1));
        assert_eq!(read_size(&[0xe5, 0x8e, 0x26]).unwrap(), (624_485, 3));
        assert!(read_size(&[0x80; 9]).is_err());
    }
}
