//! Reads numpy arrays from a pickle of nested dictionaries with arrays of 32-bit numbers, the
//! format of JAX checkpoints.

use crate::cursor::Cursor;
use crate::pickle::{Id, Pickle, Value};
use crate::{Result, Tensor};

const FORMAT: &str = "pickle of numpy arrays";

/// A checkpoint whose arrays are read by name.
#[derive(Debug)]
pub(crate) struct Checkpoint<'a> {
    pickle: Pickle<'a>,
}

impl<'a> Checkpoint<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, FORMAT);
        let pickle = Pickle::read(&mut cursor)?;
        if cursor.rest().is_empty() { Ok(Self { pickle }) } else { Err(cursor.malformed("there is more behind it")) }
    }

    /// Reads the array at a path such as `AlexNet_0/Conv_0/kernel`.
    pub(crate) fn tensor(&self, path: &str) -> Result<Tensor> {
        let mut value = self.pickle.root();
        for key in path.split('/') {
            value = self.pickle.entry(value, key).ok_or_else(|| self.pickle.missing(path))?;
        }
        self.array(value).ok_or_else(|| self.pickle.malformed(&format!("{path} is no array of 32 bit numbers")))
    }

    /// Rebuilds an array from `_reconstruct(ndarray, ...)` with the state (version, shape, type,
    /// whether columns come first, bytes).
    fn array(&self, value: &Value<'a>) -> Option<Tensor> {
        let Value::Call { function, state: Some(state), .. } = value else { return None };
        if !self.pickle.names(*function, "numpy.core.multiarray", "_reconstruct") {
            return None;
        }
        let Value::Tuple(state) = self.pickle.get(*state) else { return None };
        let &[_version, shape, number, columns_first, bytes] = state.as_slice() else { return None };
        let Value::Bytes(bytes) = self.pickle.get(bytes) else { return None };
        if *self.pickle.get(columns_first) != Value::Bool(false) || !self.is_f32(number) {
            return None;
        }
        Tensor::from_bytes(&self.pickle.sizes(self.pickle.get(shape))?, bytes)
    }

    /// Returns whether a value is `dtype('f4', ...)` with the state (version, '<', ...):
    /// little-endian 32-bit numbers.
    fn is_f32(&self, number: Id) -> bool {
        let Value::Call { function, arguments, state: Some(state) } = self.pickle.get(number) else { return false };
        let name = self.pickle.tuple(*arguments).and_then(|arguments| arguments.first().copied().cloned());
        let order = self.pickle.tuple(*state).and_then(|state| state.get(1).copied().cloned());
        self.pickle.names(*function, "numpy", "dtype")
            && name == Some(Value::Text("f4"))
            && order == Some(Value::Text("<"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRAYS: &[u8] = include_bytes!("../tests/data/arrays.ckpt");

    #[test]
    fn arrays_are_found_by_path() {
        let checkpoint = Checkpoint::read(ARRAYS).unwrap();
        let kernel = checkpoint.tensor("AlexNet_0/Conv_0/kernel").unwrap();
        assert_eq!(kernel.shape(), [2, 1, 3, 2]);
        assert_eq!(kernel.values()[11], 11.0 / 8.0);
        assert_eq!(checkpoint.tensor("AlexNet_0/Conv_0/bias").unwrap().values(), [0.0, 0.125]);
    }

    #[test]
    fn what_is_missing_or_of_another_kind_is_named() {
        let checkpoint = Checkpoint::read(ARRAYS).unwrap();
        let missing = checkpoint.tensor("AlexNet_0/Conv_1/bias").unwrap_err();
        assert_eq!(missing.to_string(), "pickle of numpy arrays: there is no array AlexNet_0/Conv_1/bias");
        for path in ["odd/double", "odd/columns", "odd/text", "AlexNet_0"] {
            let error = checkpoint.tensor(path).unwrap_err().to_string();
            assert!(error.contains(&format!("{path} is no array of 32 bit numbers")), "{error}");
        }
        assert!(Checkpoint::read(&[ARRAYS, b"more"].concat()).is_err());
    }
}
