//! Tables and numbers for the terminal.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};

/// A line below the headings, and no borders.
const PLAIN: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Creates an empty table with these headings.
pub fn new(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(PLAIN).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(headings.iter().copied());
    table
}

/// Formats a score with its significant digits.
pub fn number(score: f64) -> String {
    match score.abs() {
        size if size.is_infinite() => if score > 0.0 { "∞" } else { "-∞" }.to_owned(),
        size if size >= 100.0 => format!("{score:.1}"),
        size if size >= 10.0 => format!("{score:.2}"),
        size if size >= 0.01 || size == 0.0 => format!("{score:.4}"),
        _ => format!("{score:.6}"),
    }
}

/// Formats a score from 1 to 5 as a bar of ten cells and a number.
pub fn bar(score: f64) -> String {
    let cells = ((score - 1.0) / 4.0 * 10.0).round().clamp(0.0, 10.0) as usize;
    format!("{}{} {score:.2}", "█".repeat(cells), "░".repeat(10 - cells))
}

/// Formats a score as a bar and a number, with its interval if there is one.
pub fn bar_with(score: f64, interval: Option<[f64; 2]>) -> String {
    let interval = interval.map(|[low, high]| format!(" ({low:.1}–{high:.1})")).unwrap_or_default();
    bar(score) + &interval
}

/// Returns which direction is better, as a word.
pub fn direction(lower_is_better: Option<bool>) -> &'static str {
    match lower_is_better {
        Some(true) => "lower",
        Some(false) => "higher",
        None => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        let written = [0.000_522_059, 0.9978, 21.1142, 195.2796, f64::INFINITY].map(number);
        assert_eq!(written, ["0.000522", "0.9978", "21.11", "195.3", "∞"]);
    }

    #[test]
    fn bars_run_from_empty_to_full() {
        assert_eq!(bar(1.0), "░░░░░░░░░░ 1.00");
        assert_eq!(bar(3.0), "█████░░░░░ 3.00");
        assert_eq!(bar(5.0), "██████████ 5.00");
        assert_eq!(bar_with(3.0, Some([2.54, 3.46])), "█████░░░░░ 3.00 (2.5–3.5)");
        assert_eq!(bar_with(3.0, None), bar(3.0));
    }
}
