//! Images and values for the tests of all metrics.
//!
//! The authors' values are known for five pairs of TID2013. Its images may not be distributed with
//! the project: `scripts/fetch-test-data` downloads them to `test-data/calibration`. Without them
//! the tests fail and print this hint.

use std::path::{Path, PathBuf};

pub use agenticiqa_pixels::testing::*;

use crate::{Image, Kind, Metric, Pair, Region};

/// The five pairs for which the authors' values are known.
pub const PAIRS: [&str; 5] = ["I03", "I04", "I06", "I08", "I19"];

/// The folder of test data: `AGENTICIQA_TEST_DATA`, or `test-data` at the root of the repository.
pub fn data_dir() -> PathBuf {
    std::env::var_os("AGENTICIQA_TEST_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data"), PathBuf::from)
}

/// Loads the reference and the distorted image of one of [`PAIRS`].
pub fn calibration_pair(name: &str) -> (Image, Image) {
    let load = |folder: &str| {
        let path = data_dir().join("calibration").join(folder).join(format!("{name}.bmp"));
        let bytes = std::fs::read(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; run scripts/fetch-test-data first", path.display()));
        read_bmp(&bytes)
    };
    (load("ref_dir"), load("dist_dir"))
}

/// Asserts the authors' values of the five pairs, each with its own tolerance.
pub fn assert_official(metric: &dyn Metric, expected: [f64; 5], tolerance: [f64; 5]) {
    for ((name, expected), tolerance) in PAIRS.iter().zip(expected).zip(tolerance) {
        let (reference, distorted) = calibration_pair(name);
        let pair = match metric.info().kind {
            Kind::FullReference => Pair::new(&reference, &distorted).unwrap(),
            Kind::NoReference => Pair::single(&distorted),
        };
        let score = metric.measure(&pair).unwrap().score;
        let metric = metric.info().name;
        assert!((score - expected).abs() <= tolerance, "{metric} of {name}: {score}, the authors have {expected}");
    }
}

/// Asserts the values of three crops of each of the five pairs. Most crops have odd sizes.
pub fn assert_values_of_crops(metric: &dyn Metric, expected: [[f64; 3]; 5], tolerance: f64) {
    for (name, expected) in PAIRS.iter().zip(expected) {
        let (reference, distorted) = calibration_pair(name);
        let regions = [[3, 5, 101, 67], [0, 0, 385, 384], [7, 1, 383, 200]];
        for ([x, y, width, height], expected) in regions.into_iter().zip(expected) {
            let region = Region { x, y, width, height };
            let (reference, distorted) = (reference.crop(&region).unwrap(), distorted.crop(&region).unwrap());
            let score = metric.measure(&Pair::new(&reference, &distorted).unwrap()).unwrap().score;
            let metric = metric.info().name;
            assert!((score - expected).abs() < tolerance, "{metric} of {name} {region}: {score} instead of {expected}");
        }
    }
}

/// Reads a BMP file as used by the pairs: 24 bits, bottom-up, uncompressed.
fn read_bmp(bytes: &[u8]) -> Image {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (offset, width, height) = (word(10), word(18), word(22));
    let stride = (width * 3).next_multiple_of(4);
    let rows = (0..height).rev().map(|y| &bytes[offset + y * stride..][..width * 3]);
    let rgb = rows.flat_map(|row| row.chunks_exact(3).flat_map(|bgr| [bgr[2], bgr[1], bgr[0]])).collect();
    Image::from_rgb8(width, height, rgb).unwrap()
}
