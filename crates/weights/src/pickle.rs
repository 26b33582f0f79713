//! Reads Python pickles without executing them.
//!
//! A pickle is a program for a stack machine that names functions and calls them. This machine
//! calls nothing. It records what would be called (`Value::Call`), and it supports only the
//! instructions of numpy and Torch weights and only the names in [`GLOBALS`]; anything else is an
//! error. `numpy.rs` and `torch.rs` read arrays from the recorded values.

use std::collections::HashMap;

use crate::cursor::Cursor;
use crate::{Error, Result};

/// Names that a pickle of weights may contain. None of them is ever called.
const GLOBALS: &[&str] = &[
    "collections.OrderedDict",
    "numpy.core.multiarray._reconstruct",
    "numpy.dtype",
    "numpy.ndarray",
    "torch.FloatStorage",
    "torch.LongStorage",
    "torch._utils._rebuild_tensor_v2",
];
/// Maximum number of instructions, which bounds memory. Real checkpoints have some hundreds.
const INSTRUCTIONS: usize = 100_000;

/// Index of a value in the list of all values, because a pickle can refer to a value several times
/// or to itself.
pub(crate) type Id = usize;

/// A value of a pickle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    None,
    Bool(bool),
    Integer(i64),
    /// A little-endian integer of any length.
    Long(&'a [u8]),
    Text(&'a str),
    Bytes(&'a [u8]),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// Module and name.
    Global(&'a str, &'a str),
    /// Data that is stored outside the pickle.
    Persistent(Id),
    /// A recorded call: function, arguments, and the state that its result would get.
    Call {
        function: Id,
        arguments: Id,
        state: Option<Id>,
    },
}

/// A parsed pickle.
#[derive(Debug)]
pub(crate) struct Pickle<'a> {
    values: Vec<Value<'a>>,
    root: Id,
    format: &'static str,
}

impl<'a> Pickle<'a> {
    /// Reads one pickle and moves the cursor behind it.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let mut machine = Machine { values: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: HashMap::new() };
        for _ in 0..INSTRUCTIONS {
            if let Some(root) = machine.step(cursor)? {
                return Ok(Self { values: machine.values, root, format: cursor.format() });
            }
        }
        Err(cursor.malformed("more instructions than weights need"))
    }

    /// Returns the root value of the pickle.
    pub(crate) fn root(&self) -> &Value<'a> {
        self.get(self.root)
    }

    /// Returns all values, in the order of their creation.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value<'a>> {
        self.values.iter()
    }

    pub(crate) fn get(&self, id: Id) -> &Value<'a> {
        self.values.get(id).unwrap_or(&Value::None)
    }

    /// Returns the value of a key in a dictionary.
    pub(crate) fn entry(&self, dict: &Value<'a>, key: &str) -> Option<&Value<'a>> {
        let Value::Dict(entries) = dict else { return None };
        let found = entries.iter().rev().find(|(name, _)| matches!(self.get(*name), Value::Text(text) if *text == key));
        found.map(|&(_, value)| self.get(value))
    }

    /// Returns the values of a tuple.
    pub(crate) fn tuple(&self, id: Id) -> Option<Vec<&Value<'a>>> {
        match self.get(id) {
            Value::Tuple(items) => Some(items.iter().map(|&item| self.get(item)).collect()),
            _ => None,
        }
    }

    /// Returns the sizes in a tuple.
    pub(crate) fn sizes(&self, value: &Value<'a>) -> Option<Vec<usize>> {
        let Value::Tuple(items) = value else { return None };
        let size = |&item: &Id| match self.get(item) {
            Value::Integer(number) => usize::try_from(*number).ok(),
            _ => None,
        };
        items.iter().map(size).collect()
    }

    /// Returns whether a value is this name.
    pub(crate) fn names(&self, id: Id, module: &str, name: &str) -> bool {
        *self.get(id) == Value::Global(module, name)
    }

    pub(crate) fn malformed(&self, problem: &str) -> Error {
        Error::Malformed { format: self.format, position: 0, problem: problem.to_owned() }
    }

    pub(crate) fn missing(&self, name: &str) -> Error {
        Error::MissingArray { format: self.format, name: name.to_owned() }
    }
}

struct Machine<'a> {
    values: Vec<Value<'a>>,
    stack: Vec<Id>,
    /// Stack heights at which lists of items start.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

