//! Wire format of protocol buffers: a message is a sequence of numbered fields.

/// The bytes end inside a field or are not a valid field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

/// Value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    /// An integer.
    Number(u64),
    /// Text, a nested message or packed numbers.
    Bytes(&'a [u8]),
    /// A number of fixed width, whose value is not needed.
    Fixed,
}

impl<'a> Value<'a> {
    /// Returns the bytes of a field that must contain bytes.
    pub fn bytes(self) -> Result<&'a [u8], Broken> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(Broken),
        }
    }

    /// Returns the text of a field that must contain text.
    pub fn text(self) -> Result<&'a str, Broken> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Broken)
    }

    /// Returns the numbers of a repeated field, packed or not.
    pub fn numbers(self) -> Result<Vec<i64>, Broken> {
        match self {
            Self::Number(number) => Ok(vec![number as i64]),
            Self::Bytes(mut packed) => {
                let mut numbers = Vec::new();
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)? as i64);
                }
                Ok(numbers)
            }
            Self::Fixed => Err(Broken),
        }
    }
}

/// Iterator over the fields of a message, in file order.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

/// Iterates over the fields of a message.
pub(crate) fn fields(message: &[u8]) -> Fields<'_> {
    Fields { rest: message }
}

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Broken)?;
        self.rest = rest;
        Ok(taken)
    }

    fn field(&mut self) -> Result<(u64, Value<'a>), Broken> {
        let tag = varint(&mut self.rest)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut self.rest)?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(varint(&mut self.rest)?).map_err(|_| Broken)?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(Broken),
        };
        Ok((tag >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Reads a varint: seven bits per byte, lowest first.
fn varint(bytes: &mut &[u8]) -> Result<u64, Broken> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Broken)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_example_of_the_specification() {
        let read: Vec<_> = fields(&[0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i']).collect();
        assert_eq!(read, [Ok((1, Value::Number(150))), Ok((2, Value::Bytes(b"hi")))]);
        assert_eq!(Value::Bytes(&[3, 0x8e, 2]).numbers(), Ok(vec![3, 270]));
    }

    #[test]
    fn what_ends_too_early_or_never_is_broken() {
        for bytes in [&[0x08][..], &[0x12, 0x05, b'h'], &[0x0b], &[0x08, 0xff, 0xff], &[0xff; 11]] {
            assert_eq!(fields(bytes).last(), Some(Err(Broken)), "{bytes:?}");
        }
    }
}
