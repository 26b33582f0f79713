//! Formats numbers for readers.

/// Formats a count with thousands separators.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let parts: Vec<String> = (!head.is_empty()).then(|| head.to_owned()).into_iter().chain(groups).collect();
    parts.join(",")
}

/// Formats a duration.
pub(super) fn milliseconds(time: f64) -> String {
    match time {
        time if !time.is_finite() => "–".to_owned(),
        time if time < 1.0 => format!("{time:.2} ms"),
        time if time < 100.0 => format!("{time:.1} ms"),
        time if time < 1000.0 => format!("{time:.0} ms"),
        time if time < 120_000.0 => format!("{:.2} s", time / 1000.0),
        time if time < 7_200_000.0 => format!("{:.1} min", time / 60_000.0),
        time => format!("{:.1} h", time / 3_600_000.0),
    }
}

/// Formats an amount of money.
pub(super) fn dollars(amount: f64) -> String {
    match amount {
        0.0 => "0".to_owned(),
        amount if amount < 0.01 => format!("{amount:.5} USD"),
        amount if amount < 10.0 => format!("{amount:.3} USD"),
        amount => format!("{amount:.2} USD"),
    }
}

/// Formats a share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Formats a value with four decimals.
pub(super) fn figure(value: Option<f64>) -> String {
    value.map_or_else(nothing, |value| format!("{value:.4}"))
}

/// Formats a score with two decimals.
pub(super) fn score(value: Option<f64>) -> String {
    value.map_or_else(nothing, |value| format!("{value:.2}"))
}

/// The placeholder for a missing value.
pub(super) fn nothing() -> String {
    "–".to_owned()
}

/// Formats a raw score with its significant digits.
pub(super) fn raw(score: f64) -> String {
    match score.abs() {
        size if size.is_nan() => "NaN".to_owned(),
        size if size.is_infinite() => if score > 0.0 { "∞" } else { "-∞" }.to_owned(),
        size if size >= 100.0 => format!("{score:.1}"),
        size if size >= 10.0 => format!("{score:.2}"),
        size if size >= 0.01 || size == 0.0 => format!("{score:.4}"),
        _ => format!("{score:.6}"),
    }
}

/// Formats a number with a singular or plural noun.
pub(super) fn of(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let counts = [0, 7, 999, 1000, 12_345, 1_234_567].map(count);
        assert_eq!(counts, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        let times = [0.1234, 12.34, 512.0, 2500.0, 180_000.0, 9e6, f64::NAN].map(milliseconds);
        assert_eq!(times, ["0.12 ms", "12.3 ms", "512 ms", "2.50 s", "3.0 min", "2.5 h", "–"]);
        assert_eq!([0.0, 0.00123, 1.5, 120.0].map(dollars), ["0", "0.00123 USD", "1.500 USD", "120.00 USD"]);
        assert_eq!([f64::INFINITY, 0.0, 0.00012, 31.0].map(raw), ["∞", "0.0000", "0.000120", "31.00"]);
        assert_eq!((of(1, "line", "lines"), of(2, "line", "lines")), ("1 line".to_owned(), "2 lines".to_owned()));
    }
}
