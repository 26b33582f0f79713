//! Fused-FR on real photographs: more of the same damage is never better, nothing is never better than no damage.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use std::path::Path;

use agenticiqa::fused::{Judgement, judge};
use agenticiqa::imaging::Decoder;
use agenticiqa::metrics::distort::{Kind, distort};
use agenticiqa::metrics::{Image, Pair, Samples};

fn photographs() -> Vec<(&'static str, Image)> {
    ["otters", "colosseum", "cityscape", "astronaut"].map(|name| (name, photograph(name))).into()
}

fn photograph(name: &str) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/data/{name}.jpg"));
    Decoder::default().open(path).unwrap().image
}

fn judged(reference: &Image, distorted: &Image) -> Judgement {
    judge(&Pair::new(reference, distorted).unwrap()).unwrap()
}

/// A share of the way from one picture to the other.
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
#[ignore = "prints a table"]
fn table() {
    let osprey = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/osprey.jpg");
    let osprey = Decoder::default().open(osprey).unwrap().image;
    for (name, photograph) in
        [("osprey", osprey), ("otters", photograph("otters")), ("astronaut", photograph("astronaut"))]
    {
        for kind in Kind::ALL {
            let scores: Vec<Judgement> =
                (1..=5).map(|level| judged(&photograph, &distort(&photograph, kind, level, 7).unwrap())).collect();
            let scores: Vec<String> = scores
                .iter()
                .map(|j| format!("{:.2} [{:.2} {:.2}] p{:.2} t{:.2}", j.score, j.low, j.high, j.panel, j.trust))
                .collect();
            println!("{name:<10} {kind:<32} {}", scores.join("  "));
        }
        for kind in Kind::ALL {
            let worst = distort(&photograph, kind, 5, 7).unwrap();
            let at = |step: i32| judged(&photograph, &between(&photograph, &worst, f64::from(step) / 10.0)).score;
            let scores: Vec<f64> = (1..=10).map(at).collect();
            let rise = scores.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
            println!("{name:<10} mix {kind:<32} rise {rise:.3} {scores:.2?}");
        }
    }
}
