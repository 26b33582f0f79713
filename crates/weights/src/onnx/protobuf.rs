//! The parts of the protocol buffer encoding that a model needs.

/// A message under construction. The same calls produce the same bytes.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

const VARINT: u64 = 0;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;

impl Message {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends fields that were written separately.
    pub(super) fn append(&mut self, fields: Self) {
        self.bytes.extend(fields.bytes);
    }

    /// Writes an integer; negative ones take ten bytes.
    pub(super) fn integer(&mut self, field: u64, value: i64) {
        self.key(field, VARINT);
        self.varint(value.cast_unsigned());
    }

    pub(super) fn float(&mut self, field: u64, value: f32) {
        self.key(field, FIXED32);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn text(&mut self, field: u64, value: &str) {
        self.raw(field, value.len(), value.bytes());
    }

    /// Writes bytes of known length.
    pub(super) fn raw(&mut self, field: u64, length: usize, bytes: impl Iterator<Item = u8>) {
        self.key(field, LENGTH);
        self.varint(length as u64);
        self.bytes.extend(bytes);
    }

    /// Writes a nested message in place, so that weights are not stored twice, and inserts its
    /// length afterwards.
    pub(super) fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) {
        self.key(field, LENGTH);
        let start = self.bytes.len();
        write(self);
        let mut length = Self::default();
        length.varint((self.bytes.len() - start) as u64);
        self.bytes.splice(start..start, length.bytes);
    }

    fn key(&mut self, field: u64, kind: u64) {
        self.varint(field << 3 | kind);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_as_the_specification_shows() {
        let mut message = Message::default();
        message.integer(1, 150);
        message.text(2, "testing");
        message.message(3, |inner| inner.integer(1, 150));
        message.integer(4, -2);
        message.float(5, 1.0);
        let expected =
            b"\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01\x20\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2d\0\0\x80?";
        assert_eq!(message.into_bytes(), expected);
    }

    #[test]
    fn long_messages_have_long_lengths() {
        let mut message = Message::default();
        message.message(1, |inner| inner.raw(2, 300, std::iter::repeat_n(7, 300)));
        let bytes = message.into_bytes();
        assert_eq!(bytes[..6], [0x0a, 0xaf, 0x02, 0x12, 0xac, 0x02]);
        assert_eq!(bytes.len(), 3 + 3 + 300);
    }
}
