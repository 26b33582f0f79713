use sha2::{Digest as _, Sha256};

use super::*;

/// A model with one support point that adds 0.25 to images near it.
fn small() -> Model {
    let curve = Curve { log_middle: -2.0, slope: 1.0 };
    let mut center = [0.0; FEATURES];
    center[MEMBERS.len()] = 3.0;
    let samples = [center.map(f64::from); 50];
    let posterior = Posterior::fit(vec![center], &samples, &[0.25; 50], 0.5).unwrap();
    let ladder = Ladder::new(vec![(1.0, 1.0), (5.0, 5.0)]).unwrap();
    Model { curves: [curve; 7], ladder, scale: [1.0; FEATURES], posterior, half_width: 0.3, spread: 8.0 }
}

fn evidence(distance: f64) -> Evidence {
    Evidence { distances: [distance; 7], statistics: [0.0, 1.0, 1.0, 0.0, 1.0, 0.0] }
}

fn signed(content: &[u8]) -> Vec<u8> {
    [content, Sha256::digest(content).as_slice()].concat()
}

#[test]
fn a_model_is_read_as_it_was_written() {
    let bytes = small().write().unwrap();
    assert_eq!(Model::read(&bytes).unwrap(), small());
    assert_eq!(small().write().unwrap(), bytes);
}

#[test]
fn like_the_training_it_corrects_and_far_from_it_it_is_the_panel_with_a_wide_interval() {
    let model = small();
    let near = model.judge(&evidence((-2.0f64).exp()));
    assert!((near.panel - 3.0).abs() < 1e-9 && near.trust > 0.98);
    assert!((near.score - 3.245).abs() < 0.01, "{near:?}");
    let strange = Evidence { statistics: [80.0, 9.0, 3.0, 60.0, 9.0, 90.0], ..evidence((-2.0f64).exp()) };
    let far = model.judge(&strange);
    assert!((far.score - far.panel).abs() < 1e-3, "{far:?}");
    assert!(far.high - far.low > 2.0 * (near.high - near.low));
}

#[test]
fn the_nearer_to_the_reference_the_nearer_to_five_and_the_surer() {
    let model = small();
    let judgments = [1e-2, 1e-4, 1e-6, 1e-8, 0.0].map(|distance| model.judge(&evidence(distance)));
    for pair in judgments.windows(2) {
        assert!(pair[1].score >= pair[0].score && pair[1].high - pair[1].low <= pair[0].high - pair[0].low);
    }
    let same = judgments[4];
    assert_eq!((same.score, same.low, same.high), (5.0, 5.0, 5.0));
}

#[test]
fn extreme_measurements_give_finite_scores() {
    let model = Model::read(BYTES).unwrap();
    for distance in [0.0, 1e-300, 1.0, 1e300] {
        for number in [-1e300, -1.0, 0.0, 1.0, 1e300] {
            let judgment = model.judge(&Evidence { distances: [distance; 7], statistics: [number; 6] });
            let Judgment { score, low, high, .. } = judgment;
            assert!((1.0..=5.0).contains(&score) && low <= score && score <= high && low >= 1.0 && high <= 5.0);
        }
    }
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let bytes = small().write().unwrap();
    let refused = |bytes: &[u8]| Model::read(bytes).unwrap_err().to_string();
    for place in [0, 40, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert!(refused(&damaged).ends_with("(the checksum does not fit)"));
    }
    assert!(refused(&bytes[..10]).ends_with("(it is too short)"));
    let content = &bytes[..bytes.len() - 32];
    assert!(refused(&signed(&content[..content.len() - 1])).ends_with("it is cut short"));
    assert!(refused(&signed(&[content, b"x"].concat())).ends_with("it is too long"));
    let header = content.iter().position(|&byte| byte == b'\n').unwrap();
    let text = String::from_utf8(content[..header].to_vec()).unwrap();
    for (old, new, reason) in [
        ("\"version\":1", "\"version\":2", "another version"),
        ("\"VSI\"", "\"FSIM\"", "other measurements"),
        ("\"half_width\":0.3", "\"half_width\":-0.3", "make no sense"),
        ("\"centers\":1", "\"centers\":100000000", "make no sense"),
    ] {
        let changed = [text.replace(old, new).as_bytes(), &content[header..]].concat();
        assert!(refused(&signed(&changed)).contains(reason), "{}", refused(&signed(&changed)));
    }
}

#[test]
fn the_model_that_is_built_in_is_small() {
    assert!(BYTES.len() < 500_000);
    assert!(Model::read(BYTES).is_ok());
    assert_eq!(Model::fingerprint().len(), 64);
}
