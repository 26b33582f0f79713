//! Edits mend what they are meant to mend, and say so when they cannot.

use agenticiqa_distort::{Kind, distort};
use agenticiqa_metrics::{Image, Psnr, Samples};
use agenticiqa_vision::analysis::examine;
use agenticiqa_vision::repair::{Edit, Effort, Operation, Refusal, mended, what_if};
use agenticiqa_vision::vocabulary::{Distortion, Problem, Severity};

use crate::photo;

/// One problem of each category, in their order.
const KINDS: [Problem; 7] = [
    Problem::Blur,
    Problem::ColorCast,
    Problem::Compression,
    Problem::Noise,
    Problem::Underexposure,
    Problem::Oversharpening,
    Problem::LowContrast,
];

fn edit(operation: Operation, amount: f64) -> Edit {
    Edit { operation, amount }
}

/// Decibels between an image and the clean one.
fn distance(clean: &Image, image: &Image) -> f64 {
    Psnr.score(clean, image).unwrap()
}

#[test]
fn each_edit_brings_a_damaged_photo_closer_to_the_clean_one() {
    let clean = photo("osprey.jpg");
    let darker = edit(Operation::Exposure, -1.0).apply(&clean).unwrap();
    let warmer = Image::from_planar_rgb(clean.width(), clean.height(), {
        let Samples::Eight(samples) = clean.samples() else { panic!("eight bits") };
        let plane = clean.width() * clean.height();
        let scaled = |(place, sample): (usize, &u8)| match place / plane {
            0 => sample.saturating_add(sample / 5),
            2 => sample - sample / 4,
            _ => *sample,
        };
        Samples::Eight(samples.iter().enumerate().map(scaled).collect())
    })
    .unwrap();
    let cases = [
        (darker, edit(Operation::Exposure, 1.0)),
        (distort(&clean, Kind::WhiteNoise, 4, 1).unwrap(), edit(Operation::Denoise, 12.0)),
        (distort(&clean, Kind::Jpeg, 4, 1).unwrap(), edit(Operation::Deblock, 0.5)),
        (edit(Operation::Saturation, 0.5).apply(&clean).unwrap(), edit(Operation::Saturation, 2.0)),
        (distort(&clean, Kind::HighSharpen, 3, 1).unwrap(), edit(Operation::Soften, 0.7)),
        (edit(Operation::Soften, 1.0).apply(&clean).unwrap(), edit(Operation::Sharpen, 0.7)),
        (warmer, edit(Operation::WhiteBalance, 0.7)),
    ];
    for (damaged, edit) in cases {
        let (before, after) = (distance(&clean, &damaged), distance(&clean, &edit.apply(&damaged).unwrap()));
        assert!(after > before, "{edit:?}: {before:.2} dB, then {after:.2}");
    }
}

#[test]
fn edits_keep_size_and_depth_and_never_leave_the_range() {
    let gray = Image::from_gray16(40, 33, (0..40 * 33).map(|place| (place * 49) as u16).collect()).unwrap();
    let flat = Image::from_rgb8(32, 32, vec![0; 32 * 32 * 3]).unwrap();
    for (operation, amount) in [
        (Operation::Deblock, 1.0),
        (Operation::Denoise, 30.0),
        (Operation::WhiteBalance, 1.0),
        (Operation::Exposure, 2.0),
        (Operation::Exposure, -2.0),
        (Operation::Shadows, 1.0),
        (Operation::Contrast, 1.0),
        (Operation::Saturation, 3.0),
        (Operation::Sharpen, 3.0),
        (Operation::Soften, 2.0),
    ] {
        for image in [&gray, &flat] {
            let edited = edit(operation, amount).apply(image).unwrap();
            let shape = |image: &Image| (image.width(), image.height(), image.bit_depth());
            assert_eq!(shape(&edited), shape(image), "{operation:?}");
        }
    }
}

#[test]
fn a_dark_photo_gains_by_exposure_and_the_combination_is_no_worse() {
    let dark = edit(Operation::Exposure, -2.6).apply(&photo("osprey.jpg")).unwrap();
    let examination = examine(&dark, None).unwrap();
    let tried = what_if(&dark, &examination, Effort::Full).unwrap();
    let exposure = tried.tried.iter().find(|tried| tried.problem == Problem::Underexposure).expect("exposure is tried");
    assert!(exposure.amount > 0.5 && exposure.gain() > 0.1 && !exposure.doubtful, "{exposure:?}");
    let [low, high] = exposure.gain_interval;
    assert!(low < exposure.gain() && exposure.gain() < high);
    let (fixed, edits, score) = mended(&dark, &tried).unwrap().expect("an edit helps");
    assert!(!edits.is_empty() && score >= exposure.before, "{edits:?} {score}");
    assert_eq!((fixed.width(), fixed.height()), (dark.width(), dark.height()));
}

#[test]
fn nothing_is_tried_on_a_good_photo_and_on_what_is_no_photo() {
    let clean = photo("osprey.jpg");
    let tried = what_if(&clean, &examine(&clean, None).unwrap(), Effort::Full).unwrap();
    assert!(tried.tried.is_empty() && tried.refusal.is_none(), "{tried:?}");
    let flat = Image::from_rgb8(64, 64, vec![255; 64 * 64 * 3]).unwrap();
    let tried = what_if(&flat, &examine(&flat, None).unwrap(), Effort::Full).unwrap();
    assert_eq!((tried.tried.len(), tried.refusal), (0, Some(Refusal::OneColor)));
}

#[test]
fn strong_blur_is_lost() {
    let blurred = photo("osprey-blurred.jpg");
    let tried = what_if(&blurred, &examine(&blurred, None).unwrap(), Effort::Full).unwrap();
    assert!(tried.lost.contains(&Problem::Blur) || tried.lost.contains(&Problem::MotionBlur), "{tried:?}");
}

#[test]
fn a_quick_search_tries_the_worst_fault_and_says_what_it_skipped() {
    let clean = photo("osprey.jpg");
    let dark = edit(Operation::Exposure, -2.6).apply(&clean).unwrap();
    let mut examination = examine(&dark, None).unwrap();
    let full = what_if(&dark, &examination, Effort::Full).unwrap();
    assert!(full.skipped.is_empty());
    // Every category is spoiled: more than a quick search can pay for.
    for (finding, kind) in examination.findings.iter_mut().zip(KINDS) {
        (finding.severity, finding.kind) = (Severity::Moderate, Some(kind.kind()));
        finding.level = if finding.category == Distortion::Brightness { 3.0 } else { 2.0 };
    }
    let quick = what_if(&dark, &examination, Effort::Quick).unwrap();
    let again = what_if(&dark, &examination, Effort::Quick).unwrap();
    assert_eq!(quick, again);
    assert!(quick.tried.iter().any(|tried| tried.problem == Problem::Underexposure), "{quick:?}");
    assert!(!quick.skipped.is_empty(), "{quick:?}");
    assert!(quick.tried.iter().all(|tried| !quick.skipped.contains(&tried.problem)), "{quick:?}");
}
