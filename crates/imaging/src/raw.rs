//! Camera raw files: the large JPEG preview that cameras put into them.
//!
//! Raw data is not developed here. DNG, NEF, CR2, ARW, PEF, ORF and RW2 are TIFF files, or nearly: all their
//! directories are searched. RAF names its preview in its header, and CR3 begins its media data with
//! it. A file whose largest preview is small is rejected: its score would say nothing about the photo.

use std::ops::Range;

use image::metadata::Orientation;

use crate::decode::{Decoded, Decoder, Note};
use crate::jpeg::{self, Segments};
use crate::{Error, Format, Result};

/// Previews with a shorter longer side are thumbnails.
const SMALLEST: u32 = 1024;
/// Directories that are read at most; a crafted file may link them in circles.
const DIRECTORIES: usize = 64;
/// Entries of a directory that are read at most.
const ENTRIES: usize = 512;

mod tag {
    pub const COMPRESSION: u16 = 0x103;
    pub const STRIP_OFFSETS: u16 = 0x111;
    pub const ORIENTATION: u16 = 0x112;
    pub const STRIP_COUNTS: u16 = 0x117;
    pub const SUB_DIRECTORIES: u16 = 0x14a;
    pub const JPEG_OFFSET: u16 = 0x201;
    pub const JPEG_LENGTH: u16 = 0x202;
    /// The preview of Panasonic.
    pub const JPEG_FROM_RAW: u16 = 0x2e;
    pub const EXIF: u16 = 0x8769;
    pub const MAKER_NOTE: u16 = 0x927c;
    pub const DNG_VERSION: u16 = 0xc612;
}

/// What is known of a raw file.
#[derive(Debug, Default)]
struct Found {
    previews: Vec<Range<usize>>,
    orientation: Option<u8>,
    /// Whether a directory is there that only raw files have.
    raw: bool,
}

/// Returns whether a TIFF file is a camera raw file: a DNG, or one whose directories hold a JPEG next to
/// image data in others.
pub(crate) fn is_raw(bytes: &[u8]) -> bool {
    Tiff::open(bytes).is_some_and(|tiff| tiff.search().raw)
}

/// Whether the first bytes are those of a raw file that is no TIFF file.
pub(crate) fn has_own_signature(head: &[u8]) -> bool {
    let signatures: [&[u8]; 5] = [b"FUJIFILMCCD-RAW ", b"IIU\0", b"IIRO", b"IIRS", b"MMOR"];
    signatures.iter().any(|signature| head.starts_with(signature)) || head.get(4..12) == Some(b"ftypcrx ")
}

/// Decodes the largest preview.
pub(crate) fn decode(decoder: &Decoder, bytes: &[u8]) -> Result<Decoded> {
    let found = match bytes {
        _ if bytes.starts_with(b"FUJIFILMCCD-RAW ") => in_raf(bytes),
        _ if bytes.get(4..8) == Some(b"ftyp") => in_cr3(bytes),
        _ => Tiff::open(bytes).map(|tiff| tiff.search()).unwrap_or_default(),
    };
    let size = |range: &Range<usize>| {
        let jpeg = bytes.get(range.clone()).filter(|jpeg| jpeg.starts_with(b"\xff\xd8"))?;
        Segments::parse(jpeg).ok().filter(Segments::is_ordinary)?.size
    };
    let sized = found.previews.iter().filter_map(|range| Some((size(range)?, range)));
    let largest = sized.max_by_key(|((width, height), _)| u32::from(*width) * u32::from(*height));
    let Some(((width, height), range)) = largest.filter(|((w, h), _)| u32::from(*w.max(h)) >= SMALLEST) else {
        let has =
            largest_words(found.previews.iter().filter_map(size).max_by_key(|(w, h)| u32::from(*w) * u32::from(*h)));
        return Err(Error::unsupported(Format::Raw, format!("{has}, and raw data is not developed")));
    };
    let mut decoded = jpeg::decode(decoder, &bytes[range.clone()])?;
    if decoded.orientation == Orientation::NoTransforms {
        let orientation = found.orientation.and_then(Orientation::from_exif);
        decoded.orientation = orientation.unwrap_or(Orientation::NoTransforms);
    }
    decoded.notes.push(Note::RawPreview { width: width.into(), height: height.into() });
    Ok(decoded)
}

fn largest_words(largest: Option<(u16, u16)>) -> String {
    match largest {
        Some((width, height)) => format!("its largest preview has only {width}x{height} pixels"),
        None => "it has no JPEG preview".to_owned(),
    }
}

/// RAF: offset and length of the preview are in the header.
fn in_raf(bytes: &[u8]) -> Found {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let range = number(84).zip(number(88)).and_then(|(start, length)| range(start, length, bytes.len()));
    Found { previews: range.into_iter().collect(), raw: true, ..Found::default() }
}

