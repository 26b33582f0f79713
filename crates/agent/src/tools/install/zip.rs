//! Files out of a ZIP archive, such as a wheel of PyPI: stored or deflated, below 4 GB.

/// A member larger than this is not what it says.
const LARGEST_MEMBER: usize = 1 << 30;
/// The end record and the longest comment after it.
const END_SEARCH: usize = 22 + 65535;

/// An archive in memory.
pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    directory: usize,
    entries: usize,
}

/// What the directory says of a member.
struct Entry<'a> {
    method: u16,
    packed: usize,
    size: usize,
    header: usize,
    name: &'a [u8],
}

impl<'a> Archive<'a> {
    /// Finds the directory of an archive.
    pub fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let from = bytes.len().saturating_sub(END_SEARCH);
        let end =
            bytes[from..].windows(4).rposition(|window| window == b"PK\x05\x06").ok_or("not a ZIP archive")? + from;
        let (entries, directory) = (short(bytes, end + 10)?, long(bytes, end + 16)?);
        Ok(Self { bytes, directory, entries: entries.into() })
    }

    /// The content of a member; `None` if there is none of that name.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let mut at = self.directory;
        for _ in 0..self.entries {
            let (entry, next) = self.entry(at)?;
            if entry.name == name.as_bytes() {
                return self.unpack(&entry).map(Some).map_err(|reason| format!("{name}: {reason}"));
            }
            at = next;
        }
        Ok(None)
    }

    /// The entry of the directory at a place, and the place of the next.
    fn entry(&self, at: usize) -> Result<(Entry<'a>, usize), String> {
        if slice(self.bytes, at, 4)? != b"PK\x01\x02" {
            return Err("the directory of the archive is damaged".to_owned());
        }
        let name_length = short(self.bytes, at + 28)?.into();
        let beyond: usize = usize::from(short(self.bytes, at + 30)?) + usize::from(short(self.bytes, at + 32)?);
        let entry = Entry {
            method: short(self.bytes, at + 10)?,
            packed: long(self.bytes, at + 20)?,
            size: long(self.bytes, at + 24)?,
            header: long(self.bytes, at + 42)?,
            name: slice(self.bytes, at + 46, name_length)?,
        };
        Ok((entry, at + 46 + name_length + beyond))
    }

    fn unpack(&self, entry: &Entry<'_>) -> Result<Vec<u8>, String> {
        let header = entry.header;
        if slice(self.bytes, header, 4)? != b"PK\x03\x04" {
            return Err("the archive is damaged".to_owned());
        }
        let skipped = usize::from(short(self.bytes, header + 26)?) + usize::from(short(self.bytes, header + 28)?);
        let packed = slice(self.bytes, header + 30 + skipped, entry.packed)?;
        if entry.size > LARGEST_MEMBER {
            return Err("larger than 1 GB".to_owned());
        }
        let content = match entry.method {
            0 => packed.to_vec(),
            8 => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, entry.size)
                .map_err(|error| format!("cannot be unpacked: {error}"))?,
            method => return Err(format!("packed by method {method}, which is not known here")),
        };
        if content.len() == entry.size { Ok(content) } else { Err("unpacks to another size than it says".to_owned()) }
    }
}

fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], String> {
    let cut = || "the archive ends too early".to_owned();
    bytes.get(at..at.checked_add(length).ok_or_else(cut)?).ok_or_else(cut)
}

fn short(bytes: &[u8], at: usize) -> Result<u16, String> {
    let pair = slice(bytes, at, 2)?;
    Ok(u16::from_le_bytes([pair[0], pair[1]]))
}

fn long(bytes: &[u8], at: usize) -> Result<usize, String> {
    let word = slice(bytes, at, 4)?;
    Ok(u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize)
}
