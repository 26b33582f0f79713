//! The items of an AVIF file: which item is the image, what belongs to it, and where its bytes
//! are.
//!
//! The container is parsed here, because the available parsers with a suitable license leave out
//! rotation, cropping and color, or keep only one of the two color descriptions of a file.

use std::borrow::Cow;
use std::collections::HashMap;

use super::boxes::{Child, Fields, damaged, name};
use crate::{Error, Format, Result};

/// A property of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Property<'a> {
    /// Width and height in pixels.
    Size(u32, u32),
    /// Code points of ITU-T H.273 for primaries, transfer and matrix, and whether the range is
    /// full.
    Cicp { primaries: u16, transfer: u16, matrix: u16, full_range: bool },
    /// An ICC profile.
    Icc(&'a [u8]),
    /// Counterclockwise quarter turns.
    Rotation(u8),
    /// Mirroring: left to right, or otherwise top to bottom.
    Mirror { left_right: bool },
    /// Crop: width, height, and offset of the center as fractions.
    Crop([(i64, i64); 4]),
    /// The purpose of an auxiliary image.
    Auxiliary(&'a [u8]),
    /// The operating point to decode.
    OperatingPoint(u8),
    /// A property that does not affect the pixels.
    Other,
    /// An unknown property, by name. It is an error if the property is essential.
    Unknown([u8; 4]),
}

/// The location of an item's bytes.
#[derive(Clone, Copy)]
struct Location<'a> {
    /// Whether the bytes are in the item data box instead of the file.
    in_box: bool,
    base: u64,
    /// The fields of the extents, and the length in bytes of each field: index, offset, length.
    extents: Fields<'a>,
    count: u16,
    field_bytes: [usize; 3],
}

/// One item and its properties, in order.
#[derive(Default)]
pub(super) struct Item<'a> {
    pub kind: [u8; 4],
    pub properties: Vec<(Property<'a>, bool)>,
}

/// The `meta` box.
pub(super) struct Container<'a> {
    file: &'a [u8],
    item_data: &'a [u8],
    pub primary: Option<u32>,
    items: HashMap<u32, Item<'a>>,
    locations: HashMap<u32, Location<'a>>,
    /// References: from, kind, to.
    references: Vec<(u32, [u8; 4], u32)>,
}

impl<'a> Container<'a> {
    /// Parses the content of the `meta` box of `file`.
    pub fn new(file: &'a [u8], mut meta: Fields<'a>) -> Result<Self> {
        meta.version()?;
        let mut container = Self {
            file,
            item_data: &[],
            primary: None,
            items: HashMap::new(),
            locations: HashMap::new(),
            references: Vec::new(),
        };
        for child in meta.boxes() {
            let Child { kind, content, .. } = whole(child?)?;
            match &kind {
                b"pitm" => container.primary = Some(read_primary(content)?),
                b"iloc" => container.read_locations(content)?,
                b"iinf" => container.read_items(content)?,
                b"iref" => container.read_references(content)?,
                b"iprp" => container.read_properties(content)?,
                b"idat" => container.item_data = content.0,
                _ => {}
            }
        }
        Ok(container)
    }

