//! Charts as SVG with the colors of the page, and as text for Markdown.

use std::collections::HashMap;
use std::fmt::Write;

use agenticiqa_statistics::Random;

use super::document::Chart;
use super::words;
use crate::eval::drawing::escape;
use crate::eval::plot::{Axis, short};
use crate::eval::{Evaluated, Group};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
/// The maximum number of points. Beyond it, a random subset is drawn.
pub(super) const MOST_POINTS: usize = 5000;
/// The maximum number of groups in a chart.
const MOST_GROUPS: usize = 40;
/// The number of bins of the histogram: quarters of the scale from 1 to 5.
const BINS: usize = 16;
/// The length of the longest bar in text.
const CELLS: usize = 40;

fn open(height: f64, label: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"group\" aria-label=\"{}\" preserveAspectRatio=\"xMidYMid meet\">\n",
        escape(label)
    )
}

/// Returns the edges of a bin.
fn edges(bin: usize) -> (f64, f64) {
    let edge = |number: usize| 1.0 + 4.0 * number as f64 / BINS as f64;
    (edge(bin), edge(bin + 1))
}

/// Counts the scores in each bin.
fn bins(scores: &[f64]) -> [u64; BINS] {
    let mut counts = [0; BINS];
    for score in scores {
        let place = ((score - 1.0) / 4.0 * BINS as f64).floor().clamp(0.0, (BINS - 1) as f64);
        counts[place as usize] += 1;
    }
    counts
}

/// A histogram of the scores.
pub(super) fn histogram(scores: &[f64]) -> Chart {
    let counts = bins(scores);
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let (height, bottom) = (230.0, 188.0);
    let x = Axis { low: 1.0, high: 5.0, from: LEFT, to: WIDTH - RIGHT };
    let y = Axis { low: 0.0, high: most as f64 * 1.05, from: bottom, to: TOP };
    let mut svg = open(height, "Distribution of scores");
    for tick in y.ticks().into_iter().filter(|tick| tick.fract() == 0.0) {
        horizontal(&mut svg, &y, tick);
    }
    for (bin, count) in counts.iter().enumerate() {
        let (from, to) = edges(bin);
        let (left, right, upper) = (x.at(from) + 1.5, x.at(to) - 1.5, y.at(*count as f64));
        let title = format!("{from:.2} to {to:.2}: {}", words::of(*count, "sample", "samples"));
        let _ = writeln!(
            svg,
            "<rect class=\"bar level-{}\" x=\"{left:.1}\" y=\"{upper:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"><title>{title}</title></rect>",
            ((from + to) / 2.0).round(),
            right - left,
            bottom - upper
        );
    }
    for (level, name) in ["Bad", "Poor", "Fair", "Good", "Excellent"].iter().enumerate() {
        let at = x.at((level + 1) as f64).clamp(LEFT + 8.0, WIDTH - RIGHT - 26.0);
        let _ = writeln!(svg, "<text class=\"tick\" x=\"{at:.1}\" y=\"{}\">{} {name}</text>", bottom + 18.0, level + 1);
    }
    let _ = writeln!(
        svg,
        "<text class=\"label\" x=\"{}\" y=\"{}\">score</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        height - 6.0
    );
    let line = |(bin, count): (usize, &u64)| {
        let (from, to) = edges(bin);
        let cells = (*count as f64 / most as f64 * CELLS as f64).round() as usize;
        format!(
            "{from:.2}–{to:.2}  {:<CELLS$}  {}",
            "█".repeat(cells.max(usize::from(*count > 0))),
            words::count(*count)
        )
    };
    let text = counts.iter().enumerate().map(line).collect();
    Chart { caption: "Distribution of scores".to_owned(), svg: svg + "</svg>", text }
}