/// CR3: the media data begins with the preview in full size.
fn in_cr3(bytes: &[u8]) -> Found {
    let mut at = 0_usize;
    let mut found = Found { raw: true, ..Found::default() };
    for _ in 0..DIRECTORIES {
        let Some(header) = bytes.get(at..at + 16) else { break };
        let (short, kind) = (&header[..4], &header[4..8]);
        let length = match short.iter().fold(0_u64, |n, byte| n << 8 | u64::from(*byte)) {
            0 => (bytes.len() - at) as u64,
            1 => header[8..].iter().fold(0_u64, |n, byte| n << 8 | u64::from(*byte)),
            length => length,
        };
        let body = at + if short == [0, 0, 0, 1] { 16 } else { 8 };
        let Some(end) = usize::try_from(length).ok().and_then(|length| at.checked_add(length)).filter(|end| *end > at)
        else {
            break;
        };
        if kind == b"mdat" {
            found.previews.push(body..end.min(bytes.len()));
        }
        at = end;
    }
    found
}

fn range(start: usize, length: usize, whole: usize) -> Option<Range<usize>> {
    let end = start.checked_add(length)?.min(whole);
    (start < end).then_some(start..end)
}

/// The directories of a TIFF file. Signatures other than 42, which raw files use, are accepted.
struct Tiff<'a> {
    bytes: &'a [u8],
    little: bool,
}

/// An entry of a directory.
struct Entry {
    tag: u16,
    kind: u16,
    count: usize,
    /// Where its values are.
    place: usize,
}

