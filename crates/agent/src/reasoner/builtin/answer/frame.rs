//! What is seen of the image itself: its size, its colors, its symmetry, and where its parts are.

use agenticiqa_metrics::Image;
use agenticiqa_vision::palette::{self, Hue};
use agenticiqa_vision::vocabulary::Measured;

use super::{Answer, Asked, Position, Verdict, Writer};
use crate::question::meaning::{Aspect, Form, colors_in};
use crate::state::{GLOBAL, RegionBox};

/// Shares of gray, black and white count less: people name the color next to them.
const NEUTRAL: f64 = 0.6;
/// The share of a neighboring color that people count to a color.
const NEAR: f64 = 0.5;
/// Colors with less are not told.
const TOLD: f64 = 0.15;
/// The symmetry of images that people call symmetric, and how fast that changes.
const SYMMETRIC: (f64, f64) = (0.55, 5.0);
/// How far the place of a part says whether it is the subject.
const SPREAD: f64 = 0.35;

/// The image and the places in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame<'a> {
    /// The pixels; nothing for evidence that was recorded before.
    pub image: Option<&'a Image>,
    /// Width and height in pixels, if they are known.
    pub size: Option<(usize, usize)>,
    /// The regions of the question.
    pub regions: &'a [RegionBox],
}

impl<'a> Frame<'a> {
    /// An image with the regions of the question.
    pub fn of(image: &'a Image, regions: &'a [RegionBox]) -> Self {
        Self { image: Some(image), size: Some((image.width(), image.height())), regions }
    }

    fn region(&self, part: &str) -> Option<&RegionBox> {
        self.regions.iter().find(|region| region.name.as_str() == part && region.is_place())
    }

    /// Returns the position of a part, or of the image, on an aspect that its layout shows.
    pub(super) fn position(&self, part: &str, aspect: Aspect) -> Option<Position> {
        let new = |value: f64, spread: f64, measured: Vec<Measured>| {
            let (part, pointers) = (part.to_owned(), Vec::new());
            Position { aspect, part, value, fault: 0.0, spread, kind: None, pointers, measured }
        };
        match aspect {
            Aspect::Symmetry => {
                let symmetry = palette::symmetry(self.image?);
                let measured = vec![percent("symmetry", symmetry.max(0.0))];
                Some(new(SYMMETRIC.1 * (symmetry - SYMMETRIC.0), 0.3, measured))
            }
            Aspect::Emphasis => {
                let ((width, height), place) = (self.size?, self.region(part)?);
                let off = |start: usize, length: usize, whole: usize| {
                    ((2 * start + length) as f64 / whole as f64 - 1.0).abs()
                };
                let off = off(place.x, place.width, width).max(off(place.y, place.height, height));
                let share = (place.width * place.height) as f64 / (width * height) as f64;
                let measured = vec![percent("share of the image", share), percent("distance from the center", off)];
                Some(new(1.0 - 2.0 * off + (3.0 * share).min(1.0), SPREAD, measured))
            }
            _ => None,
        }
    }

    /// Returns the colors of a part, the largest share first.
    fn colors(&self, part: &str) -> Option<Vec<(Hue, f64)>> {
        let region = self.region(part).map(RegionBox::region);
        Some(palette::colors(self.image?, region.as_ref()))
    }
}

fn percent(name: &str, share: f64) -> Measured {
    Measured { name: name.to_owned(), value: 100.0 * share, unit: "%".to_owned() }
}

/// How much people see of a color, given the shares of all.
fn seen(hue: Hue, shares: &[(Hue, f64)]) -> f64 {
    let share = |hue: Hue| shares.iter().find(|(one, _)| *one == hue).map_or(0.0, |(_, share)| *share);
    let near: f64 = hue.near().iter().map(|near| share(*near)).sum();
    (share(hue) + NEAR * near) * if hue.is_neutral() { NEUTRAL } else { 1.0 }
}

