//! The native extension of the Python package `agenticiqa`: everything that needs pixels, threads
//! or the agent.
//!
//! The public interface is written in Python, in `python/agenticiqa`. It is the only caller of this
//! crate.

mod agent;
mod arrays;
mod errors;
mod install;
mod limiter;
mod manifest;
mod many;
mod photos;
mod pictures;
mod settings;
mod threads;
mod tools;

use pyo3::prelude::*;

/// The native extension of `agenticiqa`.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use crate::agent::{Agent, Run};
    #[pymodule_export]
    use crate::install::install;
    #[pymodule_export]
    use crate::limiter::RateLimiter;
    #[pymodule_export]
    use crate::manifest::manifest;
    #[pymodule_export]
    use crate::many::score_many;
    #[pymodule_export]
    use crate::photos::{cull, rank};
    #[pymodule_export]
    use crate::pictures::Picture;
    #[pymodule_export]
    use crate::settings::{provider_variables, settings};
    #[pymodule_export]
    use crate::threads::{set_threads, threads, wait_for_visitors};
    #[pymodule_export]
    use crate::tools::{Tool, Tools};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let wait = module.getattr("wait_for_visitors")?;
        module.py().import("atexit")?.call_method1("register", (wait,))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
