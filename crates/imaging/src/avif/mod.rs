//! AVIF: items or tracks of a container, their AV1 data, and properties such as rotation, cropping
//! and color.
//!
//! The orientation of the container counts. Its standard (ISO/IEC 23008-12) requires readers to
//! ignore the EXIF orientation.

mod av1;
mod boxes;
mod cicp;
mod container;
mod sequence;
mod yuv;

use std::borrow::Cow;

use image::metadata::Orientation;

use self::boxes::{Child, Fields, damaged, name};
use self::container::{Container, Property};
use self::sequence::{Role, Track};
use self::yuv::{Frame, Plane, Subsampling};
use crate::decode::{Decoded, Decoder, Note};
use crate::{Error, Format, Result};

/// Names of the auxiliary image that holds transparency.
const ALPHA: [&[u8]; 2] = [b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", b"urn:mpeg:hevc:2015:auxid:1"];

/// More tiles than cameras and encoders produce: an image with sides of 65 thousand pixels, in
/// tiles of a thousand.
const MOST_TILES: usize = 4096;

/// The AV1 data of one image, in one piece or in tiles.
struct Coded<'a> {
    width: u32,
    height: u32,
    tiles: Vec<Cow<'a, [u8]>>,
    /// Tiles per row.
    columns: usize,
    operating_point: u8,
}

/// The data to decode, and its properties.
struct Source<'a> {
    color: Coded<'a>,
    alpha: Option<Coded<'a>>,
    premultiplied: bool,
    properties: Vec<Property<'a>>,
}

/// Decodes the image of an AVIF file, or the first frame of a sequence.
pub(crate) fn decode(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    let (container, tracks) = read_file(bytes)?;
    let several = tracks.iter().any(|track| track.role == Role::Color && track.frames > 1);
    let source = match container.as_ref().and_then(|container| Some((container, container.primary?))) {
        Some((container, primary)) => from_items(container, primary)?,
        None => from_tracks(bytes, tracks)?,
    };
    let mut decoded = source.decode(decoder)?;
    if several {
        decoded.notes.push(Note::FirstFrame);
    }
    Ok(decoded)
}

/// The relevant boxes of a file.
fn read_file(bytes: &[u8]) -> Result<(Option<Container<'_>>, Vec<Track<'_>>)> {
    let (mut container, mut tracks) = (None, Vec::new());
    let mut end = Error::Truncated { format: Format::Avif };
    for child in Fields(bytes).boxes() {
        let Child { kind, content, whole } = match child {
            Ok(child) => child,
            // Damage after the boxes of the image does not matter.
            Err(error) => {
                end = error;
                break;
            }
        };
        if !whole && matches!(&kind, b"meta" | b"moov") {
            return Err(Error::Truncated { format: Format::Avif });
        }
        match &kind {
            b"meta" => container = Some(Container::new(bytes, content)?),
            b"moov" => tracks = sequence::read_tracks(content)?,
            _ => {}
        }
    }
    if container.is_none() && tracks.is_empty() { Err(end) } else { Ok((container, tracks)) }
}

fn from_items<'a>(container: &Container<'a>, primary: u32) -> Result<Source<'a>> {
    let item = container.item(primary)?;
    let is_alpha = |&id: &u32| {
        let named =
            |(property, _): &(Property<'_>, bool)| matches!(property, Property::Auxiliary(of) if ALPHA.contains(of));
        container.item(id).is_ok_and(|item| item.properties.iter().any(named))
    };
    let alpha = container.referring(primary, b"auxl").find(is_alpha);
    Ok(Source {
        color: coded(container, primary)?,
        alpha: alpha.map(|id| coded(container, id)).transpose()?,
        premultiplied: alpha.is_some_and(|alpha| container.referred(primary, b"prem").any(|to| to == alpha)),
        properties: item.properties.iter().map(|(property, _)| *property).collect(),
    })
}

/// Returns the AV1 data of an image item, or of all the items of a grid.
fn coded<'a>(container: &Container<'a>, id: u32) -> Result<Coded<'a>> {
    let item = container.item(id)?;
    item.check_essential()?;
    let (width, height) = item.size()?;
    let operating_point = item.properties.iter().find_map(|(property, _)| match property {
        Property::OperatingPoint(point) => Some(*point),
        _ => None,
    });
    let operating_point = operating_point.unwrap_or_default();
    match &item.kind {
        b"av01" => {
            let tiles = vec![container.data(id)?];
            Ok(Coded { width, height, tiles, columns: 1, operating_point })
        }
        b"grid" => {
            let (columns, rows) = read_grid(&container.data(id)?, width, height)?;
            let parts: Vec<u32> = container.referred(id, b"dimg").take(MOST_TILES + 1).collect();
            if parts.len() != columns * rows || parts.len() > MOST_TILES {
                return Err(damaged(format!("{} tiles for a grid of {columns}x{rows}", parts.len())));
            }
            let tiles = parts.iter().map(|&part| {
                let item = container.item(part)?;
                item.check_essential()?;
                if &item.kind == b"av01" { container.data(part) } else { Err(damaged("a tile that is no AV1 data")) }
            });
            Ok(Coded { width, height, tiles: tiles.collect::<Result<_>>()?, columns, operating_point })
        }
        &kind => Err(Error::unsupported(Format::Avif, format!("an image item of type '{}'", name(kind)))),
    }
}