/// The colors that decided between options.
pub(crate) fn colors_told(asked: &Asked<'_>, writer: &Writer<'_>) -> String {
    hues(asked, writer).map(|answer| answer.because).unwrap_or_default()
}

/// "What is the main color?", "Is the main color blue?"
pub(super) fn hues(asked: &Asked<'_>, writer: &Writer<'_>) -> Option<Answer> {
    let part = asked.scope.first().copied().unwrap_or(GLOBAL);
    let answers = writer.answers();
    let Some(shares) = asked.scales.frame.colors(part) else {
        return Some(writer.answer(answers.verdict(Verdict::Open), &[], answers.not_measured()));
    };
    let verdict = match asked.meaning.form {
        Form::YesNo => is_main_color(asked).map_or("", |probability| answers.verdict(Verdict::of(probability))),
        _ => "",
    };
    let mut told = shares.clone();
    told.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    let count = told.iter().take(3).filter(|(_, share)| *share >= TOLD).count().max(1);
    told.truncate(count);
    let because = answers.colors(&writer.subject(part), &told);
    Some(writer.answer(verdict, &[], &because))
}

/// The probability that the color that a question names is the main one.
pub(super) fn is_main_color(asked: &Asked<'_>) -> Option<f64> {
    let shares = asked.scales.frame.colors(asked.scope.first().copied().unwrap_or(GLOBAL))?;
    let named = colors_in(&asked.meaning.text);
    let most = |wanted: bool| {
        let among = Hue::ALL.into_iter().filter(|hue| named.contains(hue) == wanted);
        let apart = among.filter(|hue| wanted || !named.iter().any(|one| one.near().contains(hue)));
        apart.map(|hue| seen(hue, &shares)).fold(0.0, f64::max)
    };
    let probability = 1.0 / (1.0 + (-(most(true) - most(false)) / 0.1).exp());
    let denied = asked.meaning.claims.iter().any(|claim| claim.denied);
    (!named.is_empty()).then_some(if denied { 1.0 - probability } else { probability })
}

fn weight((hue, share): &(Hue, f64)) -> f64 {
    share * if hue.is_neutral() { NEUTRAL } else { 1.0 }
}

/// Options that are colors: returns how much of each is seen. "Which is the brightest color?" ranks those that are
/// there by their light.
pub(super) fn of_options(asked: &Asked<'_>, options: &[&str]) -> Option<Vec<f64>> {
    let named: Vec<Vec<Hue>> = options.iter().map(|option| colors_in(option)).collect();
    let about = |aspect: Aspect| matches!(aspect, Aspect::Hue | Aspect::Color | Aspect::Cast | Aspect::Light);
    let asks_color = asked.meaning.claims.iter().any(|claim| about(claim.aspect));
    if !asks_color || named.iter().filter(|hues| hues.len() == 1).count() < options.len().max(2) {
        return None;
    }
    let part = asked.scope.first().copied().unwrap_or(GLOBAL);
    let shares = asked.scales.frame.colors(part)?;
    let text = asked.meaning.text.to_lowercase();
    let brightest = ["brightest", "lightest", "最亮"].iter().any(|word| text.contains(word));
    let strength = |hues: &Vec<Hue>| {
        let most = hues.iter().map(|hue| seen(*hue, &shares)).fold(0.0, f64::max);
        let light = hues.iter().map(|hue| lightness(*hue)).fold(0.0, f64::max);
        if brightest && most >= 0.04 { 1.0 + light } else { most }
    };
    Some(named.iter().map(strength).collect())
}

/// How light a color looks.
fn lightness(hue: Hue) -> f64 {
    match hue {
        Hue::White => 1.0,
        Hue::Yellow => 0.9,
        Hue::Cyan | Hue::Orange => 0.75,
        Hue::Pink | Hue::Green => 0.6,
        Hue::Red | Hue::Gray => 0.5,
        Hue::Blue => 0.4,
        Hue::Purple => 0.3,
        Hue::Brown => 0.2,
        Hue::Black => 0.0,
    }
}
