//! Files that are whole or not there.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file beside its place, flushes it to disk and moves it into place: a reader, or a later run after a crash,
/// sees the old content or the new, never a part.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
