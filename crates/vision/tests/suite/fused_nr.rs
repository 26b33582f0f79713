//! Tests Fused-NR on the shipped images: recorded scores, their order under damage, and images
//! that are not photos.

use std::path::Path;

use agenticiqa_distort::{Kind, LEVELS, distort};
use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Image;
use agenticiqa_vision::fused_nr::{self, Judgment, Model};

fn shipped(name: &str) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name);
    Decoder::default().open(path).unwrap().image
}

fn judge(image: &Image) -> Judgment {
    let judgment = fused_nr::judge(image).unwrap();
    let Judgment { score, low, high, .. } = judgment;
    assert!((1.0..=5.0).contains(&low) && low <= score && score <= high && high <= 5.0, "{judgment:?}");
    judgment
}

#[test]
fn more_of_the_same_damage_is_worse() {
    for name in ["otters.jpg", "cityscape.jpg"] {
        let photo = shipped(name);
        let photo = photo.shrunk(photo.width().max(photo.height()).div_ceil(512));
        for kind in [Kind::WhiteNoise, Kind::GaussianBlur, Kind::Jpeg, Kind::Jpeg2000] {
            let scores: Vec<f64> =
                (1..=LEVELS).map(|level| judge(&distort(&photo, kind, level, 1).unwrap()).score).collect();
            assert!(scores.windows(2).filter(|pair| pair[1] < pair[0]).count() >= 3, "{name} {kind:?}: {scores:?}");
            assert!(scores[0] - scores[4] > 0.5, "{name} {kind:?}: {scores:?}");
        }
    }
}

#[test]
fn the_score_does_not_depend_on_threads() {
    let photo = shipped("colosseum.jpg");
    let with = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| judge(&photo).score)
    };
    assert!((with(1) - with(3)).abs() < 1e-9);
}

#[test]
fn pictures_that_are_no_photos_get_a_finite_score_and_a_wide_interval() {
    let photo = judge(&shipped("colosseum.jpg"));
    let gray = |width: usize, height: usize, level: &dyn Fn(usize, usize) -> u8| {
        let samples = (0..width * height).map(|i| level(i % width, i / width)).collect();
        Image::from_gray8(width, height, samples).unwrap()
    };
    let flat = gray(300, 200, &|_, _| 128);
    let black = gray(64, 64, &|_, _| 0);
    let letters = gray(400, 300, &|x, y| if (y / 9) % 2 == 0 && (x * 7 + y / 9 * 13) % 11 < 4 { 0 } else { 255 });
    let strip = gray(40, 4000, &|x, y| (x * 3 + y) as u8);
    let static_noise = gray(256, 256, &|x, y| (x * 7919 + y * 104_729 + x * y * 31) as u8);
    for (name, image) in
        [("flat", flat), ("black", black), ("letters", letters), ("strip", strip), ("static", static_noise)]
    {
        let judgment = judge(&image);
        assert!(judgment.unusual > photo.unusual, "{name}: {judgment:?} {photo:?}");
        assert!(judgment.high - judgment.low > 1.0, "{name}: {judgment:?}");
    }
}

#[test]
fn sixteen_bits_and_eight_are_judged_alike() {
    let samples: Vec<u8> = (0..200 * 150 * 3).map(|i| (i / 3 % 200 + i / 900) as u8).collect();
    let eight = Image::from_rgb8(200, 150, samples.clone()).unwrap();
    let sixteen = Image::from_rgb16(200, 150, samples.iter().map(|sample| u16::from(*sample) * 257).collect()).unwrap();
    assert!((judge(&eight).score - judge(&sixteen).score).abs() < 0.02);
}

#[test]
fn a_damaged_model_is_refused() {
    let mut bytes = include_bytes!("../../models/fused-nr.bin").to_vec();
    assert_eq!(Model::open(&bytes).as_ref(), Ok(fused_nr::builtin().unwrap()));
    bytes[5000] ^= 1;
    assert!(Model::open(&bytes).unwrap_err().to_string().contains("checksum"));
    assert!(Model::open(&bytes[..20]).is_err());
}

/// The outputs of all heads on the shipped images are those of Torch, which trained the model
/// (`scripts/training/export.py`).
#[test]
fn outputs_are_those_of_torch() {
    #[derive(serde::Deserialize)]
    struct Torch {
        images: Vec<String>,
        outputs: Vec<Vec<f32>>,
    }
    let torch: Torch = serde_json::from_str(include_str!("../data/fused-nr-torch.json")).unwrap();
    assert!(torch.images.len() >= 3);
    for (name, expected) in torch.images.iter().zip(&torch.outputs) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let reading = fused_nr::read(&Decoder::default().open(path).unwrap().image).unwrap();
        assert_eq!(reading.outputs().len(), expected.len());
        for (place, (ours, theirs)) in reading.outputs().iter().zip(expected).enumerate() {
            assert!((ours - theirs).abs() < 0.15, "{name}, output {place}: {ours} {theirs}");
        }
    }
}

#[test]
fn scores_and_intervals_of_shipped_pictures_are_those_on_record() {
    let record = [
        ("astronaut.jpg", 4.0817, 3.3504, 4.8131),
        ("cityscape.jpg", 4.4987, 3.6583, 5.0000),
        ("colosseum.jpg", 4.0669, 3.3355, 4.7982),
        ("otters.jpg", 4.2798, 3.5485, 5.0000),
    ];
    for (name, score, low, high) in record {
        let judgment = judge(&shipped(name));
        let differs = |ours: f64, recorded: f64| (ours - recorded).abs() > 2e-4;
        assert!(
            !differs(judgment.score, score) && !differs(judgment.low, low) && !differs(judgment.high, high),
            "{name}: {judgment:?}"
        );
    }
}
