//! Tests Fused-FR on real photos: more damage never scores better, and recorded scores and
//! intervals stay the same.

use std::path::Path;

use agenticiqa_distort::{Kind, distort};
use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Pair, Samples};
use agenticiqa_vision::fused_fr::{Judgment, judge};
use rayon::prelude::*;

/// Tolerated rise of the score with more damage, where an image leaves the range of the training
/// data.
const TOLERATED: f64 = 0.1;

fn open(path: &str) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    Decoder::default().open(path).unwrap().image
}

fn judged(reference: &Image, distorted: &Image) -> Judgment {
    judge(&Pair::new(reference, distorted).unwrap()).unwrap()
}

/// Returns whether each further level of a distortion is clearly worse.
fn is_obvious(kind: Kind) -> bool {
    !matches!(kind, Kind::Denoise | Kind::Darken | Kind::MeanShift | Kind::NonEccentricityPatch | Kind::Desaturation)
}

/// Interpolates between two images.
fn between(from: &Image, to: &Image, share: f64) -> Image {
    let (Samples::Eight(from_planes), Samples::Eight(to_planes)) = (from.samples(), to.samples()) else {
        panic!("8 bits")
    };
    let size = from.width() * from.height();
    let mixed = |i: usize| (f64::from(from_planes[i]) * (1.0 - share) + f64::from(to_planes[i]) * share).round() as u8;
    let pixels = (0..size).flat_map(|i| [mixed(i), mixed(size + i), mixed(2 * size + i)]).collect();
    Image::from_rgb8(from.width(), from.height(), pixels).unwrap()
}

#[test]
fn more_of_the_same_distortion_is_never_better() {
    for name in ["otters", "cityscape"] {
        let photograph = open(&format!("tests/data/{name}.jpg"));
        Kind::ALL.par_iter().for_each(|&kind| {
            let at = |level| judged(&photograph, &distort(&photograph, kind, level, 7).unwrap()).score;
            let scores: Vec<f64> = (1..=5).map(at).collect();
            let allowed = if is_obvious(kind) { 1e-9 } else { TOLERATED };
            assert!(scores.windows(2).all(|pair| pair[1] <= pair[0] + allowed), "{name} {kind}: {scores:.3?}");
            assert!(scores[4] < scores[0], "{name} {kind}: {scores:.3?}");
        });
    }
}

#[test]
fn nearer_to_the_distorted_picture_is_hardly_ever_better() {
    let photograph = open("tests/data/colosseum.jpg");
    [Kind::GaussianBlur, Kind::WhiteNoise, Kind::Jpeg, Kind::Darken, Kind::Oversaturation].par_iter().for_each(
        |&kind| {
            let worst = distort(&photograph, kind, 5, 7).unwrap();
            let at = |step: u32| judged(&photograph, &between(&photograph, &worst, f64::from(step) / 8.0)).score;
            let scores: Vec<f64> = (0..=8).map(at).collect();
            assert_eq!(scores[0], 5.0);
            assert!(scores.windows(2).all(|pair| pair[1] <= pair[0] + TOLERATED), "{kind}: {scores:.3?}");
        },
    );
}

#[test]
fn scores_and_intervals_of_shipped_pictures_are_those_on_record() {
    for (reference, distorted, expected) in [
        ("examples/osprey.jpg", "examples/osprey-compressed.jpg", [2.5484884, 2.8919465, 3.2354046]),
        ("examples/osprey.jpg", "examples/osprey-blurred.jpg", [2.2707643, 2.7650736, 3.2593829]),
        ("iqa_tools/sample/reference.png", "iqa_tools/sample/distorted.jpg", [1.7903226, 2.8682377, 3.9461528]),
        ("tests/data/otters.jpg", "tests/data/otters.jpg", [5.0, 5.0, 5.0]),
    ] {
        let Judgment { low, score, high, .. } = judged(&open(reference), &open(distorted));
        let found = [low, score, high];
        let same = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4);
        assert!(same, "{distorted}: {found:?}");
    }
}

#[test]
fn pictures_of_any_size_and_kind_get_a_finite_score_or_a_reason() {
    let texture = |width: usize, height: usize, step: usize| {
        Image::from_gray8(width, height, (0..width * height).map(|i| (i * i / step % 251) as u8).collect()).unwrap()
    };
    for (width, height) in [(16, 16), (17, 900), (1200, 18), (64, 48), (1600, 1100)] {
        let (reference, distorted) = (texture(width, height, 97), texture(width, height, 89));
        let Judgment { low, score, high, .. } = judged(&reference, &distorted);
        assert!(1.0 <= low && low <= score && score <= high && high <= 5.0, "{width}x{height}");
    }
    let flat = |level: u8| Image::from_gray8(64, 64, vec![level; 4096]).unwrap();
    let judgment = judged(&flat(20), &flat(200));
    assert!(judgment.score < 5.0 && judgment.high - judgment.low > 1.0, "{judgment:?}");
    let error = judge(&Pair::new(&texture(9, 9, 97), &texture(9, 9, 89)).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("Fused-FR needs") && error.contains("at least"), "{error}");
}
