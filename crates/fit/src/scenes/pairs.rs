//! Frames made from photos: as a burst has them, and damaged.

use std::path::PathBuf;

use agenticiqa_distort::{Kind, distort};
use agenticiqa_imaging::{Decoder, Picture, shrink};
use agenticiqa_metrics::{Image, Region};
use agenticiqa_photos::Study;

use crate::corpus;
use crate::error::Error;
use crate::samples::hash;

/// Longer side of the frames, in pixels.
const SIDE: usize = 1024;

/// Damage of single frames of a burst, with its levels.
const DAMAGE: [(Kind, &str, [u8; 2]); 6] = [
    (Kind::MotionBlur, "motion blur", [2, 4]),
    (Kind::LensBlur, "defocus", [1, 2]),
    (Kind::WhiteNoise, "noise", [2, 3]),
    (Kind::Brighten, "too bright", [2, 3]),
    (Kind::Darken, "too dark", [2, 3]),
    (Kind::Jpeg, "compression", [2, 3]),
];

/// A photo to make frames of.
pub struct Photo {
    name: String,
    path: PathBuf,
}

/// A frame.
pub struct Frame {
    /// What it is made of: frames of one scene have the same name here.
    pub scene: String,
    /// The photo.
    pub place: String,
    /// The name of the frame.
    pub name: String,
    /// How it was made.
    pub kind: String,
    /// The level of its damage, if it is damaged.
    pub damage: Option<u8>,
    /// Whether it is one half of a photo: the place is the same as that of the other half, the scene is not.
    pub half: bool,
    /// What was measured.
    pub study: Study,
}

impl Frame {
    /// Returns an identity, as the digest of a file is.
    pub fn digest(&self) -> [u8; 32] {
        let number = hash(&self.name).to_le_bytes();
        std::array::from_fn(|at| number[at % 8])
    }
}

/// Collects photos.
pub fn photos(folders: &[PathBuf], count: usize) -> Result<Vec<Photo>, Error> {
    let best = if count == usize::MAX { 0 } else { count };
    let contents = corpus::collect(folders, best, best)?;
    Ok(contents.into_iter().take(count).map(|content| Photo { name: content.name, path: content.path }).collect())
}

/// Makes frames.
#[derive(Default)]
pub struct Maker {
    decoder: Decoder,
}

impl Maker {
    /// Makes the frames of all photos and studies them.
    pub fn frames(&self, photos: &[Photo]) -> Result<Vec<Frame>, Error> {
        let mut frames = Vec::new();
        for photo in photos {
            let image = shrink(&self.decoder.open(&photo.path)?.image, SIDE)?;
            let part = |left: f64, top: f64, share: f64| part(&image, left, top, share, share);
            let mut add =
                |scene: &str, kind: &str, damage: Option<u8>, half: bool, image: Image| -> Result<(), Error> {
                    let name = format!("{} {scene} {kind} {}", photo.name, damage.unwrap_or_default());
                    frames.push(Frame {
                        scene: format!("{} {scene}", photo.name),
                        place: photo.name.clone(),
                        name,
                        kind: kind.to_owned(),
                        damage,
                        half,
                        study: study(image)?,
                    });
                    Ok(())
                };
            add("", "whole", None, false, part(0.0, 0.0, 0.96)?)?;
            add("", "moved by 4%", None, false, part(1.0, 1.0, 0.96)?)?;
            add("", "moved by 8%", None, false, part(1.0, 0.5, 0.92)?)?;
            add("", "cropped to 85%", None, false, part(0.6, 0.3, 0.85)?)?;
            let shifted = part(0.5, 0.2, 0.95)?;
            for (kind, words, levels) in DAMAGE {
                for level in levels {
                    let damaged = distort(&shifted, kind, level, hash(&photo.name))
                        .map_err(|error| Error::Nothing(error.to_string()))?;
                    add("", &format!("{words} {level}"), Some(level), false, damaged)?;
                }
            }
            for (side, left) in [("left", 0.0), ("right", 1.0)] {
                add(side, side, None, true, part_of(&image, left)?)?;
            }
        }
        Ok(frames)
    }
}

/// Cuts a part out; left and top say where within the space that is left.
fn part(image: &Image, left: f64, top: f64, width: f64, height: f64) -> Result<Image, Error> {
    let side = |length: usize, share: f64, at: f64| {
        let kept = (length as f64 * share) as usize;
        (((length - kept) as f64 * at) as usize, kept)
    };
    let ((x, width), (y, height)) = (side(image.width(), width, left), side(image.height(), height, top));
    Ok(image.crop(&Region { x, y, width, height })?)
}

fn part_of(image: &Image, left: f64) -> Result<Image, Error> {
    part(image, left, 0.5, 0.48, 0.7)
}

fn study(image: Image) -> Result<Study, Error> {
    // The same path as for files; there is no EXIF data.
    let format = agenticiqa_imaging::Format::Png;
    let source = agenticiqa_photos::Source::new(Vec::new(), Picture { image, format, notes: Vec::new() });
    Study::of(&source).map_err(|error| Error::Nothing(error.to_string()))
}
