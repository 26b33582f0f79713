//! Runs pyiqa metrics in a Python process that is started at the first measurement and kept.
//!
//! | file | purpose |
//! | --- | --- |
//! | `settings.rs` | interpreter, device and timeout; the section of `tools.json` |
//! | `probe.rs` | checks once, in a short process, whether the interpreter has pyiqa |
//! | `protocol.rs` | the JSON lines to and from the process |
//! | `buffer.rs` | images in shared memory |
//! | `process.rs` | one running process: start, call, end |
//! | `keeper.rs` | starts and restarts the process of a registry; remembers failures |
//!
//! The process runs `worker/agenticiqa_worker.py`, which is built into the program.

#[cfg(feature = "worker")]
mod buffer;
#[cfg(not(feature = "worker"))]
mod disabled;
#[cfg(feature = "worker")]
mod enabled;
#[cfg(feature = "worker")]
mod keeper;
#[cfg(feature = "worker")]
mod probe;
#[cfg(feature = "worker")]
mod process;
#[cfg(feature = "worker")]
mod protocol;
mod settings;

#[cfg(not(feature = "worker"))]
pub use disabled::Worker;
#[cfg(feature = "worker")]
pub use enabled::{Worker, WorkerScore};
pub use settings::{WorkerSection, WorkerSettings};
