//! Atomic file writes.

use std::io::{self, Write};
use std::path::Path;

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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

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
