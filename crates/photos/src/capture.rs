//! When and with which camera a photo was taken, from its EXIF data.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use exif::{Exif, Field, In, Reader, Tag, Value};
use serde::{Deserialize, Serialize};

/// When and with what a photo was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// Milliseconds since 1970 of the camera's clock, which may be wrong. Only differences matter.
    pub at: i64,
    /// Maker, model and serial number.
    pub camera: String,
}

/// Reads the EXIF data of a file. Data that is damaged, or a clock that was never set, is none.
pub(crate) fn read(bytes: &[u8]) -> Option<Taken> {
    // The crate has no known panic; a crafted file must not end a run of many.
    let read = catch_unwind(AssertUnwindSafe(|| Reader::new().read_from_container(&mut Cursor::new(bytes))));
    taken(&read.ok()?.ok()?)
}

fn taken(exif: &Exif) -> Option<Taken> {
    let field = |tag: Tag| exif.get_field(tag, In::PRIMARY);
    let ascii = |tag: Tag| field(tag).and_then(text);
    let (time, fraction) = match ascii(Tag::DateTimeOriginal) {
        Some(time) => (time, ascii(Tag::SubSecTimeOriginal)),
        None => (ascii(Tag::DateTimeDigitized)?, ascii(Tag::SubSecTimeDigitized)),
    };
    let at = milliseconds(&time)? + fraction.map_or(0, |fraction| thousandths(&fraction));
    let names = [Tag::Make, Tag::Model, Tag::BodySerialNumber];
    let camera: Vec<String> = names.into_iter().filter_map(ascii).collect();
    Some(Taken { at, camera: camera.join(" ") })
}

fn text(field: &Field) -> Option<String> {
    let Value::Ascii(parts) = &field.value else { return None };
    let text = String::from_utf8_lossy(parts.first()?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Reads `2026:11:19 03:34:37`.
fn milliseconds(text: &str) -> Option<i64> {
    let numbers: Vec<i16> = text.split([':', ' ', '-', 'T']).map(str::parse).collect::<Result<_, _>>().ok()?;
    let [year, month, day, hour, minute, second] = numbers[..] else { return None };
    let small = |number: i16| i8::try_from(number).ok();
    let date = jiff::civil::Date::new(year, small(month)?, small(day)?).ok()?;
    let time = jiff::civil::Time::new(small(hour)?, small(minute)?, small(second.min(59))?, 0).ok()?;
    let instant = date.to_datetime(time).to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(instant.timestamp().as_millisecond()).filter(|at| *at > 0)
}

fn thousandths(fraction: &str) -> i64 {
    let digits: String = fraction.chars().take_while(char::is_ascii_digit).chain("000".chars()).take(3).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_those_of_no_clock_are_not() {
        let first = milliseconds("2026:11:19 03:34:37").unwrap();
        assert_eq!(milliseconds("2026:11:19 03:34:38").unwrap() - first, 1000);
        assert_eq!(milliseconds("2024:02:29 00:00:00").unwrap(), 1_709_164_800_000);
        for none in ["0000:00:00 00:00:00", "    :  :     :  :  ", "2026:13:01 00:00:00", "yesterday", ""] {
            assert_eq!(milliseconds(none), None, "{none}");
        }
        assert_eq!([thousandths("5"), thousandths("04"), thousandths("1234"), thousandths("x")], [500, 40, 123, 0]);
        assert_eq!(read(b"not a photo"), None);
    }
}
