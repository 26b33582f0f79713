//! Tracks of an AVIF sequence: the number of frames, and the location of the first frame.

use super::boxes::{Child, Fields};
use super::container::{Property, read_color, whole};
use crate::Result;

/// The role of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Color,
    Alpha,
}

/// One track.
pub(super) struct Track<'a> {
    pub role: Role,
    pub width: u32,
    pub height: u32,
    pub frames: u32,
    pub colors: Vec<Property<'a>>,
    offset: Option<u64>,
    length: u32,
    codec: [u8; 4],
}

impl<'a> Track<'a> {
    /// Returns the AV1 data of the first frame, or `None` if the file ends before it.
    pub fn first_frame(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(self.offset?).ok()?;
        file.get(start..)?.get(..self.length as usize)
    }
}

/// Returns the AV1 tracks with frames in the content of the `moov` box.
pub(super) fn read_tracks(movie: Fields<'_>) -> Result<Vec<Track<'_>>> {
    let mut tracks = Vec::new();
    for child in movie.boxes() {
        let Child { kind, content, .. } = whole(child?)?;
        if &kind == b"trak" {
            let mut reader = Reader::default();
            reader.read(content)?;
            tracks.extend(reader.finish());
        }
    }
    Ok(tracks)
}

/// The fields of a track, collected while parsing.
#[derive(Default)]
struct Reader<'a> {
    role: Option<Role>,
    size: (u32, u32),
    frames: u32,
    length: u32,
    offset: Option<u64>,
    codec: [u8; 4],
    colors: Vec<Property<'a>>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, fields: Fields<'a>) -> Result<()> {
        for child in fields.boxes() {
            let Child { kind, mut content, .. } = whole(child?)?;
            match &kind {
                // By definition, boxes nest five deep. A file that nests them differently is not
                // read deeper.
                b"mdia" | b"minf" | b"stbl" => self.read_inner(content)?,
                b"tkhd" => {
                    // The size is at the end, in 16.16 fixed point.
                    let start = content.0.len().saturating_sub(8);
                    content.take(start)?;
                    self.size = (content.u32()? >> 16, content.u32()? >> 16);
                }
                _ => self.read_leaf(kind, content)?,
            }
        }
        Ok(())
    }

    /// Reads the boxes of a media, media information or sample table box, without recursion.
    fn read_inner(&mut self, fields: Fields<'a>) -> Result<()> {
        let mut waiting = vec![fields];
        while let Some(fields) = waiting.pop() {
            for child in fields.boxes() {
                let Child { kind, content, .. } = whole(child?)?;
                match &kind {
                    b"minf" | b"stbl" => waiting.push(content),
                    _ => self.read_leaf(kind, content)?,
                }
            }
        }
        Ok(())
    }

    fn read_leaf(&mut self, kind: [u8; 4], mut content: Fields<'a>) -> Result<()> {
        match &kind {
            b"hdlr" => {
                content.take(8)?;
                self.role = match content.take(4)? {
                    b"pict" | b"vide" => Some(Role::Color),
                    b"auxv" => Some(Role::Alpha),
                    _ => None,
                };
            }
            b"stsz" => {
                content.version()?;
                self.length = content.u32()?;
                self.frames = content.u32()?;
                if self.length == 0 && self.frames > 0 {
                    self.length = content.u32()?;
                }
            }
            b"stco" | b"co64" => {
                content.version()?;
                if content.u32()? > 0 {
                    self.offset = Some(content.number(if &kind == b"stco" { 4 } else { 8 })?);
                }
            }
            b"stsd" => self.read_description(content)?,
            _ => {}
        }
        Ok(())
    }

    fn read_description(&mut self, mut content: Fields<'a>) -> Result<()> {
        content.take(8)?;
        let Some(entry) = content.boxes().next() else { return Ok(()) };
        let Child { kind, content: mut entry, .. } = whole(entry?)?;
        self.codec = kind;
        // The fixed fields of a visual sample entry.
        entry.take(78)?;
        for child in entry.boxes() {
            let Child { kind, content, .. } = whole(child?)?;
            if &kind == b"colr" {
                self.colors.push(read_color(content)?);
            }
        }
        Ok(())
    }

    fn finish(self) -> Option<Track<'a>> {
        let Self { role, size: (width, height), frames, length, offset, codec, colors } = self;
        let track = Track { role: role?, width, height, frames, colors, offset, length, codec };
        (&track.codec == b"av01" && frames > 0).then_some(track)
    }
}