impl<'a> Tiff<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let little = match bytes.get(..2)? {
            b"II" => true,
            b"MM" => false,
            _ => return None,
        };
        Some(Self { bytes, little })
    }

    fn short(&self, at: usize) -> Option<u16> {
        let pair: [u8; 2] = self.bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
    }

    fn long(&self, at: usize) -> Option<usize> {
        let four: [u8; 4] = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some((if self.little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }) as usize)
    }

    /// Returns one value of an entry.
    fn value(&self, entry: &Entry, index: usize) -> Option<usize> {
        match entry.kind {
            3 => self.short(entry.place.checked_add(2 * index)?).map(usize::from),
            4 | 13 => self.long(entry.place.checked_add(4 * index)?),
            1 | 7 => self.bytes.get(entry.place.checked_add(index)?).map(|byte| usize::from(*byte)),
            _ => None,
        }
    }

    /// Reads a directory, and returns the place of the next one.
    fn directory(&self, at: usize) -> Option<(Vec<Entry>, usize)> {
        let count = usize::from(self.short(at)?);
        let entries = (0..count.min(ENTRIES)).filter_map(|index| {
            let at = at.checked_add(2 + 12 * index)?;
            let (tag, kind, count) = (self.short(at)?, self.short(at + 2)?, self.long(at + 4)?);
            let size = match kind {
                3 => 2,
                4 | 13 => 4,
                _ => 1_usize,
            };
            let place = if size.checked_mul(count)? <= 4 { at + 8 } else { self.long(at + 8)? };
            Some(Entry { tag, kind, count, place })
        });
        Some((entries.collect(), self.long(at.checked_add(2 + 12 * count)?).unwrap_or(0)))
    }

    /// Reads all directories and collects the JPEG data that they name.
    fn search(&self) -> Found {
        let mut found = Found::default();
        let (mut open, mut seen) = (vec![self.long(4).unwrap_or(0)], Vec::new());
        let (mut subdirectories, mut jpegs) = (false, 0);
        while let Some(at) = open.pop() {
            if at == 0 || seen.contains(&at) || seen.len() >= DIRECTORIES {
                continue;
            }
            let first = seen.is_empty();
            seen.push(at);
            let Some((entries, next)) = self.directory(at) else { continue };
            open.push(next);
            let of = |tag: u16| entries.iter().find(|entry| entry.tag == tag);
            let value = |tag: u16| of(tag).and_then(|entry| self.value(entry, 0));
            found.raw |= of(tag::DNG_VERSION).is_some() || of(tag::JPEG_FROM_RAW).is_some();
            if first {
                found.orientation = value(tag::ORIENTATION).and_then(|tag| u8::try_from(tag).ok());
            }
            if let Some(entry) = of(tag::SUB_DIRECTORIES) {
                subdirectories = true;
                open.extend((0..entry.count.min(8)).filter_map(|index| self.value(entry, index)));
            }
            open.extend(value(tag::EXIF));
            if let Some(note) = of(tag::MAKER_NOTE) {
                found.previews.extend(self.olympus(note));
            }
            let before = found.previews.len();
            let pair = |start: u16, length: u16| value(start).zip(value(length));
            let in_jpeg = pair(tag::JPEG_OFFSET, tag::JPEG_LENGTH);
            let compressed = value(tag::COMPRESSION).is_some_and(|kind| kind == 6 || kind == 7);
            let one_strip = of(tag::STRIP_OFFSETS).is_some_and(|entry| entry.count == 1);
            let in_strip = pair(tag::STRIP_OFFSETS, tag::STRIP_COUNTS).filter(|_| compressed && one_strip);
            for (start, length) in in_jpeg.into_iter().chain(in_strip) {
                found.previews.extend(range(start, length, self.bytes.len()));
            }
            if let Some(entry) = of(tag::JPEG_FROM_RAW) {
                found.previews.extend(range(entry.place, entry.count, self.bytes.len()));
            }
            jpegs += usize::from(found.previews.len() > before);
        }
        // Nikon, Canon, Sony and Pentax have no tag of their own: JPEG data next to other directories.
        found.raw |= jpegs > 0 && (subdirectories || seen.len() > 2);
        found.raw |= has_own_signature(self.bytes);
        found
    }

    /// Olympus: the preview is in the camera settings of the maker note, whose offsets begin at the note.
    fn olympus(&self, note: &Entry) -> Option<Range<usize>> {
        let start = note.place;
        let inner = if self.bytes.get(start..start + 8)? == b"OLYMPUS\0" { start + 12 } else { return None };
        let relative = |entries: &[Entry], tag: u16| {
            entries.iter().find(|entry| entry.tag == tag).and_then(|entry| self.value(entry, 0))
        };
        let (entries, _) = self.directory(inner)?;
        let settings = start.checked_add(relative(&entries, 0x2020)?)?;
        let (entries, _) = self.directory(settings)?;
        let preview = start.checked_add(relative(&entries, 0x101)?)?;
        range(preview, relative(&entries, 0x102)?, self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use agenticiqa_metrics::Image;

    use super::*;
    use crate::encode_jpeg;

    fn preview(width: usize, height: usize) -> Vec<u8> {
        let pixels = (0..width * height).map(|at| (at % width / 8) as u8).collect();
        encode_jpeg(&Image::from_gray8(width, height, pixels).unwrap(), 80).unwrap()
    }

    /// A TIFF file in the layout of a NEF: a thumbnail first, the preview and raw data in subdirectories.
    fn nef(jpeg: &[u8], dng: bool) -> Vec<u8> {
        let mut file = b"II*\0".to_vec();
        let entry = |tag: u16, kind: u16, count: u32, value: u32| {
            [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value.to_le_bytes()].concat()
        };
        let directory = |entries: &[Vec<u8>]| {
            [(entries.len() as u16).to_le_bytes().to_vec(), entries.concat(), vec![0; 4]].concat()
        };
        let jpeg_at = 8_u32;
        let sub_at = jpeg_at + jpeg.len() as u32;
        let sub = directory(&[
            entry(tag::COMPRESSION, 3, 1, 6),
            entry(tag::JPEG_OFFSET, 4, 1, jpeg_at),
            entry(tag::JPEG_LENGTH, 4, 1, jpeg.len() as u32),
        ]);
        let mut entries = vec![entry(tag::ORIENTATION, 3, 1, 6), entry(tag::SUB_DIRECTORIES, 4, 1, sub_at)];
        if dng {
            entries.push(entry(tag::DNG_VERSION, 1, 4, 0x0000_0401));
        }
        file.extend((sub_at + sub.len() as u32).to_le_bytes());
        file.extend(jpeg);
        file.extend(sub);
        file.extend(directory(&entries));
        file
    }

    #[test]
    fn the_large_preview_is_decoded_turned_and_noted() {
        for dng in [false, true] {
            let picture = Decoder::default().decode(&nef(&preview(1200, 800), dng)).unwrap();
            assert_eq!((picture.image.width(), picture.image.height(), picture.format), (800, 1200, Format::Raw));
            assert_eq!(picture.notes, [Note::RawPreview { width: 1200, height: 800 }, Note::Oriented(6)]);
        }
    }

    #[test]
    fn files_with_other_signatures_are_read_too() {
        let jpeg = preview(1100, 30);
        let mut raf = b"FUJIFILMCCD-RAW 0201".to_vec();
        raf.resize(84, 0);
        raf.extend([92_u32.to_be_bytes(), (jpeg.len() as u32).to_be_bytes()].concat());
        raf.extend(&jpeg);
        let boxed = |kind: &[u8], body: &[u8]| [&(body.len() as u32 + 8).to_be_bytes()[..], kind, body].concat();
        let cr3 = [boxed(b"ftyp", b"crx \0\0\0\x01crx isom"), boxed(b"moov", &[0; 40]), boxed(b"mdat", &jpeg)].concat();
        for file in [raf, cr3] {
            let picture = Decoder::default().decode(&file).unwrap();
            assert_eq!((picture.image.width(), picture.format), (1100, Format::Raw));
        }
    }

    #[test]
    fn small_previews_circles_and_cut_files_are_refused() {
        let refused = |file: &[u8]| Decoder::default().decode(file).unwrap_err().to_string();
        assert!(refused(&nef(&preview(160, 120), true)).contains("largest preview has only 160x120"));
        let whole = nef(&preview(1200, 800), true);
        for cut in [9, 40, whole.len() / 2] {
            assert!(Decoder::default().decode(&whole[..cut]).is_err(), "{cut}");
        }
        // A directory that is its own next one, and one whose subdirectory is itself.
        let circle = b"II*\0\x08\0\0\0\x01\0\x4a\x01\x04\0\x01\0\0\0\x08\0\0\0\x08\0\0\0";
        assert!(Decoder::default().decode(circle).is_err());
        assert!(refused(b"IIU\0\x08\0\0\0\0\0\0\0\0\0").contains("no JPEG preview"));
    }
}
