//! Decodes a file of any supported format to an [`Image`].

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use agenticiqa_metrics::{Image, Source};
use image::metadata::Orientation;

#[cfg(feature = "avif")]
use crate::avif;
use crate::raster::{Layout, Raster, Samples};
use crate::{Error, Format, Result, codecs, files, format, icc, jpeg, memory, raw, tiff};

/// Reads image files.
///
/// The limits are checked against the size that a file states, before anything is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoder {
    /// The maximum number of pixels (width times height).
    pub max_pixels: u64,
    /// The maximum memory in bytes that one image may take: its samples, twice while they are
    /// converted. `None` is half of the memory that is free, at most 2 GiB.
    pub max_memory: Option<u64>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { max_pixels: 1_000_000_000, max_memory: None }
    }
}

/// A decoded image, and a list of the conversions that were applied.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The pixels.
    pub image: Image,
    /// The format of the file, detected by content.
    pub format: Format,
    /// The conversions that were applied to the pixels, in order.
    pub notes: Vec<Note>,
}

/// A conversion that was applied to the pixels of a file, or a fact about the file that users
/// should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The file is an animation or has several pages; the first one was used.
    FirstFrame,
    /// 16-bit samples were kept.
    SixteenBits,
    /// Floating-point samples were read as fractions of white, clipped to 0..=1, and converted to
    /// 16 bits.
    FloatClipped,
    /// The embedded color profile was applied: the pixels were converted to sRGB.
    ProfileConverted {
        /// The name of the profile.
        name: String,
    },
    /// The embedded color profile cannot be used: the pixels were treated as sRGB.
    ProfileIgnored {
        /// Why it cannot be used.
        reason: String,
    },
    /// CMYK without a usable profile was converted by a simple formula.
    CmykConverted,
    /// The file is a camera raw file: the preview that the camera put into it was used, not the raw data.
    RawPreview {
        /// Width of the preview in pixels.
        width: u32,
        /// Height of the preview in pixels.
        height: u32,
    },
    /// Transparent pixels were composited on white, in sRGB code values.
    AlphaOnWhite,
    /// The image was rotated or mirrored according to the orientation tag of the file (its value,
    /// 2..=8).
    Oriented(u8),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstFrame => f.write_str("only the first of several frames is used"),
            Self::SixteenBits => f.write_str("16-bit samples kept"),
            Self::FloatClipped => f.write_str("floating-point samples clipped to 0..1 and converted to 16 bits"),
            Self::ProfileConverted { name } => write!(f, "color profile \"{name}\" converted to sRGB"),
            Self::ProfileIgnored { reason } => write!(f, "color profile ignored, pixels treated as sRGB: {reason}"),
            Self::CmykConverted => f.write_str("CMYK without profile converted by formula"),
            Self::RawPreview { width, height } => {
                write!(f, "camera raw: the embedded preview of {width}x{height} is used, not the raw data")
            }
            Self::AlphaOnWhite => f.write_str("transparent pixels composited on white"),
            Self::Oriented(tag) => write!(f, "orientation {tag} applied"),
        }
    }
}

/// The output of a codec: samples as stored in the file, and the properties of the file.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub raster: Raster,
    pub icc: Option<Vec<u8>>,
    pub orientation: Orientation,
    pub notes: Vec<Note>,
    pub jpeg_quality: Option<f64>,
}

impl Decoded {
    pub fn new(raster: Raster, orientation: Option<Orientation>) -> Self {
        let orientation = orientation.unwrap_or(Orientation::NoTransforms);
        Self { raster, icc: None, orientation, notes: Vec::new(), jpeg_quality: None }
    }
}

