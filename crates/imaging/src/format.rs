//! Detects the format of a file by its first bytes, never by its name.

use std::fmt;

use crate::{Error, Result, raw};

/// The supported image formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JPEG, including progressive, gray, CMYK and YCCK.
    Jpeg,
    /// PNG of every depth.
    Png,
    /// Windows bitmap.
    Bmp,
    /// TIFF, first page.
    Tiff,
    /// WebP, first frame.
    WebP,
    /// GIF, first frame.
    Gif,
    /// AVIF, first frame.
    Avif,
    /// Camera raw: DNG, NEF, CR2, CR3, ARW, ORF, RAF, RW2, PEF. Their large preview is decoded.
    Raw,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Bmp => "BMP",
            Self::Tiff => "TIFF",
            Self::WebP => "WebP",
            Self::Gif => "GIF",
            Self::Avif => "AVIF",
            Self::Raw => "camera raw",
        })
    }
}

/// Signatures of files that are not images.
const OTHER_KINDS: &[(&[u8], &str)] = &[
    (b"%PDF-", "a PDF document"),
    (b"%!PS", "a PostScript document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\x00", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x1a\x45\xdf\xa3", "a Matroska or WebM video"),
    (b"OggS", "an Ogg sound or video file"),
    (b"ID3", "an MP3 sound file"),
    (b"fLaC", "a FLAC sound file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"PAR1", "a Parquet file"),
    (b"version https://git-lfs", "a Git LFS pointer: the image itself was not fetched"),
];

/// Signatures of image formats that are not supported.
const OTHER_IMAGES: &[(&[u8], &str)] = &[
    (b"\xff\x0a", "JPEG XL"),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "JPEG XL"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
    (b"8BPS", "Photoshop"),
    (b"\x76\x2f\x31\x01", "OpenEXR"),
    (b"#?RADIANCE", "Radiance HDR"),
    (b"qoif", "QOI"),
    (b"DDS ", "DDS"),
    (b"\x00\x00\x01\x00", "icon"),
    (b"gimp xcf", "GIMP"),
    (b"farbfeld", "farbfeld"),
];

/// Returns the format of a whole file. Most camera raw files begin like a TIFF file.
pub(crate) fn detect_in(bytes: &[u8], head: usize) -> Result<Format> {
    match detect(&bytes[..bytes.len().min(head)])? {
        Format::Tiff if raw::is_raw(bytes) => Ok(Format::Raw),
        format => Ok(format),
    }
}

/// Returns the format of a file that starts with `head` (a few hundred bytes are enough).
pub(crate) fn detect(head: &[u8]) -> Result<Format> {
    if head.is_empty() {
        return Err(Error::Empty);
    }
    if let Some(format) = known(head) {
        return Ok(format);
    }
    if let Some(name) = other_image(head) {
        return Err(Error::UnknownFormat { name });
    }
    Err(Error::NotAnImage { looks_like: looks_like(head) })
}

fn known(head: &[u8]) -> Option<Format> {
    let starts = |magic: &[u8]| head.starts_with(magic);
    if starts(b"\xff\xd8") {
        Some(Format::Jpeg)
    } else if starts(b"\x89PNG\r\n\x1a\n") {
        Some(Format::Png)
    } else if starts(b"GIF87a") || starts(b"GIF89a") {
        Some(Format::Gif)
    } else if starts(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some(Format::WebP)
    } else if starts(b"II*\0") || starts(b"MM\0*") || starts(b"II+\0") || starts(b"MM\0+") {
        Some(Format::Tiff)
    } else if starts(b"BM") && is_bmp(head) {
        Some(Format::Bmp)
    } else if has_brand(head, &[b"avif", b"avis"]) {
        Some(Format::Avif)
    } else if raw::has_own_signature(head) {
        Some(Format::Raw)
    } else {
        None
    }
}

/// Whether this is a bitmap. "BM" also starts words, so the size of the second header is checked.
fn is_bmp(head: &[u8]) -> bool {
    let Some(&[a, b, c, d]) = head.get(14..18) else { return head.len() < 18 };
    matches!(u32::from_le_bytes([a, b, c, d]), 12 | 16 | 40 | 52 | 56 | 64 | 108 | 124)
}

/// Whether an ISO media file (`ftyp` box first) names one of `brands`.
fn has_brand(head: &[u8], brands: &[&[u8; 4]]) -> bool {
    if head.get(4..8) != Some(b"ftyp") {
        return false;
    }
    let length = head.get(..4).map_or(0, |l| l.iter().fold(0usize, |n, &byte| n << 8 | usize::from(byte)));
    let names = head.get(8..length.min(head.len())).unwrap_or_default();
    names.chunks_exact(4).enumerate().any(|(i, name)| i != 1 && brands.iter().any(|brand| name == *brand))
}

fn other_image(head: &[u8]) -> Option<&'static str> {
    if has_brand(head, &[b"heic", b"heix", b"hevc", b"mif1", b"msf1"]) {
        return Some("HEIC");
    }
    let netpbm = matches!(head, [b'P', b'1'..=b'7', b' ' | b'\n' | b'\r' | b'\t', ..]);
    if netpbm {
        return Some("Netpbm");
    }
    if as_text(head).is_some_and(|text| text.contains("<svg")) {
        return Some("SVG");
    }
    OTHER_IMAGES.iter().find(|(magic, _)| head.starts_with(magic)).map(|&(_, name)| name)
}

fn looks_like(head: &[u8]) -> &'static str {
    if let Some(&(_, kind)) = OTHER_KINDS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return kind;
    }
    if head.get(4..8) == Some(b"ftyp") {
        return "an MP4 or QuickTime video";
    }
    if head.starts_with(b"RIFF") {
        return "a sound or video file";
    }
    if head.iter().all(|&byte| byte == 0) {
        return "nothing but zero bytes";
    }
    match as_text(head) {
        Some(text) if text.trim_start().to_ascii_lowercase().starts_with("<!doctype html") => "a web page",
        Some(text) if text.trim_start().to_ascii_lowercase().starts_with("<html") => "a web page",
        Some(text) if text.trim_start().starts_with(['{', '[']) => "JSON text",
        Some(_) => "text",
        None => "data of an unknown kind",
    }
}