/// Returns the columns and rows of a grid, whose size must be that of its item.
fn read_grid(data: &[u8], width: u32, height: u32) -> Result<(usize, usize)> {
    let mut fields = Fields(data);
    let (_, flags) = (fields.u8()?, fields.u8()?);
    let (rows, columns) = (usize::from(fields.u8()?) + 1, usize::from(fields.u8()?) + 1);
    let wide = flags & 1 == 1;
    if (fields.id(wide)?, fields.id(wide)?) != (width, height) {
        return Err(damaged("a grid of another size than its item"));
    }
    Ok((columns, rows))
}

fn from_tracks<'a>(bytes: &'a [u8], tracks: Vec<Track<'a>>) -> Result<Source<'a>> {
    let coded = |track: &Track<'a>| -> Result<Coded<'a>> {
        let data = track.first_frame(bytes).ok_or(Error::Truncated { format: Format::Avif })?;
        let Track { width, height, .. } = *track;
        Ok(Coded { width, height, tiles: vec![Cow::Borrowed(data)], columns: 1, operating_point: 0 })
    };
    let of = |role| tracks.iter().find(move |track| track.role == role);
    let color = of(Role::Color).ok_or_else(|| damaged("it has no image"))?;
    Ok(Source {
        color: coded(color)?,
        alpha: of(Role::Alpha).map(coded).transpose()?,
        premultiplied: false,
        properties: color.colors.clone(),
    })
}

impl Source<'_> {
    fn decode(self, decoder: &Decoder) -> Result<Decoded> {
        let mut frame = self.color.decode(decoder)?;
        let alpha = self.alpha.map(|alpha| alpha.decode(decoder)).transpose()?;
        let mut icc = None;
        let (mut turns, mut mirror, mut crop) = (0, None, None);
        for property in self.properties {
            match property {
                Property::Cicp { primaries, transfer, matrix, full_range } => {
                    (frame.primaries, frame.transfer, frame.matrix) = (primaries, transfer, matrix);
                    frame.full_range = full_range;
                }
                Property::Icc(profile) => icc = Some(profile.to_vec()),
                Property::Rotation(quarters) => turns = quarters,
                Property::Mirror { left_right } => mirror = Some(left_right),
                Property::Crop(fractions) => crop = Some(fractions),
                _ => {}
            }
        }
        let mut raster = yuv::to_raster(&frame, alpha.as_ref(), self.premultiplied)?;
        if let Some(fractions) = crop {
            let [width, height, left, top] = crop_rectangle(fractions, raster.width, raster.height)?;
            raster.crop(left, top, width, height);
        }
        let mut decoded = Decoded::new(raster, Some(orientation(turns, mirror)));
        match icc {
            Some(icc) => decoded.icc = Some(icc),
            None => match cicp::profile(frame.primaries, frame.transfer) {
                Ok(profile) => decoded.icc = profile,
                Err(note) => decoded.notes.push(note),
            },
        }
        Ok(decoded)
    }
}

impl Coded<'_> {
    fn decode(&self, decoder: &Decoder) -> Result<Frame> {
        // The frame of the codec, the samples and their planes, with up to 12 bits.
        decoder.check_memory(self.width.into(), self.height.into(), 6)?;
        let (width, height) = (self.width as usize, self.height as usize);
        let mut canvas: Option<Frame> = None;
        for (index, tile) in self.tiles.iter().enumerate() {
            let tile = av1::decode(decoder, tile, self.operating_point)?;
            if self.tiles.len() == 1 {
                if (tile.width, tile.height) != (width, height) {
                    return Err(damaged(format!("{}x{} pixels instead of {width}x{height}", tile.width, tile.height)));
                }
                return Ok(tile);
            }
            let rows = self.tiles.len() / self.columns;
            let canvas = match &mut canvas {
                Some(canvas) => canvas,
                None => canvas.insert(blank(&tile, width, height, self.columns, rows)?),
            };
            paste(canvas, &tile, index % self.columns * tile.width, index / self.columns * tile.height)?;
        }
        canvas.ok_or_else(|| damaged("it has no image"))
    }
}

