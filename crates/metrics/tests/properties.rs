//! Properties that must hold for every metric on any image, including small, flat and odd ones.
#![allow(clippy::unwrap_used)] // helpers outside `#[test]` functions are test code too

use std::sync::LazyLock;

use agenticiqa_metrics::{Direction, Error, Image, Kind, Measurement, Metric, Pair, Result, all};
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Metrics for which reference and image may be swapped.
const SYMMETRIC: [&str; 7] = ["SSIM", "MS-SSIM", "GMSD", "PSNR", "HaarPSI", "FSIM", "VSI"];
/// Maximum difference of two scores that differ only in the order of sums.
const ROUNDING: f64 = 1e-5;

static POOLS: LazyLock<[ThreadPool; 2]> =
    LazyLock::new(|| [1, 2].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()));

#[derive(Debug, Clone, Copy)]
enum Content {
    Random,
    Flat,
    Black,
    White,
    Smooth,
    HalfFlat,
}

/// An image that a few numbers describe, so that it can be reproduced.
#[derive(Debug, Clone, Copy)]
struct Picture {
    content: Content,
    color: bool,
    deep: bool,
    seed: u32,
}

impl Picture {
    fn draw(&self, width: usize, height: usize) -> Image {
        let channels = if self.color { 3 } else { 1 };
        let mut state = self.seed;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as u16
        };
        let level = random();
        let mut sample = |x: usize, y: usize, channel: usize| match self.content {
            Content::Random => random(),
            Content::Flat => level,
            Content::Black => 0,
            Content::White => u16::MAX,
            Content::Smooth => (20_000.0 + 10_000.0 * ((x + channel) as f32 * 0.2).sin() + 200.0 * y as f32) as u16,
            Content::HalfFlat => {
                if x * 2 < width {
                    level
                } else {
                    random()
                }
            }
        };
        let mut samples = Vec::with_capacity(width * height * channels);
        for y in 0..height {
            for x in 0..width {
                samples.extend((0..channels).map(|channel| sample(x, y, channel)));
            }
        }
        let eight = || samples.iter().map(|&sample| (sample >> 8) as u8).collect();
        match (self.color, self.deep) {
            (true, true) => Image::from_rgb16(width, height, samples),
            (false, true) => Image::from_gray16(width, height, samples),
            (true, false) => Image::from_rgb8(width, height, eight()),
            (false, false) => Image::from_gray8(width, height, eight()),
        }
        .unwrap()
    }
}

fn pictures() -> impl Strategy<Value = Picture> {
    let contents = prop_oneof![
        4 => Just(Content::Random),
        1 => Just(Content::Flat),
        1 => Just(Content::Black),
        1 => Just(Content::White),
        2 => Just(Content::Smooth),
        2 => Just(Content::HalfFlat),
    ];
    (contents, any::<bool>(), any::<bool>(), any::<u32>()).prop_map(|(content, color, deep, seed)| Picture {
        content,
        color,
        deep,
        seed,
    })
}

fn sizes() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        1 => Just((1, 1)),
        1 => Just((3, 700)),
        1 => Just((700, 3)),
        8 => (1usize..=41, 1usize..=41),
    ]
}

fn measure(metric: &dyn Metric, reference: &Image, distorted: &Image, with_map: bool) -> Result<Measurement> {
    let pair = match metric.info().kind {
        Kind::FullReference => Pair::new(reference, distorted)?,
        Kind::NoReference => Pair::single(distorted),
    };
    metric.measure(&if with_map { pair.with_map() } else { pair })
}

/// The score that identical images have.
fn best(metric: &dyn Metric) -> f64 {
    match metric.info().direction {
        // An image with more contrast than its reference scores above 1.
        Direction::HigherIsBetter if metric.info().name == "VIF" => 1.0,
        Direction::HigherIsBetter => metric.info().range.1,
        _ => metric.info().range.0,
    }
}

fn equal(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= ROUNDING * (1.0 + a.abs())
}

