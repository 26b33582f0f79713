//! The parts of a score sum to it, and name the fault that was made.

use agenticiqa_distort::{Kind, LEVELS, distort};
use agenticiqa_vision::analysis::examine;
use agenticiqa_vision::vocabulary::{Distortion, ScoreParts};

use crate::photo;

fn parts(image: &agenticiqa_metrics::Image) -> ScoreParts {
    examine(image, None).unwrap().parts.unwrap()
}

#[test]
fn the_most_expensive_fault_is_the_one_that_was_made() {
    let clean = photo("osprey.jpg");
    for (kind, category) in [
        (Kind::GaussianBlur, Distortion::Blurs),
        (Kind::WhiteNoise, Distortion::Noise),
        (Kind::Jpeg, Distortion::Compression),
        (Kind::Jpeg2000, Distortion::Compression),
        (Kind::MotionBlur, Distortion::Blurs),
    ] {
        for level in 3..=LEVELS {
            let parts = parts(&distort(&clean, kind, level, 1).unwrap());
            let most = parts.costs.first().map(|cost| cost.distortion);
            let expected = if kind == Kind::Jpeg2000 { [category, Distortion::Blurs] } else { [category; 2] };
            assert!(most.is_some_and(|most| expected.contains(&most)), "{kind:?} {level}: {parts:?}");
        }
    }
}

#[test]
fn costs_are_never_negative_and_lie_in_their_intervals() {
    let clean = photo("osprey.jpg");
    for kind in Kind::ALL {
        let parts = parts(&distort(&clean, kind, 5, 1).unwrap());
        assert!(parts.costs.is_sorted_by(|one, other| one.cost >= other.cost), "{kind:?}");
        for cost in &parts.costs {
            let [low, high] = cost.interval;
            assert!(cost.cost >= 0.0 && low <= cost.cost && cost.cost <= high, "{kind:?}: {cost:?}");
        }
    }
}

#[test]
fn more_of_the_same_damage_never_costs_less() {
    let clean = photo("osprey.jpg");
    for kind in [Kind::GaussianBlur, Kind::WhiteNoise, Kind::Jpeg] {
        let category = if kind == Kind::Jpeg {
            Distortion::Compression
        } else if kind == Kind::WhiteNoise {
            Distortion::Noise
        } else {
            Distortion::Blurs
        };
        let costs: Vec<f64> = (1..=LEVELS)
            .map(|level| {
                let parts = parts(&distort(&clean, kind, level, 1).unwrap());
                parts.costs.iter().find(|cost| cost.distortion == category).map_or(0.0, |cost| cost.cost)
            })
            .collect();
        assert!(costs.is_sorted_by(|less, more| *more >= less - 0.05), "{kind:?}: {costs:?}");
    }
}

#[test]
fn with_a_reference_identical_images_lose_nothing() {
    let clean = photo("osprey.jpg");
    let parts = examine(&clean, Some(&clean)).unwrap().parts.unwrap();
    assert_eq!((parts.clean, parts.costs.len()), (5.0, 0));
}
