//! Appends whole lines to the output and never leaves a partial line.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use agenticiqa_vlm::redacted;
use serde::Serialize;

/// The interval at which written lines are flushed to the disk, which limits the loss in a power
/// failure.
const SYNCHRONIZE: Duration = Duration::from_secs(5);

/// The destination of lines.
pub trait Sink: Write + Send {
    /// Truncates everything from `length` on.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Flushes everything to the disk.
    fn synchronize(&mut self) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(|_| ())
    }

    fn synchronize(&mut self) -> io::Result<()> {
        match self.sync_data() {
            // Devices and pipes cannot be flushed.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            other => other,
        }
    }
}

/// Writes lines of JSON completely or not at all.
#[derive(Debug)]
pub struct Output<S = File> {
    sink: S,
    length: u64,
    written: u64,
    synchronized: Instant,
}

impl<S: Sink> Output<S> {
    /// Continues after the first `length` bytes of `sink`, which must be whole lines.
    pub fn new(sink: S, length: u64) -> Self {
        Self { sink, length, written: 0, synchronized: Instant::now() }
    }

    /// The number of lines written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes one line. If it cannot be written completely, the partial line is removed.
    pub fn append(&mut self, line: &impl Serialize) -> io::Result<()> {
        // A question may contain a key, too.
        let line = serde_json::to_string(line)?;
        let mut bytes = redacted(&line).into_owned().into_bytes();
        bytes.push(b'\n');
        if let Err(error) = self.sink.write_all(&bytes).and_then(|()| self.sink.flush()) {
            // If truncation also fails, the next run removes the partial line.
            if let Err(second) = self.sink.cut(self.length) {
                tracing::warn!("a partial line remains at the end of the output: {second}");
            }
            return Err(error);
        }
        self.length += bytes.len() as u64;
        self.written += 1;
        if self.synchronized.elapsed() >= SYNCHRONIZE {
            self.sink.synchronize()?;
            self.synchronized = Instant::now();
        }
        Ok(())
    }

    /// Flushes everything to the disk.
    pub fn finish(&mut self) -> io::Result<()> {
        self.sink.synchronize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with a limited capacity.
    struct SmallDisk {
        content: Vec<u8>,
        capacity: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.capacity - self.content.len()).min(5);
            if taken == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.content.extend(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink for SmallDisk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.content.truncate(length as usize);
            Ok(())
        }

        fn synchronize(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_leaves_whole_lines_only() {
        for free in 0..60 {
            let mut output = Output::new(SmallDisk { content: b"\"first\"\n".to_vec(), capacity: free + 8 }, 8);
            let results: Vec<_> = ["second", "third", "a rather long one"].map(|line| output.append(&line)).into();
            let content = String::from_utf8(output.sink.content.clone()).unwrap();
            assert!(content.ends_with('\n'), "{content:?}");
            let lines: Vec<&str> = content.lines().collect();
            assert!(lines.iter().all(|line| serde_json::from_str::<String>(line).is_ok()), "{content:?}");
            assert_eq!(output.written() as usize, results.iter().filter(|result| result.is_ok()).count());
            assert_eq!(output.written() as usize, lines.len() - 1);
            let full = results.iter().filter_map(|result| result.as_ref().err());
            assert!(full.into_iter().all(|error| error.kind() == io::ErrorKind::StorageFull));
        }
    }
}
