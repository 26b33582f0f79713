//! Reads numbers and slices from bytes that may end anywhere.

use crate::{Error, Result};

/// A position in bytes. Every read checks that the bytes exist, so lengths in a file are never
/// trusted.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    format: &'static str,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], format: &'static str) -> Self {
        Self { bytes, position: 0, format }
    }

    /// Returns a cursor at `address`, an offset stored in the file.
    pub(crate) fn at(&self, address: u64) -> Result<Self> {
        let position = usize::try_from(address).ok().filter(|&position| position <= self.bytes.len());
        let position = position.ok_or_else(|| self.malformed(format!("address {address} is beyond the end")))?;
        Ok(Self { position, ..self.clone() })
    }

    pub(crate) fn malformed(&self, problem: impl Into<String>) -> Error {
        Error::Malformed { format: self.format, position: self.position, problem: problem.into() }
    }

    pub(crate) fn format(&self) -> &'static str {
        self.format
    }

    /// Returns the remaining bytes.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Takes the next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.position.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.position..end));
        let taken = taken.ok_or_else(|| self.malformed(format!("ends where {length} more bytes should be")))?;
        self.position += length;
        Ok(taken)
    }

    /// Takes the next `length` bytes, with a 64-bit length from the file.
    pub(crate) fn take_long(&mut self, length: u64) -> Result<&'a [u8]> {
        let problem = || self.malformed(format!("ends where {length} more bytes should be"));
        self.take(usize::try_from(length).map_err(|_| problem())?)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        <[u8; N]>::try_from(taken).map_err(|_| self.malformed("ends too soon"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Takes the bytes up to `end` and skips `end`.
    pub(crate) fn until(&mut self, end: u8) -> Result<&'a [u8]> {
        let length = self.rest().iter().position(|&byte| byte == end);
        let length = length.ok_or_else(|| self.malformed("a name does not end"))?;
        let taken = self.take(length)?;
        self.take(1)?;
        Ok(taken)
    }

    /// Skips bytes that must be present.
    pub(crate) fn expect(&mut self, expected: &[u8], meaning: &str) -> Result<()> {
        let here = self.clone();
        if self.take(expected.len())? == expected { Ok(()) } else { Err(here.malformed(format!("no {meaning} here"))) }
    }
}