/// Horizontal bars, the longest first; at most [`MOST_GROUPS`].
pub(super) fn bars(caption: &str, values: &[(String, f64)]) -> Chart {
    const ROW: f64 = 26.0;
    const NAMES: f64 = 170.0;
    let shown = &values[..values.len().min(MOST_GROUPS)];
    let most = shown.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = open(2.0 * TOP + ROW * shown.len() as f64, caption);
    let mut text = Vec::new();
    for (place, (name, value)) in shown.iter().enumerate() {
        let (top, long) = (TOP + ROW * place as f64, (WIDTH - NAMES - RIGHT - 50.0) * (value / most).max(0.0));
        let middle = top + ROW / 2.0 + 4.0;
        let escaped = escape(&shortened(name, 24));
        let _ = writeln!(svg, "<text class=\"tick\" x=\"0\" y=\"{middle:.1}\">{escaped}</text>");
        let _ = writeln!(
            svg,
            "<rect class=\"bar\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{long:.1}\" height=\"{:.1}\" rx=\"2\"><title>{escaped}: {value:.2}</title></rect>",
            top + 4.0,
            ROW - 8.0
        );
        let _ =
            writeln!(svg, "<text class=\"tick\" x=\"{:.1}\" y=\"{middle:.1}\">{value:.2}</text>", NAMES + long + 8.0);
        let cells = (CELLS as f64 * (value / most).max(0.0)).round() as usize;
        text.push(format!("{:24} {value:6.2} {}", shortened(name, 24), "█".repeat(cells)));
    }
    svg.push_str("</svg>");
    Chart { caption: caption.to_owned(), svg, text }
}

fn horizontal(svg: &mut String, y: &Axis, tick: f64) {
    let at = y.at(tick);
    let _ = writeln!(
        svg,
        "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{}</text>",
        WIDTH - RIGHT,
        LEFT - 7.0,
        at + 4.0,
        short(tick)
    );
}

/// Scores (x) against opinions (y) with the fitted curve. Points of cases link to them.
pub(super) fn scatter(evaluated: &Evaluated, cases: &HashMap<&str, &str>, seed: u64) -> Chart {
    let points = &evaluated.points;
    let (height, bottom) = (440.0, 392.0);
    let x = Axis::around(points.iter().map(|point| point.1), LEFT, WIDTH - RIGHT);
    let y = Axis::around(points.iter().map(|point| point.2), bottom, TOP);
    let mut svg = open(height, "Scores against opinions");
    for tick in y.ticks() {
        horizontal(&mut svg, &y, tick);
    }
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/><text class=\"tick\" x=\"{at:.1}\" y=\"{}\">{}</text>",
            bottom + 18.0,
            short(tick)
        );
    }
    let point = |(sample, score, mos): &(String, f64, f64), class: &str| {
        format!(
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{}\"><title>{}\nscore {score:.2}, MOS {}</title></circle>",
            x.at(*score),
            y.at(*mos),
            if class == "ring" { "5" } else { "3" },
            escape(sample),
            short(*mos)
        )
    };
    let drawn = by_lot(points.len(), seed);
    svg += "<g class=\"points\">\n";
    for place in &drawn {
        if !cases.contains_key(points[*place].0.as_str()) {
            svg += &point(&points[*place], "point");
            svg.push('\n');
        }
    }
    svg += "</g>\n";
    if let Some(curve) = evaluated.overall.curve {
        let place = |step: i32| x.low + (x.high - x.low) * f64::from(step) / 150.0;
        let at = |score: f64| format!("{:.1},{:.1}", x.at(score), y.at(curve.at(score).clamp(y.low, y.high)));
        let line: Vec<String> = (0..=150).map(place).map(at).collect();
        let _ = writeln!(svg, "<polyline class=\"curve\" points=\"{}\"/>", line.join(" "));
    }
    for one in points {
        if let Some(id) = cases.get(one.0.as_str()) {
            let (name, mark) = (escape(&one.0), point(one, "ring"));
            let _ = writeln!(svg, "<a href=\"#{id}\" aria-label=\"case {name}\">{mark}</a>");
        }
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    let _ =
        writeln!(svg, "<text class=\"label\" x=\"{middle}\" y=\"{}\">score (higher is better)</text>", height - 8.0);
    let side = (TOP + bottom) / 2.0;
    let _ = writeln!(
        svg,
        "<text class=\"label\" transform=\"translate(13 {side}) rotate(-90)\">mean opinion (higher is better)</text>"
    );
    let mut caption =
        "Scores and mean opinions, with the fitted logistic curve. Click a ring to see its case below.".to_owned();
    if drawn.len() < points.len() {
        caption += &format!(
            " Showing a random {} of {} points.",
            words::count(drawn.len() as u64),
            words::count(points.len() as u64)
        );
    }
    Chart { caption, svg: svg + "</svg>", text: Vec::new() }
}

