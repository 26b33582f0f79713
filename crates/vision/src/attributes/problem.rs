//! The probability of each problem, and which of them are reported.

use crate::fused_nr::{Head, Reading, likeliest};
use crate::vocabulary::{Distortion, Problem};

/// An image has a problem if nothing spoils it with at most this probability. Then its likeliest
/// category is reported ...
const CLEAN: f64 = 0.7;
/// ... and others that spoil it most with at least this probability ...
const NAMED: f64 = 0.15;
/// (few labeled photos have noise, compression, low contrast, odd colors or halos as their main problem, so a
/// lower probability of one of these means as much) ...
const NAMED_IF_RARE: f64 = 0.08;
/// ... or whose attribute is bad with at least this probability.
const EVIDENT: f64 = 0.6;
/// Where measurements have found a problem already, only categories that spoil the image most with at
/// least this probability are added: damage confuses a network that has seen little of it.
const ADDED: f64 = 0.3;
/// Nobody wants a green or magenta cast: one this sure is reported even if nothing else spoils the image.
/// None of the validation photos that nothing spoils has one.
const TINTED: f64 = 0.8;

/// Returns the probability from which on a category is named next to a likelier one.
fn named(category: Distortion) -> f64 {
    match category {
        Distortion::Blurs | Distortion::Brightness => NAMED,
        _ => NAMED_IF_RARE,
    }
}

/// The probability of each problem to be the one that spoils the image most.
#[derive(Debug, Clone, PartialEq)]
pub struct Problems<'a> {
    reading: &'a Reading,
    none: f64,
    each: Vec<f64>,
}

impl<'a> Problems<'a> {
    /// Takes the probabilities from what the model says about an image.
    pub fn of(reading: &'a Reading) -> Self {
        let probabilities = reading.probabilities(Head::MainProblem);
        Self { reading, none: probabilities[0], each: probabilities[1..].to_vec() }
    }

    /// Returns whether a category spoils the image, given whether measurements have found a problem.
    pub fn reports(&self, category: Distortion, found: bool) -> bool {
        let share = self.of_category(category).0;
        if category == Distortion::Color && self.is_tinted() {
            return true;
        }
        if found {
            return self.none <= CLEAN && share >= ADDED;
        }
        let first = Distortion::ALL.iter().all(|other| self.of_category(*other).0 <= share);
        self.none <= CLEAN && (first || share >= named(category) || self.bad(category) >= EVIDENT)
    }

    /// Returns whether the image surely has a green or magenta cast.
    fn is_tinted(&self) -> bool {
        let casts = self.reading.probabilities(Head::Cast);
        casts[3] + casts[4] >= TINTED
    }

    /// Returns the probability that the attribute of a category is bad.
    fn bad(&self, category: Distortion) -> f64 {
        let (head, classes): (_, &[usize]) = match category {
            Distortion::Blurs => (Head::Sharpness, &[2, 3]),
            Distortion::Noise => (Head::Noise, &[2]),
            Distortion::Compression => (Head::Compression, &[2]),
            Distortion::Brightness => (Head::Exposure, &[0, 2, 3, 4]),
            Distortion::Contrast => (Head::Contrast, &[0]),
            Distortion::Color => (Head::Cast, &[1, 2, 3, 4, 5]),
            Distortion::Sharpness => (Head::Sharpened, &[1]),
        };
        let probabilities = self.reading.probabilities(head);
        classes.iter().map(|class| probabilities[*class]).sum()
    }

    /// Returns the likeliest problem of a category, or what the attributes show if none of it is likely.
    pub fn shown(&self, category: Distortion) -> Problem {
        let (share, problem) = self.of_category(category);
        let likeliest = |head: Head| likeliest(&self.reading.probabilities(head));
        match category {
            Distortion::Color if self.is_tinted() => Problem::ColorCast,
            _ if share >= named(category) => problem,
            Distortion::Blurs if likeliest(Head::BlurKind) == 2 => Problem::MotionBlur,
            Distortion::Blurs => Problem::Blur,
            Distortion::Brightness => match likeliest(Head::Exposure) {
                0 => Problem::Underexposure,
                2 => Problem::Overexposure,
                3 => Problem::Backlight,
                _ => problem,
            },
            Distortion::Contrast if likeliest(Head::Haze) == 0 => Problem::LowContrast,
            _ => problem,
        }
    }

    /// Returns the problems that spoil the image most with at least this probability, or whose attribute is bad
    /// rather than not; likeliest first.
    pub fn suspected(&self, least: f64) -> Vec<Problem> {
        let mut named: Vec<(Problem, f64)> = Problem::ALL.into_iter().zip(self.each.iter().copied()).collect();
        named.retain(|(problem, share)| *share >= least || self.visible(*problem) > 0.5);
        named.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        named.into_iter().map(|(problem, _)| problem).collect()
    }

    /// Returns the probability that the image shows a problem that an edit can mend, whether or not it spoils the
    /// image.
    fn visible(&self, problem: Problem) -> f64 {
        let probability = |head: Head, class: usize| self.reading.probabilities(head)[class];
        match problem {
            Problem::Underexposure => probability(Head::Exposure, 0),
            Problem::Overexposure => probability(Head::Exposure, 2),
            Problem::Backlight => probability(Head::Exposure, 3),
            Problem::Noise => probability(Head::Noise, 2),
            Problem::LowContrast => probability(Head::Contrast, 0),
            Problem::ColorCast => 1.0 - probability(Head::Cast, 0),
            _ => 0.0,
        }
    }

    /// Returns the probability that a category spoils the image most.
    pub fn share(&self, category: Distortion) -> f64 {
        self.of_category(category).0
    }

    /// Returns the probability of a category, and its likeliest problem.
    fn of_category(&self, category: Distortion) -> (f64, Problem) {
        let mut of =
            Problem::ALL.into_iter().zip(&self.each).filter(|(problem, _)| problem.category() == Some(category));
        let first = of.next().map_or((0.0, 0.0, Problem::Other), |(problem, share)| (*share, *share, problem));
        let (sum, _, likeliest) =
            of.fold(
                first,
                |(sum, most, likeliest), (problem, share)| {
                    if *share > most { (sum + share, *share, problem) } else { (sum + share, most, likeliest) }
                },
            );
        (sum, likeliest)
    }
}
