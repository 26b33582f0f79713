//! What measurements say about the levels of an axis.
//!
//! The network has seen little generated damage, so it may call a blurred photo slightly soft in which
//! [`perception`](crate::perception) measures severe blur. Where perception finds a distortion, the
//! probabilities of the network are mixed with what labeled and generated images of that severity look
//! like, so that an attribute and a finding never contradict each other.

use crate::fused_nr::Head;
use crate::perception::Finding;
use crate::vocabulary::{Distortion, Severity};

/// The weight of a finding next to the network, from slight to extreme. Chosen so that the level of the
/// attribute is at most one step from the severity, however sure the network is.
const WEIGHTS: [f64; 4] = [0.3, 0.65, 0.8, 0.9];

/// Shares of the levels of an axis for a distortion of each severity, from slight to extreme.
type Shares = [&'static [f64]; 4];

const BLUR: Shares = [&[0.4, 0.6, 0.0, 0.0], &[0.0, 0.75, 0.25, 0.0], &[0.0, 0.1, 0.65, 0.25], &[0.0, 0.0, 0.4, 0.6]];
const AMOUNT: Shares = [&[0.3, 0.7, 0.0], &[0.0, 0.75, 0.25], &[0.0, 0.2, 0.8], &[0.0, 0.0, 1.0]];
const HALOS: Shares = [&[0.5, 0.5], &[0.2, 0.8], &[0.0, 1.0], &[0.0, 1.0]];
const DARK: Shares =
    [&[0.0, 0.5, 0.5, 0.0, 0.0], &[0.1, 0.8, 0.1, 0.0, 0.0], &[0.4, 0.6, 0.0, 0.0, 0.0], &[0.7, 0.3, 0.0, 0.0, 0.0]];
const BRIGHT: Shares =
    [&[0.0, 0.0, 0.5, 0.5, 0.0], &[0.0, 0.0, 0.1, 0.8, 0.1], &[0.0, 0.0, 0.0, 0.6, 0.4], &[0.0, 0.0, 0.0, 0.3, 0.7]];
const UNDER: Shares =
    [&[0.5, 0.5, 0.0, 0.0, 0.0], &[0.8, 0.2, 0.0, 0.0, 0.0], &[1.0, 0.0, 0.0, 0.0, 0.0], &[1.0, 0.0, 0.0, 0.0, 0.0]];
const OVER: Shares =
    [&[0.0, 0.5, 0.5, 0.0, 0.0], &[0.0, 0.2, 0.8, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0, 0.0]];
const LOW: Shares = [&[0.5, 0.5, 0.0], &[0.8, 0.2, 0.0], &[1.0, 0.0, 0.0], &[1.0, 0.0, 0.0]];
const HIGH: Shares = [&[0.0, 0.5, 0.5], &[0.0, 0.2, 0.8], &[0.0, 0.0, 1.0], &[0.0, 0.0, 1.0]];
const PALE: Shares = [&[0.0, 0.5, 0.5, 0.0], &[0.05, 0.75, 0.2, 0.0], &[0.2, 0.8, 0.0, 0.0], &[0.4, 0.6, 0.0, 0.0]];
const VIVID: Shares = [&[0.0, 0.0, 0.5, 0.5], &[0.0, 0.0, 0.2, 0.8], &[0.0, 0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 1.0]];

/// Returns the probabilities of the classes of a head, given those of the network and what was measured.
pub fn mixed(head: Head, network: Vec<f64>, findings: &[Finding]) -> Vec<f64> {
    let found = findings.iter().filter_map(|finding| {
        let place = (finding.severity as usize).checked_sub(Severity::Slight as usize)?;
        Some((WEIGHTS[place], shares(head, finding, place, &network)?))
    });
    let mix = |sum: Vec<f64>, (weight, shares): (f64, Vec<f64>)| {
        sum.iter().zip(shares).map(|(own, share)| own + weight * (share - own)).collect()
    };
    found.fold(network.clone(), mix)
}

/// Returns what a finding says about the classes of a head, if anything.
fn shares(head: Head, finding: &Finding, place: usize, network: &[f64]) -> Option<Vec<f64>> {
    let shares = match (head, finding.category, finding.kind?) {
        (Head::Sharpness, Distortion::Blurs, _) => &BLUR,
        (Head::Sharpened, Distortion::Sharpness, _) => &HALOS,
        (Head::Noise, Distortion::Noise, _) | (Head::Compression, Distortion::Compression, _) => &AMOUNT,
        (Head::Lighting, Distortion::Brightness, "too dark") => &DARK,
        (Head::Lighting, Distortion::Brightness, "too bright") => &BRIGHT,
        (Head::Exposure, Distortion::Brightness, "too dark") => &UNDER,
        (Head::Exposure, Distortion::Brightness, "too bright") => &OVER,
        (Head::Contrast, Distortion::Contrast, "low contrast") => &LOW,
        (Head::Contrast, Distortion::Contrast, "harsh contrast") => &HIGH,
        (Head::Color, Distortion::Color, "pale colors") => &PALE,
        (Head::Color, Distortion::Color, "oversaturated") => &VIVID,
        // That there is a cast is measured; its color is for the network to tell.
        (Head::Cast, Distortion::Color, "color cast") => return Some(without_first(network)),
        _ => return None,
    };
    Some(shares[place].to_vec())
}

/// Returns the probabilities of the classes given that it is not the first.
fn without_first(network: &[f64]) -> Vec<f64> {
    let rest: f64 = network.iter().skip(1).sum();
    let share = |(place, own): (usize, &f64)| if place == 0 { 0.0 } else { own / rest.max(f64::MIN_POSITIVE) };
    network.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fused_nr::likeliest;

    fn finding(severity: Severity) -> Finding {
        Finding {
            category: Distortion::Blurs,
            severity,
            level: 0.0,
            kind: Some("soft focus"),
            explanation: String::new(),
            measurements: Vec::new(),
        }
    }

    #[test]
    fn a_sure_network_never_contradicts_a_measurement_by_two_steps() {
        for (severity, least) in [
            (Severity::None, 0),
            (Severity::Slight, 0),
            (Severity::Moderate, 1),
            (Severity::Severe, 2),
            (Severity::Extreme, 2),
        ] {
            let mixed = mixed(Head::Sharpness, vec![1.0, 0.0, 0.0, 0.0], &[finding(severity)]);
            assert!(likeliest(&mixed) >= least, "{severity}: {mixed:?}");
            assert!((mixed.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{mixed:?}");
        }
    }

    #[test]
    fn all_shares_are_distributions() {
        for shares in [BLUR, AMOUNT, HALOS, DARK, BRIGHT, UNDER, OVER, LOW, HIGH, PALE, VIVID] {
            for share in shares {
                assert!((share.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{share:?}");
            }
        }
        assert_eq!(mixed(Head::Haze, vec![0.9, 0.1], &[finding(Severity::Severe)]), [0.9, 0.1]);
    }
}
