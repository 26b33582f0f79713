//! Plots as SVG: scores against opinions with the fitted curve, and correlations by group with their intervals.

use std::fmt::Write;

use super::correlation::{Correlation, Evaluated, Group};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 50.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 60.0;
/// Above this many points only every so many-th is drawn, evenly: the picture looks the same and stays small.
const MOST_POINTS: usize = 5000;

/// A line of numbers, mapped to pixels.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis around values, with a little room at both ends.
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let room = if high > low { (high - low) * 0.04 } else { 1.0 };
        Self { low: low - room, high: high + room, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Round numbers along it.
    fn ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last.min(first + 20)).map(|number| number as f64 * step).collect()
    }
}

/// A number without needless digits.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn header(width: f64, height: f64, title: &str) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{}\" y=\"24\" text-anchor=\"middle\" font-size=\"15\">{title}</text>\n",
        width / 2.0
    )
}

/// Scores (across) against opinions (up), each point with the sample's name, and the fitted curve.
pub fn scatter_plot(report: &Correlation, evaluated: &Evaluated) -> String {
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
    let mut svg = header(WIDTH, HEIGHT, &title);
    grid(&mut svg, &x, &y);
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    svg += "<g fill=\"#1f5fa8\" fill-opacity=\"0.45\">\n";
    for (sample, score, opinion) in points.iter().step_by(every) {
        let (across, up, name) = (x.at(*score), y.at(*opinion), escape(sample));
        let _ = writeln!(
            svg,
            "<circle cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"2.5\"><title>{name}: {}, mos {}</title></circle>",
            short(*score),
            short(*opinion)
        );
    }
    svg += "</g>\n";
    if let Some(curve) = evaluated.overall.curve {
        let place = |step: i32| x.low + (x.high - x.low) * f64::from(step) / 200.0;
        let line: Vec<String> = (0..=200)
            .map(place)
            .map(|score| format!("{:.1},{:.1}", x.at(score), y.at(curve.at(score).clamp(y.low, y.high))))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#c0392b\" stroke-width=\"2\"/>",
            line.join(" ")
        );
    }
    let dataset = report.dataset.as_deref().unwrap_or("opinion");
    let (middle, low) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16.0);
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{low}\" text-anchor=\"middle\">score (higher is better)</text>");
    let side = (TOP + HEIGHT - BOTTOM) / 2.0;
    let _ = writeln!(
        svg,
        "<text transform=\"translate(18 {side}) rotate(-90)\" text-anchor=\"middle\">MOS of {} (higher is better)</text>",
        escape(dataset)
    );
    svg + "</svg>\n"
}

fn grid(svg: &mut String, x: &Axis, y: &Axis) {
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{}\" stroke=\"#e0e0e0\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 16.0,
            short(tick)
        );
    }
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#e0e0e0\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            short(tick)
        );
    }
}

/// Rank correlations of the groups of one field, a bar each, with their intervals; `None` where there are no groups.
pub fn group_plot(evaluated: &Evaluated, field: &str) -> Option<String> {
    let groups: Vec<&Group> = evaluated.groups.iter().filter(|group| group.field == field).collect();
    if groups.is_empty() {
        return None;
    }
    let (row, left) = (22.0, 240.0);
    let height = TOP + row * groups.len() as f64 + BOTTOM;
    let lowest = groups.iter().filter_map(|group| group.agreement.srcc.value).fold(0.0, f64::min);
    let x = Axis { low: lowest.min(0.0), high: 1.0, from: left, to: WIDTH - RIGHT };
    let mut svg = header(WIDTH, height, &format!("{}: SRCC by {field}", evaluated.name));
    for tick in x.ticks() {
        let at = x.at(tick);
        let end = TOP + row * groups.len() as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{end}\" stroke=\"#e0e0e0\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            end + 16.0,
            short(tick)
        );
    }
    for (index, group) in groups.iter().enumerate() {
        let (middle, measure) = (TOP + row * (index as f64 + 0.5), group.agreement.srcc);
        let label = escape(&format!("{} ({})", group.value, group.agreement.n));
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", left - 8.0, middle + 4.0);
        let Some(value) = measure.value else { continue };
        let (from, to) = (x.at(value.min(0.0)), x.at(value.max(0.0)));
        let _ = writeln!(
            svg,
            "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\" fill=\"#1f5fa8\"><title>{label}: {value:.4}</title></rect>",
            middle - 6.0,
            to - from
        );
        if let Some(interval) = measure.interval {
            let (low, high) = (x.at(interval.low.max(x.low)), x.at(interval.high.min(x.high)));
            let _ = writeln!(
                svg,
                "<line x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" stroke=\"black\" stroke-width=\"1.5\"/>"
            );
        }
    }
    Some(svg + "</svg>\n")
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
