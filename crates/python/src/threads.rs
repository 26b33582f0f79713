//! The threads that compute. They are not rayon's own, so that their number can be set, and so that the child of a fork, in which no
//! thread of its parent lives on, gets new ones. Whoever waits for them hears Ctrl-C.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Problem;

/// How often a call that waits looks whether somebody pressed Ctrl-C.
const ATTENTION: Duration = Duration::from_millis(50);

static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

/// The threads of one process.
struct Threads {
    process: u32,
    count: usize,
    /// All threads on one image.
    team: Option<Arc<ThreadPool>>,
    /// One thread an image.
    crew: Vec<Arc<ThreadPool>>,
}

impl Threads {
    fn new(count: usize) -> Self {
        Self { process: process::id(), count, team: None, crew: Vec::new() }
    }
}

/// What is known of the threads of this process. Those of a parent are left where they are: ending them would wait for them.
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
    // Whoever waits for what panicked hears that nothing will come; without a handler the process would end.
    let built = builder.panic_handler(|_| ()).build();
    built.map(Arc::new).map_err(|error| Problem::Other(format!("{threads} threads cannot be started: {error}")))
}

/// All threads together, for one image.
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

/// That many threads, each by itself, for many images.
pub fn crew(wanted: usize) -> Result<Vec<Arc<ThreadPool>>, Problem> {
    with_threads(|threads| {
        while threads.crew.len() < wanted {
            threads.crew.push(pool(1)?);
        }
        Ok(threads.crew[..wanted].to_vec())
    })
}

/// Runs `work` on the threads that compute: here, if this is one of them.
pub fn compute<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Problem> {
    match rayon::current_thread_index() {
        Some(_) => Ok(work()),
        None => Ok(team()?.install(work)),
    }
}

/// Runs `work` on the threads that compute and waits for it without the lock of the interpreter; Ctrl-C ends the waiting.
pub fn attended<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (sender, mut receiver) = std::sync::mpsc::sync_channel(1);
    // Nobody may be waiting any more.
    team()?.spawn(move || drop(sender.send(work())));
    let failed = || Problem::Other("the program failed on this image: please report it".to_owned());
    let done = wait(py, &mut receiver).inspect_err(|_| abandon())?;
    Ok(done.ok_or_else(failed)?)
}

/// Leaves the threads to the work that nobody waits for any more: the next call gets others and need not wait for it.
pub fn abandon() {
    with_threads(|threads| *threads = Threads::new(threads.count));
}

/// The next thing that is sent, or `None` when nobody will send any more; Ctrl-C is an error.
pub fn wait<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>) -> PyResult<Option<T>> {
    loop {
        let receiver = &mut *receiver;
        match py.detach(move || receiver.recv_timeout(ATTENTION)) {
            Ok(received) => {
                // Where something comes all the time there is no other moment to look.
                py.check_signals()?;
                return Ok(Some(received));
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
        }
    }
}

/// How many threads compute.
#[pyfunction]
pub fn threads() -> usize {
    with_threads(|threads| threads.count)
}

/// Sets how many threads compute: in calls from now on, and in the agent if it has not begun to work.
#[pyfunction]
pub fn set_threads(count: isize) -> PyResult<()> {
    let few = || PyValueError::new_err("the number of threads must be 1 or more");
    let count = usize::try_from(count).ok().filter(|count| *count > 0).ok_or_else(few)?;
    with_threads(|threads| *threads = Threads::new(count));
    Ok(())
}

/// The process in which the agent has begun to work; 0 in none.
static AGENT: AtomicU32 = AtomicU32::new(0);

/// Makes rayon's own threads, which the agent uses, as many as were asked for. They cannot be made twice: in the child of a process
/// that had them the agent cannot work.
pub fn begin_agent() -> Result<(), Problem> {
    let here = process::id();
    match AGENT.compare_exchange(0, here, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => {
            // Where something else in this process has made them already they are as many as they are.
            drop(ThreadPoolBuilder::new().num_threads(threads()).build_global());
            Ok(())
        }
        Err(process) if process == here => Ok(()),
        Err(_) => Err(Problem::Forked),
    }
}

/// Whether this process is the child of one in which the agent has begun to work.
pub fn check_fork() -> Result<(), Problem> {
    match AGENT.load(Ordering::SeqCst) {
        0 => Ok(()),
        here if here == process::id() => Ok(()),
        _ => Err(Problem::Forked),
    }
}