/// Returns the bytes as text if they are text. A character that is cut off at the end does not
/// matter.
fn as_text(head: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if head.len() - error.valid_up_to() < 4 => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    let control = |c: char| c.is_control() && !c.is_whitespace();
    (!text.is_empty() && !text.contains(control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        assert_eq!(detect(b"\xff\xd8\xff\xe0").unwrap(), Format::Jpeg);
        assert_eq!(detect(b"RIFF\x00\x00\x00\x00WEBPVP8 ").unwrap(), Format::WebP);
        assert_eq!(detect(b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00mif1avifmiaf").unwrap(), Format::Avif);
        assert_eq!(detect(b"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00avifmiaf").unwrap(), Format::Avif);
    }

    #[test]
    fn other_files_are_named_for_what_they_look_like() {
        let message = |head: &[u8]| detect(head).unwrap_err().to_string();
        assert_eq!(message(b""), "the file is empty");
        assert_eq!(message(b"hello, world"), "not an image: it looks like text");
        assert_eq!(message("caf\u{e9}".as_bytes()), "not an image: it looks like text");
        assert_eq!(message(b"BMW is a make of cars"), "not an image: it looks like text");
        assert_eq!(message(b"%PDF-1.7\n"), "not an image: it looks like a PDF document");
        assert_eq!(message(b"\n<!DOCTYPE HTML>"), "not an image: it looks like a web page");
        assert_eq!(message(b"{\"a\": 1}"), "not an image: it looks like JSON text");
        assert_eq!(message(&[0; 100]), "not an image: it looks like nothing but zero bytes");
        assert_eq!(message(b"\x01\x02\x03\xff"), "not an image: it looks like data of an unknown kind");
        assert_eq!(message(b"P6\n2 2\n255\n"), "Netpbm images are not supported; convert the file to PNG");
        assert_eq!(message(b"<svg xmlns='x'/>"), "SVG images are not supported; convert the file to PNG");
        assert_eq!(
            message(b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"),
            "HEIC images are not supported; convert the file to PNG"
        );
        assert_eq!(
            message(b"\x00\x00\x00\x14ftypisom\x00\x00\x00\x00mp42"),
            "not an image: it looks like an MP4 or QuickTime video"
        );
    }
}
