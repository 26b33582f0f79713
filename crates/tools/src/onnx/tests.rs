//! Tests tools that are defined only by an entry of the tool list, with generated graphs.

#[path = "../../../onnx/tests/graphs/mod.rs"]
mod graphs;

use std::path::Path;

use agenticiqa_metrics::{Image, Pair};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Error, Failure, Registry, Tool, ToolInput, ToolResources, ToolRun};

/// A folder of models, and an entry called `X`.
struct Shop {
    folder: TempDir,
    registry: Registry,
}

impl Shop {
    fn new(kind: &str, section: Value, files: &[(&str, Vec<u8>)]) -> Self {
        Self::open(kind, section, files).unwrap()
    }

    fn open(kind: &str, section: Value, files: &[(&str, Vec<u8>)]) -> Result<Self, Error> {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let entry = json!({"X": {"type": kind, "backend": "onnx", "strengths": ["Blurs"], "onnx": section}});
        let resources = ToolResources { models: Some(folder.path().to_owned()), ..ToolResources::default() };
        Ok(Self { registry: Registry::new(&entry.to_string(), &resources)?, folder })
    }

    fn tool(&self) -> &Tool {
        self.registry.get("X").unwrap()
    }

    fn single(&self, image: &Image) -> ToolRun {
        self.tool().run(&ToolInput::new(Pair::single(image)))
    }

    fn score(&self, image: &Image) -> f64 {
        let run = self.single(image);
        run.raw_score.unwrap_or_else(|| panic!("{:?}", run.error))
    }

    fn compare(&self, reference: &Image, distorted: &Image) -> ToolRun {
        self.tool().run(&ToolInput::new(Pair::new(reference, distorted).unwrap()))
    }

    fn failure(&self, image: &Image) -> Failure {
        self.single(image).error.unwrap()
    }
}

fn mean_tool(section: Value) -> Shop {
    let mut whole = json!({"model": "mean.onnx"});
    whole.as_object_mut().unwrap().extend(section.as_object().unwrap().clone());
    Shop::new("NR", whole, &[("mean.onnx", graphs::mean(1.0))])
}

fn photo(width: usize, height: usize, seed: usize) -> Image {
    let sample = |index: usize| ((index * 31 + index / 7 * seed + index * index % 251) % 256) as u8;
    Image::from_rgb8(width, height, (0..width * height * 3).map(sample).collect()).unwrap()
}

fn close(score: f64, expected: f64) {
    assert!((score - expected).abs() < 1e-5 * expected.abs().max(1.0), "{score} is not {expected}");
}

#[test]
fn range_mean_and_deviation_bring_pixels_to_the_networks_scale() {
    let image = Image::from_rgb8(2, 1, vec![255, 51, 0, 255, 102, 0]).unwrap();
    close(mean_tool(json!({})).score(&image), (1.0 + 0.3) / 3.0);
    close(mean_tool(json!({"range": [-1, 1]})).score(&image), (1.0 - 0.4 - 1.0) / 3.0);
    close(mean_tool(json!({"range": [0, 255]})).score(&image), (255.0 + 76.5) / 3.0);
    let section = json!({"mean": [0.5, 0.1, 0], "std": [0.5, 0.2, 0.25]});
    close(mean_tool(section).score(&image), (1.0 + 1.0 + 0.0) / 3.0);
    let swapped = json!({"mean": [0.5, 0.1, 0], "std": [0.5, 0.2, 0.25], "color": "bgr"});
    close(mean_tool(swapped).score(&image), (-1.0 + 1.0 + 4.0) / 3.0);
}

#[test]
fn gray_and_deep_pictures_are_on_the_same_scale() {
    let tool = mean_tool(json!({}));
    close(tool.score(&Image::from_gray8(2, 2, vec![0, 51, 102, 255]).unwrap()), 0.4);
    close(tool.score(&Image::from_gray16(2, 1, vec![0, 65535]).unwrap()), 0.5);
    close(tool.score(&Image::from_rgb16(1, 1, vec![32768, 0, 0]).unwrap()), 32768.0 / 65535.0 / 3.0);
}

