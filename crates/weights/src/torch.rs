//! Tensors of a Torch file as `torch.save` wrote it before version 1.6.
//!
//! Five pickles in a row (a magic number, the protocol, facts of the machine, the object, the keys of its storages) and then the
//! numbers of each storage: their count in 64 bits and the numbers. The file of DISTS is one of these, not a zip of later versions.

use crate::cursor::Cursor;
use crate::pickle::{Pickle, Value};
use crate::{Result, Tensor};

const FORMAT: &str = "Torch file";
/// 0x1950a86a20f9469cfc6c, least significant byte first.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
const PROTOCOL: i64 = 1001;

/// A dictionary of tensors, which are taken by name.
#[derive(Debug)]
pub(crate) struct Checkpoint<'a> {
    pickle: Pickle<'a>,
    /// Key and numbers of each storage.
    storages: Vec<(&'a str, &'a [u8])>,
}

impl<'a> Checkpoint<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, FORMAT);
        let start = cursor.clone();
        if *Pickle::read(&mut cursor)?.root() != Value::Long(&MAGIC) {
            return Err(start.malformed("it was not written by Torch before version 1.6"));
        }
        if *Pickle::read(&mut cursor)?.root() != Value::Integer(PROTOCOL) {
            return Err(cursor.malformed("the protocol is not 1001"));
        }
        let machine = Pickle::read(&mut cursor)?;
        if machine.entry(machine.root(), "little_endian") != Some(&Value::Bool(true)) {
            return Err(cursor.malformed("its numbers are not little-endian"));
        }
        let pickle = Pickle::read(&mut cursor)?;
        let keys = Pickle::read(&mut cursor)?;
        let Value::List(ids) = keys.root() else { return Err(cursor.malformed("there is no list of storages")) };
        let mut storages = Vec::with_capacity(ids.len());
        for &id in ids {
            let Value::Text(key) = *keys.get(id) else { return Err(cursor.malformed("a storage has no key")) };
            let count = cursor.u64()?;
            let length =
                count.checked_mul(size_of::<f32>() as u64).ok_or_else(|| cursor.malformed("too many numbers"))?;
            storages.push((key, cursor.take_long(length)?));
        }
        Ok(Self { pickle, storages })
    }

    /// The tensor of this name.
    pub(crate) fn tensor(&self, name: &str) -> Result<Tensor> {
        let value = self.pickle.entry(self.pickle.root(), name).ok_or_else(|| self.pickle.missing(name))?;
        self.rebuild(value).ok_or_else(|| self.pickle.malformed(&format!("{name} is no tensor of 32 bit numbers")))
    }

    /// `_rebuild_tensor_v2(storage, offset, shape, strides, ...)`: a storage's numbers from the first to the last, in order.
    fn rebuild(&self, value: &Value<'a>) -> Option<Tensor> {
        let Value::Call { function, arguments, .. } = value else { return None };
        if !self.pickle.names(*function, "torch._utils", "_rebuild_tensor_v2") {
            return None;
        }
        let arguments = self.pickle.tuple(*arguments)?;
        let &[Value::Persistent(storage), Value::Integer(0), shape, strides, ..] = arguments.as_slice() else {
            return None;
        };
        let storage = self.pickle.tuple(*storage)?;
        let &[Value::Text("storage"), Value::Global("torch", "FloatStorage"), Value::Text(key), ..] =
            storage.as_slice()
        else {
            return None;
        };
        let shape = self.pickle.sizes(shape)?;
        if !in_order(&shape, &self.pickle.sizes(strides)?) {
            return None;
        }
        let numbers = self.storages.iter().find(|(name, _)| name == key)?.1;
        Tensor::from_bytes(&shape, numbers)
    }
}

/// Whether the strides are those of numbers one after the other.
fn in_order(shape: &[usize], strides: &[usize]) -> bool {
    let mut expected = 1_usize;
    shape.len() == strides.len()
        && shape.iter().zip(strides).rev().all(|(&extent, &stride)| {
            let fits = extent == 1 || stride == expected;
            expected = expected.saturating_mul(extent);
            fits
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENSORS: &[u8] = include_bytes!("../tests/data/tensors.pt");

    #[test]
    fn tensors_are_found_by_name() {
        let checkpoint = Checkpoint::read(TENSORS).unwrap();
        let alpha = checkpoint.tensor("alpha").unwrap();
        assert_eq!(
            (alpha.shape(), alpha.values()),
            ([1, 5, 1, 1].as_slice(), [0.0, 0.125, 0.25, 0.375, 0.5].as_slice())
        );
        assert_eq!(checkpoint.tensor("beta").unwrap().values(), [0.0, 0.125, 0.25, 0.375]);
    }

    #[test]
    fn other_files_and_tensors_are_refused() {
        let checkpoint = Checkpoint::read(TENSORS).unwrap();
        assert_eq!(checkpoint.tensor("gamma").unwrap_err().to_string(), "Torch file: there is no array gamma");
        assert!(checkpoint.tensor("turned").unwrap_err().to_string().contains("turned is no tensor"));
        let arrays = include_bytes!("../tests/data/arrays.ckpt");
        assert!(Checkpoint::read(arrays).unwrap_err().to_string().contains("before version 1.6"));
    }
}
