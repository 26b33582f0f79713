//! Boxes of the ISO base media file format: a length, a four-letter name, then fields or more
//! boxes.

use crate::{Error, Format, Result};

/// An error for damaged data.
pub(super) fn damaged(reason: impl ToString) -> Error {
    Error::corrupt(Format::Avif, reason)
}

/// Big-endian fields, read one after another.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// Returns the next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| damaged("a box ends before its fields do"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Returns the next number, `bytes` bytes long (0 bytes: zero).
    pub fn number(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.take(bytes)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn u16(&mut self) -> Result<u16> {
        Ok(self.number(2)? as u16)
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(self.number(4)? as u32)
    }

    /// Returns an item id: 16 bits in the first version of a box, 32 in later versions.
    pub fn id(&mut self, wide: bool) -> Result<u32> {
        Ok(self.number(if wide { 4 } else { 2 })? as u32)
    }

    /// Returns version and flags, the first fields of many boxes.
    pub fn version(&mut self) -> Result<(u8, u32)> {
        let word = self.u32()?;
        Ok(((word >> 24) as u8, word & 0x00ff_ffff))
    }

    /// Returns the boxes in the rest of the data.
    pub fn boxes(self) -> Boxes<'a> {
        Boxes(self.0)
    }
}

/// One box.
#[derive(Clone, Copy)]
pub(super) struct Child<'a> {
    pub kind: [u8; 4],
    pub content: Fields<'a>,
    /// Whether the box is complete. Only the last box of a file may be truncated.
    pub whole: bool,
}

impl Child<'_> {
    /// The name, safe to print in a message.
    pub fn name(&self) -> String {
        name(self.kind)
    }
}

/// Four letters, safe to print in a message.
pub(super) fn name(kind: [u8; 4]) -> String {
    kind.iter().map(|&letter| if letter.is_ascii_graphic() { char::from(letter) } else { '?' }).collect()
}

/// Consecutive boxes.
pub(super) struct Boxes<'a>(&'a [u8]);

impl<'a> Iterator for Boxes<'a> {
    type Item = Result<Child<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let child = self.read();
        if child.is_err() {
            self.0 = &[];
        }
        Some(child)
    }
}

impl<'a> Boxes<'a> {
    fn read(&mut self) -> Result<Child<'a>> {
        let all = self.0;
        let mut fields = Fields(all);
        // A truncated header cannot be interpreted.
        let short = |_| Error::Truncated { format: Format::Avif };
        let length = fields.u32().map_err(short)?;
        let &[a, b, c, d] = fields.take(4).map_err(short)? else { return Err(damaged("a box without a name")) };
        let length = match length {
            // The box extends to the end of its parent.
            0 => all.len() as u64,
            1 => fields.number(8).map_err(short)?,
            length => u64::from(length),
        };
        let header = all.len() - fields.0.len();
        if length < header as u64 {
            return Err(damaged(format!("box '{}' is shorter than its header", name([a, b, c, d]))));
        }
        let end = usize::try_from(length).unwrap_or(usize::MAX).min(all.len());
        self.0 = &all[end..];
        Ok(Child { kind: [a, b, c, d], content: Fields(&all[header..end]), whole: length <= all.len() as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_all_three_kinds_of_length_are_read() {
        let mut bytes = b"\0\0\0\x0aabcdXY".to_vec();
        bytes.extend(b"\0\0\0\x01efgh\0\0\0\0\0\0\0\x11Z");
        bytes.extend(b"\0\0\0\0ijklrest");
        let found: Vec<_> = Fields(&bytes).boxes().map(|child| child.unwrap()).collect();
        let found: Vec<_> = found.iter().map(|child| (&child.kind, child.content.0, child.whole)).collect();
        let expected: [(&[u8; 4], &[u8], bool); 3] =
            [(b"abcd", b"XY", true), (b"efgh", b"Z", true), (b"ijkl", b"rest", true)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_box_that_is_cut_is_told_from_one_that_is_wrong() {
        let cut = Fields(b"\0\0\0\xffmdatabc").boxes().next().unwrap().unwrap();
        assert_eq!((cut.content.0, cut.whole), (&b"abc"[..], false));
        assert!(matches!(Fields(b"\0\0\0").boxes().next(), Some(Err(Error::Truncated { .. }))));
        let wrong = Fields(b"\0\0\0\x04mdat").boxes().next().unwrap().err().unwrap().to_string();
        assert_eq!(wrong, "the AVIF data is damaged: box 'mdat' is shorter than its header");
    }
}