    /// Returns the item with this id.
    pub fn item(&self, id: u32) -> Result<&Item<'a>> {
        self.items.get(&id).ok_or_else(|| damaged(format!("item {id} is missing")))
    }

    /// Returns the items that `id` refers to by references of this kind, in order.
    pub fn referred(&self, id: u32, kind: &'a [u8; 4]) -> impl Iterator<Item = u32> {
        self.references.iter().filter(move |(from, of, _)| *from == id && of == kind).map(|&(.., to)| to)
    }

    /// Returns the items that refer to `id` by references of this kind.
    pub fn referring(&self, id: u32, kind: &'a [u8; 4]) -> impl Iterator<Item = u32> {
        self.references.iter().filter(move |(_, of, to)| *to == id && of == kind).map(|&(from, ..)| from)
    }

    /// Returns the bytes of an item.
    pub fn data(&self, id: u32) -> Result<Cow<'a, [u8]>> {
        let truncated = || Error::Truncated { format: Format::Avif };
        let location = self.locations.get(&id).ok_or_else(|| damaged(format!("item {id} is nowhere")))?;
        let source = if location.in_box { self.item_data } else { self.file };
        let mut data = Cow::Borrowed(&[][..]);
        let mut fields = location.extents;
        for _ in 0..location.count {
            let [index, offset, length] = location.field_bytes;
            fields.number(index)?;
            let start = location.base.saturating_add(fields.number(offset)?);
            let stated = fields.number(length)?;
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            let rest = source.get(start..).ok_or_else(truncated)?;
            // A length of zero means all the rest.
            let length = if stated == 0 { rest.len() } else { usize::try_from(stated).unwrap_or(usize::MAX) };
            let part = rest.get(..length).ok_or_else(truncated)?;
            if data.is_empty() {
                data = Cow::Borrowed(part);
            } else if data.len() + part.len() > self.file.len() {
                return Err(damaged(format!("item {id} is larger than the file")));
            } else {
                data.to_mut().extend_from_slice(part);
            }
        }
        Ok(data)
    }

    fn read_locations(&mut self, mut fields: Fields<'a>) -> Result<()> {
        let (version, _) = fields.version()?;
        let sizes = fields.u16()?;
        let [offset, length, base, index] = [12, 8, 4, 0].map(|shift| usize::from(sizes >> shift & 15));
        let index = if version == 0 { 0 } else { index };
        if [offset, length, base, index].iter().any(|bytes| !matches!(bytes, 0 | 4 | 8)) {
            return Err(damaged("item locations of a wrong size"));
        }
        let count = fields.id(version == 2)?;
        for _ in 0..count {
            let id = fields.id(version == 2)?;
            let method = if version == 0 { 0 } else { fields.u16()? & 15 };
            if fields.u16()? != 0 || method > 1 {
                // Bytes in another file or inside another item are not supported, so the item is
                // skipped.
                continue;
            }
            let base = fields.number(base)?;
            let count = fields.u16()?;
            let field_bytes = [index, offset, length];
            let extents = Fields(fields.take(usize::from(count) * field_bytes.iter().sum::<usize>())?);
            self.locations.insert(id, Location { in_box: method == 1, base, extents, count, field_bytes });
        }
        Ok(())
    }

    fn read_items(&mut self, mut fields: Fields<'a>) -> Result<()> {
        let (version, _) = fields.version()?;
        fields.id(version > 0)?;
        for child in fields.boxes() {
            let Child { kind, mut content, .. } = whole(child?)?;
            if &kind != b"infe" {
                continue;
            }
            let (version, _) = content.version()?;
            if version < 2 {
                return Err(damaged("an item without a type"));
            }
            let id = content.id(version > 2)?;
            content.u16()?;
            let &[a, b, c, d] = content.take(4)? else { return Err(damaged("an item without a type")) };
            self.items.entry(id).or_default().kind = [a, b, c, d];
        }
        Ok(())
    }

    fn read_references(&mut self, mut fields: Fields<'a>) -> Result<()> {
        let (version, _) = fields.version()?;
        for child in fields.boxes() {
            let Child { kind, mut content, .. } = whole(child?)?;
            let from = content.id(version > 0)?;
            for _ in 0..content.u16()? {
                self.references.push((from, kind, content.id(version > 0)?));
            }
        }
        Ok(())
    }

    fn read_properties(&mut self, fields: Fields<'a>) -> Result<()> {
        let mut properties = Vec::new();
        for child in fields.boxes() {
            let Child { kind, content, .. } = whole(child?)?;
            match &kind {
                b"ipco" => {
                    for child in content.boxes() {
                        properties.push(read_property(whole(child?)?)?);
                    }
                }
                b"ipma" => self.associate(content, &properties)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn associate(&mut self, mut fields: Fields<'a>, properties: &[Property<'a>]) -> Result<()> {
        let (version, flags) = fields.version()?;
        for _ in 0..fields.u32()? {
            let item = self.items.entry(fields.id(version > 0)?).or_default();
            for _ in 0..fields.u8()? {
                let (bits, association) =
                    if flags & 1 == 1 { (15, u32::from(fields.u16()?)) } else { (7, u32::from(fields.u8()?)) };
                let (essential, index) = (association >> bits == 1, association & ((1 << bits) - 1));
                // Indices start at one; zero means none.
                if let Some(index) = (index as usize).checked_sub(1) {
                    let property = properties.get(index).ok_or_else(|| damaged("a property is missing"))?;
                    item.properties.push((*property, essential));
                }
            }
        }
        Ok(())
    }
}

/// Returns an error for a truncated box. Only the last box of a file may be truncated, and only if
/// it is not needed.
pub(super) fn whole(child: Child<'_>) -> Result<Child<'_>> {
    if child.whole { Ok(child) } else { Err(damaged(format!("box '{}' is larger than its place", child.name()))) }
}

fn read_primary(mut fields: Fields<'_>) -> Result<u32> {
    let (version, _) = fields.version()?;
    fields.id(version > 0)
}

fn read_property(child: Child<'_>) -> Result<Property<'_>> {
    let mut fields = child.content;
    Ok(match &child.kind {
        b"ispe" => {
            fields.version()?;
            Property::Size(fields.u32()?, fields.u32()?)
        }
        b"colr" => read_color(fields)?,
        b"irot" => Property::Rotation(fields.u8()? & 3),
        b"imir" => Property::Mirror { left_right: fields.u8()? & 1 == 1 },
        b"clap" => {
            let mut crop = [(0, 1); 4];
            for fraction in &mut crop {
                *fraction = (i64::from(fields.u32()? as i32), i64::from(fields.u32()?));
            }
            Property::Crop(crop)
        }
        b"auxC" => {
            fields.version()?;
            let end = fields.0.iter().position(|&byte| byte == 0).unwrap_or(fields.0.len());
            Property::Auxiliary(&fields.0[..end])
        }
        b"a1op" => Property::OperatingPoint(fields.u8()?),
        // All layers; this is what the decoder does.
        b"lsel" if fields.u16()? == 0xffff => Property::Other,
        b"av1C" | b"pixi" | b"pasp" | b"a1lx" | b"clli" | b"mdcv" | b"cclv" | b"amve" => Property::Other,
        &kind => Property::Unknown(kind),
    })
}

/// Reads the color description of an item or a track.
pub(super) fn read_color(mut fields: Fields<'_>) -> Result<Property<'_>> {
    Ok(match fields.take(4)? {
        b"nclx" => Property::Cicp {
            primaries: fields.u16()?,
            transfer: fields.u16()?,
            matrix: fields.u16()?,
            full_range: fields.u8()? & 0x80 != 0,
        },
        b"prof" | b"rICC" => Property::Icc(fields.0),
        _ => Property::Other,
    })
}

impl Item<'_> {
    /// Checks that every essential property is known; otherwise the item cannot be decoded
    /// correctly.
    pub fn check_essential(&self) -> Result<()> {
        let unknown = self.properties.iter().find_map(|property| match property {
            (Property::Unknown(kind), true) => Some(*kind),
            _ => None,
        });
        unknown.map_or(Ok(()), |kind| Err(Error::unsupported(Format::Avif, format!("property '{}'", name(kind)))))
    }

    /// Width and height.
    pub fn size(&self) -> Result<(u32, u32)> {
        let size = self.properties.iter().find_map(|(property, _)| match property {
            Property::Size(width, height) => Some((*width, *height)),
            _ => None,
        });
        size.ok_or_else(|| damaged("an image without a size"))
    }
}
