//! One running worker: its start, one call, its end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agenticiqa_metrics::{Image, Pair};
use serde::Serialize;

use super::buffer::Buffer;
use super::protocol::{Answer, Hello, Item, LAUNCHER, LONGEST_LINE, Line, PROGRAM, PROTOCOL, Request};
use super::{WorkerSection, WorkerSettings};

/// Maximum number of unread lines; the worker blocks beyond that.
const WAITING_LINES: usize = 16;
/// How long a process that closed its output may take to exit, so that its exit status can be
/// reported.
const LAST_WORDS: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);
/// Number of last characters of standard error that are kept, and that a message shows.
const KEPT: usize = 4096;
const SHOWN: usize = 300;

/// Reasons why a call has no answer. Except for [`Broken::Unasked`], the process cannot be used
/// again.
#[derive(Debug)]
pub(super) enum Broken {
    /// The process ended; contains the end of its standard error.
    Died(String),
    /// The process wrote something that is not an answer.
    Garbage(String),
    /// The call took too long, and the process was killed.
    Stuck {
        /// Whether the metric was still being created.
        creating: bool,
    },
    /// The process cannot start or cannot serve any metric.
    Unusable(String),
    /// The call could not be made; the process is still usable.
    Unasked(String),
}

/// A message from the standard output of the worker.
#[derive(Debug)]
enum Heard {
    Line(Vec<u8>),
    TooLong,
    End,
}

/// A running worker. Dropping this kills the process.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stdin: ChildStdin,
    heard: Receiver<Heard>,
    complaints: Complaints,
    buffers: Vec<Buffer>,
    calls: u64,
}

impl Process {
    /// Starts the worker and waits until it is ready to serve.
    pub fn start(settings: &WorkerSettings) -> Result<Self, Broken> {
        let python = settings.python.display();
        let (child, heard) = spawn(settings)
            .map_err(|error| Broken::Unusable(format!("{python} cannot be started: {error}; see AGENTICIQA_PYTHON")))?;
        let mut child = child;
        let (Some(stdin), Some(stderr)) = (child.stdin.take(), child.stderr.take()) else {
            return Err(Broken::Unusable(format!("{python} was started without its streams")));
        };
        let complaints = Complaints::gather(stderr).map_err(|error| Broken::Unusable(error.to_string()))?;
        let mut process = Self { child, stdin, heard, complaints, buffers: Vec::new(), calls: 0 };
        process.send(&PROGRAM)?;
        let hello = match process.listen(settings.timeout, true)? {
            Line::Hello(hello) => hello,
            other => return Err(Broken::Garbage(format!("{other:?} instead of a greeting"))),
        };
        match hello {
            Hello { error: Some(error), .. } => Err(Broken::Unusable(error)),
            Hello { hello, protocol: PROTOCOL, .. } if hello == "agenticiqa-worker" => Ok(process),
            other => Err(Broken::Garbage(format!("{other:?}"))),
        }
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Measures images with one metric.
    pub fn call(&mut self, metric: &WorkerSection, pairs: &[Pair<'_>], timeout: Duration) -> Result<Answer, Broken> {
        self.fill(pairs).map_err(|error| Broken::Unasked(format!("no room for the image: {error}")))?;
        self.calls += 1;
        let mut buffers = self.buffers.iter();
        let mut describe = |image: &Image| buffers.next().map(|buffer| buffer.describe(image));
        let batch: Option<Vec<Item<'_>>> = pairs
            .iter()
            .map(|pair| {
                let image = describe(pair.distorted())?;
                Some(Item { image, reference: pair.reference().and_then(&mut describe) })
            })
            .collect();
        let request = Request {
            id: self.calls,
            metric: &metric.metric,
            options: &metric.options,
            batch: batch.unwrap_or_default(),
        };
        let line = line(&request)?;
        self.write(&line)?;
        self.answer(pairs.len(), timeout)
    }

    /// Writes the images of a call to shared memory, in the order of their descriptions.
    fn fill(&mut self, pairs: &[Pair<'_>]) -> io::Result<()> {
        let images = pairs.iter().flat_map(|pair| [Some(pair.distorted()), pair.reference()]).flatten();
        for (index, image) in images.enumerate() {
            if index == self.buffers.len() {
                self.buffers.push(Buffer::new()?);
            }
            self.buffers[index].write(image)?;
        }
        Ok(())
    }

    /// Waits for the answer to the last call. Creating a metric and measuring with it have
    /// separate timeouts.
    fn answer(&mut self, count: usize, timeout: Duration) -> Result<Answer, Broken> {
        let timeout = timeout.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX).max(1));
        let mut creating = false;
        loop {
            match self.listen(timeout, creating)? {
                Line::Event { id, event } if id == self.calls => creating = event == "creating",
                Line::Answer(answer) if answer.id == self.calls && is_complete(&answer, count) => return Ok(answer),
                Line::Refusal { error } => return Err(Broken::Garbage(error)),
                other => return Err(Broken::Garbage(format!("{other:?}"))),
            }
        }
    }

    fn send(&mut self, message: &impl Serialize) -> Result<(), Broken> {
        let line = line(message)?;
        self.write(&line)
    }

    fn write(&mut self, line: &[u8]) -> Result<(), Broken> {
        match self.stdin.write_all(line).and_then(|()| self.stdin.flush()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.died()),
        }
    }

