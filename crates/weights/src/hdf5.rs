//! Reads arrays from HDF5 files written by Keras.
//!
//! Supports the part of the format (HDF5 File Format Specification, version 1.1 of its structures)
//! that such files use: the first superblock, groups with symbol tables, contiguous arrays of
//! 32-bit numbers. Compressed, chunked and newer files are rejected with a specific error. Crates
//! that read all of HDF5 have 20 000 to 120 000 lines; this module has 300.

use crate::cursor::Cursor;
use crate::{Error, Result, Tensor};

const FORMAT: &str = "HDF5 file";
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// Size of offsets and lengths in bytes; only 64-bit ones are supported.
const WIDTH: u8 = 8;
/// Bytes of a symbol table entry after the address of its object.
const ENTRY_REST: usize = 24;
/// Maximum number of nodes of a group; stops at files that refer to themselves.
const NODES: usize = 1_000;

const DATASPACE: u16 = 0x01;
const DATATYPE: u16 = 0x03;
const LAYOUT: u16 = 0x08;
const CONTINUATION: u16 = 0x10;
const SYMBOL_TABLE: u16 = 0x11;
/// Flag of a message that is stored elsewhere.
const SHARED: u8 = 0b10;

/// Layout of a little-endian 32-bit IEEE 754 number: the bytes after its size.
const SINGLE: [u8; 12] = [0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0];

/// A file whose arrays are read by path.
#[derive(Debug)]
pub(crate) struct File<'a> {
    start: Cursor<'a>,
    /// Address of the root object.
    root: u64,
}

impl<'a> File<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self> {
        let start = Cursor::new(bytes, FORMAT);
        let mut cursor = start.clone();
        cursor.expect(SIGNATURE, "signature of HDF5")?;
        let versions = cursor.take(5)?;
        if versions.iter().any(|&version| version != 0) {
            return Err(cursor.malformed("only the first version of the superblock is read"));
        }
        cursor.expect(&[WIDTH, WIDTH], "addresses of 64 bits")?;
        // Skips a reserved byte, sizes of nodes and flags.
        cursor.take(1 + 4 + 4)?;
        if cursor.u64()? != 0 {
            return Err(cursor.malformed("addresses do not count from the start of the file"));
        }
        // Skips free space, end of file and driver, and the name in the entry of the root group.
        cursor.take(4 * usize::from(WIDTH))?;
        Ok(Self { root: cursor.u64()?, start })
    }

    /// Reads the array at a path such as `conv1/conv1/kernel:0`.
    pub(crate) fn tensor(&self, path: &str) -> Result<Tensor> {
        let missing = || Error::MissingArray { format: FORMAT, name: path.to_owned() };
        let mut object = self.root;
        for name in path.split('/') {
            object = self.member(object, name)?.ok_or_else(missing)?;
        }
        self.array(object)
    }

    /// Returns the address of a member of a group.
    fn member(&self, group: u64, name: &str) -> Result<Option<u64>> {
        let messages = self.messages(group)?;
        let Some(mut table) = find(&messages, SYMBOL_TABLE) else {
            return Err(self.start.malformed(format!("{name} is looked for in what is no group")));
        };
        let (tree, heap) = (table.u64()?, table.u64()?);
        let names = self.names(heap)?;
        let mut nodes = vec![tree];
        for _ in 0..NODES {
            let Some(node) = nodes.pop() else { return Ok(None) };
            let mut cursor = self.start.at(node)?;
            match cursor.take(4)? {
                b"TREE" if nodes.len() < NODES => nodes.extend(children(cursor)?),
                b"SNOD" => {
                    if let Some(found) = search(cursor, &names, name)? {
                        return Ok(Some(found));
                    }
                }
                _ => return Err(cursor.malformed("no node of a group here, or too many of them")),
            }
        }
        Err(self.start.malformed("a group has too many nodes"))
    }

    /// Returns the names of the members of a group, one after the other.
    fn names(&self, heap: u64) -> Result<Cursor<'a>> {
        let mut cursor = self.start.at(heap)?;
        cursor.expect(b"HEAP\0\0\0\0", "heap of names")?;
        let (size, _free, address) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        Ok(Cursor::new(self.start.at(address)?.take_long(size)?, FORMAT))
    }

    /// Returns the messages that describe an object.
    fn messages(&self, object: u64) -> Result<Vec<(u16, Cursor<'a>)>> {
        let mut header = self.start.at(object)?;
        header.expect(&[1, 0], "description of an object in its first version")?;
        let (mut left, _references, size) = (header.u16()?, header.u32()?, header.u32()?);
        header.take(4)?;
        let mut blocks = vec![Cursor::new(header.take_long(size.into())?, FORMAT)];
        let mut messages = Vec::new();
        while let Some(mut block) = blocks.pop() {
            while left > 0 && !block.rest().is_empty() {
                left -= 1;
                let (kind, size, flags) = (block.u16()?, block.u16()?, block.u8()?);
                block.take(3)?;
                let mut message = Cursor::new(block.take(size.into())?, FORMAT);
                if kind == CONTINUATION {
                    let (address, length) = (message.u64()?, message.u64()?);
                    blocks.push(Cursor::new(self.start.at(address)?.take_long(length)?, FORMAT));
                } else if flags & SHARED == 0 {
                    messages.push((kind, message));
                }
            }
        }
        Ok(messages)
    }

    fn array(&self, object: u64) -> Result<Tensor> {
        let messages = self.messages(object)?;
        let part = |kind| find(&messages, kind).ok_or_else(|| self.start.malformed("an array is not described"));
        check_type(part(DATATYPE)?)?;
        let shape = extents(part(DATASPACE)?)?;
        let mut layout = part(LAYOUT)?;
        layout.expect(&[3, 1], "array in one piece (chunked and compressed ones are not read)")?;
        let (address, size) = (layout.u64()?, layout.u64()?);
        let bytes = self.start.at(address)?.take_long(size)?;
        Tensor::from_bytes(&shape, bytes)
            .ok_or_else(|| self.start.malformed("an array has another size than its shape"))
    }
}

