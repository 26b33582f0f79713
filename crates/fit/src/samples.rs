//! Generates distorted images and measures them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agenticiqa_distort::{Kind, LEVELS, distort};
use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::ops::downsample::box_means;
use agenticiqa_metrics::{Image, Region};
use agenticiqa_vision::perception::{Features, measure_pair};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::labels;

/// Number of levels of each kind drawn for each photo.
const DRAWS: usize = 2;
/// Number of images with two distortions per photo.
const MIXTURES: usize = 8;
/// Number of images generated from a large photo at its own size.
const AT_FULL_SIZE: usize = 5;
/// Longer side from which a photo counts as large, in pixels.
const LARGE: usize = 1600;
/// Longer side to which large photos are reduced for most images.
const WORKING: usize = 900;
/// Side of crops in pixels.
const CROP: usize = 256;

/// A photo.
#[derive(Debug, Clone)]
pub struct Content {
    pub path: PathBuf,
    pub name: String,
    /// Whether it is kept for testing.
    pub test: bool,
    /// Whether it is only measured undistorted.
    pub only_clean: bool,
    /// Whether it comes from a folder without opinions.
    pub elsewhere: bool,
}

/// A distortion that was applied to an image.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AppliedDistortion {
    /// Index into `Kind::ALL`.
    pub kind: usize,
    /// Level from 1 to 5.
    pub level: u8,
    /// MDSI between the images before and after it.
    pub damage: f64,
}

impl AppliedDistortion {
    /// Returns its visibility from 0 to 4.
    pub fn visible(&self) -> f64 {
        labels::visibility(self.damage, self.level)
    }
}

/// A generated image: its distortions, and its measurements alone and against its original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub given: Vec<AppliedDistortion>,
    pub single: Vec<f32>,
    pub pair: Vec<f32>,
    /// Whether it is a photo at its own, large size.
    pub large: bool,
}

/// All images of one photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub single_names: Vec<String>,
    pub pair_names: Vec<String>,
    pub samples: Vec<Sample>,
}

/// Hashes text with FNV-1a, so that the choice of test photos depends only on their names.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Measures all photos that are not cached yet, until the time is up, and returns the number of
/// photos left.
pub fn measure_all(contents: &[Content], cache: &Path, seconds: u64) -> Result<usize, Error> {
    fs::create_dir_all(cache).map_err(|error| Error::file(cache, error))?;
    let begun = Instant::now();
    let open: Vec<&Content> = contents.iter().filter(|content| !cached(cache, content).exists()).collect();
    let left: Result<Vec<usize>, Error> = open
        .par_iter()
        .with_max_len(1)
        .map(|content| {
            if begun.elapsed().as_secs() >= seconds {
                return Ok(1);
            }
            let measured = measure_content(content)?;
            let path = cached(cache, content);
            let draft = path.with_extension("draft");
            let json = serde_json::to_vec(&measured)?;
            fs::write(&draft, json)
                .and_then(|()| fs::rename(&draft, &path))
                .map_err(|error| Error::file(&path, error))?;
            Ok(0)
        })
        .collect();
    Ok(left?.into_iter().sum())
}

/// Reads the cached measurements of a photo; `None` if there are none.
pub fn read(cache: &Path, content: &Content) -> Result<Option<Measured>, Error> {
    let path = cached(cache, content);
    if !path.exists() {
        return Ok(None);
    }
    let bytes = fs::read(&path).map_err(|error| Error::file(&path, error))?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}

fn cached(cache: &Path, content: &Content) -> PathBuf {
    let which = if content.only_clean { "-clean" } else { "" };
    cache.join(format!("{}{which}.json", content.name))
}

/// SplitMix64 generator, implemented here so that draws depend only on the name of the photo.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as usize % limit.max(1)
    }
}

fn measure_content(content: &Content) -> Result<Measured, Error> {
    let photo = Decoder::default().open(&content.path)?.image;
    let mut draw = Draw(hash(&content.name));
    let mut measured = Measured { single_names: Vec::new(), pair_names: Vec::new(), samples: Vec::new() };
    let bases = bases(&photo, &mut draw)?;
    for base in &bases {
        measured.add(base, base, Vec::new(), false)?;
    }
    if content.only_clean {
        return Ok(measured);
    }
    for kind in 0..Kind::ALL.len() {
        let first = draw.below(usize::from(LEVELS));
        for turn in 0..DRAWS {
            let level = ((first + turn * 2) % usize::from(LEVELS)) as u8 + 1;
            let base = &bases[draw.below(bases.len())];
            measured.distort(base, kind, level, &mut draw, false)?;
        }
    }
    for _ in 0..MIXTURES {
        let base = &bases[draw.below(bases.len())];
        measured.mix(base, &mut draw)?;
    }
    if photo.width().max(photo.height()) > LARGE {
        measured.add(&photo, &photo, Vec::new(), true)?;
        for _ in 0..AT_FULL_SIZE {
            let (kind, level) = (draw.below(Kind::ALL.len()), 3 + draw.below(3) as u8);
            measured.distort(&photo, kind, level, &mut draw, true)?;
        }
    }
    Ok(measured)
}