    /// Reads the next line of the worker.
    fn listen(&mut self, timeout: Duration, creating: bool) -> Result<Line, Broken> {
        match self.heard.recv_timeout(timeout) {
            Ok(Heard::Line(line)) => {
                serde_json::from_slice(&line).map_err(|_| Broken::Garbage(beginning(&String::from_utf8_lossy(&line))))
            }
            Ok(Heard::TooLong) => Err(Broken::Garbage(format!("a line of more than {LONGEST_LINE} bytes"))),
            Ok(Heard::End) | Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Err(RecvTimeoutError::Timeout) => Err(Broken::Stuck { creating }),
        }
    }

    /// Returns why the process ended, as far as known.
    fn died(&mut self) -> Broken {
        let start = Instant::now();
        let ended = loop {
            match self.child.try_wait() {
                Ok(Some(status)) if self.complaints.are_complete() => break Some(status),
                Ok(status) if start.elapsed() >= LAST_WORDS => break status,
                Ok(_) => std::thread::sleep(PAUSE),
                Err(_) => break None,
            }
        };
        let status = ended.map_or_else(|| "it closed its output".to_owned(), |status| status.to_string());
        let words = self.complaints.last();
        Broken::Died(if words.is_empty() { status } else { format!("{status}; its last words: {words}") })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Killing fails only if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(message: &impl Serialize) -> Result<Vec<u8>, Broken> {
    let mut line = serde_json::to_vec(message).map_err(|error| Broken::Unasked(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}

fn is_complete(answer: &Answer, count: usize) -> bool {
    [answer.scores.len(), answer.errors.len(), answer.seconds.len()] == [count; 3]
}

/// Starts the process from the thread that reads its output and lives as long as the process.
/// Linux kills the worker when the thread that started it ends (PR_SET_PDEATHSIG, which the worker
/// requests), not only when the whole program ends.
fn spawn(settings: &WorkerSettings) -> io::Result<(Child, Receiver<Heard>)> {
    let mut command = Command::new(&settings.python);
    command
        .args(["-c", LAUNCHER, "--device", &settings.device])
        .envs(settings.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (started, child) = sync_channel(1);
    let (tell, heard) = sync_channel(WAITING_LINES);
    std::thread::Builder::new().name("worker".to_owned()).spawn(move || {
        let mut spawned = command.spawn();
        let out = spawned.as_mut().ok().and_then(|child| child.stdout.take());
        // Sending fails if the receiver is gone.
        if started.send(spawned).is_ok()
            && let Some(out) = out
        {
            listen(out, &tell);
        }
    })?;
    let child = child.recv().map_err(|_| io::Error::other("the thread that starts it ended"))?;
    Ok((child?, heard))
}

/// Sends what the worker writes, line by line, until it ends or the receiver is dropped.
fn listen(out: ChildStdout, tell: &SyncSender<Heard>) {
    let mut out = BufReader::new(out);
    loop {
        let mut line = Vec::new();
        let read = (&mut out).take(LONGEST_LINE).read_until(b'\n', &mut line);
        let heard = match read {
            Ok(0) | Err(_) => Heard::End,
            Ok(_) if line.last() == Some(&b'\n') => Heard::Line(line),
            Ok(read) if read as u64 == LONGEST_LINE => Heard::TooLong,
            Ok(_) => Heard::End,
        };
        let last = !matches!(heard, Heard::Line(_));
        if tell.send(heard).is_err() || last {
            return;
        }
    }
}

/// Standard error of the worker, Torch and pyiqa: kept for the error message if the process dies,
/// and logged.
#[derive(Debug)]
struct Complaints {
    kept: Arc<Mutex<String>>,
    thread: JoinHandle<()>,
}

impl Complaints {
    fn gather(stderr: impl Read + Send + 'static) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&kept);
        let thread = std::thread::Builder::new().name("worker-stderr".to_owned()).spawn(move || {
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            while (&mut stderr).take(KEPT as u64).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                tracing::debug!("worker: {text}");
                if !text.is_empty() {
                    *shared.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
                line.clear();
            }
        })?;
        Ok(Self { kept, thread })
    }

    fn are_complete(&self) -> bool {
        self.thread.is_finished()
    }

    /// Returns the last line.
    fn last(&self) -> String {
        beginning(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn beginning(text: &str) -> String {
    text.trim().chars().take(SHOWN).collect()
}
