//! Images in shared memory: an unnamed file, on a memory file system if there is one, that is
//! rewritten for every call.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use agenticiqa_metrics::{Image, Samples};
use tempfile::NamedTempFile;

use super::protocol;

/// Memory file system on Linux.
const SHARED_MEMORY: &str = "/dev/shm";

/// A file that the worker maps into memory. Its pages are reused from call to call, so that an
/// image costs one copy.
#[derive(Debug)]
pub(super) struct Buffer {
    file: NamedTempFile,
    folder: PathBuf,
}

impl Buffer {
    /// Creates a buffer in shared memory, or in the folder for temporary files.
    pub fn new() -> io::Result<Self> {
        let shared = Path::new(SHARED_MEMORY);
        if shared.is_dir()
            && let Ok(buffer) = Self::within(shared)
        {
            return Ok(buffer);
        }
        Self::within(&std::env::temp_dir())
    }

    fn within(folder: &Path) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix("agenticiqa-").tempfile_in(folder)?;
        Ok(Self { file, folder: folder.to_owned() })
    }

    /// Writes an image. If shared memory is full (64 MB in many containers), the buffer moves to
    /// disk.
    pub fn write(&mut self, image: &Image) -> io::Result<()> {
        match write(self.file.as_file_mut(), image) {
            Err(_) if self.folder == Path::new(SHARED_MEMORY) => {
                *self = Self::within(&std::env::temp_dir())?;
                write(self.file.as_file_mut(), image)
            }
            written => written,
        }
    }

    /// Describes the written image for the worker.
    pub fn describe(&self, image: &Image) -> protocol::Samples<'_> {
        protocol::Samples {
            buffer: self.file.path(),
            width: image.width(),
            height: image.height(),
            channels: image.channels(),
            dtype: if image.bit_depth() == 8 { "uint8" } else { "uint16" },
            layout: "planar",
            unlink: true,
        }
    }
}

fn write(file: &mut File, image: &Image) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    match image.samples() {
        Samples::Eight(samples) => file.write_all(samples),
        Samples::Sixteen(samples) => file.write_all(bytemuck::cast_slice(samples)),
    }
}