impl Measured {
    fn add(
        &mut self,
        original: &Image,
        distorted: &Image,
        given: Vec<AppliedDistortion>,
        large: bool,
    ) -> Result<(), Error> {
        let (single, pair) = measure_pair(original, distorted)?;
        let names = |features: &Features| features.names().iter().map(|&name| name.to_owned()).collect();
        self.single_names = names(&single);
        self.pair_names = names(&pair);
        let numbers = |features: &Features| features.values().iter().map(|&value| value as f32).collect();
        self.samples.push(Sample { given, single: numbers(&single), pair: numbers(&pair), large });
        Ok(())
    }

    fn distort(&mut self, base: &Image, kind: usize, level: u8, draw: &mut Draw, large: bool) -> Result<(), Error> {
        let distorted = distort(base, Kind::ALL[kind], level, draw.below(1 << 30) as u64)?;
        let damage = labels::damage(base, &distorted)?;
        self.add(base, &distorted, vec![AppliedDistortion { kind, level, damage }], large)
    }

    /// Applies two distortions in the order in which a camera and an editor cause them.
    fn mix(&mut self, base: &Image, draw: &mut Draw) -> Result<(), Error> {
        const FIRST: [Kind; 8] = [
            Kind::GaussianBlur,
            Kind::LensBlur,
            Kind::MotionBlur,
            Kind::Brighten,
            Kind::Darken,
            Kind::Desaturation,
            Kind::Oversaturation,
            Kind::ContrastChange,
        ];
        const SECOND: [Kind; 5] =
            [Kind::WhiteNoise, Kind::ColorNoise, Kind::MultiplicativeNoise, Kind::Jpeg, Kind::Jpeg];
        let (first, second) = (FIRST[draw.below(FIRST.len())], SECOND[draw.below(SECOND.len())]);
        let (first_level, second_level) = (2 + draw.below(4) as u8, 1 + draw.below(4) as u8);
        let once = distort(base, first, first_level, draw.below(1 << 30) as u64)?;
        let twice = distort(&once, second, second_level, draw.below(1 << 30) as u64)?;
        let given = |kind: Kind, level: u8, damage: f64| AppliedDistortion { kind: kind as usize, level, damage };
        let labels = vec![
            given(first, first_level, labels::damage(base, &once)?),
            given(second, second_level, labels::damage(&once, &twice)?),
        ];
        self.add(base, &twice, labels, false)
    }
}

/// Returns the photo at sizes up to about half a megapixel: original or reduced, half of that, and
/// a crop.
fn bases(photo: &Image, draw: &mut Draw) -> Result<Vec<Image>, Error> {
    let longer = photo.width().max(photo.height());
    let whole = if longer > LARGE { shrink(photo, longer.div_ceil(WORKING))? } else { photo.clone() };
    let mut bases = vec![whole.clone()];
    if whole.width().min(whole.height()) >= CROP {
        bases.push(shrink(&whole, 2)?);
        let region = Region {
            x: draw.below(whole.width() - CROP + 1),
            y: draw.below(whole.height() - CROP + 1),
            width: CROP,
            height: CROP,
        };
        bases.push(whole.crop(&region)?);
    }
    if longer > LARGE {
        let half = shrink(photo, 2)?;
        let side = CROP * 3 / 2;
        let region = Region {
            x: draw.below(half.width() - side + 1),
            y: draw.below(half.height() - side + 1),
            width: side,
            height: side,
        };
        bases.push(half.crop(&region)?);
    }
    Ok(bases)
}

/// Averages blocks of `factor` by `factor` pixels.
fn shrink(image: &Image, factor: usize) -> Result<Image, Error> {
    let planes = box_means(image, factor);
    let (width, height) = (planes[0].width(), planes[0].height());
    let code = |sample: f32| sample.round().clamp(0.0, 255.0) as u8;
    let rgb = (0..width * height).flat_map(|i| [0, 1, 2].map(|channel| code(planes[channel].data()[i]))).collect();
    Ok(Image::from_rgb8(width, height, rgb)?)
}