#[test]
fn sizes_follow_the_rule() {
    // Left half black, right half white, and a white line at the right edge of the black half.
    let image = Image::from_gray8(8, 4, [0, 0, 0, 255, 255, 255, 255, 255].repeat(4)).unwrap();
    close(mean_tool(json!({"size": "native"})).score(&image), 5.0 / 8.0);
    close(mean_tool(json!({"size": {"crop": [4, 2]}})).score(&image), 3.0 / 4.0);
    close(mean_tool(json!({"size": {"resize": [4, 4], "filter": "nearest"}})).score(&image), 3.0 / 4.0);
    close(mean_tool(json!({"size": {"shorter_side": 2, "filter": "nearest", "crop": [2, 2]}})).score(&image), 1.0);
    let failure = mean_tool(json!({"size": {"crop": [9, 4]}})).failure(&image);
    assert_eq!(failure, Failure::Input("X needs at least 9x4 pixels, this image has 8x4".to_owned()));
    let failure = mean_tool(json!({"min_side": 5})).failure(&image);
    assert_eq!(failure, Failure::Input("X needs at least 5x5 pixels, this image has 8x4".to_owned()));
    let failure = mean_tool(json!({"max_pixels": 31})).failure(&image);
    assert_eq!(failure, Failure::Input("X takes at most 31 pixels, this image has 8x4".to_owned()));
}

