//! Encodes images for a model: the original file if possible, else lossless PNG.
//!
//! JPEG is never used: compression would add the artifacts that the model is asked about.

use std::sync::Arc;

use agenticiqa_imaging::{Error, Format, Note, Picture, encode_png, shrink};

use super::{Attachment, Vlm};

/// The default maximum length of the longer image side, in pixels.
pub const DEFAULT_MAX_SIDE: usize = 2048;

/// The maximum number of times that an image is shrunk to fit the size limit.
const SHRINKINGS: usize = 6;

/// The image limits of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageLimits {
    /// Media types of files that are accepted unchanged. PNG is always accepted.
    pub formats: Vec<&'static str>,
    /// The maximum length of the longer side, in pixels.
    pub max_side: usize,
    /// The maximum file size in bytes.
    pub max_bytes: usize,
}

impl ImageLimits {
    /// Returns the limits of `model`.
    pub fn of(model: &dyn Vlm, max_side: usize) -> Self {
        let formats = MEDIA_TYPES.iter().map(|(_, mime)| *mime).filter(|mime| model.accepts(mime)).collect();
        Self { formats, max_side, max_bytes: model.max_image_bytes() }
    }
}

const MEDIA_TYPES: [(Format, &str); 6] = [
    (Format::Jpeg, "image/jpeg"),
    (Format::Png, "image/png"),
    (Format::WebP, "image/webp"),
    (Format::Gif, "image/gif"),
    (Format::Bmp, "image/bmp"),
    (Format::Tiff, "image/tiff"),
];

/// Creates an attachment from an image.
///
/// `file` is the file that `picture` was decoded from. It is sent unchanged if the model accepts
/// its format and size and decoding did not alter its pixels. Otherwise the decoded pixels are sent
/// as 8-bit PNG, shrunk if necessary. This uses the CPU for a while: call it from a blocking
/// thread.
pub fn prepare(
    label: impl Into<String>,
    file: &Arc<[u8]>,
    picture: &Picture,
    limits: &ImageLimits,
) -> Result<Attachment, Error> {
    let label = label.into();
    let side = picture.image.width().max(picture.image.height());
    let mime = MEDIA_TYPES.iter().find(|(format, _)| *format == picture.format).map(|(_, mime)| *mime);
    // Decoding keeps 16 bits, so the file matches the measured pixels.
    let untouched = picture.notes.iter().all(|note| *note == Note::SixteenBits);
    if let Some(mime) = mime.filter(|mime| limits.formats.contains(mime))
        && untouched
        && side <= limits.max_side
        && file.len() <= limits.max_bytes
    {
        return Ok(Attachment { label, mime, bytes: Arc::clone(file) });
    }
    let bytes = encode_within(picture, limits)?;
    Ok(Attachment { label, mime: "image/png", bytes: bytes.into() })
}

fn encode_within(picture: &Picture, limits: &ImageLimits) -> Result<Vec<u8>, Error> {
    let original = &picture.image;
    let mut side = original.width().max(original.height()).min(limits.max_side.max(1));
    let mut shrinkings = 0;
    loop {
        let image = shrink(original, side)?;
        let bytes = encode_png(&image)?;
        if bytes.len() <= limits.max_bytes || shrinkings == SHRINKINGS || side == 1 {
            if image.width() != original.width() || image.height() != original.height() {
                let (from, to) = ((original.width(), original.height()), (image.width(), image.height()));
                tracing::info!("image made smaller for the model: {}x{} -> {}x{}", from.0, from.1, to.0, to.1);
            }
            return Ok(bytes);
        }
        shrinkings += 1;
        let share = (limits.max_bytes as f64 / bytes.len() as f64).sqrt() * 0.97;
        side = ((side as f64 * share) as usize).clamp(1, side - 1);
    }
}
