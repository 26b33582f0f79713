//! Reads tensors from a file written by `torch.save` before version 1.6.
//!
//! The file has five pickles in a row (a magic number, the protocol, facts about the machine, the
//! object, the keys of its storages), followed by the numbers of each storage: their count as 64
//! bits, then the numbers. The file of DISTS has this format; later versions of Torch write zip
//! files.

use crate::cursor::Cursor;
use crate::pickle::{Pickle, Value};
use crate::{Result, Tensor};

const FORMAT: &str = "Torch file";
/// 0x1950a86a20f9469cfc6c in little-endian order.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
const PROTOCOL: i64 = 1001;

/// A dictionary of tensors, which are read by name.
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
        let counts = counts(&pickle);
        let mut storages = Vec::with_capacity(ids.len());
        for &id in ids {
            let Value::Text(key) = *keys.get(id) else { return Err(cursor.malformed("a storage has no key")) };
            let count = cursor.u64()?;
            let size = if counts.contains(&key) { size_of::<i64>() } else { size_of::<f32>() };
            let length = count.checked_mul(size as u64).ok_or_else(|| cursor.malformed("too many numbers"))?;
            storages.push((key, cursor.take_long(length)?));
        }
        Ok(Self { pickle, storages })
    }

    /// Reads the tensor of this name.
    pub(crate) fn tensor(&self, name: &str) -> Result<Tensor> {
        let value = self.pickle.entry(self.pickle.root(), name).ok_or_else(|| self.pickle.missing(name))?;
        self.rebuild(value).ok_or_else(|| self.pickle.malformed(&format!("{name} is no tensor of 32 bit numbers")))
    }

    /// Rebuilds a tensor from `_rebuild_tensor_v2(storage, offset, shape, strides, ...)` if it
    /// covers its storage from first to last number.
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
        let strides = self.pickle.sizes(strides)?;
        let numbers = self.storages.iter().find(|(name, _)| name == key)?.1;
        let stored = Tensor::from_bytes(&shape, numbers)?;
        if strides.len() == shape.len() {
            Tensor::new(&shape, in_order(&shape, &strides, stored.values())?)
        } else {
            None
        }
    }
}

/// Returns the keys of storages of 64-bit integers, which are skipped: they count the batches that
/// a normalization was trained with.
fn counts<'a>(pickle: &Pickle<'a>) -> Vec<&'a str> {
    let storages = pickle.values().filter_map(|value| match value {
        Value::Persistent(storage) => pickle.tuple(*storage),
        _ => None,
    });
    let keys = storages.filter_map(|storage| match storage.as_slice() {
        &[Value::Text("storage"), Value::Global("torch", "LongStorage"), Value::Text(key), ..] => Some(*key),
        _ => None,
    });
    keys.collect()
}

/// Reorders numbers from the order of the strides to row-major order.
fn in_order(shape: &[usize], strides: &[usize], stored: &[f32]) -> Option<Vec<f32>> {
    let mut places = vec![0_usize];
    for (&extent, &stride) in shape.iter().zip(strides) {
        let steps = |place: usize| (0..extent).map(move |step| place.checked_add(step.checked_mul(stride)?));
        places = places.into_iter().flat_map(steps).collect::<Option<_>>()?;
    }
    places.into_iter().map(|place| stored.get(place).copied()).collect()
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
        assert_eq!(checkpoint.tensor("turned").unwrap().values(), [0.0, 0.25, 0.125, 0.375]);
    }

    #[test]
    fn other_files_and_tensors_are_refused() {
        let checkpoint = Checkpoint::read(TENSORS).unwrap();
        assert_eq!(checkpoint.tensor("gamma").unwrap_err().to_string(), "Torch file: there is no array gamma");
        let arrays = include_bytes!("../tests/data/arrays.ckpt");
        assert!(Checkpoint::read(arrays).unwrap_err().to_string().contains("before version 1.6"));
    }
}
