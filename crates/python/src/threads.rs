//! The compute threads.
//!
//! They are separate from the global pool of rayon, so that their number can change and a forked
//! process, which has none of its parent's threads, gets new ones. Ctrl-C interrupts calls that
//! wait for them.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Problem;

/// Time between two checks for Ctrl-C while a call waits.
const ATTENTION: Duration = Duration::from_millis(50);

static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

/// The threads of one process.
struct Threads {
    process: u32,
    count: usize,
    /// One pool of all threads, for a single image.
    team: Option<Arc<ThreadPool>>,
    /// Pools of one thread each, for many images.
    crew: Vec<Arc<ThreadPool>>,
}

impl Threads {
    fn new(count: usize) -> Self {
        Self { process: process::id(), count, team: None, crew: Vec::new() }
    }
}

/// Runs `change` on the threads of this process. After a fork, the pools of the parent are leaked,
/// because dropping them would wait for threads that do not exist here.
fn with_threads<T>(change: impl FnOnce(&mut Threads) -> T) -> T {
    let mut known = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    if known.as_ref().is_some_and(|threads| threads.process != process::id())
        && let Some(inherited) = known.take()
    {
        *known = Some(Threads::new(inherited.count));
        std::mem::forget(inherited);
    }
    change(known.get_or_insert_with(|| Threads::new(available_parallelism().map_or(2, usize::from))))
}

fn pool(threads: usize) -> Result<Arc<ThreadPool>, Problem> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|_| "agenticiqa".to_owned());
    // After a panic the caller sees a closed channel. Without a handler the process would abort.
    let built = builder.panic_handler(|_| ()).build();
    built.map(Arc::new).map_err(|error| Problem::Other(format!("{threads} threads cannot be started: {error}")))
}

/// Returns the pool of all threads, for a single image.
pub fn team() -> Result<Arc<ThreadPool>, Problem> {
    with_threads(|threads| match &threads.team {
        Some(team) => Ok(Arc::clone(team)),
        None => {
            let team = pool(threads.count)?;
            threads.team = Some(Arc::clone(&team));
            Ok(team)
        }
    })
}

/// Returns `wanted` pools of one thread each, for many images.
pub fn crew(wanted: usize) -> Result<Vec<Arc<ThreadPool>>, Problem> {
    with_threads(|threads| {
        while threads.crew.len() < wanted {
            threads.crew.push(pool(1)?);
        }
        Ok(threads.crew[..wanted].to_vec())
    })
}

/// Runs `work` on the compute threads, or directly if the current thread is one of them.
pub fn compute<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Problem> {
    match rayon::current_thread_index() {
        Some(_) => Ok(work()),
        None => Ok(team()?.install(work)),
    }
}

/// Runs `work` on the compute threads and waits for it without the interpreter lock. Ctrl-C
/// interrupts the wait.
pub fn attended<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (sender, mut receiver) = std::sync::mpsc::sync_channel(1);
    // Sending fails if the caller was interrupted.
    team()?.spawn(move || drop(sender.send(work())));
    let failed = || Problem::Other("internal error on this image: please report it".to_owned());
    let done = wait(py, &mut receiver).inspect_err(|_| abandon())?;
    Ok(done.ok_or_else(failed)?)
}

/// Abandons threads that still run canceled work, so that the next call gets new ones and does not
/// wait.
pub fn abandon() {
    with_threads(|threads| *threads = Threads::new(threads.count));
}

/// Waits for the next message. Returns `None` if the channel is closed, and an error on Ctrl-C.
pub fn wait<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>) -> PyResult<Option<T>> {
    loop {
        let receiver = &mut *receiver;
        match py.detach(move || receiver.recv_timeout(ATTENTION)) {
            Ok(received) => {
                // With a steady stream of messages, the timeout below is never reached.
                py.check_signals()?;
                return Ok(Some(received));
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
        }
    }
}

/// Number of other threads that are attached to the interpreter.
static VISITORS: AtomicUsize = AtomicUsize::new(0);
/// Whether the interpreter is about to shut down.
static ENDING: AtomicBool = AtomicBool::new(false);
/// The longest time that the end of the interpreter waits for visitors.
const FAREWELL: Duration = Duration::from_secs(5);

/// Attaches a compute thread to the interpreter for a short time. Returns nothing if the interpreter
/// has shut down; while it does, the thread sleeps until the process ends.
pub fn visit<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let visitor = Visitor::new();
    if ENDING.load(Ordering::SeqCst) {
        drop(visitor);
        // A failure would be printed by the thread that waits for the result, although nobody needs it.
        loop {
            std::thread::park();
        }
    }
    Python::try_attach(work)
}

/// Counts as a visitor until it is dropped.
struct Visitor;

impl Visitor {
    fn new() -> Self {
        VISITORS.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        VISITORS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until no other thread is attached: one that is would crash the process when the interpreter
/// shuts down. Python calls it at exit.
#[pyfunction]
pub fn wait_for_visitors(py: Python<'_>) {
    ENDING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let begun = Instant::now();
        while VISITORS.load(Ordering::SeqCst) > 0 && begun.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(2));
        }
    });
}

/// Returns the number of compute threads.
#[pyfunction]
pub fn threads() -> usize {
    with_threads(|threads| threads.count)
}

/// Sets the number of compute threads for later calls. The agent uses it only if it has not started
/// yet.
#[pyfunction]
pub fn set_threads(count: isize) -> PyResult<()> {
    let few = || PyValueError::new_err("the number of threads must be 1 or more");
    let count = usize::try_from(count).ok().filter(|count| *count > 0).ok_or_else(few)?;
    with_threads(|threads| *threads = Threads::new(count));
    Ok(())
}

/// The ID of the process in which the agent has started, or 0.
static AGENT: AtomicU32 = AtomicU32::new(0);

/// Starts the global thread pool of rayon, which the agent uses, with the configured number of
/// threads. It can be started only once, so the agent cannot run in a process forked after that.
pub fn begin_agent() -> Result<(), Problem> {
    let here = process::id();
    match AGENT.compare_exchange(0, here, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => {
            // Fails if other code has already started the pool; its size then stays as it is.
            drop(ThreadPoolBuilder::new().num_threads(threads()).build_global());
            Ok(())
        }
        Err(process) if process == here => Ok(()),
        Err(_) => Err(Problem::Forked),
    }
}

/// Returns an error if this process was forked after the agent had started.
pub fn check_fork() -> Result<(), Problem> {
    match AGENT.load(Ordering::SeqCst) {
        0 => Ok(()),
        here if here == process::id() => Ok(()),
        _ => Err(Problem::Forked),
    }
}
