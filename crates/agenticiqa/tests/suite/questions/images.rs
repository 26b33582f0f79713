//! The images of the questions: shipped photos, damaged in known ways, so that the truth is known.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa::imaging::{Decoder, encode_jpeg, encode_png, shrink};
use agenticiqa::inputs::Source;
use agenticiqa::metrics::{Image, Pixels, Plane};
use agenticiqa_distort::{Kind, distort};
use rayon::prelude::*;
use serde::Deserialize;

const IMAGES: &str = include_str!("../../data/questions/images.json");
/// The longest side of the images. Small images keep the test fast.
const LONGEST: usize = 480;
/// Damage in a part fades out over this many pixels, so that the border is no fault of its own.
const FADE: f32 = 12.0;
/// The seed of random distortions.
const SEED: u64 = 7;

/// How to make an image.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    /// The photo: a path below the folder of the questions.
    photo: PathBuf,
    /// What is done to it, in this order.
    #[serde(default)]
    damage: Vec<Step>,
    /// Saves the image as a JPEG file of this quality instead of PNG.
    jpeg_file: Option<u8>,
    /// Uses the file of the photo as it is.
    #[serde(default)]
    as_it_is: bool,
}

/// One damage, everywhere or in a part.
#[derive(Debug, Deserialize)]
struct Step {
    #[serde(flatten)]
    damage: Damage,
    /// Only in this rectangle: x, y, width, height.
    only: Option<[f32; 4]>,
    /// Only outside this rectangle.
    outside: Option<[f32; 4]>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Damage {
    /// A distortion of KADID-10k by its name, and its level from 1 to 5.
    Distort(String, u8),
    /// Exposure in stops: below 0 is darker.
    Light(f32),
    /// Distance from middle gray times this factor.
    Contrast(f32),
    /// Strength of color times this factor; 0 is gray.
    Saturation(f32),
    /// Red, green and blue light times these factors.
    Cast([f32; 3]),
    /// Share of the light that is replaced by white haze.
    Haze(f32),
}

/// The images by name.
pub struct Images(HashMap<String, Arc<Source>>);

impl Images {
    /// Makes the images with these names.
    pub fn make(names: &BTreeSet<&str>) -> Self {
        let recipes = recipes();
        let one = |name: &&str| {
            let recipe = recipes.get(*name).unwrap_or_else(|| panic!("images.json has no {name:?}"));
            ((*name).to_owned(), Arc::new(recipe.make()))
        };
        Self(names.par_iter().map(one).collect())
    }

