//! Writes gate results as JUnit XML, which CI servers display.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Case, Error, Gate, Verdict};

/// Writes one test per case. `verdict` must come from the same cases.
pub fn write(
    out: &mut impl Write,
    suite: &str,
    gate: &Gate,
    verdict: &Verdict,
    cases: impl Iterator<Item = Result<Case, Error>>,
) -> io::Result<()> {
    let suite = escaped(suite);
    let Verdict { cases: tests, failures, errors, unscored, seconds, .. } = verdict;
    let counts = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{unscored}\" time=\"{seconds:.3}\""
    );
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites {counts}>\n  <testsuite name=\"{suite}\" {counts}>")?;
    for case in cases {
        let case = case.map_err(io::Error::other)?;
        let name = escaped(&case.name);
        write!(out, "    <testcase classname=\"{suite}\" name=\"{name}\" time=\"{:.3}\"", case.seconds)?;
        let mut inside = String::new();
        for violation in gate.violations(&case) {
            let kind = match violation {
                super::Violation::Below { .. } => "BelowLimit",
                super::Violation::Dropped { .. } => "Dropped",
            };
            let _ = writeln!(inside, "      <failure type=\"{kind}\" message=\"{violation}\"/>");
        }
        if let Some(error) = &case.error {
            let _ = writeln!(inside, "      <error message=\"{}\"/>", escaped(error));
        } else if case.score.is_none() {
            let _ = writeln!(inside, "      <skipped message=\"no tool score\"/>");
        }
        match inside.is_empty() {
            true => writeln!(out, "/>")?,
            false => write!(out, ">\n{inside}    </testcase>\n")?,
        }
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

/// Escapes text for an XML attribute. Characters that XML does not allow are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' | '\r' => escaped.push(' '),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