impl<'a> Machine<'a> {
    /// Executes one instruction. The last one returns the value of the pickle.
    fn step(&mut self, cursor: &mut Cursor<'a>) -> Result<Option<Id>> {
        let here = cursor.clone();
        match cursor.u8()? {
            b'.' => return self.pop(&here).map(Some),
            0x80 => {
                let protocol = cursor.u8()?;
                if !(2..=3).contains(&protocol) {
                    return Err(here.malformed(format!("protocol {protocol} is not read, only 2 and 3")));
                }
            }
            b'(' => self.marks.push(self.stack.len()),
            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Bool(true)),
            0x89 => self.push(Value::Bool(false)),
            b'K' => self.push_integer(cursor.u8()?),
            b'M' => self.push_integer(cursor.u16()?),
            b'J' => self.push_integer(cursor.i32()?),
            0x8a => self.push_bytes(cursor.u8()?.into(), cursor, Value::Long)?,
            b'C' => self.push_bytes(cursor.u8()?.into(), cursor, Value::Bytes)?,
            b'B' => self.push_bytes(cursor.u32()?.into(), cursor, Value::Bytes)?,
            b'X' => {
                let length = cursor.u32()?;
                let text = text(cursor.take_long(length.into())?, &here)?;
                self.push(Value::Text(text));
            }
            b'c' => self.push_global(cursor, &here)?,
            b')' => self.push(Value::Tuple(Vec::new())),
            0x85 => self.push_tuple(1, &here)?,
            0x86 => self.push_tuple(2, &here)?,
            0x87 => self.push_tuple(3, &here)?,
            b't' => {
                let items = self.pop_marked(&here)?;
                self.push(Value::Tuple(items));
            }
            b']' => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            b'e' => self.append(&here)?,
            b's' => self.set_item(&here)?,
            b'u' => self.set_items(&here)?,
            b'q' => self.remember(cursor.u8()?.into(), &here)?,
            b'r' => self.remember(cursor.u32()?, &here)?,
            b'h' => self.recall(cursor.u8()?.into(), &here)?,
            b'j' => self.recall(cursor.u32()?, &here)?,
            b'Q' => {
                let name = self.pop(&here)?;
                self.push(Value::Persistent(name));
            }
            b'R' => self.call(&here)?,
            b'b' => self.build(&here)?,
            other => return Err(here.malformed(format!("instruction {other:#04x} does not occur in weights"))),
        }
        Ok(None)
    }

    fn push(&mut self, value: Value<'a>) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn push_integer(&mut self, number: impl Into<i64>) {
        self.push(Value::Integer(number.into()));
    }

    fn push_bytes(&mut self, length: u64, cursor: &mut Cursor<'a>, value: fn(&'a [u8]) -> Value<'a>) -> Result<()> {
        self.push(value(cursor.take_long(length)?));
        Ok(())
    }

    fn push_global(&mut self, cursor: &mut Cursor<'a>, here: &Cursor<'a>) -> Result<()> {
        let module = text(cursor.until(b'\n')?, here)?;
        let name = text(cursor.until(b'\n')?, here)?;
        if !GLOBALS.contains(&format!("{module}.{name}").as_str()) {
            let shown: String = format!("{module}.{name}").chars().take(80).collect();
            return Err(here.malformed(format!("{shown:?} has no place in a file of weights")));
        }
        self.push(Value::Global(module, name));
        Ok(())
    }

    fn push_tuple(&mut self, length: usize, here: &Cursor<'a>) -> Result<()> {
        let start = self.stack.len().checked_sub(length).filter(|start| *start >= self.floor());
        let items = self.stack.split_off(start.ok_or_else(|| here.malformed("the stack is empty"))?);
        self.push(Value::Tuple(items));
        Ok(())
    }

    /// Values below the last mark belong to an outer list.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self, here: &Cursor<'a>) -> Result<Id> {
        let empty = self.stack.len() <= self.floor();
        let popped = if empty { None } else { self.stack.pop() };
        popped.ok_or_else(|| here.malformed("the stack is empty"))
    }

    fn pop_marked(&mut self, here: &Cursor<'a>) -> Result<Vec<Id>> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len());
        Ok(self.stack.split_off(mark.ok_or_else(|| here.malformed("there is no mark on the stack"))?))
    }

    fn top(&self, here: &Cursor<'a>) -> Result<Id> {
        self.stack.last().copied().ok_or_else(|| here.malformed("the stack is empty"))
    }

    fn append(&mut self, here: &Cursor<'a>) -> Result<()> {
        let items = self.pop_marked(here)?;
        let list = self.top(here)?;
        match self.values.get_mut(list) {
            Some(Value::List(list)) => list.extend(items),
            _ => return Err(here.malformed("items are added to what is no list")),
        }
        Ok(())
    }

    fn set_item(&mut self, here: &Cursor<'a>) -> Result<()> {
        let value = self.pop(here)?;
        let key = self.pop(here)?;
        self.dict(here)?.push((key, value));
        Ok(())
    }

    fn set_items(&mut self, here: &Cursor<'a>) -> Result<()> {
        let items = self.pop_marked(here)?;
        if items.len() % 2 != 0 {
            return Err(here.malformed("a key has no value"));
        }
        self.dict(here)?.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        Ok(())
    }

    fn dict(&mut self, here: &Cursor<'a>) -> Result<&mut Vec<(Id, Id)>> {
        let top = self.top(here)?;
        match self.values.get_mut(top) {
            Some(Value::Dict(entries)) => Ok(entries),
            _ => Err(here.malformed("entries are added to what is no dictionary")),
        }
    }

    fn remember(&mut self, place: u32, here: &Cursor<'a>) -> Result<()> {
        let top = self.top(here)?;
        self.memo.insert(place, top);
        Ok(())
    }

    fn recall(&mut self, place: u32, here: &Cursor<'a>) -> Result<()> {
        let id = self.memo.get(&place).copied();
        self.stack.push(id.ok_or_else(|| here.malformed(format!("nothing was put at place {place}")))?);
        Ok(())
    }

    fn call(&mut self, here: &Cursor<'a>) -> Result<()> {
        let arguments = self.pop(here)?;
        let function = self.pop(here)?;
        let ordered = matches!(self.values.get(function), Some(Value::Global("collections", "OrderedDict")));
        let empty = matches!(self.values.get(arguments), Some(Value::Tuple(items)) if items.is_empty());
        self.push(match ordered && empty {
            true => Value::Dict(Vec::new()),
            false => Value::Call { function, arguments, state: None },
        });
        Ok(())
    }

    fn build(&mut self, here: &Cursor<'a>) -> Result<()> {
        let given = self.pop(here)?;
        let top = self.top(here)?;
        match self.values.get_mut(top) {
            Some(Value::Call { state, .. }) => *state = Some(given),
            // Torch attaches module versions to its dictionary of tensors.
            Some(Value::Dict(_)) => {}
            _ => return Err(here.malformed("a state is given to what is no object")),
        }
        Ok(())
    }
}