/// Returns at most `MOST_POINTS` random indices below `count`, sorted.
fn by_lot(count: usize, seed: u64) -> Vec<usize> {
    let mut lots: Vec<(u64, usize)> =
        (0..count).map(|place| (Random::stream(seed, place as u64).next_bits(), place)).collect();
    if count > MOST_POINTS {
        lots.select_nth_unstable(MOST_POINTS);
        lots.truncate(MOST_POINTS);
    }
    let mut places: Vec<usize> = lots.into_iter().map(|(_, place)| place).collect();
    places.sort_unstable();
    places
}

/// Rank correlations of the groups of a field with intervals, best first; `None` for fewer than two
/// groups.
pub(super) fn forest(evaluated: &Evaluated, field: &str) -> Option<Chart> {
    let of_field = evaluated.groups.iter().filter(|group| group.field == field);
    let mut groups: Vec<(&Group, f64)> =
        of_field.filter_map(|group| Some((group, group.agreement.srcc.value?))).collect();
    if groups.len() < 2 {
        return None;
    }
    groups.sort_by(|one, other| other.1.total_cmp(&one.1));
    let all = groups.len();
    groups.truncate(MOST_GROUPS);
    let (row, left) = (22.0, 250.0);
    let bottom = TOP + row * groups.len() as f64;
    let low =
        |(group, value): &(&Group, f64)| group.agreement.srcc.interval.map_or(*value, |ends| ends.low.min(*value));
    let lowest = groups.iter().map(low).fold(0.0, f64::min).max(-1.0);
    let x = Axis { low: lowest, high: 1.0, from: left, to: WIDTH - RIGHT };
    let mut svg = open(bottom + 40.0, "Rank correlation by group");
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/><text class=\"tick\" x=\"{at:.1}\" y=\"{}\">{}</text>",
            bottom + 17.0,
            short(tick)
        );
    }
    for (place, (group, value)) in groups.iter().enumerate() {
        let middle = TOP + row * (place as f64 + 0.5);
        let name = escape(&shortened(&group.value, 34));
        let title = format!("{}: SRCC {value:.4} (n = {})", escape(&group.value), group.agreement.n);
        let _ = writeln!(
            svg,
            "<g><title>{title}</title><text class=\"name\" x=\"{}\" y=\"{:.1}\">{name}</text>",
            left - 10.0,
            middle + 4.0
        );
        if let Some(ends) = group.agreement.srcc.interval {
            let (from, to) = (x.at(ends.low.max(x.low)), x.at(ends.high.min(x.high)));
            let _ = writeln!(
                svg,
                "<line class=\"interval\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>"
            );
        }
        let _ =
            writeln!(svg, "<circle class=\"estimate\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4.5\"/></g>", x.at(*value));
    }
    let mut caption = format!("SRCC by {field}, with bootstrap intervals.");
    if all > groups.len() {
        caption += &format!(" Showing the best {} of {all} groups.", groups.len());
    }
    Some(Chart { caption, svg: svg + "</svg>", text: Vec::new() })
}

/// Shortens a text to `most` characters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_in_one_bin() {
        let counts = bins(&[1.0, 1.24, 1.25, 3.0, 4.99, 5.0]);
        assert_eq!((counts[0], counts[1], counts[8], counts[15]), (2, 1, 1, 2));
        let chart = histogram(&[1.0, 5.0, 5.0]);
        assert_eq!(chart.text.len(), BINS);
        assert!(chart.text[15].starts_with("4.75–5.00  ████") && chart.text[15].ends_with("  2"), "{:?}", chart.text);
        assert_eq!(chart.svg.matches("<rect").count(), BINS);
        assert!(histogram(&[]).svg.ends_with("</svg>"));
    }

    #[test]
    fn lots_are_drawn_beyond_so_many_points_and_always_the_same() {
        assert_eq!(by_lot(3, 0), [0, 1, 2]);
        let some = by_lot(20_000, 7);
        assert_eq!(some.len(), MOST_POINTS);
        assert!(some.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(some, by_lot(20_000, 7));
        assert_ne!(some, by_lot(20_000, 8));
        let mean = some.iter().sum::<usize>() / MOST_POINTS;
        assert!((9_500..10_500).contains(&mean), "{mean}");
    }
}
