//! Runs engines on separate threads, so that their panics become errors.
//!
//! A separate thread also prevents a deadlock: a worker of a rayon pool that waits inside rayon
//! could pick up another task, and that task could wait for a lock that the worker holds.

use std::thread;

/// Name of the threads that call engines.
const NAME: &str = "onnx";
/// Name prefix of the worker threads of the built-in engine.
const WORKERS: &str = "rten-";
/// Stack size; enough for the deepest graph that is accepted.
const STACK: usize = 16 << 20;

/// Returns whether this thread runs an engine. A panic there becomes an [`Error`](crate::Error),
/// so a panic hook need not report it.
pub fn in_engine() -> bool {
    thread::current().name().is_some_and(|name| name == NAME || name.starts_with(WORKERS))
}

/// Runs work of an engine on a separate thread. A panic is returned as an error.
pub(crate) fn guarded<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(NAME.to_owned()).stack_size(STACK).spawn_scoped(scope, work);
        let outcome = thread.map_err(|error| format!("no thread can be started: {error}"))?.join();
        outcome.unwrap_or_else(|_| Err("the engine cannot make sense of it".to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_end_as_errors() {
        assert_eq!(guarded(|| Ok(in_engine())), Ok(true));
        assert!(!in_engine());
        let outcome: Result<(), String> = guarded(|| {
            let numbers: Vec<u8> = Vec::new();
            Err(format!("{}", numbers[in_engine() as usize]))
        });
        assert_eq!(outcome, Err("the engine cannot make sense of it".to_owned()));
    }
}