#[test]
fn ratings_are_weighed_by_their_probabilities() {
    let section = json!({"model": "ratings.onnx", "output": {"reduce": "expected_rating"}});
    let tool = Shop::new("NR", section, &[("ratings.onnx", graphs::ratings())]);
    let weights: Vec<f64> = (0..5).map(|rating| (f64::from(rating) * 0.5 * 3.0 * 0.2).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let expected = weights.iter().zip(1..).map(|(weight, rating)| weight / sum * f64::from(rating)).sum();
    close(tool.score(&Image::from_gray8(1, 1, vec![51]).unwrap()), expected);
    let section = json!({"model": "mean.onnx", "output": {"reduce": "expected_rating"}});
    let tool = Shop::new("NR", section, &[("mean.onnx", graphs::mean(1.0))]);
    let failure = tool.failure(&Image::from_gray8(1, 1, vec![51]).unwrap());
    assert!(matches!(&failure, Failure::Tool(reason) if reason.contains("no probabilities")), "{failure:?}");
}

fn tiled(size: usize) -> Shop {
    let tiles = json!({"size": size, "halo": 4, "align": 2});
    let section = json!({"model": "tile.onnx", "head": "head.onnx", "tiles": tiles, "output": {"name": "score"}});
    Shop::new("FR", section, &[("tile.onnx", graphs::tile()), ("head.onnx", graphs::head())])
}

#[test]
fn tiles_give_what_the_whole_picture_gives() {
    let (whole, cut) = (tiled(1024), tiled(16));
    for (width, height) in [(64, 48), (37, 53), (16, 16), (17, 90), (3, 3), (70, 5)] {
        let (reference, distorted) = (photo(width, height, 3), photo(width, height, 11));
        let score = |shop: &Shop| shop.compare(&reference, &distorted).raw_score.unwrap();
        assert!(score(&whole) > 0.0);
        close(score(&cut), score(&whole));
    }
}

#[test]
fn a_halo_that_is_too_small_shows_so_that_the_test_above_can_fail() {
    let tiles = json!({"size": 16, "halo": 0, "align": 2});
    let section = json!({"model": "tile.onnx", "head": "head.onnx", "tiles": tiles});
    let shop = Shop::new("FR", section, &[("tile.onnx", graphs::tile()), ("head.onnx", graphs::head())]);
    let (reference, distorted) = (photo(64, 48, 3), photo(64, 48, 11));
    let score = |shop: &Shop| shop.compare(&reference, &distorted).raw_score.unwrap();
    assert!((score(&shop) - score(&tiled(16))).abs() > 1e-3);
}

#[test]
fn a_tool_that_compares_needs_a_reference_and_can_take_both_as_a_batch() {
    let failure = tiled(64).failure(&photo(8, 8, 1));
    assert_eq!(failure, Failure::Input("X compares with a reference image, and there is none".to_owned()));
    let nodes = [
        graphs::node("ReduceMean", &["images"], "means", &[("axes", &[1, 2, 3]), ("keepdims", &[0])]),
        graphs::node("Gather", &["means", "first"], "left", &[]),
        graphs::node("Gather", &["means", "second"], "right", &[]),
        graphs::node("Sub", &["left", "right"], "score", &[]),
    ];
    let weights = [graphs::integers("first", &[0]), graphs::integers("second", &[1])];
    let input = [graphs::port("images", graphs::FLOAT, &[2, 3, graphs::FREE, graphs::FREE])];
    let graph = graphs::model(&nodes, &weights, &input, &[graphs::port("score", graphs::FLOAT, &[1])]);
    let section = json!({"model": "pair.onnx", "inputs": {"pair": "images"}});
    let shop = Shop::new("FR", section, &[("pair.onnx", graph)]);
    let gray = |value: u8| Image::from_gray8(2, 2, vec![value; 4]).unwrap();
    close(shop.compare(&gray(153), &gray(51)).raw_score.unwrap(), 0.4);
}

#[test]
fn channels_stand_together_where_the_layout_says_so() {
    let nodes = [graphs::node("ReduceMean", &["image"], "score", &[("axes", &[1, 2]), ("keepdims", &[0])])];
    let input = [graphs::port("image", graphs::FLOAT, &[1, graphs::FREE, graphs::FREE, 3])];
    let graph = graphs::model(&nodes, &[], &input, &[graphs::port("score", graphs::FLOAT, &[1, 3])]);
    let section = json!({"model": "x.onnx", "layout": "nhwc", "mean": [0, 1, 0], "output": {"reduce": "mean"}});
    let shop = Shop::new("NR", section, &[("x.onnx", graph)]);
    close(shop.score(&Image::from_rgb8(2, 1, vec![255, 51, 0, 255, 102, 0]).unwrap()), (1.0 + 0.3 - 1.0) / 3.0);
}

#[test]
fn a_missing_file_is_a_state_and_a_broken_one_an_error_of_the_tool() {
    let shop = Shop::new("NR", json!({"model": "gone.onnx"}), &[]);
    let reason = shop.tool().availability().reason().unwrap().to_owned();
    assert!(reason.contains("gone.onnx") && reason.contains("does not exist"), "{reason}");
    assert!(!shop.registry.is_tool_available("X"));
    let broken = Shop::new("NR", json!({"model": "x.onnx"}), &[("x.onnx", graphs::mean(1.0)[..90].to_vec())]);
    assert!(broken.registry.is_tool_available("X"));
    let failure = broken.failure(&photo(4, 4, 1));
    assert!(
        matches!(&failure, Failure::Tool(reason) if reason.ends_with("it is damaged or not an ONNX file")),
        "{failure:?}"
    );
    // Once the file is repaired, the tool works without a restart.
    std::fs::write(broken.folder.path().join("x.onnx"), graphs::mean(1.0)).unwrap();
    assert!(broken.single(&photo(4, 4, 1)).raw_score.is_some());
}

#[test]
fn graphs_with_other_inputs_and_outputs_than_the_entry_says_are_named() {
    let reason = |section: Value, file: Vec<u8>| {
        let shop = Shop::new("NR", section, &[("x.onnx", file)]);
        shop.failure(&photo(4, 4, 1)).message().rsplit("x.onnx: ").next().unwrap().to_owned()
    };
    assert_eq!(
        reason(json!({"model": "x.onnx", "inputs": {"image": "picture"}}), graphs::mean(1.0)),
        "it has no input \"picture\", but image: float32 [1, 3, n, n]"
    );
    assert_eq!(
        reason(json!({"model": "x.onnx", "output": {"name": "quality"}}), graphs::mean(1.0)),
        "it has no output \"quality\", but score: float32 [1, 1]"
    );
    assert_eq!(
        reason(json!({"model": "x.onnx", "color": "luma"}), graphs::mean(1.0)),
        "its input image: float32 [1, 3, n, n] is given a tensor of shape [1, 1, 4, 4]"
    );
    assert_eq!(
        reason(json!({"model": "x.onnx"}), graphs::ratings()),
        "the graph returned 5 numbers of shape [1, 5], not one"
    );
    let section = json!({"model": "x.onnx", "inputs": {"image": "reference"}});
    assert_eq!(reason(section, graphs::tile()), "it also needs the input distorted: float32 [1, 3, n, n]");
}

#[test]
fn entries_that_make_no_sense_are_refused_by_name() {
    for (kind, section, part) in [
        ("NR", json!({}), "missing field `model`"),
        ("NR", json!({"model": "x", "colors": "rgb"}), "unknown field `colors`"),
        ("NR", json!({"model": "x", "head": "y"}), "X: onnx.tiles and onnx.head need each other"),
        ("NR", json!({"model": "x", "inputs": {"pair": "y"}}), "X: onnx.inputs do not suit the tool's type"),
        ("FR", json!({"model": "x", "inputs": {"image": "y"}}), "X: onnx.inputs do not suit the tool's type"),
        ("NR", json!({"model": "x", "range": [1, 0]}), "X: onnx.range"),
        ("NR", json!({"model": "x", "mean": [1, 2]}), "X: onnx.mean"),
        ("NR", json!({"model": "x", "std": [0]}), "X: onnx.std"),
        ("NR", json!({"model": "x", "size": {"resize": [0, 1]}}), "X: onnx.size"),
        ("NR", json!({"model": "x", "head": "y", "tiles": {"size": 9, "halo": 4, "align": 2}}), "X: onnx.tiles: size"),
    ] {
        let error = Shop::open(kind, section.clone(), &[]).err().unwrap().to_string();
        assert!(error.contains(part), "{section}: {error}");
    }
}

#[test]
fn the_fingerprint_is_that_of_the_files_and_of_their_use() {
    let print = |section: Value, factor: f32| {
        let shop = Shop::new("NR", section, &[("mean.onnx", graphs::mean(factor))]);
        shop.tool().fingerprint()
    };
    let plain = json!({"model": "mean.onnx"});
    assert_eq!(print(plain.clone(), 1.0), print(plain.clone(), 1.0));
    assert_eq!(print(plain.clone(), 1.0).len(), 64);
    assert_ne!(print(plain.clone(), 1.0), print(plain, 2.0));
    assert_ne!(print(json!({"model": "mean.onnx"}), 1.0), print(json!({"model": "mean.onnx", "range": [0, 2]}), 1.0));
}

#[test]
fn a_tool_works_by_threads_of_one_pool_at_once_and_loads_its_file_once() {
    use rayon::prelude::*;
    let shop = tiled(16);
    let (reference, distorted) = (photo(64, 48, 3), photo(64, 48, 11));
    let scores: Vec<f64> =
        (0..16).into_par_iter().map(|_| shop.compare(&reference, &distorted).raw_score.unwrap()).collect();
    assert!(scores.iter().all(|score| *score == scores[0]));
    // The loaded file is no longer needed.
    std::fs::remove_file(shop.folder.path().join("tile.onnx")).unwrap();
    assert_eq!(shop.compare(&reference, &distorted).raw_score, Some(scores[0]));
}

#[test]
fn a_users_tool_is_found_beside_the_tool_list_and_by_its_whole_path() {
    let (own, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(own.path().join("mine.onnx"), graphs::mean(2.0)).unwrap();
    std::fs::write(models.path().join("mine.onnx"), graphs::mean(3.0)).unwrap();
    std::fs::write(models.path().join("theirs.onnx"), graphs::mean(4.0)).unwrap();
    let folder = |folder: &TempDir| Some(folder.path().to_owned());
    let resources = ToolResources { models: folder(&models), own: folder(&own), ..ToolResources::default() };
    let score = |file: &Path| {
        let entry = json!({"Mine": {"type": "NR", "backend": "onnx", "strengths": [], "onnx": {"model": file}}});
        let registry = Registry::new(&entry.to_string(), &resources).unwrap();
        let white = Image::from_gray8(1, 1, vec![255]).unwrap();
        registry.get("mine").unwrap().run(&ToolInput::new(Pair::single(&white))).raw_score
    };
    assert_eq!(score(Path::new("mine.onnx")), Some(2.0));
    assert_eq!(score(Path::new("theirs.onnx")), Some(4.0));
    assert_eq!(score(&models.path().join("mine.onnx")), Some(3.0));
}
