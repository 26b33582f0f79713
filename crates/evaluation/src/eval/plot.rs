//! Plots: scores against opinions with the fitted curve, and correlations by group with intervals.

use super::correlation::{Correlation, Evaluated, Group};
use super::drawing::{Anchor, BLACK, BLUE, Drawing, FAINT_BLUE, PALE, RED};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 50.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 60.0;
/// The maximum number of points. Beyond it, an even subset is drawn to keep the file small.
const MOST_POINTS: usize = 5000;

/// An axis that maps numbers to pixels.
pub(crate) struct Axis {
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
}

impl Axis {
    /// Creates an axis around values, with a margin at both ends.
    pub fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let margin = if high > low { (high - low) * 0.04 } else { 1.0 };
        Self { low: low - margin, high: high + margin, from, to }
    }

    pub fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Returns round numbers along the axis.
    pub fn ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last.min(first + 20)).map(|number| number as f64 * step).collect()
    }
}

/// Formats a number without unnecessary digits.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Plots scores (x) against opinions (y) with sample IDs and the fitted curve.
pub fn scatter_plot(report: &Correlation, evaluated: &Evaluated) -> Drawing {
    let points = &evaluated.points;
    let x = Axis::around(points.iter().map(|point| point.1), LEFT, WIDTH - RIGHT);
    let y = Axis::around(points.iter().map(|point| point.2), HEIGHT - BOTTOM, TOP);
    let figure = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    let title = format!(
        "{}: SRCC {}, PLCC {} (n = {})",
        evaluated.name,
        figure(evaluated.overall.srcc.value),
        figure(evaluated.overall.plcc_fitted.value.or(evaluated.overall.plcc.value)),
        evaluated.overall.n
    );
    let mut drawing = Drawing::new(WIDTH, HEIGHT, &title);
    grid(&mut drawing, &x, &y);
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    for (sample, score, opinion) in points.iter().step_by(every) {
        let title = format!("{sample}: {}, mos {}", short(*score), short(*opinion));
        drawing.dot((x.at(*score), y.at(*opinion)), 2.5, FAINT_BLUE, title);
    }
    if let Some(curve) = evaluated.overall.curve {
        let place = |step: i32| x.low + (x.high - x.low) * f64::from(step) / 200.0;
        let at = |score: f64| (x.at(score), y.at(curve.at(score).clamp(y.low, y.high)));
        drawing.path((0..=200).map(place).map(at).collect(), RED, 2.0);
    }
    let dataset = report.dataset.as_deref().unwrap_or("opinion");
    drawing.text(((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16.0), Anchor::Middle, "score (higher is better)");
    let side = (TOP + HEIGHT - BOTTOM) / 2.0;
    drawing.text_upwards((18.0, side), format!("MOS of {dataset} (higher is better)"));
    drawing
}

fn grid(drawing: &mut Drawing, x: &Axis, y: &Axis) {
    for tick in x.ticks() {
        let at = x.at(tick);
        drawing.path(vec![(at, TOP), (at, HEIGHT - BOTTOM)], PALE, 1.0);
        drawing.text((at, HEIGHT - BOTTOM + 16.0), Anchor::Middle, short(tick));
    }
    for tick in y.ticks() {
        let at = y.at(tick);
        drawing.path(vec![(LEFT, at), (WIDTH - RIGHT, at)], PALE, 1.0);
        drawing.text((LEFT - 6.0, at + 4.0), Anchor::End, short(tick));
    }
}

/// Plots the rank correlation of each group of a field with its interval, or returns `None` without
/// groups.
pub fn group_plot(evaluated: &Evaluated, field: &str) -> Option<Drawing> {
    let groups: Vec<&Group> = evaluated.groups.iter().filter(|group| group.field == field).collect();
    if groups.is_empty() {
        return None;
    }
    let (row, left) = (22.0, 240.0);
    let end = TOP + row * groups.len() as f64;
    let lowest = groups.iter().filter_map(|group| group.agreement.srcc.value).fold(0.0, f64::min);
    let x = Axis { low: lowest.min(0.0), high: 1.0, from: left, to: WIDTH - RIGHT };
    let mut drawing = Drawing::new(WIDTH, end + BOTTOM, &format!("{}: SRCC by {field}", evaluated.name));
    for tick in x.ticks() {
        let at = x.at(tick);
        drawing.path(vec![(at, TOP), (at, end)], PALE, 1.0);
        drawing.text((at, end + 16.0), Anchor::Middle, short(tick));
    }
    for (index, group) in groups.iter().enumerate() {
        let (middle, measure) = (TOP + row * (index as f64 + 0.5), group.agreement.srcc);
        let label = format!("{} ({})", group.value, group.agreement.n);
        drawing.text((left - 8.0, middle + 4.0), Anchor::End, label.clone());
        let Some(value) = measure.value else { continue };
        let (from, to) = (x.at(value.min(0.0)), x.at(value.max(0.0)));
        drawing.bar((from, middle - 6.0), (to - from, 12.0), BLUE, format!("{label}: {value:.4}"));
        if let Some(interval) = measure.interval {
            let (low, high) = (x.at(interval.low.max(x.low)), x.at(interval.high.min(x.high)));
            drawing.path(vec![(low, middle), (high, middle)], BLACK, 1.5);
        }
    }
    Some(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis { low: -0.03, high: 1.04, from: 0.0, to: 100.0 };
        let ticks: Vec<String> = axis.ticks().into_iter().map(short).collect();
        assert_eq!(ticks, ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        let flat = Axis::around([3.0, 3.0].into_iter(), 0.0, 100.0);
        assert_eq!((flat.low, flat.high), (2.0, 4.0));
    }
}
