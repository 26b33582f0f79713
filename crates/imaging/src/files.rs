//! Atomic file writes, and reading that does not wait.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

/// Writes a file atomically: to a temporary file in the same folder, which is flushed to disk and
/// renamed. A reader, or a later run after a crash, sees either the old or the new content, never
/// a part.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = temporary_for(path)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Opens a regular file for reading, or with `pipes` also a pipe.
///
/// Anything else is an error of the kind `InvalidInput`, a folder one of the kind `IsADirectory`. A
/// named pipe is never waited for, not even if it takes the place of a file at the last moment.
pub fn open_regular(path: &Path, pipes: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    if !pipes {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as _);
    }
    // Checked before, because opening a device may do something, and after, because the path may
    // mean another file by then.
    check_kind(&std::fs::metadata(path)?, pipes)?;
    let file = options.open(path)?;
    check_kind(&file.metadata()?, pipes)?;
    Ok(file)
}

/// Reads a file or an open pipe that has at most `limit` bytes. A longer one is an error of the kind
/// `FileTooLarge`; at most `limit` bytes of it are read.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path, is_descriptor(path))?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("it has more than {limit} bytes, the most that is read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Whether the path names an open file of this process, as shells write `<(command)`. Its pipe has
/// a writer; a named pipe may wait for one without end.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/proc/self/fd", "/dev/stdin"].iter().any(|place| path.starts_with(place))
}

fn check_kind(metadata: &std::fs::Metadata, pipes: bool) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() || (pipes && is_pipe(&kind)) {
        Ok(())
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file"))
    }
}

#[cfg(unix)]
fn is_pipe(kind: &std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(kind)
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::FileType) -> bool {
    false
}

/// Writes a file of a cache atomically, with a checksum of its content and its name.
pub fn write_sealed(path: &Path, content: &[u8]) -> io::Result<()> {
    write_atomically(path, &[seal(path, content).as_bytes(), content].concat())
}

/// Reads a file of [`write_sealed`]. One that was changed, or renamed, is an error of the kind
/// `InvalidData`.
pub fn read_sealed(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, false)?.read_to_end(&mut bytes)?;
    let start = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    let content = bytes.split_off(start);
    if bytes == seal(path, &content).as_bytes() {
        Ok(content)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum does not match: it was changed"))
    }
}

/// The first line of a sealed file.
fn seal(path: &Path, content: &[u8]) -> String {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let digest = Sha256::new().chain_update(name).chain_update([0]).chain_update(content).finalize();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256 {hex}\n")
}

/// Creates a temporary file in the folder of `path`. It is deleted unless it is moved into place.
///
/// Its permissions are those of the file that it replaces, or of any new file of the user. The
/// usual permissions of temporary files would restrict it to its owner.
pub fn temporary_for(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.prefix(".agenticiqa-").tempfile_in(folder)?;
    if let Ok(replaced) = std::fs::metadata(path) {
        file.as_file().set_permissions(replaced.permissions())?;
    }
    Ok(file)
}

/// Returns a path as text that no other path has: bytes that are not Unicode are written as `\xff`,
/// and then also backslashes as `\\`.
pub fn path_text(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut text = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text += &part.valid().replace('\\', "\\\\");
        part.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn paths_that_are_not_unicode_have_different_texts() {
        use std::os::unix::ffi::OsStrExt;
        let text = |bytes: &[u8]| path_text(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_eq!(text(b"a/\xff.png"), "a/\\xff.png");
        assert_ne!(text(b"a/\xff.png"), text(b"a/\xfe.png"));
        assert_eq!(text("größe\\x.png".as_bytes()), "größe\\x.png");
    }

    #[test]
    fn a_sealed_file_is_not_believed_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.json");
        write_sealed(&path, b"{\"raw_score\": 0.5}\n2").unwrap();
        assert_eq!(read_sealed(&path).unwrap(), b"{\"raw_score\": 0.5}\n2");
        std::fs::copy(&path, folder.path().join("two.json")).unwrap();
        assert_eq!(read_sealed(&folder.path().join("two.json")).unwrap_err().kind(), io::ErrorKind::InvalidData);
        let changed = std::fs::read_to_string(&path).unwrap().replace("0.5", "0.9");
        std::fs::write(&path, changed).unwrap();
        assert!(read_sealed(&path).unwrap_err().to_string().contains("checksum"));
    }

    #[test]
    fn a_file_is_as_open_as_any_other_and_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        std::fs::write(folder.path().join("plain"), "").unwrap();
        write_atomically(&folder.path().join("ours"), b"one").unwrap();
        assert_eq!(mode("ours"), mode("plain"));
        std::fs::set_permissions(folder.path().join("ours"), PermissionsExt::from_mode(0o640)).unwrap();
        write_atomically(&folder.path().join("ours"), b"two").unwrap();
        assert_eq!(mode("ours"), 0o640);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
