//! Output to the terminal. Names, questions, answers and errors come from outside: a control
//! character in them could move the cursor, change a line that was printed, or set the clipboard.
//! Everything that is printed goes through [`Safe`], which also removes known keys.

use std::fmt::Write as _;
use std::io::{self, Stderr, StderrLock, Stdout, StdoutLock, Write};

use agenticiqa::vlm::redacted;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A writer that replaces control characters by `\u001b` and so on. Line breaks and tabs stay.
///
/// The form is that of JSON, so that a JSON document remains the same document.
#[derive(Debug)]
pub struct Safe<W: Write> {
    inner: W,
    /// The start of a character whose end was not written yet.
    rest: Vec<u8>,
}

/// Standard output for text and JSON.
pub fn stdout() -> Safe<StdoutLock<'static>> {
    Safe::new(io::stdout().lock())
}

/// Standard output that is not locked, for writers that are kept.
pub fn shared_stdout() -> Safe<Stdout> {
    Safe::new(io::stdout())
}

/// Standard error for messages.
pub fn stderr() -> Safe<StderrLock<'static>> {
    Safe::new(io::stderr().lock())
}

/// Standard error that is not locked, for the log.
pub fn shared_stderr() -> Safe<Stderr> {
    Safe::new(io::stderr())
}

/// Prints a message on standard error, without control characters. A closed pipe is ignored.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        drop(writeln!($crate::terminal::stderr(), $($text)*));
    }};
}
pub(crate) use tell;

/// Whether a character must not reach a terminal: control characters, and those that change the
/// direction of text.
fn is_unsafe(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text on one line, without control characters and keys.
pub fn shown(text: impl ToString) -> String {
    escaped(&redacted(&text.to_string()), is_unsafe)
}

fn escaped(text: &str, hides: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if hides(letter) {
            // Writing to a text cannot fail. All of these characters have at most four digits.
            let _ = write!(safe, "\\u{:04x}", u32::from(letter));
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// Returns a copy whose texts have no keys, and no control characters but line breaks and tabs: for
/// output that is colored by control characters of our own. `None` if the copy would not be valid.
pub fn cleaned<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    fn clean(value: Value) -> Value {
        match value {
            Value::String(text) => {
                Value::String(escaped(&redacted(&text), |letter| is_unsafe(letter) && !is_layout(letter)))
            }
            Value::Array(items) => items.into_iter().map(clean).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (shown(name), clean(value))).collect())
            }
            other => other,
        }
    }
    serde_json::from_value(clean(serde_json::to_value(value).ok()?)).ok()
}

fn is_layout(letter: char) -> bool {
    matches!(letter, '\n' | '\t')
}

impl<W: Write> Safe<W> {
    /// Wraps a writer.
    pub fn new(inner: W) -> Self {
        Self { inner, rest: Vec::new() }
    }
}

impl<W: Write> Write for Safe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len();
        let joined: Vec<u8>;
        let mut left = if self.rest.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.rest).as_slice(), bytes].concat();
            &joined
        };
        while !left.is_empty() {
            let (text, after) = match std::str::from_utf8(left) {
                Ok(text) => (text, &left[left.len()..]),
                Err(error) => {
                    let (valid, after) = left.split_at(error.valid_up_to());
                    let text = std::str::from_utf8(valid).unwrap_or_default();
                    match error.error_len() {
                        // The end of the character comes with the next call.
                        None => {
                            self.rest = after.to_vec();
                            (text, &after[after.len()..])
                        }
                        Some(wrong) => {
                            self.put(text)?;
                            self.inner.write_all("\u{fffd}".as_bytes())?;
                            left = &after[wrong..];
                            continue;
                        }
                    }
                }
            };
            self.put(text)?;
            left = after;
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Safe<W> {
    fn put(&mut self, text: &str) -> io::Result<()> {
        let text = &*redacted(text);
        let hides = |letter| is_unsafe(letter) && !is_layout(letter);
        if text.contains(hides) {
            self.inner.write_all(escaped(text, hides).as_bytes())
        } else {
            self.inner.write_all(text.as_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&[u8]]) -> String {
        let mut safe = Safe::new(Vec::new());
        parts.iter().for_each(|part| safe.write_all(part).unwrap());
        String::from_utf8(safe.inner).unwrap()
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(written(&[b"a\x1b[2Jb\tc\n\rd\x07\x7f"]), "a\\u001b[2Jb\tc\n\\u000dd\\u0007\\u007f");
        // The one-byte form of the escape sequence, and text from right to left.
        assert_eq!(written(&["\u{9b}31m \u{202e}gpj.exe".as_bytes()]), "\\u009b31m \\u202egpj.exe");
        assert_eq!(written(&["größe 锐".as_bytes()]), "größe 锐");
        assert_eq!(shown("a\nb"), "a\\u000ab");
    }

    #[test]
    fn characters_may_come_in_parts_and_bytes_may_be_wrong() {
        let text = "ü\u{9b}锐".as_bytes();
        let parts: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(written(&parts), "ü\\u009b锐");
        assert_eq!(written(&[b"a\xff\x9bb"]), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn json_stays_the_same_document() {
        let value = serde_json::json!({"na\u{9b}me": "\u{1b}]52;c;\u{7f}\u{2028}ü", "list": ["\u{202e}"]});
        let text = written(&[serde_json::to_string(&value).unwrap().as_bytes()]);
        assert!(!text.contains(is_unsafe));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        let clean: Value = cleaned(&value).unwrap();
        assert_eq!(clean["na\\u009bme"], "\\u001b]52;c;\\u007f\u{2028}ü");
    }
}