fn check(metric: &dyn Metric, reference: &Image, distorted: &Image) -> std::result::Result<(), TestCaseError> {
    let name = metric.info().name;
    let score = |image: &Image, other: &Image| measure(metric, image, other, false).map(|m| m.score);
    let single = POOLS[0].install(|| score(reference, distorted));
    let double = POOLS[1].install(|| score(reference, distorted));
    prop_assert_eq!(single.clone().map(f64::to_bits), double.map(f64::to_bits), "{} on one and two threads", name);
    let Ok(score_alone) = single else { return Ok(()) };
    let identical_psnr = name.starts_with("PSNR") && score_alone == f64::INFINITY;
    prop_assert!(score_alone.is_finite() || identical_psnr, "{}: {}", name, score_alone);
    let (lowest, highest) = metric.info().range;
    let slack = ROUNDING * (1.0 + score_alone.abs());
    prop_assert!(score_alone >= lowest - slack && score_alone <= highest + slack, "{}: {}", name, score_alone);

    let mapped = measure(metric, reference, distorted, true).unwrap();
    prop_assert_eq!(mapped.score.to_bits(), score_alone.to_bits(), "{} with and without a map", name);
    prop_assert_eq!(mapped.map.is_some(), metric.info().has_map, "{} has a map or not", name);
    if let Some(map) = mapped.map {
        prop_assert!(map.plane.data().iter().all(|value| value.is_finite()), "{}: map is not finite", name);
        prop_assert!(map.plane.width() <= distorted.width() && map.plane.height() <= distorted.height(), "{}", name);
        prop_assert!(map.plane.width() > 0 && map.plane.height() > 0, "{}: empty map", name);
        prop_assert!(map.best.is_finite() && map.worst.is_finite() && map.best != map.worst, "{}", name);
    }

    if metric.info().kind == Kind::FullReference {
        let same = score(distorted, distorted).unwrap();
        prop_assert!(equal(same, best(metric)), "{} of identical images: {}", name, same);
        if SYMMETRIC.contains(&name) {
            let swapped = score(distorted, reference).unwrap();
            prop_assert!(equal(swapped, score_alone), "{}: {} swapped {}", name, score_alone, swapped);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 160,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_metric_holds_on_every_picture(
        (width, height) in sizes(),
        reference in pictures(),
        distorted in pictures(),
    ) {
        let (reference, distorted) = (reference.draw(width, height), distorted.draw(width, height));
        for metric in all() {
            check(metric, &reference, &distorted)?;
        }
    }
}

#[test]
fn the_smallest_side_is_measured_and_one_pixel_less_is_refused() {
    let picture = |seed| Picture { content: Content::Random, color: true, deep: false, seed };
    for metric in all() {
        let side = metric.info().minimum_side;
        for (width, height) in [(side, side + 3), (side + 5, side)] {
            let (reference, distorted) = (picture(1).draw(width, height), picture(2).draw(width, height));
            check(metric, &reference, &distorted).unwrap();
            let measured = measure(metric, &reference, &distorted, false);
            let allowed = matches!(measured, Ok(_) | Err(Error::Undefined { .. } | Error::ModelMissing { .. }));
            assert!(allowed, "{} at {width}x{height}: {measured:?}", metric.info().name);
        }
        if side > 1 {
            let (reference, distorted) = (picture(1).draw(side - 1, 300), picture(2).draw(side - 1, 300));
            let refused = measure(metric, &reference, &distorted, false);
            let known = matches!(refused, Err(Error::TooSmall { .. } | Error::ModelMissing { .. }));
            assert!(known, "{} below its smallest side: {refused:?}", metric.info().name);
        }
    }
}

#[test]
fn full_reference_metrics_ask_for_a_reference() {
    let image = Picture { content: Content::Random, color: true, deep: false, seed: 3 }.draw(20, 20);
    for metric in all().filter(|metric| metric.info().kind == Kind::FullReference) {
        let error = metric.measure(&Pair::single(&image)).unwrap_err();
        assert!(matches!(error, Error::ReferenceMissing { .. } | Error::ModelMissing { .. }), "{error:?}");
    }
}