fn text<'a>(bytes: &'a [u8], here: &Cursor<'a>) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| here.malformed("a text is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Pickle<'_>> {
        Pickle::read(&mut Cursor::new(bytes, "test"))
    }

    #[test]
    fn containers_and_references_are_read() {
        // {'a': (1, -2), 'b': the same tuple, 'c': [None, True]}, pickled by Python 3 with
        // protocol 2.
        let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aK\x01J\xfe\xff\xff\xff\x86q\x01X\x01\x00\x00\x00bh\x01X\x01\x00\x00\x00c](N\x88eu.";
        let pickle = read(bytes).unwrap();
        assert_eq!(pickle.entry(pickle.root(), "a"), pickle.entry(pickle.root(), "b"));
        let Some(Value::Tuple(numbers)) = pickle.entry(pickle.root(), "a") else { panic!("no tuple") };
        assert_eq!(*pickle.get(numbers[1]), Value::Integer(-2));
        let Some(Value::List(items)) = pickle.entry(pickle.root(), "c") else { panic!("no list") };
        assert_eq!((pickle.get(items[0]), pickle.get(items[1])), (&Value::None, &Value::Bool(true)));
    }

    #[test]
    fn a_pickle_that_calls_the_shell_is_refused_by_name() {
        let error = read(b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.").unwrap_err();
        assert_eq!(error.to_string(), "test: \"os.system\" has no place in a file of weights (at byte 2)");
        let lookup = read(b"\x80\x03cbuiltins\ngetattr\n.").unwrap_err();
        assert!(lookup.to_string().contains("builtins.getattr"));
    }

    #[test]
    fn unknown_instructions_and_broken_stacks_are_errors() {
        for bytes in [
            b"\x80\x04.".as_slice(),
            b"\x80\x02\x93.",
            b"\x80\x02.",
            b"\x80\x02(\x85.",
            b"K\x01(0.",
            b"h\x07.",
            b"t.",
            b"K\x01b.",
            b"}(K\x01u.",
            b"K\x01(K\x01K\x02u.",
            b"K\x01(e.",
            b"X\xff\xff\xff\xffa.",
            b"X\x01\x00\x00\x00\xff.",
            b"cnumpy",
            b"",
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_pickle_without_end_stops() {
        let endless = vec![b'N'; INSTRUCTIONS + 10];
        assert!(read(&endless).unwrap_err().to_string().contains("more instructions"));
    }
}