    /// The image with this name.
    pub fn get(&self, name: &str) -> Arc<Source> {
        Arc::clone(&self.0[name])
    }
}

/// The names of all images.
pub fn names() -> Vec<String> {
    recipes().into_keys().collect()
}

fn recipes() -> BTreeMap<String, Recipe> {
    serde_json::from_str(IMAGES).unwrap()
}

impl Recipe {
    fn make(&self) -> Source {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/questions");
        let photo = Source::open(&Decoder::default(), &folder.join(&self.photo)).unwrap();
        if self.as_it_is {
            return photo;
        }
        let clean = shrink(&photo.picture.image, LONGEST).unwrap();
        let image = self.damage.iter().fold(clean, |image, step| step.apply(&image));
        let bytes = match self.jpeg_file {
            Some(quality) => encode_jpeg(&image, quality),
            None => encode_png(&image),
        };
        Source::decode(&Decoder::default(), bytes.unwrap()).unwrap()
    }
}

impl Step {
    fn apply(&self, image: &Image) -> Image {
        let damaged = self.damage.apply(image);
        let (part, inside) = match (self.only, self.outside) {
            (Some(part), _) => (part, true),
            (_, Some(part)) => (part, false),
            _ => return damaged,
        };
        let (clean, damaged) = (Pixels::read(image), Pixels::read(&damaged));
        let planes = [0, 1, 2].map(|channel| {
            let (before, after) = (&clean.planes[channel], &damaged.planes[channel]);
            Plane::from_fn(before.width(), before.height(), |x, y| {
                let share = share_within(part, x as f32, y as f32);
                let share = if inside { share } else { 1.0 - share };
                before.at(x, y) + share * (after.at(x, y) - before.at(x, y))
            })
        });
        Pixels { planes }.write(8).unwrap()
    }
}

/// 1 inside a rectangle, 0 outside, and a ramp across its border.
fn share_within([left, top, width, height]: [f32; 4], x: f32, y: f32) -> f32 {
    let inside = (x - left).min(left + width - x).min(y - top).min(top + height - y);
    (inside / FADE + 0.5).clamp(0.0, 1.0)
}

impl Damage {
    fn apply(&self, image: &Image) -> Image {
        let pixels = Pixels::read(image);
        let changed = match *self {
            Self::Distort(ref name, level) => {
                let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
                return distort(image, kind.unwrap_or_else(|| panic!("no distortion {name:?}")), level, SEED).unwrap();
            }
            Self::Light(stops) => pixels.map(|sample| encoded(linear(sample) * stops.exp2())),
            Self::Contrast(factor) => pixels.map(|sample| 0.5 + factor * (sample - 0.5)),
            Self::Saturation(factor) => pixels.map_pixels(|[r, g, b]| {
                let luma = 0.299 * r + 0.587 * g + 0.114 * b;
                [r, g, b].map(|sample| luma + factor * (sample - luma))
            }),
            Self::Cast(factors) => pixels.map_pixels(|[r, g, b]| {
                let mut light = [r, g, b].map(linear);
                light.iter_mut().zip(factors).for_each(|(light, factor)| *light *= factor);
                light.map(encoded)
            }),
            Self::Haze(share) => pixels.map(|sample| encoded(linear(sample) * (1.0 - share) + share * 0.75)),
        };
        changed.write(8).unwrap()
    }
}

/// The light of an sRGB sample.
fn linear(sample: f32) -> f32 {
    if sample <= 0.040_45 { sample / 12.92 } else { ((sample + 0.055) / 1.055).powf(2.4) }
}

/// The sRGB sample of a light, clipped as a camera clips it.
fn encoded(light: f32) -> f32 {
    let light = light.clamp(0.0, 1.0);
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

/// Writes the images into `target/tmp/question-images`, so that people can look at them.
#[test]
fn the_images_are_written_and_read_back() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("question-images");
    std::fs::create_dir_all(&folder).unwrap();
    let names = names();
    let images = Images::make(&names.iter().map(String::as_str).collect());
    for name in &names {
        let image = &images.get(name).picture.image;
        let path = folder.join(format!("{name}.png"));
        std::fs::write(&path, encode_png(image).unwrap()).unwrap();
        let again = Decoder::default().open(&path).unwrap().image;
        assert_eq!((again.width(), again.height()), (image.width(), image.height()), "{name}");
    }
}

#[test]
fn the_damage_is_where_and_what_the_recipe_says() {
    let gray = Image::from_gray8(64, 32, vec![100; 64 * 32]).unwrap();
    let step: Step = serde_json::from_str(r#"{"light": 1.0, "only": [0, -20, 32, 72]}"#).unwrap();
    let brighter = step.apply(&gray);
    assert_eq!(brighter.gray().at(60, 16), 100.0, "the other half is untouched");
    let bright = brighter.gray().at(16, 16);
    assert!((f32::from(u8::MAX) * linear(bright / 255.0) / linear(100.0 / 255.0) / 255.0 - 2.0).abs() < 0.03);
    let step: Step = serde_json::from_str(r#"{"contrast": 0.0, "outside": [0, -20, 32, 72]}"#).unwrap();
    assert_eq!(step.apply(&gray).gray().at(16, 16), 100.0);
    assert_eq!(step.apply(&gray).gray().at(60, 16), 128.0);
}