fn find<'a>(messages: &[(u16, Cursor<'a>)], kind: u16) -> Option<Cursor<'a>> {
    messages.iter().find(|(found, _)| *found == kind).map(|(_, message)| message.clone())
}

/// Returns the addresses below a node of the tree of a group.
fn children(mut node: Cursor<'_>) -> Result<Vec<u64>> {
    node.expect(&[0], "tree of a group")?;
    let _level = node.u8()?;
    let count = node.u16()?;
    // Skips the left and right neighbors and the first key.
    node.take(3 * usize::from(WIDTH))?;
    let mut children = Vec::new();
    for _ in 0..count {
        children.push(node.u64()?);
        let _key = node.u64()?;
    }
    Ok(children)
}

/// Finds the address of a name in a node of a symbol table.
fn search(mut node: Cursor<'_>, names: &Cursor<'_>, wanted: &str) -> Result<Option<u64>> {
    node.expect(&[1, 0], "symbol table in its first version")?;
    let wanted = [wanted.as_bytes(), &[0]].concat();
    for _ in 0..node.u16()? {
        let (name, object) = (node.u64()?, node.u64()?);
        node.take(ENTRY_REST)?;
        if names.at(name)?.rest().starts_with(&wanted) {
            return Ok(Some(object));
        }
    }
    Ok(None)
}

fn check_type(mut datatype: Cursor<'_>) -> Result<()> {
    let here = datatype.clone();
    // Version 1, class 1 (floating point), little-endian, normalized fraction, sign in bit 31, 4
    // bytes.
    let single = datatype.take(8)? == [0x11, 0x20, 31, 0, 4, 0, 0, 0] && datatype.take(SINGLE.len())? == SINGLE;
    if single { Ok(()) } else { Err(here.malformed("an array is not of 32 bit numbers")) }
}

fn extents(mut dataspace: Cursor<'_>) -> Result<Vec<usize>> {
    let here = dataspace.clone();
    let (version, rank, _flags) = (dataspace.u8()?, dataspace.u8()?, dataspace.u8()?);
    match version {
        1 => dataspace.take(5)?,
        2 => dataspace.take(1)?,
        _ => return Err(here.malformed(format!("version {version} of a shape is not read"))),
    };
    let extent = |_| {
        let extent = dataspace.u64()?;
        usize::try_from(extent).map_err(|_| here.malformed("an array is too large"))
    };
    (0..rank).map(extent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERAS: &[u8] = include_bytes!("../tests/data/keras.hdf5");

    #[test]
    fn arrays_are_found_by_path() {
        let file = File::read(KERAS).unwrap();
        let kernel = file.tensor("conv1/conv1/kernel:0").unwrap();
        assert_eq!(kernel.shape(), [1, 2, 3]);
        assert_eq!(kernel.values(), [0.0, 0.125, 0.25, 0.375, 0.5, 0.625]);
        for index in 0..20 {
            assert_eq!(file.tensor(&format!("many/array_{index}")).unwrap().shape(), [index % 3 + 1]);
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let file = File::read(KERAS).unwrap();
        assert_eq!(
            file.tensor("conv1/kernel:0").unwrap_err().to_string(),
            "HDF5 file: there is no array conv1/kernel:0"
        );
        assert_eq!(file.tensor("many/array").unwrap_err().to_string(), "HDF5 file: there is no array many/array");
        assert!(file.tensor("conv1").unwrap_err().to_string().contains("not described"));
        assert!(file.tensor("many/array_1/x").unwrap_err().to_string().contains("no group"));
    }

    #[test]
    fn other_kinds_of_arrays_are_refused() {
        let file = File::read(KERAS).unwrap();
        assert!(file.tensor("odd/chunked").unwrap_err().to_string().contains("chunked"));
        assert!(file.tensor("odd/double").unwrap_err().to_string().contains("32 bit"));
        assert!(file.tensor("odd/big").unwrap_err().to_string().contains("32 bit"));
        assert!(File::read(b"\x89HDF\r\n\x1a\n\x02").is_err());
        assert!(File::read(b"PK").unwrap_err().to_string().contains("HDF5 file"));
    }
}
