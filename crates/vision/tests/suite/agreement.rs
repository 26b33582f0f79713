//! What an image looks like and what is wrong with it never contradict each other.

use agenticiqa_distort::{Kind, distort};
use agenticiqa_vision::analysis::examine;
use agenticiqa_vision::vocabulary::{Axis, Distortion, Severity};

use crate::photo;

#[test]
fn attributes_follow_what_is_measured() {
    let clean = photo("osprey.jpg");
    for (kind, category, axis) in [
        (Kind::GaussianBlur, Distortion::Blurs, Axis::Sharpness),
        (Kind::MotionBlur, Distortion::Blurs, Axis::Sharpness),
        (Kind::WhiteNoise, Distortion::Noise, Axis::Noise),
        (Kind::Jpeg, Distortion::Compression, Axis::Compression),
    ] {
        for level in [3, 5] {
            let examination = examine(&distort(&clean, kind, level, 1).unwrap(), None).unwrap();
            let finding = examination.finding(category);
            let attribute = &examination.attributes[&axis];
            assert!(finding.severity >= Severity::Slight, "{kind:?} {level}: {finding:?}");
            if finding.severity >= Severity::Moderate {
                assert_ne!(attribute.direction.as_str(), "none", "{kind:?} {level}: {attribute:?}");
            }
            if finding.severity >= Severity::Severe {
                let strong = ["blurry", "very blurry", "strong"];
                assert!(strong.contains(&attribute.level.as_str()), "{kind:?} {level}: {attribute:?} {finding:?}");
            }
        }
    }
}

#[test]
fn what_an_attribute_does_not_show_is_at_most_slight() {
    for name in ["osprey.jpg", "osprey-blurred.jpg", "osprey-compressed.jpg"] {
        let clean = photo(name);
        for (kind, level) in
            [(Kind::Darken, 4), (Kind::ColorShift, 3), (Kind::ContrastChange, 2), (Kind::Desaturation, 4)]
        {
            let examination = examine(&distort(&clean, kind, level, 1).unwrap(), None).unwrap();
            for finding in examination.detected() {
                let axis = finding.problem().and_then(|problem| problem.axis());
                let neutral = axis.is_some_and(|axis| examination.attributes[&axis].direction.as_str() == "none");
                assert!(!neutral || finding.severity <= Severity::Slight, "{name} {kind:?}: {finding:?}");
            }
        }
    }
}
