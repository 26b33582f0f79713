//! Tests detection on clean and on distorted photos. None of them was used to fit the model.

use std::path::Path;

use agenticiqa_distort::{Kind, distort};
use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Region};
use agenticiqa_vision::perception::{Error, Examination, examine};
use agenticiqa_vision::vocabulary::{Distortion, Severity};

/// The decoded test photos.
fn photographs() -> Vec<(&'static str, Image)> {
    ["otters", "colosseum", "cityscape", "astronaut"].map(|name| (name, photograph(name))).into()
}

fn photograph(name: &str) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/data/{name}.jpg"));
    Decoder::default().open(path).unwrap().image
}

fn found(examination: &Examination, category: Distortion) -> bool {
    examination.finding(category).severity >= Severity::Slight
}

/// Common kinds of distortion and the category of each.
const KINDS: [(Kind, Distortion); 13] = [
    (Kind::GaussianBlur, Distortion::Blurs),
    (Kind::LensBlur, Distortion::Blurs),
    (Kind::MotionBlur, Distortion::Blurs),
    (Kind::WhiteNoise, Distortion::Noise),
    (Kind::ImpulseNoise, Distortion::Noise),
    (Kind::Jpeg, Distortion::Compression),
    (Kind::Jpeg2000, Distortion::Compression),
    (Kind::Darken, Distortion::Brightness),
    (Kind::Brighten, Distortion::Brightness),
    (Kind::ContrastChange, Distortion::Contrast),
    (Kind::Desaturation, Distortion::Color),
    (Kind::Oversaturation, Distortion::Color),
    (Kind::HighSharpen, Distortion::Sharpness),
];

#[test]
fn strong_distortions_are_found_against_the_reference() {
    for ((name, photograph), level) in photographs().into_iter().zip([4, 5, 4, 5]) {
        for (kind, category) in KINDS.into_iter().chain([(Kind::ColorShift, Distortion::Color)]) {
            let distorted = distort(&photograph, kind, level, 11).unwrap();
            let examination = examine(&distorted, Some(&photograph)).unwrap();
            assert!(found(&examination, category), "{name}, {kind} at level {level}: {examination:#?}");
        }
    }
}

#[test]
fn blur_noise_compression_and_halos_are_found_without_a_reference() {
    let claimed = [Distortion::Blurs, Distortion::Noise, Distortion::Compression, Distortion::Sharpness];
    for (name, photograph) in photographs() {
        for (kind, category) in KINDS.into_iter().filter(|(_, category)| claimed.contains(category)) {
            let distorted = distort(&photograph, kind, 5, 11).unwrap();
            let examination = examine(&distorted, None).unwrap();
            assert!(found(&examination, category), "{name}, {kind}: {examination:#?}");
        }
    }
}

#[test]
fn clean_photographs_are_reported_clean() {
    for (name, photograph) in photographs() {
        let alone = examine(&photograph, None).unwrap();
        let beside_itself = examine(&photograph, Some(&photograph)).unwrap();
        assert_eq!(beside_itself.detected(), Vec::<&_>::new(), "{name}");
        if ["otters", "astronaut"].contains(&name) {
            assert_eq!(alone.detected(), Vec::<&_>::new(), "{name}");
            assert!(alone.findings.iter().all(|finding| finding.kind.is_none()));
        } else {
            // These are wallpapers with edited tones, which may be detected; nothing else may.
            let tones = [Distortion::Brightness, Distortion::Contrast];
            assert!(alone.detected().iter().all(|finding| tones.contains(&finding.category)), "{name}: {alone:#?}");
            assert!(alone.findings.iter().all(|finding| finding.severity <= Severity::Moderate), "{name}: {alone:#?}");
        }
    }
}

#[test]
fn severity_rises_with_the_level() {
    for (name, photograph) in photographs().into_iter().take(2) {
        for (kind, category) in KINDS {
            let level = |level: u8| {
                let distorted = distort(&photograph, kind, level, 5).unwrap();
                examine(&distorted, Some(&photograph)).unwrap().finding(category).level
            };
            let (weak, strong) = (level(1), level(5));
            assert!(strong > weak + 0.5, "{name}, {kind}: {weak} at level 1, {strong} at level 5");
        }
    }
}

#[test]
fn a_finding_says_which_kind_it_is_and_by_which_numbers() {
    let otters = photograph("otters");
    let noisy = examine(&distort(&otters, Kind::WhiteNoise, 5, 1).unwrap(), None).unwrap();
    let noise = noisy.finding(Distortion::Noise);
    assert!(
        noise.explanation.starts_with("noise of ")
            && noise.explanation.contains("gray levels (clean photos stay below")
    );
    let sigma = noise.measurements.iter().find(|measured| measured.name == "noise").unwrap();
    // A variance of 0.01 per channel is a sigma of 25.5 per channel and of 17 in luma.
    assert!((14.0..20.0).contains(&sigma.value) && sigma.unit == "gray levels", "{sigma:?}");

    let dark = examine(&distort(&otters, Kind::Darken, 5, 1).unwrap(), Some(&otters)).unwrap();
    assert_eq!(dark.finding(Distortion::Brightness).kind, Some("too dark"));
    let bright = examine(&distort(&otters, Kind::Brighten, 5, 1).unwrap(), Some(&otters)).unwrap();
    assert_eq!(bright.finding(Distortion::Brightness).kind, Some("too bright"));
    let blocks = examine(&distort(&otters, Kind::Jpeg, 4, 1).unwrap(), None).unwrap();
    assert_eq!(blocks.finding(Distortion::Compression).kind, Some("JPEG blocks"));
    let speckled = examine(&distort(&otters, Kind::ImpulseNoise, 5, 1).unwrap(), None).unwrap();
    assert_eq!(speckled.finding(Distortion::Noise).kind, Some("impulse noise"));
    let moved = examine(&distort(&otters, Kind::MotionBlur, 5, 1).unwrap(), None).unwrap();
    assert_eq!(moved.finding(Distortion::Blurs).kind, Some("motion blur"));
}

#[test]
fn the_same_picture_gives_the_same_findings_whatever_the_threads() {
    let photograph = distort(&photograph("cityscape"), Kind::Jpeg2000, 3, 1).unwrap();
    let one = examine(&photograph, None).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| examine(&photograph, None).unwrap()), one);
}

#[test]
fn odd_pictures_give_finite_findings_or_a_clear_error() {
    let crop = photograph("otters").crop(&Region { x: 60, y: 60, width: 32, height: 33 }).unwrap();
    let flat = Image::from_gray8(64, 40, vec![128; 2560]).unwrap();
    let black = Image::from_rgb8(50, 50, vec![0; 7500]).unwrap();
    let deep = Image::from_gray16(70, 35, (0..2450).map(|i| (i * 26) as u16).collect()).unwrap();
    for image in [&crop, &flat, &black, &deep] {
        for reference in [None, Some(image)] {
            let examination = examine(image, reference).unwrap();
            assert_eq!(examination.findings.len(), 7);
            for finding in &examination.findings {
                assert!((0.0..=4.0).contains(&finding.level), "{finding:?}");
                assert!(finding.measurements.iter().all(|measured| measured.value.is_finite()), "{finding:?}");
            }
        }
    }
    let tiny = Image::from_gray8(31, 400, vec![1; 12_400]).unwrap();
    let error = examine(&tiny, None).unwrap_err();
    assert!(matches!(error, Error::TooSmall { .. }));
    assert_eq!(error.to_string(), "an image of 31x400 is too small to be examined: at least 32x32 pixels are needed");
    assert!(matches!(examine(&flat, Some(&black)), Err(Error::Reference(_))));
}