impl Decoder {
    /// Reads the image file at `path`. Errors contain the path.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Picture> {
        let path = path.as_ref();
        let picture = self.read(path).and_then(|bytes| self.decode_owned(bytes));
        picture.map_err(|error| error.of(path))
    }

    /// Like [`open`](Self::open), but also returns the bytes of the file.
    pub fn open_with_bytes(&self, path: impl AsRef<Path>) -> Result<(Vec<u8>, Picture)> {
        let path = path.as_ref();
        let opened = self.read(path).and_then(|bytes| self.decode(&bytes).map(|picture| (bytes, picture)));
        opened.map_err(|error| error.of(path))
    }

    /// Decodes the bytes of an image file.
    pub fn decode(&self, bytes: &[u8]) -> Result<Picture> {
        let format = format::detect_in(bytes, HEAD)?;
        self.finish(format, self.decode_as(format, bytes)?)
    }

    /// Like [`decode`](Self::decode), but frees the bytes of the file before the pixels are
    /// converted.
    fn decode_owned(&self, bytes: Vec<u8>) -> Result<Picture> {
        let format = format::detect_in(&bytes, HEAD)?;
        let decoded = self.decode_as(format, &bytes)?;
        drop(bytes);
        self.finish(format, decoded)
    }

    /// Runs the codec. Some codecs panic on crafted files; the panic is caught and returned as an
    /// error. A codec works only on its own data, so no inconsistent state remains.
    fn decode_as(&self, format: Format, bytes: &[u8]) -> Result<Decoded> {
        IN_CODEC.set(true);
        let decoded = catch_unwind(AssertUnwindSafe(|| self.run_codec(format, bytes)));
        IN_CODEC.set(false);
        decoded.unwrap_or_else(|_| Err(Error::corrupt(format, "the decoder cannot make sense of it")))
    }

    fn run_codec(&self, format: Format, bytes: &[u8]) -> Result<Decoded> {
        match format {
            Format::Jpeg => jpeg::decode(self, bytes),
            Format::Tiff => tiff::decode(self, bytes),
            Format::Raw => raw::decode(self, bytes),
            Format::Png => codecs::png(self, bytes),
            Format::Bmp => codecs::bmp(self, bytes),
            Format::WebP => codecs::webp(self, bytes),
            Format::Gif => codecs::gif(self, bytes),
            #[cfg(feature = "avif")]
            Format::Avif => avif::decode(self, bytes),
            #[cfg(not(feature = "avif"))]
            Format::Avif => {
                let feature = "this build cannot decode AVIF (feature `avif`)".to_owned();
                Err(Error::Unsupported { format: Format::Avif, feature })
            }
        }
    }

    fn finish(&self, format: Format, decoded: Decoded) -> Result<Picture> {
        let Decoded { mut raster, icc, orientation, mut notes, jpeg_quality } = decoded;
        if matches!(raster.samples, Samples::Sixteen(_)) && !notes.contains(&Note::FloatClipped) {
            notes.push(Note::SixteenBits);
        }
        if let Some(profile) = icc {
            // After a panic the pixels may be partly converted, so this is an error and not a
            // note.
            let note = catch_unwind(AssertUnwindSafe(|| icc::to_srgb(&mut raster, &profile)));
            notes.extend(note.map_err(|_| Error::corrupt(format, "its color profile cannot be made sense of"))?);
        }
        if raster.layout == Layout::Cmyk {
            raster.inks_to_rgb();
            notes.push(Note::CmykConverted);
        }
        if raster.flatten() {
            notes.push(Note::AlphaOnWhite);
        }
        if orientation != Orientation::NoTransforms {
            raster.orient(orientation);
            notes.push(Note::Oriented(orientation.to_exif()));
        }
        let image = raster.into_image()?.with_source(Source { jpeg_quality });
        Ok(Picture { image, format, notes })
    }

    /// Checks the size of an image with three bytes a pixel.
    pub(crate) fn check_size(&self, width: u64, height: u64) -> Result<()> {
        self.check_memory(width, height, 3)
    }

    /// Checks that the size is neither zero nor above the limits.
    pub(crate) fn check_memory(&self, width: u64, height: u64, bytes_a_pixel: u64) -> Result<()> {
        if width == 0 || height == 0 {
            return Err(Error::ZeroSized { width, height });
        }
        if width.saturating_mul(height) > self.max_pixels {
            return Err(Error::TooLarge { width, height, max_pixels: self.max_pixels });
        }
        let needed = memory::needed(width, height, bytes_a_pixel);
        // Small images need no look at the system.
        if needed > SMALL_IMAGE || self.max_memory.is_some() {
            let limit = self.max_memory.unwrap_or_else(memory::default_limit);
            if needed > limit || !memory::can_be_allocated(needed) {
                return Err(Error::NeedsMemory { width, height, needed, limit });
            }
        }
        Ok(())
    }

    /// Reads a file, after checking that its first bytes are those of an image.
    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let mut file = files::open_regular(path, files::is_descriptor(path)).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.by_ref().take(HEAD as u64).read_to_end(&mut bytes).map_err(unreadable)?;
        format::detect(&bytes)?;
        let rest = usize::try_from(metadata.len()).unwrap_or(usize::MAX).saturating_sub(bytes.len());
        // Fails here with an error; a failed allocation would end the program.
        bytes.try_reserve_exact(rest).map_err(|_| Error::Unreadable(io::ErrorKind::OutOfMemory.into()))?;
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    }
}

thread_local! {
    static IN_CODEC: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running a codec. A panic there becomes an [`Error`], so the panic hook
/// of a program need not report it.
pub fn in_codec() -> bool {
    IN_CODEC.get()
}

/// Memory that every image may take, in bytes.
const SMALL_IMAGE: u64 = 32 << 20;

/// Number of bytes that are enough to detect the format of a file.
const HEAD: usize = 1024;

fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::NotFound,
        io::ErrorKind::IsADirectory => Error::Directory,
        io::ErrorKind::InvalidInput => Error::NotAFile,
        _ => Error::Unreadable(error),
    }
}
