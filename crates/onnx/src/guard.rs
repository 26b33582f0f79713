//! Engines work on threads of their own, so that no panic of theirs leaves them.
//!
//! A thread of its own also keeps a caller that is itself a worker of a thread pool from taking up other work of that
//! pool while it waits, which could wait for the very thing that the caller holds.

use std::thread;

/// The name of threads that engines are called on.
const NAME: &str = "onnx";
/// What the built-in engine calls its workers.
const WORKERS: &str = "rten-";
/// Enough for the deepest graph that is let through.
const STACK: usize = 16 << 20;

/// Whether this thread runs an engine. A panic there becomes an [`Error`](crate::Error), so that the panic hook of a
/// program need not report it.
pub fn in_engine() -> bool {
    thread::current().name().is_some_and(|name| name == NAME || name.starts_with(WORKERS))
}

/// Runs an engine's work to its end; a panic is its failure.
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
