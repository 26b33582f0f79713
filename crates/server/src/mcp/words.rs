//! Formats scores as text, for models that do not read structured data.

use super::results::{Measured, Overall};

/// Formats a score: "4.12 of 5 (Good, 90% prediction interval 3.60 to 4.55)".
pub fn score(score: f64, level: Option<&str>, interval: Option<[f64; 2]>) -> String {
    let interval = interval.map(|[low, high]| format!("90% prediction interval {low:.2} to {high:.2}"));
    let remarks: Vec<String> = level.map(str::to_owned).into_iter().chain(interval).collect();
    match remarks.is_empty() {
        true => format!("{score:.2} of 5"),
        false => format!("{score:.2} of 5 ({})", remarks.join(", ")),
    }
}

/// Formats an overall score.
pub fn overall(overall: &Overall) -> String {
    score(overall.score, overall.level.map(agenticiqa::state::QualityLevel::name), overall.interval)
}

/// Formats a measurement: "SSIM: 0.9132 (higher is better), 3.41 of 5".
pub fn measured(row: &Measured) -> String {
    let place = row.region.as_ref().map(|region| format!(" of {region}")).unwrap_or_default();
    if let Some(error) = &row.error {
        return format!("{}{place}: failed: {error}", row.tool);
    }
    let raw = row.raw_score.map_or_else(|| "infinite".to_owned(), number);
    let direction = match row.lower_is_better {
        Some(true) => " (lower is better)",
        Some(false) => " (higher is better)",
        None => "",
    };
    let scaled = row.score.map(|score| format!(", {score:.2} of 5")).unwrap_or_default();
    format!("{}{place}: {raw}{direction}{scaled}", row.tool)
}

/// Formats a number with about four significant digits.
pub fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        _ => 4,
    };
    format!("{value:.digits$}")
}

/// Rounds a score to four decimals, because every digit costs tokens.
pub fn short(value: f64) -> f64 {
    format!("{value:.4}").parse().unwrap_or(value)
}

/// Rounds a raw score to six significant digits.
pub fn short_raw(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_mean_nothing_are_left_out() {
        assert_eq!((short(2.891_946_467), short(5.0)), (2.8919, 5.0));
        assert_eq!((short_raw(0.000_056_203_206), short_raw(12_345.678_9)), (5.620_32e-5, 12_345.7));
    }

    #[test]
    fn numbers_are_short_and_say_their_direction() {
        let row = |tool: &str, raw, score, lower| Measured {
            tool: tool.into(),
            region: None,
            raw_score: raw,
            lower_is_better: lower,
            score,
            interval: None,
            error: None,
        };
        assert_eq!(
            measured(&row("SSIM", Some(0.913_24), Some(3.414), Some(false))),
            "SSIM: 0.9132 (higher is better), 3.41 of 5"
        );
        assert_eq!(
            measured(&row("PSNR", None, Some(5.0), Some(false))),
            "PSNR: infinite (higher is better), 5.00 of 5"
        );
        assert_eq!(measured(&row("Contrast", Some(61.237), None, None)), "Contrast: 61.24");
        assert_eq!(
            score(4.1249, Some("Good"), Some([3.6, 4.55])),
            "4.12 of 5 (Good, 90% prediction interval 3.60 to 4.55)"
        );
    }
}