/// Creates an image of the size of a grid for tiles like `tile`. The tiles must cover it, with
/// none to spare.
fn blank(tile: &Frame, width: usize, height: usize, columns: usize, rows: usize) -> Result<Frame> {
    let fits = |whole: usize, part: usize, count: usize| part * count >= whole && part * (count - 1) < whole;
    let (x_step, y_step) = match tile.subsampling {
        Subsampling::Both => (2, 2),
        Subsampling::Horizontal => (2, 1),
        _ => (1, 1),
    };
    if !fits(width, tile.width, columns)
        || !fits(height, tile.height, rows)
        || tile.width % x_step + tile.height % y_step != 0
    {
        return Err(damaged(format!("tiles of {}x{} for {width}x{height} pixels", tile.width, tile.height)));
    }
    let planes = (0..tile.planes.len()).map(|index| {
        let (width, height) = if index == 0 { (width, height) } else { tile.subsampling.size(width, height) };
        let row_bytes = if tile.depth == 8 { width } else { 2 * width };
        Plane { data: vec![0; row_bytes * height], row_bytes }
    });
    Ok(Frame { width, height, planes: planes.collect(), ..*tile })
}

/// Copies a tile to its place and drops the part beyond the image.
fn paste(canvas: &mut Frame, tile: &Frame, left: usize, top: usize) -> Result<()> {
    if (tile.depth, tile.subsampling) != (canvas.depth, canvas.subsampling) {
        return Err(damaged("tiles of different kinds"));
    }
    let sample_bytes = if tile.depth == 8 { 1 } else { 2 };
    for (index, (to, from)) in canvas.planes.iter_mut().zip(&tile.planes).enumerate() {
        let (left, top) = if index == 0 { (left, top) } else { tile.subsampling.size(left, top) };
        let start = (left * sample_bytes).min(to.row_bytes);
        let length = from.row_bytes.min(to.row_bytes - start);
        let rows = to.data.chunks_exact_mut(to.row_bytes.max(1)).skip(top);
        for (to, from) in rows.zip(from.data.chunks_exact(from.row_bytes.max(1))) {
            to[start..start + length].copy_from_slice(&from[..length]);
        }
    }
    Ok(())
}

/// The EXIF orientation for counterclockwise quarter turns followed by a mirror.
fn orientation(turns: u8, left_right: Option<bool>) -> Orientation {
    use Orientation::{
        FlipHorizontal, FlipVertical, NoTransforms, Rotate90, Rotate90FlipH, Rotate180, Rotate270, Rotate270FlipH,
    };
    let [plain, sides, ends] = match turns & 3 {
        0 => [NoTransforms, FlipHorizontal, FlipVertical],
        1 => [Rotate270, Rotate270FlipH, Rotate90FlipH],
        2 => [Rotate180, FlipVertical, FlipHorizontal],
        _ => [Rotate90, Rotate90FlipH, Rotate270FlipH],
    };
    left_right.map_or(plain, |left_right| if left_right { sides } else { ends })
}

/// Returns width, height, left and top of a crop, which must be whole pixels inside the image.
fn crop_rectangle(fractions: [(i64, i64); 4], width: usize, height: usize) -> Result<[usize; 4]> {
    let whole = |numerator: i128, denominator: i128| {
        (denominator != 0 && numerator % denominator == 0).then(|| numerator / denominator)
    };
    let place = |size: usize, part: (i64, i64), shift: (i64, i64)| {
        let ((numerator, denominator), length) = (shift, whole(part.0.into(), part.1.into())?);
        let (numerator, denominator) = (i128::from(numerator), i128::from(denominator));
        // The offset is that of the center: half of the cropped length, plus the shift.
        let start = whole((size as i128 - length) * denominator + 2 * numerator, 2 * denominator)?;
        let (length, start) = (usize::try_from(length).ok()?, usize::try_from(start).ok()?);
        (length > 0 && start + length <= size).then_some((length, start))
    };
    let [w, h, x, y] = fractions;
    let rectangle = || {
        let ((width, left), (height, top)) = (place(width, w, x)?, place(height, h, y)?);
        Some([width, height, left, top])
    };
    rectangle().ok_or_else(|| damaged("a crop that is not inside the image"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_against_the_clock_come_before_the_mirror() {
        let tags = |mirror| (0..4).map(|turns| orientation(turns, mirror).to_exif()).collect::<Vec<_>>();
        assert_eq!(tags(None), [1, 8, 3, 6]);
        assert_eq!(tags(Some(true)), [2, 7, 4, 5]);
        assert_eq!(tags(Some(false)), [4, 5, 2, 7]);
    }

    #[test]
    fn a_crop_is_centered_with_an_offset() {
        assert_eq!(crop_rectangle([(6, 1), (2, 1), (0, 1), (0, 1)], 10, 8).unwrap(), [6, 2, 2, 3]);
        assert_eq!(crop_rectangle([(6, 1), (2, 1), (-2, 1), (3, 1)], 10, 8).unwrap(), [6, 2, 0, 6]);
        assert_eq!(crop_rectangle([(7, 1), (8, 1), (1, 2), (0, 1)], 10, 8).unwrap(), [7, 8, 2, 0]);
        for outside in
            [[(6, 1), (2, 1), (-3, 1), (0, 1)], [(11, 1), (8, 1), (0, 1), (0, 1)], [(5, 0), (1, 1), (0, 1), (0, 1)]]
        {
            assert!(crop_rectangle(outside, 10, 8).is_err());
        }
    }
}
