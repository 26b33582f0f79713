//! How likely it is that something is there, given what the network says.
//!
//! The network was trained on photos full of small things. In a photo that somebody asks about, a
//! large thing is more likely to be real than a small one with the same peak, and a person more
//! likely than another class. The numbers started from a logistic regression on labeled photos and
//! were set by hand, so that 0.5 is the limit between found and not found.

use super::boxes::Found;
use crate::network::activation::sigmoid;

/// Factor of the logit of the network.
const LOGIT: f32 = 2.2;
/// Factor of the logarithm of the share of the image.
const SIZE: f32 = 1.0;
/// Shares of the image beyond which size does not matter.
const SHARES: (f32, f32) = (0.02, 0.4);
/// Share of the image beyond which something is less likely: it has no border that could be seen.
const WHOLE: f32 = 0.7;
/// Added for what is larger than that, for a person, and for everything.
const BORDERLESS: f32 = -1.0;
const PERSON: f32 = 1.5;
const BIAS: f32 = 4.0;

/// Returns the object with its likelihood in an image of `area` pixels.
pub(super) fn judged(found: Found, area: f32) -> Found {
    let probability = found.probability.clamp(1e-6, 1.0 - 1e-6);
    let logit = (probability / (1.0 - probability)).ln();
    let share = found.area() / area;
    let size = SIZE * share.clamp(SHARES.0, SHARES.1).ln();
    let person = if found.class == 0 { PERSON } else { 0.0 };
    let borderless = if share > WHOLE { BORDERLESS } else { 0.0 };
    Found { probability: sigmoid(LOGIT * logit + size + person + borderless + BIAS), ..found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_things_and_persons_are_more_likely() {
        let found = |class: usize, side: f32, probability: f32| {
            let found = Found { class, left: 0.0, top: 0.0, right: side, bottom: side, probability };
            judged(found, 100.0 * 100.0).probability
        };
        assert!(found(5, 60.0, 0.3) > found(5, 20.0, 0.3));
        assert!(found(0, 20.0, 0.3) > found(5, 20.0, 0.3));
        assert!(found(5, 20.0, 0.4) > found(5, 20.0, 0.3));
        assert!(found(5, 99.0, 0.3) < found(5, 80.0, 0.3));
        assert_eq!(found(5, 3.0, 0.3), found(5, 10.0, 0.3));
        assert!(found(5, 0.0, 0.0) >= 0.0 && found(0, 100.0, 1.0) <= 1.0);
    }
}
